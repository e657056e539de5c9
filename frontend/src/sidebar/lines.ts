import type { SessionSummary } from "@/contract/session.gen";
import type { Locale } from "@/i18n/i18n";
import { filterRooms, roomFacts, sortRooms } from "@/state/rooms";
import {
	type GroupKey,
	groupKey,
	groupOf,
	type ListName,
	listOf,
	type Mark,
	markOf,
	rowsOf,
	type SessionsState,
} from "@/state/sessions";

/** One line of the sidebar's list. */
export type Line =
	| {
			type: "session";
			key: string;
			session: SessionSummary;
			/** What the second line begins with. */
			facts: string;
			mark: Mark | undefined;
	  }
	| { type: "heading"; key: "archived" }
	| { type: "loading" | "failed" | "empty"; key: string; list: ListName };

export const ROW_HEIGHT = 52;

/** With so few rooms there is nothing to filter or sort. */
const FEW = 8;

type Words = Pick<Locale, "t" | "compare">;
type Facts = (session: SessionSummary) => string[];

const sessions = (rows: SessionSummary[], facts: Facts): Line[] =>
	rows.map((session) => ({
		type: "session",
		key: session.id,
		session,
		facts: facts(session).join(" · "),
		mark: markOf(session),
	}));

function ending(state: SessionsState, list: ListName, count: number): Line[] {
	const { status, more } = listOf(state, list);
	const line = (type: "loading" | "failed" | "empty"): Line[] => [
		{ type, key: `${type}:${list}`, list },
	];
	if (status === "failed") return line("failed");
	if (more || (status !== "ready" && count === 0)) return line("loading");
	return count === 0 ? line("empty") : [];
}

function listed(state: SessionsState, list: ListName, facts: Facts): Line[] {
	const rows = rowsOf(state, list);
	return [...sessions(rows, facts), ...ending(state, list, rows.length)];
}

/** What the sidebar lists in the view a person is in. */
export function linesOf(state: SessionsState, archivedOpen: boolean, words: Words): Line[] {
	const { view } = state;
	// Among others, a room also says whose it is (SP-GROUP-09).
	const whose: Facts = (session) => {
		if (session.section === "owner") return [];
		const group = groupOf(state, groupKey(session));
		return [...(group ? [group.label] : []), ...roomFacts(session, group)];
	};
	if (view === "running") {
		const work: Facts = (session) => [
			words.t("mark.background", { count: session.background }),
			...whose(session),
		];
		// The words say what that mark would.
		return listed(state, "running", work).map((line) =>
			line.type === "session" && line.mark === "background" ? { ...line, mark: undefined } : line,
		);
	}
	if (view !== "all") return roomLines(state, view, words);
	if (state.query.trim() !== "") return listed(state, "search", whose);
	const lines = listed(state, "mine", whose);
	lines.push({ type: "heading", key: "archived" });
	return archivedOpen ? [...lines, ...listed(state, "archived", whose)] : lines;
}

/** A group's rooms, once all of them are here: part of them would be filtered and sorted wrongly. */
function roomLines(state: SessionsState, key: GroupKey, { compare }: Words): Line[] {
	if (!listOf(state, key).loaded) return ending(state, key, 0);
	const { shown } = tableOf(state, key, compare);
	const group = groupOf(state, key);
	return [
		...sessions(shown, (session) => roomFacts(session, group)),
		...ending(state, key, shown.length),
	];
}

/** The rooms of a group as they are looked at (SP-LIST-27), and how many there are. */
export function tableOf(
	state: SessionsState,
	key: GroupKey,
	compare: Words["compare"],
): { shown: SessionSummary[]; count: number; arranged: boolean } {
	const rooms = rowsOf(state, key);
	const { filter, sort } = state.table;
	const group = groupOf(state, key);
	const count = listOf(state, key).loaded ? rooms.length : (group?.rooms ?? 0);
	const arranged = count > FEW || filter !== "";
	const shown = arranged ? sortRooms(filterRooms(rooms, filter, group), sort, compare) : rooms;
	return { shown, count, arranged };
}

/** The ids of the sessions in view, in their order. */
export const shownSessions = (state: SessionsState, words: Words): string[] =>
	linesOf(state, false, words).flatMap((line) => (line.type === "session" ? line.session.id : []));
