import { useEffect } from "react";
import type { Desktop } from "@/state/desktop";

/** Calls back once the page has drawn what it is now: the second frame begins when the first is out. */
function afterDrawing(page: Window, then: () => void): () => void {
	let frame = page.requestAnimationFrame(() => {
		frame = page.requestAnimationFrame(then);
	});
	return () => page.cancelAnimationFrame(frame);
}

/** Tells the window what it cannot see itself: that the page draws, and that a person is in front of it. */
export function useReports(desktop: Desktop | undefined): void {
	useEffect(() => {
		if (!desktop) return;
		let undo = afterDrawing(window, () => desktop.painted());
		const off = desktop.onPaint(() => {
			undo();
			undo = afterDrawing(window, () => desktop.painted());
		});
		void desktop.hello();
		return () => {
			undo();
			off();
		};
	}, [desktop]);
	useEffect(() => (desktop ? reportFront(desktop, window) : undefined), [desktop]);
}

function reportFront(desktop: Desktop, page: Window): () => void {
	const report = () =>
		desktop.front(page.document.visibilityState === "visible" && page.document.hasFocus());
	report();
	page.addEventListener("focus", report);
	page.addEventListener("blur", report);
	page.document.addEventListener("visibilitychange", report);
	return () => {
		page.removeEventListener("focus", report);
		page.removeEventListener("blur", report);
		page.document.removeEventListener("visibilitychange", report);
	};
}
