import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { FakeError, FakeServer } from "@/test/fake-server";
import { client, settle, soon, stillTime } from "@/test/harness";
import { agent, approvalOf, tool, turn, user } from "@/test/items";

stillTime();

/** Longer than the first pause before a new connection. */
const reconnect = () => vi.advanceTimersByTimeAsync(600);

async function opened(server = new FakeServer(), items: Parameters<FakeServer["session"]>[1] = []) {
	server.session({ id: "s" }, items);
	const parts = client(server);
	parts.link.start();
	const session = parts.app.look("s");
	parts.app.enter("s");
	await soon();
	return { ...parts, session, server, shown: () => session.store.getState().items };
}

describe("losing the connection", () => {
	test("FAIL-A1 cut 50 times at random in mid-turn, the timeline equals the server's every time", async () => {
		const { server, session, transport, shown } = await opened();
		const random = fc.sample(fc.integer({ min: 0, max: 9 }), { numRuns: 600, seed: 7 });
		const next = () => random.pop() ?? 0;
		let text = 0;
		server.start("s", turn({ itemId: "t" }));
		server.start("s", agent({ itemId: "a0" }));
		for (let cut = 0; cut < 50; cut++) {
			for (let n = next(); n >= 0; n--) {
				server.delta("s", `a${text}`, `word-${cut}-${n} `);
				if (next() === 0) {
					server.complete("s", agent({ itemId: `a${text}`, text: `final ${text}` }));
					server.start("s", agent({ itemId: `a${++text}` }));
				}
				if (next() > 4) await settle();
			}
			transport.cut();
			// She goes on while nobody is there.
			server.delta("s", `a${text}`, `unseen-${cut} `);
			await vi.advanceTimersByTimeAsync(1_000);
			expect(session.store.getState().phase).toBe("live");
			expect(shown()).toEqual(server.need("s").items);
		}
	});

	test("FAIL-A9 twenty reconnects of an idle tab change nothing", async () => {
		const items = [user({ itemId: "u" }), agent({ itemId: "a", text: "Yes." })];
		const { transport, shown } = await opened(new FakeServer(), items);
		for (let n = 0; n < 20; n++) {
			transport.cut();
			await reconnect();
			expect(shown()).toEqual(items);
		}
	});

	test("FAIL-A4 a lost end of a turn and a lost approval are both in the next snapshot", async () => {
		const { app, server, session, transport } = await opened();
		server.start("s", turn({ itemId: "t", turnId: "t" }));
		await soon();
		transport.filter = (frame) => !/item\/completed|approval\/requested|item\/started/.test(frame);
		server.complete("s", turn({ itemId: "t", turnId: "t", outcome: "replied" }));
		server.start("s", tool({ itemId: "c", approvalId: "p" }));
		server.request(approvalOf({ id: "p", sessionId: "s", callId: "c" }));
		await soon();
		expect(app.approvals.getState().pending.size).toBe(0);
		transport.filter = () => true;
		transport.cut();
		await reconnect();
		expect(session.store.getState().items).toMatchObject([
			{ outcome: "replied" },
			{ approvalId: "p" },
		]);
		expect([...app.approvals.getState().pending.keys()]).toEqual(["p"]);
	});

	test("FAIL-A5 a turn that ended while nobody was connected shows its outcome and time", async () => {
		const { server, session, transport } = await opened();
		server.start("s", turn({ itemId: "t" }));
		server.start("s", agent({ itemId: "a", text: "Nearly" }));
		await soon();
		transport.cut();
		server.complete("s", agent({ itemId: "a", text: "Nearly done. Done." }));
		server.complete("s", turn({ itemId: "t", outcome: "replied", endedAt: 1_700_000_009_000 }));
		await reconnect();
		expect(session.store.getState().items).toMatchObject([
			{ outcome: "replied", endedAt: 1_700_000_009_000 },
			{ text: "Nearly done. Done." },
		]);
	});

	test("FAIL-A6 reconnecting while the last frame is on its way leaves one item", async () => {
		const { server, transport, shown } = await opened();
		server.start("s", agent({ itemId: "a" }));
		server.delta("s", "a", "The answer");
		await soon();
		server.complete("s", agent({ itemId: "a", text: "The answer." }));
		transport.cut();
		await reconnect();
		server.complete("s", agent({ itemId: "a", text: "The answer." }));
		await soon();
		expect(shown()).toEqual([agent({ itemId: "a", text: "The answer." })]);
	});

	test("SP-CONN-08 a restarted service is met with a new handshake, and its epoch taken over", async () => {
		const { server, session } = await opened(new FakeServer(), [user({ itemId: "u" })]);
		expect(session.store.getState().epoch).toBe("epoch-1");
		server.restart();
		await reconnect();
		expect(session.store.getState()).toMatchObject({ phase: "live", epoch: "epoch-2" });
		server.complete("s", agent({ itemId: "a", text: "Back." }));
		await soon();
		expect(session.store.getState().items).toHaveLength(2);
	});

	test("SP-SUB-20 a push of another epoch leads to a new subscription", async () => {
		const { server, session } = await opened();
		server.epoch = "epoch-9";
		server.seq = 0;
		server.complete("s", user({ itemId: "u" }));
		await soon();
		expect(server.requestsOf("session/subscribe")).toHaveLength(2);
		expect(session.store.getState()).toMatchObject({ phase: "live", epoch: "epoch-9" });
		expect(session.store.getState().items).toHaveLength(1);
	});
});

