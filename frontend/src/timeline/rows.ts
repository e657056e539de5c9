import type { TurnItem } from "@/contract/session.gen";
import type { OutboxEntry } from "@/state/outbox";
import { isRunning, type SessionState, type TimelineItem } from "@/state/session";

/** One line of the timeline. `key` is the same for the same thing, whatever happens around it. */
export type Row =
	| { type: "start"; key: string }
	| { type: "day"; key: string; at: number }
	| { type: "item"; key: string; item: Exclude<TimelineItem, TurnItem>; streaming: boolean }
	| { type: "turn"; key: string; turn: TurnItem; last: boolean; beside: boolean }
	| { type: "outbox"; key: string; entry: OutboxEntry }
	| { type: "working"; key: string };

const dayOf = (at: number): number => new Date(at).setHours(0, 0, 0, 0);

/**
 * Items to rows. A turn is drawn where it ended, after the last of its items, so that live and history
 * look alike although they carry its item in different places (SP-TURNI-01, SP-TURNI-04).
 */
export function rowsOf(
	state: Pick<SessionState, "items" | "streaming" | "summary">,
	outbox: readonly OutboxEntry[] = [],
): Row[] {
	const rows: Row[] = [{ type: "start", key: "start" }];
	const lastOfTurn = new Map<string, number>();
	const turns = new Map<string, TurnItem>();
	let newestTurn: TurnItem | undefined;
	state.items.forEach((item, at) => {
		if (item.kind === "turn") {
			turns.set(item.turnId ?? item.itemId, item);
			newestTurn = item;
		}
		const turn = item.turnId ?? (item.kind === "turn" ? item.itemId : undefined);
		if (turn !== undefined) lastOfTurn.set(turn, at);
	});
	let day: number | undefined;
	const running = isRunning(state);
	state.items.forEach((item, at) => {
		const itsDay = dayOf(item.at);
		if (itsDay !== day && item.kind !== "turn") {
			day = itsDay;
			rows.push({ type: "day", key: `day:${itsDay}`, at: item.at });
		}
		if (item.kind !== "turn" && isVisible(item)) {
			const streaming = state.streaming.has(item.itemId);
			rows.push({ type: "item", key: item.itemId, item, streaming });
		}
		const turnId = item.turnId ?? (item.kind === "turn" ? item.itemId : undefined);
		const turn = turnId === undefined ? undefined : turns.get(turnId);
		if (turn?.outcome !== undefined && turnId !== undefined && lastOfTurn.get(turnId) === at) {
			const last = turn === newestTurn && !running;
			const above = rows.at(-1);
			const beside = above?.type === "item" && above.item.kind === "agent-message";
			rows.push({ type: "turn", key: `turn:${turn.itemId}`, turn, last, beside });
		}
	});
	const end = rows.at(-1);
	const speaking = end?.type === "item" && end.streaming && end.item.kind === "agent-message";
	if (running && !speaking) rows.push({ type: "working", key: "working" });
	for (const entry of outbox) rows.push({ type: "outbox", key: `outbox:${entry.clientId}`, entry });
	return rows;
}

// A message that is about to be written has nothing to show yet.
function isVisible(item: TimelineItem): boolean {
	if (item.kind === "agent-message") {
		return (
			item.text !== "" || (item.attachments?.length ?? 0) > 0 || item.undelivered !== undefined
		);
	}
	// A conversation that was shortened has its line; the notice of how it went would say it twice.
	if (item.kind === "notice" && item.topic === "compress") {
		return item.facts?.status !== "done" || item.facts.tokensAfter === undefined;
	}
	return item.kind !== "reasoning" || item.text !== "";
}

/** The key of the first row that names an item: what a reader's place is held by. */
export const itemKeyAt = (rows: readonly Row[], from: number): string | undefined => {
	for (let at = Math.max(0, from); at < rows.length; at++) {
		const row = rows[at];
		if (row?.type === "item") return row.key;
	}
	return undefined;
};

/** How many item rows stand behind a key: what is new since a reader left the end. */
export function countAfter(rows: readonly Row[], key: string | undefined): number {
	let count = 0;
	for (let at = rows.length - 1; at >= 0; at--) {
		const row = rows[at];
		if (row?.type !== "item") continue;
		if (row.key === key) return count;
		count++;
	}
	return key === undefined ? count : 0;
}

/** True when rows were only put before the ones that were there. */
export function isPrepend(before: readonly Row[], after: readonly Row[]): boolean {
	const first = itemKeyAt(before, 0);
	if (first === undefined || after.length <= before.length) return false;
	const at = after.findIndex((row) => row.key === first);
	return at > before.findIndex((row) => row.key === first) && itemKeyAt(after, 0) !== first;
}
