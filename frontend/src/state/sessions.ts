import type { SessionSummary } from "@/contract/session.gen";

/** The lists the sidebar shows. Children are reached from their parent. */
export type ListName = "mine" | "archived" | "search";

export interface ListPage {
	readonly status: "idle" | "loading" | "ready" | "failed";
	/** There is a further page. */
	readonly more: boolean;
	/** The ids a search found, in the server's order; the other lists are derived. */
	readonly found: readonly string[];
}

export interface SessionsState {
	readonly byId: ReadonlyMap<string, SessionSummary>;
	readonly lists: Readonly<Record<ListName, ListPage>>;
	readonly query: string;
	/** Pushed since a page was asked for: newer than what that page says. */
	readonly touched: ReadonlySet<string>;
}

export type SessionsAction =
	| { type: "loading"; list: ListName }
	| { type: "failed"; list: ListName }
	| {
			type: "page";
			list: ListName;
			sessions: SessionSummary[];
			more: boolean;
			/** The first pages after a connection replace what was known. */
			first: boolean;
	  }
	| { type: "changed"; upserts: SessionSummary[]; removes: string[] }
	| { type: "query"; query: string };

const page: ListPage = { status: "idle", more: false, found: [] };

export const emptySessions: SessionsState = {
	byId: new Map(),
	lists: { mine: page, archived: page, search: page },
	query: "",
	touched: new Set(),
};

export function reduceSessions(state: SessionsState, action: SessionsAction): SessionsState {
	switch (action.type) {
		case "loading":
			return { ...withList(state, action.list, { status: "loading" }), touched: new Set() };
		case "failed":
			return withList(state, action.list, { status: "failed" });
		case "query":
			return {
				...state,
				query: action.query,
				lists: { ...state.lists, search: page },
			};
		case "page":
			return loaded(state, action);
		case "changed":
			return changed(state, action);
	}
}

function withList(state: SessionsState, name: ListName, part: Partial<ListPage>): SessionsState {
	return { ...state, lists: { ...state.lists, [name]: { ...state.lists[name], ...part } } };
}

function loaded(
	state: SessionsState,
	action: Extract<SessionsAction, { type: "page" }>,
): SessionsState {
	const byId = new Map(state.byId);
	if (action.first && action.list !== "search") {
		// Deleted while nobody was watching: what this list held and the server no longer has.
		const archived = action.list === "archived";
		for (const [id, known] of byId) {
			const listed = isRootOfMine(known) && known.archived === archived;
			if (listed && !state.touched.has(id)) byId.delete(id);
		}
	}
	for (const summary of action.sessions) {
		if (!state.touched.has(summary.id)) byId.set(summary.id, summary);
	}
	const found = action.first ? [] : state.lists[action.list].found;
	const ids = action.list === "search" ? action.sessions.map((session) => session.id) : [];
	const list: ListPage = {
		status: "ready",
		more: action.more,
		found: [...new Set([...found, ...ids])],
	};
	return { ...state, byId, lists: { ...state.lists, [action.list]: list } };
}

// Spec SP-INC-09: the newest summary of an id replaces the earlier one.
function changed(
	state: SessionsState,
	action: Extract<SessionsAction, { type: "changed" }>,
): SessionsState {
	const byId = new Map(state.byId);
	for (const summary of action.upserts) byId.set(summary.id, summary);
	for (const id of action.removes) byId.delete(id);
	const touched = new Set(state.touched);
	for (const { id } of action.upserts) touched.add(id);
	for (const id of action.removes) touched.add(id);
	return { ...state, byId, touched };
}

const isRootOfMine = (session: SessionSummary): boolean =>
	session.parentId === undefined && session.section === "owner";

/** The order of the owner's section: what needs a person first (SP-LIST-13 to -15). */
export function rank(session: SessionSummary): number {
	if (session.attention) return 0;
	if (session.error) return 1;
	if (session.unread) return 2;
	return session.running ? 3 : 4;
}

function byRank(a: SessionSummary, b: SessionSummary): number {
	return rank(a) - rank(b) || b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1);
}

/** The rows of a list, sorted. */
export function rowsOf(state: SessionsState, list: ListName): SessionSummary[] {
	if (list === "search") {
		return state.lists.search.found.flatMap((id) => state.byId.get(id) ?? []);
	}
	const archived = list === "archived";
	return [...state.byId.values()]
		.filter((session) => isRootOfMine(session) && session.archived === archived)
		.sort(archived ? (a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1) : byRank);
}

export type Mark = "attention" | "error" | "unread" | "running" | "background";

/** The one mark of a row, the weightiest that applies. */
export function markOf(session: SessionSummary): Mark | undefined {
	if (session.attention) return "attention";
	if (session.error) return "error";
	if (session.unread) return "unread";
	if (session.running) return "running";
	return session.background > 0 ? "background" : undefined;
}
