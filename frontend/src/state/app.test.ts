import { describe, expect, test } from "vitest";
import type { Approval } from "@/contract/session.gen";
import { FakeServer } from "@/test/fake-server";
import { type client, soon, started, stillTime } from "@/test/harness";
import { approvalOf, tool } from "@/test/items";
import { waitingApprovals } from "./approvals";

stillTime();

describe("sessions", () => {
	test("a session comes into being without a name; the server's is shown as it comes", async () => {
		const server = new FakeServer();
		const { app } = await started(server);
		const id = await app.start("Tidy up the kitchen and the cellar");
		const title = () => app.lists.store.getState().byId.get(id)?.title;
		expect(server.requestsOf("session/create")).toEqual([{}]);
		expect(title()).toBe("");
		await soon();
		expect(server.need(id).items).toMatchObject([{ text: "Tidy up the kitchen and the cellar" }]);
		expect(title()).toBe("Tidy up the kitchen ");
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
	/** Somebody is there, and one approval is asked for. */
	async function asked(server: FakeServer, part: Partial<Approval> = {}) {
		const parts = await started(server);
		await present(parts);
		server.request(approvalOf({ id: "p", sessionId: "s", ...part }));
		await soon();
		return parts;
	}

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
		const contentHash = " 0xABCDEF\u200b…é ";
		const parts = await asked(server, { contentHash });
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
		const parts = await asked(server);
		server.approvals.clear();
		parts.transport.cut();
		await soon(600);
		expect(parts.app.approvals.getState().pending.size).toBe(0);
	});

	test("FAIL-B23 an answer that came second hears so, and the card goes", async () => {
		const server = new FakeServer();
		const parts = await asked(server);
		server.approvals.clear();
		await parts.app.answer("p", "approve");
		expect(parts.app.approvals.getState().pending.size).toBe(0);
		expect(parts.app.toasts.getState()).toMatchObject([{ text: "This was settled already." }]);
	});

	test("FAIL-B8 what changed behind the card is not answered by it", async () => {
		const server = new FakeServer();
		server.session({ id: "s" });
		const parts = await asked(server, { contentHash: "old" });
		parts.app.look("s");
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
		const parts = await asked(server);
		await Promise.all([parts.app.answer("p", "approve"), parts.app.answer("p", "deny")]);
		expect(server.requestsOf("approval/respond")).toHaveLength(1);
	});
});
