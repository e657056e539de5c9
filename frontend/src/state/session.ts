import type {
	PlanItem,
	QueueItem,
	SessionItem,
	SessionSnapshot,
	SessionSummary,
	TurnItem,
	UsageItem,
} from "@/contract/session.gen";
import type { Push } from "./port";

/** The items that make up the timeline; plan, usage and queue stand elsewhere (SP-ITEM-06). */
export type TimelineItem = Exclude<SessionItem, PlanItem | UsageItem | QueueItem>;

/** A push that belongs to one session. */
export type SessionPush = Extract<
	Push,
	{ method: "item/started" | "item/delta" | "item/completed" | "session/resync" }
>;

/**
 * One subscribed session as the server last told it. `waiting` before the first snapshot; `live` after
 * one; `stale` when what is shown may be wrong and a new snapshot is wanted; `gone` when the session
 * does not exist; `failed` when the snapshot could not be had.
 */
export interface SessionState {
	readonly phase: "waiting" | "live" | "stale" | "gone" | "failed";
	readonly error?: string;
	readonly epoch: string;
	/** The snapshot's position; pushes at or below it are in the snapshot already. */
	readonly seq: number;
	readonly summary?: SessionSummary;
	readonly items: readonly TimelineItem[];
	/** itemId → index in items. */
	readonly index: ReadonlyMap<string, number>;
	/** Items that were started or streamed to and not completed yet. */
	readonly streaming: ReadonlySet<string>;
	readonly plan?: PlanItem;
	readonly usage?: UsageItem;
	readonly queue?: QueueItem;
	/** Where older history continues; absent at the beginning of the conversation. */
	readonly before?: string;
	readonly older: "idle" | "loading" | "failed";
	/** Pushes that arrived while the snapshot was on its way. */
	readonly held: readonly SessionPush[];
}

export type SessionAction =
	| { type: "subscribing" }
	/** `older` are history pages, oldest first, that directly precede the snapshot. */
	| { type: "snapshot"; snapshot: SessionSnapshot; older?: SessionItem[]; before?: string }
	| { type: "push"; push: SessionPush }
	| { type: "disconnected" }
	| { type: "failed"; message: string }
	| { type: "gone" }
	| { type: "summary"; summary: SessionSummary }
	| { type: "older-loading" }
	| { type: "older-failed" }
	| { type: "older"; after: string; items: SessionItem[]; before?: string };

// While a snapshot is under way, what is already shown stays.
const next = {
	waiting: "waiting",
	live: "stale",
	stale: "stale",
	gone: "waiting",
	failed: "waiting",
} as const;

const NOTHING: ReadonlySet<string> = new Set();

export const emptySession: SessionState = {
	phase: "waiting",
	epoch: "",
	seq: -1,
	items: [],
	index: new Map(),
	streaming: NOTHING,
	older: "idle",
	held: [],
};

export function reduceSession(state: SessionState, action: SessionAction): SessionState {
	switch (action.type) {
		case "subscribing":
			return { ...state, phase: next[state.phase], held: [] };
		case "snapshot":
			return fromSnapshot(state, action);
		case "push":
			return push(state, action.push);
		case "disconnected":
			return state.phase === "live" ? { ...state, phase: "stale", older: "idle", held: [] } : state;
		case "failed":
			return { ...state, phase: "failed", error: action.message };
		case "gone":
			return { ...emptySession, phase: "gone" };
		case "summary":
			return { ...state, summary: action.summary };
		case "older-loading":
			return { ...state, older: "loading" };
		case "older-failed":
			return { ...state, older: "failed" };
		case "older":
			return older(state, action);
	}
}

/** Applies many pushes; the frames of one animation frame become one state. */
export const reducePushes = (state: SessionState, pushes: readonly SessionPush[]): SessionState =>
	pushes.reduce(push, state);

function fromSnapshot(
	state: SessionState,
	{ snapshot, older: pages = [], before }: Extract<SessionAction, { type: "snapshot" }>,
): SessionState {
	const start: SessionState = {
		...emptySession,
		phase: "live",
		epoch: snapshot.epoch,
		seq: snapshot.seq,
		summary: snapshot.session,
		...optional("before", pages.length > 0 ? before : snapshot.before),
	};
	const placed = { ...start, ...place(pages, snapshot.items) };
	// What came while the snapshot was under way and belongs behind it; the rest is in it.
	const later = state.held.filter((held) => held.params.epoch === snapshot.epoch);
	return reducePushes(placed, later);
}

const optional = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
	value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });

