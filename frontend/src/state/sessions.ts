import type { RoomGroup, SessionSummary } from "@/contract/session.gen";
import { emptyTable, type RoomTable } from "./rooms";

/** The rooms of one group. */
export type GroupKey = `group:${string}`;
/** The lists the sidebar shows. Children are reached from their parent. */
export type ListName = "mine" | "archived" | "search" | "running" | GroupKey;
/** What stands in the sidebar: the owner's list with what belongs to it, or one list alone. */
export type View = "all" | "running" | GroupKey;

export interface ListPage {
	readonly status: "idle" | "loading" | "ready" | "failed";
	/** It was read to where `more` says, once at least; pushes have kept it right since. */
	readonly loaded: boolean;
	/** There is a further page. */
	readonly more: boolean;
	/** The ids a search found, in the server's order; the other lists are derived. */
	readonly found: readonly string[];
	/** The revision at which the latest reading began. */
	readonly since: number;
}

type Lists = Readonly<Record<Exclude<ListName, GroupKey>, ListPage>> & {
	readonly [group: GroupKey]: ListPage;
};

export interface SessionsState {
	readonly byId: ReadonlyMap<string, SessionSummary>;
	readonly lists: Lists;
	/** The groups of rooms, in the server's order. */
	readonly groups: readonly RoomGroup[];
	readonly query: string;
	readonly view: View;
	/** How a group's rooms are looked at. */
	readonly table: RoomTable;
	/** Counts what was told. */
	readonly revision: number;
	/** The revision at which each session, or its removal, was told last; kept while a list is read. */
	readonly told: ReadonlyMap<string, number>;
	/** The revision at which the groups were pushed last. */
	readonly groupsTold: number;
}

export type SessionsAction =
	| { type: "loading"; list: ListName }
	| { type: "failed"; list: ListName }
	| {
			type: "page";
			list: ListName;
			sessions: SessionSummary[];
			groups: RoomGroup[];
			more: boolean;
			/** The first pages after a connection replace what was known. */
			first: boolean;
	  }
	| { type: "changed"; upserts: SessionSummary[]; removes: string[]; groups?: RoomGroup[] }
	| { type: "query"; query: string }
	| { type: "view"; view: View }
	| { type: "table"; table: Partial<RoomTable> };

const page: ListPage = { status: "idle", loaded: false, more: false, found: [], since: 0 };

export const emptySessions: SessionsState = {
	byId: new Map(),
	lists: { mine: page, archived: page, search: page, running: page },
	groups: [],
	query: "",
	view: "all",
	table: emptyTable,
	revision: 0,
	told: new Map(),
	groupsTold: 0,
};

export function reduceSessions(state: SessionsState, action: SessionsAction): SessionsState {
	switch (action.type) {
		case "loading":
			return loading(state, action.list);
		case "failed":
			return withList(state, action.list, { status: "failed" });
		case "query":
			return { ...state, query: action.query, lists: { ...state.lists, search: page } };
		case "view":
			return { ...state, view: action.view, table: { ...state.table, filter: "" } };
		case "table":
			return { ...state, table: { ...state.table, ...action.table } };
		case "page":
			return loaded(state, action);
		case "changed":
			return changed(state, action);
	}
}

export const listOf = (state: SessionsState, name: ListName): ListPage => state.lists[name] ?? page;

function withList(state: SessionsState, name: ListName, part: Partial<ListPage>): SessionsState {
	return { ...state, lists: { ...state.lists, [name]: { ...listOf(state, name), ...part } } };
}

function loading(state: SessionsState, list: ListName): SessionsState {
	const reading = Object.values(state.lists).some(({ status }) => status === "loading");
	return {
		...withList(state, list, { status: "loading", since: state.revision }),
		told: reading ? state.told : new Map(),
	};
}

// What was told since a page was asked for is at least as new as what the page says.
function loaded(
	state: SessionsState,
	action: Extract<SessionsAction, { type: "page" }>,
): SessionsState {
	const { list, sessions } = action;
	const { since, found } = listOf(state, list);
	const revision = state.revision + 1;
	const told = new Map(state.told);
	const byId = new Map(state.byId);
	const fresh = (id: string) => (state.told.get(id) ?? 0) > since;
	if (action.first && list !== "search") {
		// Gone while nobody was watching: what this list held and the server no longer has in it.
		for (const [id, known] of byId) {
			if (belongs(list, known) && !fresh(id)) byId.delete(id);
		}
	}
	for (const summary of sessions) {
		if (fresh(summary.id)) continue;
		byId.set(summary.id, summary);
		told.set(summary.id, revision);
	}
	const ids = list === "search" ? sessions.map(({ id }) => id) : [];
	const next = withList(state, list, {
		status: "ready",
		loaded: true,
		more: action.more,
		found: [...new Set([...(action.first ? [] : found), ...ids])],
	});
	const read = { ...next, byId, told, revision };
	return state.groupsTold > since ? read : withGroups(read, action.groups);
}

