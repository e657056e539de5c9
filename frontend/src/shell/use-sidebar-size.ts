import { type KeyboardEvent, type PointerEvent, useMemo, useState } from "react";
import { storage } from "@/state/storage";

const LEAST = 220;
const MOST = 480;
const FIRST = 280;
const STEP = 16;

const clamp = (width: number) => Math.round(Math.min(MOST, Math.max(LEAST, width)));

/** How wide the sidebar is and whether it shows, kept over restarts. */
export function useSidebarSize() {
	const [width, setWidth] = useState(() => clamp(Number(storage.get("sidebar.width")) || FIRST));
	const [hidden, setHiddenState] = useState(() => storage.get("sidebar.hidden") === "yes");
	return useMemo(() => {
		const resize = (next: number) => {
			setWidth(clamp(next));
			storage.set("sidebar.width", String(clamp(next)));
		};
		return {
			width,
			hidden,
			least: LEAST,
			most: MOST,
			setHidden: (next: boolean) => {
				setHiddenState(next);
				storage.set("sidebar.hidden", next ? "yes" : undefined);
			},
			handlers: {
				onPointerDown: (event: PointerEvent<HTMLElement>) =>
					event.currentTarget.setPointerCapture(event.pointerId),
				onPointerMove: (event: PointerEvent<HTMLElement>) => {
					if (event.currentTarget.hasPointerCapture(event.pointerId)) resize(event.clientX);
				},
				onKeyDown: (event: KeyboardEvent) => {
					if (event.key === "ArrowLeft") resize(width - STEP);
					if (event.key === "ArrowRight") resize(width + STEP);
				},
			},
		};
	}, [width, hidden]);
}
