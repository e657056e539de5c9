import type { RoomGroup, SessionSummary } from "@/contract/session.gen";

/** How the rooms of a group can be put in order. */
export const roomSorts = ["activity", "attention", "reply", "name"] as const;
export type RoomSort = (typeof roomSorts)[number];

export interface RoomTable {
	readonly filter: string;
	readonly sort: RoomSort;
}

export const emptyTable: RoomTable = { filter: "", sort: "activity" };

type Accounts = Pick<RoomGroup, "accounts">;

/** What a room's row says about it: the platform's own name of its kind, and the bot's account where that could be another. */
export const roomFacts = (
	{ chat, account }: SessionSummary,
	group: Accounts | undefined,
): string[] =>
	// Spec SP-SUM-11, SP-GROUP-12
	[chat?.type, (group?.accounts ?? 0) > 1 ? account : undefined].filter(
		(fact) => fact !== undefined,
	);

/**
 * The rooms that have every word of `filter` in what their row shows, their id or the name of their
 * window, whatever the case.
 */
export function filterRooms(
	rooms: readonly SessionSummary[],
	filter: string,
	group: Accounts | undefined,
): SessionSummary[] {
	const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
	return rooms.filter((room) => {
		const shown = [room.title, room.id, room.place?.name, ...roomFacts(room, group)];
		const text = shown.join("\n").toLowerCase();
		return words.every((word) => text.includes(word));
	});
}

/** Sorts rooms that are in order of their last activity; that order decides between equals. */
export function sortRooms(
	rooms: readonly SessionSummary[],
	sort: RoomSort,
	compareTitles: (a: string, b: string) => number,
): SessionSummary[] {
	switch (sort) {
		case "activity":
			return [...rooms];
		case "attention":
			return rooms.toSorted((a, b) => Number(b.attention) - Number(a.attention));
		case "reply":
			return rooms.toSorted((a, b) => (b.lastReplyAt ?? 0) - (a.lastReplyAt ?? 0));
		case "name":
			return rooms.toSorted((a, b) => compareTitles(a.title, b.title));
	}
}
