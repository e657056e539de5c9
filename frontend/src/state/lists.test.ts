import { describe, expect, test } from "vitest";
import type { SessionSummary } from "@/contract/session.gen";
import { FakeServer, roomOf, summaryOf } from "@/test/fake-server";
import { soon, started, stillTime } from "@/test/harness";
import {
	emptySessions,
	groupKey,
	type ListName,
	listOf,
	markOf,
	reduceSessions,
	rowsOf,
	type SessionsAction,
} from "./sessions";

stillTime();

async function opened(server: FakeServer) {
	const parts = await started(server);
	const { lists } = parts.app;
	const state = () => lists.store.getState();
	return {
		...parts,
		lists,
		state,
		ids: (list: ListName) => rowsOf(state(), list).map(({ id }) => id),
		requests: (key: string) => server.requestsOf("sessions/list").filter((one) => key in one),
	};
}

/** Tells every watching connection about sessions, as the server would in the middle of something else. */
function tell(server: FakeServer, ...upserts: SessionSummary[]): void {
	for (const { summary } of [...server.sessions.values()]) {
		const next = upserts.find(({ id }) => id === summary.id);
		if (next) server.need(summary.id).summary = next;
	}
	server.toWatchers(upserts, []);
}

describe("the lists", () => {
	test("SP-INC-09 the newest summary of an id replaces the one before", async () => {
		const server = new FakeServer();
		server.session({ id: "a", title: "Old", unread: true, reason: "x", error: true });
		const { state } = await opened(server);
		server.need("a").summary = summaryOf({ id: "a", title: "New", updatedAt: 1_800_000_000_000 });
		server.change("a", {});
		await soon();
		expect(state().byId.get("a")).toEqual(server.need("a").summary);
		server.toWatchers([], ["a"]);
		await soon();
		expect(state().byId.has("a")).toBe(false);
	});

	test("SP-LIST-45 a cursor goes back exactly as it came, and the pages together are the list", async () => {
		const server = new FakeServer();
		for (let n = 0; n < 120; n++) server.session({ id: `s${n}`, updatedAt: n });
		const { lists, state, ids, requests } = await opened(server);
		expect(ids("mine")).toHaveLength(50);
		while (state().lists.mine.more) await lists.loadMore("mine");
		expect(ids("mine")).toEqual(Array.from({ length: 120 }, (_, n) => `s${119 - n}`));
		expect(requests("section").map(({ cursor }) => cursor)).toEqual([
			undefined,
			"cursor:50",
			"cursor:100",
		]);
	});

	test("a page that was overtaken by a push does not bring the past back, whatever else is read", async () => {
		const server = new FakeServer();
		server.session({ id: "a", title: "Old" });
		server.session({ id: "b", title: "Here" });
		const { lists, state } = await opened(server);
		server.hold();
		const reading = [lists.loadFirst("mine")];
		for (const connection of server.connections) {
			const upserts = [summaryOf({ id: "a", title: "New" })];
			connection.push("sessions/changed", { upserts, removes: ["b"], groups: [] });
		}
		await soon();
		reading.push(lists.loadRunning());
		server.release();
		await Promise.all(reading);
		expect(state().byId.get("a")?.title).toBe("New");
		expect(state().byId.has("b")).toBe(false);
	});

	test("what was deleted while nobody watched is gone after a reconnect; what was loaded stays loaded", async () => {
		const server = new FakeServer();
		for (let n = 0; n < 80; n++) server.session({ id: `s${n}`, updatedAt: n });
		const { lists, transport, ids } = await opened(server);
		await lists.loadMore("mine");
		transport.cut();
		server.sessions.delete("s79");
		await soon(600);
		expect(ids("mine")).toHaveLength(79);
		expect(ids("mine")[0]).toBe("s78");
	});

	test("the order is: needs you, failed, unread, running, the rest; newest first", async () => {
		const server = new FakeServer();
		server.session({ id: "rest-old", updatedAt: 1 });
		server.session({ id: "rest-new", updatedAt: 2 });
		server.session({ id: "running", running: true, updatedAt: 9 });
		server.session({ id: "unread", unread: true, running: true, updatedAt: 3 });
		server.session({ id: "error", error: true, unread: true, updatedAt: 0 });
		server.session({ id: "attention", attention: true, error: true, updatedAt: 0 });
		const { state, ids } = await opened(server);
		expect(ids("mine")).toEqual([
			"attention",
			"error",
			"unread",
			"running",
			"rest-new",
			"rest-old",
		]);
		const marks = rowsOf(state(), "mine").map(markOf);
		expect(marks).toEqual(["attention", "error", "unread", "running", undefined, undefined]);
	});

	test("a search finds rooms behind the owner's sessions, and the archived ones behind both", async () => {
		const server = new FakeServer();
		server.session({ id: "1", title: "Apple pie", archived: true });
		server.session(roomOf({ id: "2", title: "Apple friends", updatedAt: 1_800_000_000_000 }));
		server.session({ id: "3", title: "Apple tree" });
		server.session({ id: "4", title: "Pear" });
		const { lists, ids } = await opened(server);
		lists.search("apple");
		await soon();
		expect(ids("search")).toEqual(["3", "2", "1"]);
		lists.search("");
		expect(ids("search")).toEqual([]);
	});

	test("an archived room is among the archived, behind the owner's sessions", async () => {
		const server = new FakeServer();
		server.session(roomOf({ id: "room", archived: true, updatedAt: 9 }));
		server.session({ id: "old", archived: true, updatedAt: 1 });
		const { lists, ids } = await opened(server);
		await lists.loadFirst("archived");
		expect(ids("archived")).toEqual(["old", "room"]);
	});
});