// Spec SP-INC-09: the newest summary of an id replaces the earlier one.
function changed(
	state: SessionsState,
	{ upserts, removes, groups }: Extract<SessionsAction, { type: "changed" }>,
): SessionsState {
	const revision = state.revision + 1;
	const byId = new Map(state.byId);
	const told = new Map(state.told);
	for (const summary of upserts) {
		byId.set(summary.id, summary);
		told.set(summary.id, revision);
	}
	for (const id of removes) {
		byId.delete(id);
		told.set(id, revision);
	}
	const next = { ...state, byId, told, revision };
	return groups ? withGroups({ ...next, groupsTold: revision }, groups) : next;
}

// A group whose last room is gone is left.
function withGroups(state: SessionsState, groups: readonly RoomGroup[]): SessionsState {
	const { view } = state;
	const there = view === "all" || view === "running" || groups.some((g) => groupKey(g) === view);
	return { ...state, groups, view: there ? view : "all" };
}

/** Which group a room is in; a group says its own. */
export const groupKey = (of: {
	platform?: string | undefined;
	instance?: string | undefined;
}): GroupKey => `group:${JSON.stringify([of.platform ?? "", of.instance ?? null])}`;

/** Whether a session stands in a list, whatever has been read of it. Only roots do. */
export function belongs(list: Exclude<ListName, "search">, session: SessionSummary): boolean {
	if (session.parentId !== undefined) return false;
	switch (list) {
		case "mine":
			return session.section === "owner" && !session.archived;
		case "archived":
			return session.archived;
		case "running": // Spec SP-LIST-30, -31
			return session.background > 0;
		default:
			return session.section === "rooms" && !session.archived && groupKey(session) === list;
	}
}

/** The order of the owner's section: what needs a person first (SP-LIST-13 to -15). */
export function rank(session: SessionSummary): number {
	if (session.attention) return 0;
	if (session.error) return 1;
	if (session.unread) return 2;
	return session.running ? 3 : 4;
}

type Order = (a: SessionSummary, b: SessionSummary) => number;

const byActivity: Order = (a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1);
const byRank: Order = (a, b) => rank(a) - rank(b) || byActivity(a, b);
const ownerFirst =
	(mine: Order): Order =>
	(a, b) => {
		if (a.section !== b.section) return a.section === "owner" ? -1 : 1;
		return a.section === "owner" ? mine(a, b) : byActivity(a, b);
	};

// Spec SP-LIST-07, -13 to -16.
const orderOf = (list: ListName): Order => {
	if (list === "mine") return byRank;
	if (list === "running") return ownerFirst(byRank);
	return list === "archived" ? ownerFirst(byActivity) : byActivity;
};

/** The rows of a list, in its order. */
export function rowsOf(state: SessionsState, list: ListName): SessionSummary[] {
	if (list === "search") {
		return state.lists.search.found.flatMap((id) => state.byId.get(id) ?? []);
	}
	return [...state.byId.values()].filter((session) => belongs(list, session)).sort(orderOf(list));
}

/** What is known of the children of a session that are not archived, the latest changed first. */
export const childrenOf = (
	byId: ReadonlyMap<string, SessionSummary>,
	parentId: string,
): SessionSummary[] =>
	[...byId.values()].filter((s) => s.parentId === parentId && !s.archived).sort(byActivity);

export const groupOf = (state: SessionsState, key: GroupKey): RoomGroup | undefined =>
	state.groups.find((group) => groupKey(group) === key);

export type Mark = "attention" | "error" | "unread" | "running" | "background";

/** The one mark of a row, the weightiest that applies. */
export function markOf(session: SessionSummary): Mark | undefined {
	if (session.attention) return "attention";
	if (session.error) return "error";
	if (session.unread) return "unread";
	if (session.running) return "running";
	return session.background > 0 ? "background" : undefined;
}
