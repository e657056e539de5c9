import { describe, expect, test } from "vitest";
import type { RoomGroup, SessionSummary } from "@/contract/session.gen";
import { localeOf } from "@/i18n/i18n";
import type { RoomTable } from "@/state/rooms";
import {
	emptySessions,
	groupKey,
	type ListName,
	reduceSessions,
	type SessionsAction,
	type SessionsState,
} from "@/state/sessions";
import { roomOf, summaryOf } from "@/test/fake-server";
import { linesOf, shownSessions, tableOf } from "./lines";

const en = localeOf("en");
const group: RoomGroup = {
	platform: "onebot",
	instance: "bot",
	label: "QQ (work)",
	rooms: 9,
	accounts: 2,
	attention: 0,
};
const bot = groupKey(group);

const run = (...actions: SessionsAction[]): SessionsState =>
	actions.reduce(reduceSessions, emptySessions);
const read = (list: ListName, ...sessions: SessionSummary[]): SessionsAction[] => [
	{ type: "loading", list },
	{ type: "page", list, sessions, groups: [group], more: false, first: true },
];
const rooms = (count: number) =>
	Array.from({ length: count }, (_, n) =>
		summaryOf(roomOf({ id: `r${n}`, title: `Room ${count - n}`, updatedAt: -n })),
	);
const facts = (state: SessionsState) =>
	linesOf(state, false, en).map((line) => (line.type === "session" ? line.facts : line.type));

describe("a group's rooms", () => {
	const opened = (count: number, table: Partial<RoomTable> = {}) =>
		run(...read("mine"), { type: "view", view: bot }, ...read(bot, ...rooms(count)), {
			type: "table",
			table,
		});

	test("SP-LIST-27 no row is shown before all of them are here", () => {
		const state = run(
			...read("mine"),
			{ type: "view", view: bot },
			{ type: "loading", list: bot },
			{ type: "changed", upserts: rooms(3), removes: [] },
		);
		expect(linesOf(state, false, en)).toMatchObject([{ type: "loading", list: bot }]);
		expect(tableOf(state, bot, en.compare)).toMatchObject({ count: 9, arranged: true });
	});

	test("they stay while they are read again, and after that failed", () => {
		const before = opened(2);
		const again = reduceSessions(before, { type: "loading", list: bot });
		expect(shownSessions(again, en)).toEqual(["r0", "r1"]);
		const failed = reduceSessions(again, { type: "failed", list: bot });
		expect(linesOf(failed, false, en).map(({ type }) => type)).toEqual([
			"session",
			"session",
			"failed",
		]);
	});

	test("SP-LIST-27 they are filtered and sorted here", () => {
		const state = opened(12, { filter: "r1", sort: "name" });
		expect(shownSessions(state, en)).toEqual(["r11", "r10", "r1"]);
		expect(tableOf(state, bot, en.compare)).toMatchObject({ count: 12, arranged: true });
	});

	test("a filter that fits nothing says so", () => {
		expect(facts(opened(12, { filter: "zebra" }))).toEqual(["empty"]);
	});

	test("few of them are in order of activity and have no tools; those being filtered keep theirs", () => {
		const few = opened(8, { sort: "name" });
		expect(tableOf(few, bot, en.compare).arranged).toBe(false);
		expect(shownSessions(few, en)[0]).toBe("r0");
		expect(tableOf(opened(9, { sort: "name" }), bot, en.compare).arranged).toBe(true);
		expect(tableOf(opened(3, { filter: "x" }), bot, en.compare).arranged).toBe(true);
	});

	test("SP-GROUP-12 SP-SUM-11 each row has its kind and its account", () => {
		expect(facts(opened(2))).toEqual(["group · 10001", "group · 10001"]);
	});

	test("the filter of one group is not the next one's", () => {
		const state = reduceSessions(opened(12, { filter: "x" }), { type: "view", view: "all" });
		expect(state.table.filter).toBe("");
	});
});

describe("rooms among others", () => {
	test("SP-GROUP-09 say whose they are in the words the server gave", () => {
		const state = run({ type: "query", query: "r" }, ...read("search", ...rooms(1)));
		expect(facts(state)).toEqual(["QQ (work) · group · 10001"]);
	});
});

describe("what runs in the background", () => {
	test("SP-LIST-32 every row says how much", () => {
		const state = run(
			{ type: "view", view: "running" },
			...read(
				"running",
				summaryOf({ id: "a", attention: true, background: 3 }),
				summaryOf(roomOf({ id: "b", background: 1 })),
			),
		);
		expect(facts(state)).toEqual([
			"3 in background",
			"1 in background · QQ (work) · group · 10001",
		]);
	});

	test("SP-LIST-32 when the last one ends, the list says that nothing runs", () => {
		const state = run(
			{ type: "view", view: "running" },
			...read("running", summaryOf({ id: "a", background: 1 })),
			{ type: "changed", upserts: [summaryOf({ id: "a" })], removes: [] },
		);
		expect(linesOf(state, false, en)).toMatchObject([{ type: "empty", list: "running" }]);
	});
});