describe("a group of rooms", () => {
	const bot = groupKey({ platform: "onebot", instance: "bot" });
	const loose = groupKey({ platform: "onebot" });

	function withRooms(count: number): FakeServer {
		const server = new FakeServer();
		for (let n = 0; n < count; n++) server.session(roomOf({ id: `r${n}`, updatedAt: n }));
		return server;
	}

	test("SP-LIST-27 SP-LIST-26 is read to its end when it is opened, and not before", async () => {
		const { lists, state, ids, requests } = await opened(withRooms(450));
		expect(requests("instance")).toEqual([]);
		lists.show(bot);
		expect(listOf(state(), bot)).toMatchObject({ status: "loading", loaded: false });
		await soon();
		expect(requests("instance")).toEqual([
			{ instance: "bot", limit: 200 },
			{ instance: "bot", limit: 200, cursor: "cursor:200" },
			{ instance: "bot", limit: 200, cursor: "cursor:400" },
		]);
		expect(listOf(state(), bot)).toMatchObject({ status: "ready", loaded: true, more: false });
		expect(ids(bot)).toEqual(Array.from({ length: 450 }, (_, n) => `r${449 - n}`));
	});

	test("SP-LIST-27 filtering and sorting it asks the server nothing, and neither does coming back", async () => {
		const server = withRooms(10);
		const { lists } = await opened(server);
		lists.show(bot);
		await soon();
		const asked = server.requests.length;
		lists.arrange({ filter: "r1", sort: "name" });
		lists.show("all");
		lists.show(bot);
		await soon();
		expect(server.requests).toHaveLength(asked);
	});

	test("the one without an instance asks by platform and holds no room that has one", async () => {
		const server = withRooms(1);
		const { instance: _, ...without } = roomOf({ id: "loose" });
		server.session(without);
		const { lists, state, ids, requests } = await opened(server);
		expect(state().groups.map(groupKey)).toEqual([bot, loose]);
		lists.show(loose);
		await soon();
		expect(requests("platform")).toEqual([{ platform: "onebot", limit: 200 }]);
		expect(ids(loose)).toEqual(["loose"]);
	});

	test("pushes keep it right: changed, new, taken over by another instance, archived, deleted", async () => {
		const server = withRooms(4);
		const { lists, state, ids } = await opened(server);
		lists.show(bot);
		await soon();
		server.change("r0", { title: "Renamed", updatedAt: 10 });
		server.session(roomOf({ id: "new", updatedAt: 11 }));
		server.change("new", {});
		server.change("r1", { instance: "other" });
		server.change("r2", { archived: true });
		server.sessions.delete("r3");
		server.toWatchers([], ["r3"]);
		await soon();
		expect(ids(bot)).toEqual(["new", "r0"]);
		expect(state().byId.get("r0")?.title).toBe("Renamed");
		const counts = state().groups.map(({ instance, rooms }) => [instance, rooms]);
		expect(counts).toEqual([
			["bot", 2],
			["other", 1],
		]);
	});

	test("a push that came while it was read is newer than what was read", async () => {
		const server = withRooms(2);
		const { lists, state, ids } = await opened(server);
		server.hold();
		lists.show(bot);
		tell(server, summaryOf(roomOf({ id: "r0", title: "Pushed", updatedAt: 10 })));
		server.sessions.delete("r1");
		server.toWatchers([], ["r1"]);
		await soon();
		server.release();
		await soon();
		expect(ids(bot)).toEqual(["r0"]);
		expect(state().byId.get("r0")?.title).toBe("Pushed");
		expect(state().groups).toMatchObject([{ rooms: 1 }]);
	});

	test("it is read again after a reconnect, and what was deleted meanwhile is gone", async () => {
		const server = withRooms(3);
		const { lists, transport, ids } = await opened(server);
		lists.show(bot);
		await soon();
		transport.cut();
		server.sessions.delete("r2");
		server.session(roomOf({ id: "new", updatedAt: 5 }));
		await soon(600);
		expect(ids(bot)).toEqual(["new", "r1", "r0"]);
	});

	test("it is left when its last room is gone, and not gone back to by itself", async () => {
		const server = withRooms(1);
		const { lists, state } = await opened(server);
		lists.show(bot);
		await soon();
		server.change("r0", { archived: true });
		await soon();
		expect(state().view).toBe("all");
		server.change("r0", { archived: false });
		await soon();
		expect(state().view).toBe("all");
	});

	test("one that could not be read is read again when it is opened again", async () => {
		const server = withRooms(2);
		const { lists, transport, state, ids } = await opened(server);
		transport.wire = "down";
		transport.cut();
		lists.show(bot);
		await soon();
		expect(listOf(state(), bot)).toMatchObject({ status: "failed", loaded: false });
		transport.wire = "up";
		await soon(2_000);
		lists.show(bot);
		await soon();
		expect(ids(bot)).toEqual(["r1", "r0"]);
	});
});

