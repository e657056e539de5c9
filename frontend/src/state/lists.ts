import { createStore } from "zustand/vanilla";
import type { RoomGroup, SessionSummary, SessionsListParams } from "@/contract/session.gen";
import type { Port } from "./port";
import type { RoomTable } from "./rooms";
import {
	belongs,
	emptySessions,
	type GroupKey,
	groupOf,
	type ListName,
	listOf,
	reduceSessions,
	type SessionsAction,
	type View,
} from "./sessions";

const PAGE = 50;
const LARGEST_PAGE = 200;
/** More sessions than there are. */
const ALL = Number.POSITIVE_INFINITY;

const paramsOf = { mine: { section: "owner" }, archived: { archived: true } } as const;

/** Reads the lists of sessions over a connection and keeps them right. */
export class SessionLists {
	readonly store = createStore(() => emptySessions);
	private readonly cursors = new Map<ListName, string>();
	/** What each opened group asks for; known before the groups of a new connection are. */
	private readonly groups = new Map<GroupKey, SessionsListParams>();
	private searchesArchived = false;
	/** Whose children have been read in this connection. */
	private readonly known = new Set<string>();

	constructor(private readonly port: Port) {}

	private do(action: SessionsAction): void {
		this.store.setState(reduceSessions(this.store.getState(), action), true);
	}

	/** Reads again what was read before the connection, and what is always there. */
	opened(): void {
		const known = [...this.known];
		this.known.clear();
		for (const parent of known) this.know(parent);
		void this.loadFirst("mine");
		void this.loadRunning();
		if (listOf(this.store.getState(), "archived").status !== "idle")
			void this.loadFirst("archived");
		for (const [key, params] of this.groups) void this.load(key, params, ALL);
	}

	changed(change: { upserts: SessionSummary[]; removes: string[]; groups?: RoomGroup[] }): void {
		this.do({ type: "changed", ...change });
	}

	/** Reads a list from its start, as far as it had been read before, and swaps it in at once. */
	loadFirst(list: "mine" | "archived"): Promise<void> {
		let wanted = 0;
		for (const session of this.store.getState().byId.values()) {
			if (belongs(list, session)) wanted++;
		}
		return this.load(list, paramsOf[list], wanted);
	}

	/** Reads all that has something running in the background (SP-LIST-32). */
	loadRunning(): Promise<void> {
		return this.load("running", { background: true }, ALL);
	}

	private async load(
		list: Exclude<ListName, "search">,
		params: SessionsListParams,
		wanted: number,
	): Promise<void> {
		this.do({ type: "loading", list });
		try {
			const sessions: SessionSummary[] = [];
			let groups: RoomGroup[];
			let cursor: string | undefined;
			do {
				const page = await this.port.call("sessions/list", {
					...params,
					limit: Math.min(LARGEST_PAGE, Math.max(PAGE, wanted - sessions.length)),
					...(cursor === undefined ? {} : { cursor }),
				});
				sessions.push(...page.sessions);
				cursor = page.nextCursor;
				groups = page.groups;
			} while (cursor !== undefined && sessions.length < wanted);
			this.keepCursor(list, cursor);
			this.do({ type: "page", list, sessions, groups, more: cursor !== undefined, first: true });
		} catch {
			this.do({ type: "failed", list });
		}
	}

	async loadMore(list: "mine" | "archived" | "search"): Promise<void> {
		const { status, more } = this.store.getState().lists[list];
		if (status === "loading" || !more) return;
		if (list === "search") return this.searchPage(false);
		this.do({ type: "loading", list });
		const cursor = this.cursors.get(list);
		try {
			const { sessions, groups, nextCursor } = await this.port.call("sessions/list", {
				...paramsOf[list],
				limit: PAGE,
				...(cursor === undefined ? {} : { cursor }),
			});
			this.keepCursor(list, nextCursor);
			this.do({
				type: "page",
				list,
				sessions,
				groups,
				more: nextCursor !== undefined,
				first: false,
			});
		} catch {
			this.do({ type: "failed", list });
		}
	}

	private keepCursor(list: ListName, cursor: string | undefined): void {
		if (cursor === undefined) this.cursors.delete(list);
		else this.cursors.set(list, cursor);
	}

	// ---- views -----------------------------------------------------------------------------------

	/** Shows a view. A group is read to its end when it is first opened (SP-LIST-26), and after a failure. */
	show(view: View): void {
		this.do({ type: "view", view });
		if (view === "all" || view === "running") return;
		const group = groupOf(this.store.getState(), view);
		if (!group) return;
		const { platform, instance } = group;
		const params = instance === undefined ? { platform } : { instance };
		this.groups.set(view, params);
		const { status } = listOf(this.store.getState(), view);
		if (status === "idle" || status === "failed") void this.load(view, params, ALL);
	}

	/** Changes how the rooms of the group in view are looked at. */
	arrange(table: Partial<RoomTable>): void {
		this.do({ type: "table", table });
	}

	// ---- searching -------------------------------------------------------------------------------

	/** Searches titles and names of both sections, then those of archived sessions. */
	search(query: string): void {
		if (query === this.store.getState().query) return;
		this.do({ type: "query", query });
		this.cursors.delete("search");
		this.searchesArchived = false;
		if (query.trim() !== "") void this.searchPage(true);
	}

	private async searchPage(first: boolean): Promise<void> {
		const { query } = this.store.getState();
		const cursor = this.cursors.get("search");
		this.do({ type: "loading", list: "search" });
		try {
			const { sessions, groups, nextCursor } = await this.port.call("sessions/list", {
				query,
				limit: PAGE,
				...(this.searchesArchived ? { archived: true } : {}),
				...(cursor === undefined ? {} : { cursor }),
			});
			if (query !== this.store.getState().query) return;
			this.keepCursor("search", nextCursor);
			const lastOfActive = !this.searchesArchived && nextCursor === undefined;
			if (lastOfActive) this.searchesArchived = true;
			const more = nextCursor !== undefined || lastOfActive;
			this.do({ type: "page", list: "search", sessions, groups, more, first });
			if (lastOfActive) await this.searchPage(false);
		} catch {
			if (query === this.store.getState().query) this.do({ type: "failed", list: "search" });
		}
	}

	/** A few sessions whose titles fit, for the palette. */
	async find(query: string, limit: number): Promise<SessionSummary[]> {
		try {
			const { sessions } = await this.port.call("sessions/list", { query, limit });
			this.changed({ upserts: sessions, removes: [] });
			return sessions;
		} catch {
			return [];
		}
	}

	// ---- sub-sessions ----------------------------------------------------------------------------

	/** The direct children of a session, for the way down the tree; they are kept, and pushes keep them right. */
	async children(parentId: string): Promise<SessionSummary[]> {
		const { revision } = this.store.getState();
		const { sessions } = await this.port.call("sessions/list", { parentId, limit: LARGEST_PAGE });
		// What was told since is newer than what the page says.
		const { told } = this.store.getState();
		const upserts = sessions.filter(({ id }) => (told.get(id) ?? 0) <= revision);
		this.changed({ upserts, removes: [] });
		return sessions;
	}

	/** Reads the children of a session once in a connection, so that whoever names them can show them. */
	know(parentId: string): void {
		if (this.known.has(parentId)) return;
		this.known.add(parentId);
		this.children(parentId).catch(() => this.known.delete(parentId));
	}
}
