import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeServer, summaryOf } from "@/test/fake-server";
import { client } from "@/test/harness";
import { approvalOf, tool } from "@/test/items";
import { nameFrom } from "./app";
import { waitingApprovals } from "./approvals";
import { markOf, rowsOf } from "./sessions";

beforeEach(() => {
	vi.useFakeTimers();
});
afterEach(() => {
	vi.useRealTimers();
});

const soon = (ms = 5) => vi.advanceTimersByTimeAsync(ms);

async function started(server: FakeServer) {
	const parts = client(server);
	parts.link.start();
	await soon();
	return {
		...parts,
		mine: () => rowsOf(parts.app.sessions.getState(), "mine").map(({ id }) => id),
	};
}

describe("the lists", () => {
	test("SP-INC-09 the newest summary of an id replaces the one before", async () => {
		const server = new FakeServer();
		server.session({ id: "a", title: "Old", unread: true, reason: "x", error: true });
		const { app } = await started(server);
		server.need("a").summary = summaryOf({ id: "a", title: "New", updatedAt: 1_800_000_000_000 });
		server.change("a", {});
		await soon();
		expect(app.sessions.getState().byId.get("a")).toEqual(server.need("a").summary);
		server.toWatchers([], ["a"]);
		await soon();
		expect(app.sessions.getState().byId.has("a")).toBe(false);
	});

	test("SP-LIST-45 a cursor goes back exactly as it came, and the pages together are the list", async () => {
		const server = new FakeServer();
		for (let n = 0; n < 120; n++) server.session({ id: `s${n}`, updatedAt: n });
		const { app, mine } = await started(server);
		expect(mine()).toHaveLength(50);
		while (app.sessions.getState().lists.mine.more) await app.loadMore("mine");
		expect(mine()).toEqual(Array.from({ length: 120 }, (_, n) => `s${119 - n}`));
		expect(server.requestsOf("sessions/list").map(({ cursor }) => cursor)).toEqual([
			undefined,
			"cursor:50",
			"cursor:100",
		]);
	});

	test("a page that was overtaken by a push does not bring the past back", async () => {
		const server = new FakeServer();
		server.session({ id: "a", title: "Old" });
		const { app } = await started(server);
		server.hold();
		const loading = app.loadFirst("mine");
		for (const connection of server.connections) {
			const upserts = [summaryOf({ id: "a", title: "New" })];
			connection.push("sessions/changed", { upserts, removes: [], groups: [] });
		}
		await soon();
		server.release();
		await loading;
		expect(app.sessions.getState().byId.get("a")?.title).toBe("New");
	});

	test("what was deleted while nobody watched is gone after a reconnect; what was loaded stays loaded", async () => {
		const server = new FakeServer();
		for (let n = 0; n < 80; n++) server.session({ id: `s${n}`, updatedAt: n });
		const { app, transport, mine } = await started(server);
		await app.loadMore("mine");
		transport.cut();
		server.sessions.delete("s79");
		await soon(600);
		expect(mine()).toHaveLength(79);
		expect(mine()[0]).toBe("s78");
	});

	test("the order is: needs you, failed, unread, running, the rest; newest first", async () => {
		const server = new FakeServer();
		server.session({ id: "rest-old", updatedAt: 1 });
		server.session({ id: "rest-new", updatedAt: 2 });
		server.session({ id: "running", running: true, updatedAt: 9 });
		server.session({ id: "unread", unread: true, running: true, updatedAt: 3 });
		server.session({ id: "error", error: true, unread: true, updatedAt: 0 });
		server.session({ id: "attention", attention: true, error: true, updatedAt: 0 });
		const { app, mine } = await started(server);
		expect(mine()).toEqual(["attention", "error", "unread", "running", "rest-new", "rest-old"]);
		const marks = rowsOf(app.sessions.getState(), "mine").map(markOf);
		expect(marks).toEqual(["attention", "error", "unread", "running", undefined, undefined]);
	});

	test("a search finds the archived ones behind the others", async () => {
		const server = new FakeServer();
		server.session({ id: "1", title: "Apple pie", archived: true });
		server.session({ id: "2", title: "Apple tree" });
		server.session({ id: "3", title: "Pear" });
		const { app } = await started(server);
		app.search("apple");
		await soon();
		expect(rowsOf(app.sessions.getState(), "search").map(({ id }) => id)).toEqual(["2", "1"]);
		app.search("");
		expect(rowsOf(app.sessions.getState(), "search")).toEqual([]);
	});

	test("a session is named after the first line of its first message", async () => {
		const server = new FakeServer();
		const { app } = await started(server);
		const id = await app.start("  Tidy   up\nand more");
		await soon();
		expect(server.need(id).summary.title).toBe("Tidy up");
		expect(server.need(id).items).toMatchObject([{ text: "  Tidy   up\nand more" }]);
		expect([...nameFrom("好".repeat(100))]).toHaveLength(60);
	});

	test("sessions left behind stay subscribed for a while, then are let go", async () => {
		const server = new FakeServer();
		for (let n = 0; n < 6; n++) server.session({ id: `s${n}` });
		const { app } = await started(server);
		for (let n = 0; n < 6; n++) {
			app.look(`s${n}`);
			const leave = app.enter(`s${n}`);
			await soon();
			leave();
		}
		await soon();
		expect(server.requestsOf("session/unsubscribe").map(({ sessionId }) => sessionId)).toEqual([
			"s0",
			"s1",
			"s2",
		]);
	});
});