describe("what runs in the background", () => {
	test("SP-LIST-32 it is fed from background: true, to the last page, archived sessions and rooms too", async () => {
		const server = new FakeServer();
		for (let n = 0; n < 210; n++) server.session({ id: `s${n}`, updatedAt: n, background: 1 });
		server.session({ id: "archived", archived: true, updatedAt: 500, background: 2 });
		server.session(roomOf({ id: "room", updatedAt: 900, background: 1 }));
		server.session({ id: "own", running: true });
		server.session({ id: "child", parentId: "s0", background: 1 });
		const { ids, requests } = await opened(server);
		server.change("child", { running: true });
		await soon();
		expect(requests("background")).toEqual([
			{ background: true, limit: 200 },
			{ background: true, limit: 200, cursor: "cursor:200" },
		]);
		expect(ids("running")).toHaveLength(212);
		expect(ids("running")[0]).toBe("archived");
		expect(ids("running").at(-1)).toBe("room");
	});

	test("SP-LIST-32 pushes keep it right: what begins comes in, what ends goes", async () => {
		const server = new FakeServer();
		server.session({ id: "a", background: 1 });
		server.session({ id: "b" });
		const { ids } = await opened(server);
		server.change("b", { background: 2 });
		server.change("a", { background: 0 });
		await soon();
		expect(ids("running")).toEqual(["b"]);
		expect(ids("mine")).toEqual(["a", "b"]);
	});

	test("SP-LIST-32 what ended while nobody watched is gone after a reconnect; what runs beyond the first page stays", async () => {
		const server = new FakeServer();
		for (let n = 0; n < 60; n++) server.session({ id: `s${n}`, updatedAt: n });
		server.change("s0", { background: 1 });
		server.session({ id: "put away", archived: true, background: 1 });
		const { transport, ids } = await opened(server);
		expect(ids("running")).toEqual(["put away", "s0"]);
		transport.cut();
		server.change("put away", { background: 0 });
		await soon(600);
		expect(ids("running")).toEqual(["s0"]);
	});

	test("SP-LIST-32 a first page of the owner's list takes nothing from it that another answer just told", () => {
		const far = summaryOf({ id: "far", background: 1 });
		const page = (list: ListName, ...sessions: SessionSummary[]): SessionsAction => ({
			type: "page",
			list,
			sessions,
			groups: [],
			more: list === "mine",
			first: true,
		});
		const actions: SessionsAction[] = [
			{ type: "changed", upserts: [far], removes: [] },
			{ type: "loading", list: "mine" },
			{ type: "loading", list: "running" },
			page("running", far),
			page("mine", summaryOf({ id: "near" })),
		];
		const state = actions.reduce(reduceSessions, emptySessions);
		expect(rowsOf(state, "running")).toEqual([far]);
	});
});
