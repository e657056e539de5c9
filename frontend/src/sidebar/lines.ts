import type { SessionSummary } from "@/contract/session.gen";
import { type ListPage, rowsOf, type SessionsState } from "@/state/sessions";

/** One line of the sidebar's list. */
export type Line =
	| { type: "session"; key: string; session: SessionSummary }
	| { type: "heading"; key: "archived" }
	| { type: "loading"; key: string }
	| { type: "failed"; key: string; list: "mine" | "archived" | "search" }
	| { type: "empty"; key: string; of: "mine" | "archived" | "search" };

export const ROW_HEIGHT = 52;

const sessions = (rows: SessionSummary[]): Line[] =>
	rows.map((session) => ({ type: "session", key: session.id, session }));

function ending(list: "mine" | "archived" | "search", page: ListPage, count: number): Line[] {
	if (page.status === "failed") return [{ type: "failed", key: `failed:${list}`, list }];
	if (page.status !== "ready" && count === 0) return [{ type: "loading", key: `loading:${list}` }];
	if (page.more) return [{ type: "loading", key: `loading:${list}` }];
	return count === 0 ? [{ type: "empty", key: `empty:${list}`, of: list }] : [];
}

/** What the list shows: a search's results, or the owner's sessions and, unfolded, the archived ones. */
export function linesOf(state: SessionsState, archivedOpen: boolean): Line[] {
	if (state.query.trim() !== "") {
		const found = rowsOf(state, "search");
		return [...sessions(found), ...ending("search", state.lists.search, found.length)];
	}
	const mine = rowsOf(state, "mine");
	const lines: Line[] = [...sessions(mine), ...ending("mine", state.lists.mine, mine.length)];
	lines.push({ type: "heading", key: "archived" });
	if (archivedOpen) {
		const archived = rowsOf(state, "archived");
		lines.push(...sessions(archived), ...ending("archived", state.lists.archived, archived.length));
	}
	return lines;
}
