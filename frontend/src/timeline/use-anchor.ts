import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { OpenSession } from "@/state/open-session";
import type { VirtualizerHandle } from "@/ui/virtual";
import { isPrepend, itemKeyAt, type Row } from "./rows";

/** So near the end counts as being there. */
const NEAR = 48;
/** So near the beginning the page before is fetched. */
const AHEAD = 900;
/** A scroll so soon after a wheel, key or touch is the reader's. */
const INTENT_MS = 700;
const UPWARD_KEYS = new Set(["PageUp", "ArrowUp", "Home"]);

/**
 * Where the reader is. At the end, the list follows what grows; anywhere else nothing moves under the
 * reader, whatever is put in before or after. Only the reader's own scrolling leaves the end: the list
 * corrects its position too, while it learns the height of rows.
 */
export function useAnchor(session: OpenSession, rows: readonly Row[]) {
	const scroller = useRef<HTMLElement>(null);
	const content = useRef<HTMLDivElement>(null);
	const list = useRef<VirtualizerHandle>(null);
	const atEnd = useRef(true);
	const intent = useRef(0);
	const lastTop = useRef(0);
	const shown = useRef<readonly Row[]>([]);
	const place = useRef<{ key: string | undefined; offset: number }>({ key: undefined, offset: 0 });
	const [away, setAway] = useState(false);
	const [leftAt, setLeftAt] = useState<string>();
	const shift = useMemo(() => isPrepend(shown.current, rows), [rows]);

	const pin = useCallback(() => {
		const pane = scroller.current;
		if (pane && atEnd.current) pane.scrollTop = pane.scrollHeight;
	}, []);

	const jumpToEnd = useCallback(() => {
		atEnd.current = true;
		session.anchor = undefined;
		setAway(false);
		pin();
	}, [pin, session]);

	const onScroll = useCallback(() => {
		const pane = scroller.current;
		if (!pane) return;
		const gap = pane.scrollHeight - pane.scrollTop - pane.clientHeight;
		const up = pane.scrollTop < lastTop.current - 1;
		const far = pane.scrollTop < lastTop.current - pane.clientHeight / 2;
		lastTop.current = pane.scrollTop;
		if (gap < NEAR) {
			atEnd.current = true;
			setAway(false);
		} else if (atEnd.current && up && (far || performance.now() - intent.current < INTENT_MS)) {
			atEnd.current = false;
			setAway(true);
			setLeftAt(shown.current.findLast((row) => row.type === "item")?.key);
		}
		if (atEnd.current) {
			session.anchor = undefined;
		} else if (list.current) {
			const at = list.current.findItemIndex(pane.scrollTop);
			const key = itemKeyAt(shown.current, at);
			session.anchor = key;
			const index = shown.current.findIndex((row) => row.key === key);
			place.current = {
				key,
				offset: pane.scrollTop - list.current.getItemOffset(Math.max(0, index)),
			};
		}
		const { older } = session.store.getState();
		if (pane.scrollTop < AHEAD && older === "idle" && !atEnd.current) void session.loadOlder();
	}, [session]);

	const sought = useStore(session.sought, (state) => state.itemId);
	useEffect(() => {
		const index = sought === undefined ? -1 : rows.findIndex((row) => row.key === sought);
		if (index < 0) return;
		session.seek(undefined);
		// The last of a conversation is best seen at its end, where what follows is seen, too.
		if (itemKeyAt(rows, index + 1) === undefined) {
			jumpToEnd();
			return;
		}
		atEnd.current = false;
		setAway(true);
		setLeftAt(shown.current.findLast((row) => row.type === "item")?.key);
		list.current?.scrollToIndex(index, { align: "center" });
	}, [session, sought, rows, jumpToEnd]);

	useLayoutEffect(() => {
		const before = shown.current;
		shown.current = rows;
		// At the end the size of the content is followed, and that is known only after layout.
		if (atEnd.current) return;
		// The whole list was replaced: put the row the reader looked at back where it was.
		const replaced = !shift && itemKeyAt(before, 0) !== itemKeyAt(rows, 0);
		const index = rows.findIndex((row) => row.key === place.current.key);
		if (replaced && index >= 0) {
			list.current?.scrollToIndex(index, { align: "start", offset: place.current.offset });
		}
	}, [rows, shift]);

	useEffect(() => {
		const box = content.current;
		const pane = scroller.current;
		if (!box || !pane) return;
		const watcher = new ResizeObserver(() => {
			pin();
			// A first page shorter than the pane leaves nothing to scroll.
			const { older, before } = session.store.getState();
			const short = pane.clientHeight > 0 && pane.scrollHeight < pane.clientHeight * 1.5;
			if (short && older === "idle" && before !== undefined) void session.loadOlder();
		});
		watcher.observe(box);
		watcher.observe(pane);
		return () => watcher.disconnect();
	}, [pin, session]);

	const handlers = useMemo(() => {
		const meant = () => {
			intent.current = performance.now();
		};
		return {
			onScroll,
			onWheel: meant,
			onTouchMove: meant,
			onPointerDown: meant,
			onKeyDown: (event: { key: string }) => {
				if (UPWARD_KEYS.has(event.key)) meant();
			},
		};
	}, [onScroll]);

	return { scroller, content, list, shift, away, leftAt, jumpToEnd, handlers };
}