describe("resync and history", () => {
	test("SP-SUB-35 on a resync the session is subscribed again and only that counts", async () => {
		const { server, shown } = await opened(new FakeServer(), [
			user({ itemId: "u1" }),
			user({ itemId: "u2" }),
		]);
		server.resync("s", [user({ itemId: "u1" })]);
		server.start("s", agent({ itemId: "a", text: "x" }));
		await soon();
		expect(server.requestsOf("session/subscribe")).toHaveLength(2);
		expect(shown().map((item) => item.itemId)).toEqual(["u1", "a"]);
	});

	test("older pages come one by one to the beginning, each item once", async () => {
		const server = new FakeServer();
		server.pageSize = 40;
		const items = Array.from({ length: 210 }, (_, n) => user({ itemId: `u${n}`, at: n }));
		const { session, shown } = await opened(server, items);
		while (session.store.getState().before !== undefined) {
			void session.loadOlder();
			void session.loadOlder();
			await soon();
		}
		expect(shown()).toEqual(items);
		expect(server.requestsOf("session/history")).toHaveLength(5);
	});

	test("a place in the history that was rewound away leads to a new snapshot", async () => {
		const server = new FakeServer();
		const items = Array.from({ length: 90 }, (_, n) => user({ itemId: `u${n}`, at: n }));
		const { session, shown } = await opened(server, items);
		server.need("s").items = items.filter(
			(item) => item.itemId !== session.store.getState().before,
		);
		await session.loadOlder();
		await soon();
		expect(session.store.getState().phase).toBe("live");
		expect(shown()).toEqual(server.need("s").items.slice(-40));
	});

	test("a reader far up keeps the place over a reconnect", async () => {
		const items = Array.from({ length: 200 }, (_, n) => user({ itemId: `u${n}`, at: n }));
		const { session, transport, shown } = await opened(new FakeServer(), items);
		await session.loadOlder();
		await session.loadOlder();
		session.anchor = "u90";
		transport.cut();
		await reconnect();
		expect(shown().some((item) => item.itemId === "u90")).toBe(true);
		expect(shown()).toEqual(items.slice(-shown().length));
	});

	test("a session that does not exist is gone; a failure can be tried again", async () => {
		const { app, server } = await opened();
		const nobody = app.look("nobody");
		await soon();
		expect(nobody.store.getState().phase).toBe("gone");
		server.session({ id: "bad" });
		server.intercept = (method, params) => {
			if (method === "session/subscribe" && params.sessionId === "bad") {
				throw new FakeError(-32603, "The disk is full.");
			}
			return undefined;
		};
		const bad = app.look("bad");
		await soon();
		expect(bad.store.getState()).toMatchObject({ phase: "failed", error: "The disk is full." });
		delete server.intercept;
		await bad.subscribe();
		expect(bad.store.getState().phase).toBe("live");
	});
});

