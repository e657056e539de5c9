import { useEffect, useState, useSyncExternalStore } from "react";

/** The time, renewed every `everyMs` while it is wanted and can be seen. Zero: not at all. */
export function useNow(everyMs: number): number {
	const [now, setNow] = useState(() => Date.now());
	const visible = useVisible();
	useEffect(() => {
		if (everyMs === 0 || !visible) return;
		setNow(Date.now());
		const timer = setInterval(() => setNow(Date.now()), everyMs);
		return () => clearInterval(timer);
	}, [everyMs, visible]);
	return now;
}

export function useMedia(query: string): boolean {
	return useSyncExternalStore(
		(changed) => {
			const list = window.matchMedia(query);
			list.addEventListener("change", changed);
			return () => list.removeEventListener("change", changed);
		},
		() => window.matchMedia(query).matches,
	);
}

/** True while the page can be seen. */
export function useVisible(): boolean {
	return useSyncExternalStore(
		(changed) => {
			document.addEventListener("visibilitychange", changed);
			return () => document.removeEventListener("visibilitychange", changed);
		},
		() => document.visibilityState === "visible",
	);
}