// A page and a snapshot may overlap while history grows; the later copy of an itemId wins and keeps
// the place of the first (SP-SUB-30).
function place(...lists: (readonly SessionItem[])[]): Partial<SessionState> {
	const items: TimelineItem[] = [];
	const index = new Map<string, number>();
	const fixed: { plan?: PlanItem; usage?: UsageItem; queue?: QueueItem } = {};
	for (const item of lists.flat()) {
		if (item.kind === "plan") fixed.plan = item;
		else if (item.kind === "usage") fixed.usage = item;
		else if (item.kind === "queue") fixed.queue = item;
		else {
			const at = index.get(item.itemId);
			if (at === undefined) {
				index.set(item.itemId, items.length);
				items.push(item);
			} else {
				items[at] = item;
			}
		}
	}
	return { items, index, ...fixed };
}

function push(state: SessionState, { method, params }: SessionPush): SessionState {
	if (state.phase === "gone") return state;
	if (state.phase !== "live") {
		return { ...state, held: [...state.held, { method, params } as SessionPush] };
	}
	// Spec SP-SUB-20, SP-SUB-35: nothing of another epoch or after a rewrite may be mixed in.
	if (params.epoch !== state.epoch) return { ...state, phase: "stale", held: [] };
	// Spec SP-SUB-19. A gap upwards means nothing (SP-SUB-21).
	if (params.seq <= state.seq) return state;
	if (method === "session/resync") return { ...state, phase: "stale", held: [] };
	if (method === "item/delta") return append(state, params.itemId, params.text);
	return put(state, params.item, method === "item/completed");
}

function put(state: SessionState, item: SessionItem, completed: boolean): SessionState {
	if (item.kind === "plan") return { ...state, plan: item };
	if (item.kind === "usage") return { ...state, usage: item };
	if (item.kind === "queue") return { ...state, queue: item };
	const streaming = completed
		? without(state.streaming, item.itemId)
		: with_(state.streaming, item.itemId);
	const at = state.index.get(item.itemId);
	if (at !== undefined) {
		const items = state.items.slice();
		items[at] = item;
		return { ...state, items, streaming };
	}
	// New items are the latest by time almost always; one that is not finds its place (SP-SUB-32).
	let end = state.items.length;
	while (end > 0 && (state.items[end - 1] as TimelineItem).at > item.at) end--;
	const items = state.items.slice();
	items.splice(end, 0, item);
	return {
		...state,
		items,
		streaming,
		index: end === items.length - 1 ? grown(state.index, item.itemId, end) : indexOf(items),
	};
}

const indexOf = (items: readonly TimelineItem[]): Map<string, number> =>
	new Map(items.map((item, at) => [item.itemId, at]));

function grown(index: ReadonlyMap<string, number>, id: string, at: number): Map<string, number> {
	return new Map(index).set(id, at);
}

function with_(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
	return set.has(id) ? set : new Set(set).add(id);
}

function without(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
	if (!set.has(id)) return set;
	const next = new Set(set);
	next.delete(id);
	return next;
}

function append(state: SessionState, itemId: string, text: string): SessionState {
	const at = state.index.get(itemId);
	const item = at === undefined ? undefined : state.items[at];
	if (at === undefined || !item) return state;
	const items = state.items.slice();
	switch (item.kind) {
		case "agent-message":
		case "reasoning":
			items[at] = { ...item, text: item.text + text };
			break;
		case "tool-call":
			items[at] = { ...item, output: (item.output ?? "") + text };
			break;
		default:
			return state;
	}
	return { ...state, items, streaming: with_(state.streaming, itemId) };
}

function older(
	state: SessionState,
	action: Extract<SessionAction, { type: "older" }>,
): SessionState {
	// The page was asked for before a new snapshot moved the beginning: it no longer fits.
	if (state.before !== action.after) return { ...state, older: "idle" };
	const { before: _, ...rest } = state;
	const known = action.items.filter((item) => !state.index.has(item.itemId));
	const { items = [], index = new Map<string, number>() } = place(known, state.items);
	return { ...rest, items, index, older: "idle", ...optional("before", action.before) };
}

type Shown = Pick<SessionState, "items" | "summary">;

function newestTurn({ items }: Shown): TurnItem | undefined {
	for (let at = items.length - 1; at >= 0; at--) {
		const item = items[at];
		if (item?.kind === "turn") return item;
	}
	return undefined;
}

/** The turn that runs now, by the timeline. */
export function runningTurn(state: Shown): TurnItem | undefined {
	const turn = newestTurn(state);
	return turn?.outcome === undefined ? turn : undefined;
}

/** Whether a turn runs here. The timeline knows first; without a turn in it the summary does. */
export function isRunning(state: Shown): boolean {
	const turn = newestTurn(state);
	return turn ? turn.outcome === undefined : (state.summary?.running ?? false);
}
