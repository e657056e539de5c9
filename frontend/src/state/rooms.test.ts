import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionSummary } from "@/contract/session.gen";
import { roomOf, summaryOf } from "@/test/fake-server";
import { filterRooms, roomFacts, roomSorts, sortRooms } from "./rooms";

const room = (part: Partial<SessionSummary> & { id: string }) => summaryOf(roomOf(part));
const ids = (rooms: readonly SessionSummary[]) => rooms.map(({ id }) => id);
const { compare } = new Intl.Collator("en", { numeric: true });

describe("filtering the rooms of a group", () => {
	const rooms = [
		room({ id: "onebot:1:group:20001", title: "Garden club", account: "1" }),
		room({ id: "onebot:2:group:20002", title: "Book Club", account: "2" }),
		room({
			id: "onebot:2:private:7",
			title: "Ann",
			account: "2",
			chat: { type: "private", multiParty: false },
		}),
	];

	test.each([
		["", [0, 1, 2]],
		["   ", [0, 1, 2]],
		["club", [0, 1]],
		["CLUB book", [1]],
		["20002", [1]],
		["private", [2]],
		["2 club", [0, 1]],
		["zebra", []],
	])("SP-LIST-27 “%s”", (filter, left) => {
		expect(filterRooms(rooms, filter, { accounts: 2 })).toEqual(left.map((at) => rooms[at]));
	});

	test("SP-LIST-27 an account is found where it is shown, and words do not run into each other", () => {
		const two = [
			room({ id: "x", account: "445566" }),
			room({ id: "y", title: "x44", account: "55" }),
		];
		// Where there is one account no row shows it.
		expect(filterRooms(two, "445566", { accounts: 1 })).toEqual([]);
		expect(ids(filterRooms(two, "445566", { accounts: 2 }))).toEqual(["x"]);
		expect(ids(filterRooms(two, "4455", { accounts: 2 }))).toEqual(["x"]);
	});
});

describe("sorting the rooms of a group", () => {
	// In order of their last activity, as a list has them.
	const rooms = [
		room({ id: "a", title: "Room 10", lastReplyAt: 5 }),
		room({ id: "b", title: "room 9", attention: true }),
		room({ id: "c", title: "Anna", lastReplyAt: 8 }),
		room({ id: "d", title: "Zoo", attention: true, lastReplyAt: 1 }),
	];

	test.each([
		["activity", ["a", "b", "c", "d"]],
		["attention", ["b", "d", "a", "c"]],
		["reply", ["c", "a", "d", "b"]],
		["name", ["c", "b", "a", "d"]],
	] as const)("SP-LIST-27 by %s", (sort, order) => {
		expect(ids(sortRooms(rooms, sort, compare))).toEqual(order);
	});

	test("SP-LIST-27 every order holds the same rooms, leaves its input alone and is stable", () => {
		const some = fc.array(
			fc.record({ attention: fc.boolean(), reply: fc.option(fc.nat(2)), title: fc.string() }),
		);
		fc.assert(
			fc.property(some, fc.constantFrom(...roomSorts), (parts, sort) => {
				const before = parts.map(({ attention, reply, title }, n) =>
					room({
						id: String(n),
						attention,
						title,
						...(reply === null ? {} : { lastReplyAt: reply }),
					}),
				);
				const kept = [...before];
				const sorted = sortRooms(before, sort, compare);
				expect(before).toEqual(kept);
				expect(ids(sorted).sort()).toEqual(ids(before).sort());
				expect(sortRooms(sorted, sort, compare)).toEqual(sorted);
			}),
		);
	});
});

describe("what a room's row says", () => {
	test("SP-SUM-11 the platform's own name of its kind, as it came", () => {
		const kind = room({ id: "r", chat: { type: "  超级群_v2 ", multiParty: true } });
		expect(roomFacts(kind, { accounts: 1 })).toEqual(["  超级群_v2 "]);
		const { chat: _, ...none } = room({ id: "r" });
		expect(roomFacts(none, { accounts: 1 })).toEqual([]);
	});

	test.each([
		[0, ["group"]],
		[1, ["group"]],
		[2, ["group", "10001"]],
		[9, ["group", "10001"]],
	])("SP-GROUP-12 with %i accounts in its group", (accounts, facts) => {
		expect(roomFacts(room({ id: "r" }), { accounts })).toEqual(facts);
	});
});