describe("approvals", () => {
	const present = (parts: ReturnType<typeof client>, active = true) =>
		parts.link.call("presence/update", { active });

	test("SP-APPR-09 one that is sent again is still one", async () => {
		const server = new FakeServer();
		const parts = await started(server);
		server.approvals.set("p", approvalOf({ id: "p", sessionId: "s" }));
		await present(parts);
		await present(parts, false);
		await present(parts);
		await soon();
		expect(waitingApprovals(parts.app.approvals.getState())).toHaveLength(1);
	});

	test("SP-APPR-28 the hash goes back exactly as it came", async () => {
		const server = new FakeServer();
		const parts = await started(server);
		const contentHash = " 0xABCDEF\u200b…é ";
		await present(parts);
		server.request(approvalOf({ id: "p", sessionId: "s", contentHash }));
		await soon();
		await parts.app.answer("p", "deny", "  not like this ");
		expect(server.requestsOf("approval/respond")).toEqual([
			{ approvalId: "p", decision: "deny", contentHash, note: "not like this" },
		]);
	});

	test("FAIL-B11 answered elsewhere, it is gone here at once", async () => {
		const server = new FakeServer();
		const here = await started(server);
		const there = await started(server);
		await present(here);
		await present(there);
		server.request(approvalOf({ id: "p", sessionId: "s" }));
		await soon();
		await there.app.answer("p", "approve");
		await soon(0);
		for (const { app } of [here, there])
			expect(waitingApprovals(app.approvals.getState())).toEqual([]);
	});

	test("FAIL-B11 one known by a snapshot alone is cleared by its card", async () => {
		const server = new FakeServer();
		const card = tool({ itemId: "c", approvalId: "p" });
		server.session({ id: "s" }, [card]);
		server.approvals.set("p", approvalOf({ id: "p", sessionId: "s", callId: "c" }));
		const { app } = await started(server);
		app.look("s");
		await soon();
		expect(app.approvals.getState().pending.size).toBe(1);
		server.start("s", {
			...card,
			settlement: { state: "expired", source: "timeout", at: 1 },
			status: "denied",
		});
		await soon();
		expect(app.approvals.getState().pending.size).toBe(0);
	});

	test("FAIL-B12 nothing waits that the server does not say waits", async () => {
		const server = new FakeServer();
		const parts = await started(server);
		await present(parts);
		server.request(approvalOf({ id: "p", sessionId: "s" }));
		await soon();
		server.approvals.clear();
		parts.transport.cut();
		await soon(600);
		expect(parts.app.approvals.getState().pending.size).toBe(0);
	});

	test("FAIL-B23 an answer that came second hears so, and the card goes", async () => {
		const server = new FakeServer();
		const parts = await started(server);
		await present(parts);
		server.request(approvalOf({ id: "p", sessionId: "s" }));
		await soon();
		server.approvals.clear();
		await parts.app.answer("p", "approve");
		expect(parts.app.approvals.getState().pending.size).toBe(0);
		expect(parts.app.toasts.getState()).toMatchObject([{ text: "This was settled already." }]);
	});

	test("FAIL-B8 what changed behind the card is not answered by it", async () => {
		const server = new FakeServer();
		server.session({ id: "s" });
		const parts = await started(server);
		parts.app.look("s");
		await present(parts);
		server.request(approvalOf({ id: "p", sessionId: "s", contentHash: "old" }));
		await soon();
		server.approvals.set("p", approvalOf({ id: "p", sessionId: "s", contentHash: "new" }));
		await parts.app.answer("p", "approve");
		await soon();
		expect(server.approvals.has("p")).toBe(true);
		const pending = parts.app.approvals.getState().pending.get("p");
		expect(pending).toMatchObject({ answer: "refused", approval: { contentHash: "new" } });
	});

	test("a second press while the first answer is on its way sends nothing", async () => {
		const server = new FakeServer();
		const parts = await started(server);
		await present(parts);
		server.request(approvalOf({ id: "p", sessionId: "s" }));
		await soon();
		await Promise.all([parts.app.answer("p", "approve"), parts.app.answer("p", "deny")]);
		expect(server.requestsOf("approval/respond")).toHaveLength(1);
	});
});