describe("sending", () => {
	const sent = (server: FakeServer) => server.requestsOf("turn/send");
	const words = (server: FakeServer) =>
		server.need("s").items.flatMap((item) => (item.kind === "user-message" ? item.text : []));

	test("FAIL-A17 a message is acknowledged and seen, or says that it failed; nothing else", async () => {
		const { server, session } = await opened();
		let n = 0;
		server.intercept = (method) => {
			if (method === "turn/send" && ++n % 3 === 0) throw new FakeError(-32603, "The disk is full.");
			return undefined;
		};
		for (let message = 0; message < 200; message++) session.send(`message ${message}`);
		await soon(50);
		const failed = session.outbox.getState();
		expect(failed.every((entry) => entry.state === "failed")).toBe(true);
		expect([...words(server), ...failed.map((entry) => entry.text)].sort()).toEqual(
			Array.from({ length: 200 }, (_, message) => `message ${message}`).sort(),
		);
		expect(failed[0]?.message).toBe("The disk is full.");
	});

	test("FAIL-A20 an answer that got lost leads to a repeated request and one message", async () => {
		const { server, session, transport } = await opened();
		transport.filter = () => false;
		session.send("Once only");
		await soon();
		transport.cut();
		transport.filter = () => true;
		await reconnect();
		await soon();
		expect(sent(server)).toHaveLength(2);
		expect(sent(server)[0]).toEqual(sent(server)[1]);
		expect(words(server)).toEqual(["Once only"]);
		expect(session.outbox.getState()).toEqual([]);
	});

	test("what is written without a connection leaves with the next one, in order", async () => {
		const { server, session, transport } = await opened();
		transport.wire = "down";
		transport.cut();
		await soon();
		session.send("first");
		session.send("second");
		await soon(5_000);
		expect(session.outbox.getState().map((entry) => entry.state)).toEqual(["sending", "sending"]);
		transport.wire = "up";
		await soon(11_000);
		expect(words(server)).toEqual(["first", "second"]);
		expect(session.outbox.getState()).toEqual([]);
	});

	test("a message nobody confirmed before a reload is offered, not sent by itself", async () => {
		localStorage.setItem(
			"aalis.outbox.s",
			JSON.stringify([{ clientId: "c1", text: "left over", at: 1, state: "sending" }]),
		);
		const { server, session } = await opened();
		expect(sent(server)).toEqual([]);
		expect(session.outbox.getState()).toMatchObject([{ clientId: "c1", state: "failed" }]);
		session.retry("c1");
		await soon();
		expect(sent(server)).toMatchObject([{ content: "left over", ext: { clientId: "c1" } }]);
		expect(session.outbox.getState()).toEqual([]);
		expect(localStorage.getItem("aalis.outbox.s")).toBeNull();
	});

	test("a message that waits in the queue is no longer on its way", async () => {
		const { server, session } = await opened();
		server.intercept = (method, params) => {
			if (method !== "turn/send") return undefined;
			const { clientId } = params.ext as { clientId: string };
			setTimeout(() => {
				server.complete("s", {
					kind: "queue",
					itemId: "queue",
					at: 1,
					entries: [
						{
							speaker: { platform: "webui", owner: true },
							text: "later",
							attachments: 0,
							ext: { clientId },
						},
					],
				});
			}, 0);
			return {};
		};
		session.send("later");
		await soon();
		expect(session.outbox.getState()).toEqual([]);
	});
});
