import { afterEach, describe, expect, test, vi } from "vitest";
import { FakeError, FakeServer } from "@/test/fake-server";
import { client, soon, stillTime } from "@/test/harness";
import { Link, nudgeOnWake } from "./link";

stillTime();

describe("the handshake", () => {
	test("SP-INIT-01 initialize is the first frame of every connection", async () => {
		const server = new FakeServer();
		const { link, transport } = client(server);
		link.start();
		await soon();
		const first = JSON.parse(transport.sent[0] ?? "{}");
		expect(first).toEqual({
			jsonrpc: "2.0",
			id: 1,
			method: "initialize",
			params: { protocolVersion: "0.2.0", client: { name: "test", version: "1" } },
		});
		const before = transport.sent.length;
		transport.cut();
		await vi.advanceTimersByTimeAsync(400);
		expect(JSON.parse(transport.sent[before] ?? "{}").method).toBe("initialize");
	});

	test("SP-FRAME-06 a notification is not answered", async () => {
		const server = new FakeServer();
		const { link, transport } = client(server);
		link.start();
		await soon();
		const before = transport.sent.length;
		for (const connection of server.connections) {
			connection.push("features/changed", { features: server.features });
			connection.push("no/such", {});
		}
		await soon();
		expect(transport.sent.length).toBe(before);
	});

	test("a version the server does not speak ends the trying", async () => {
		const server = new FakeServer();
		server.intercept = (method) => {
			if (method !== "initialize") return undefined;
			// Right behind the answer.
			for (const connection of server.connections) {
				queueMicrotask(() => queueMicrotask(() => connection.drop("version")));
			}
			throw new FakeError(-32000, "0.2.0 and 0.3.0 do not fit.", "unsupported");
		};
		const { link, transport } = client(server);
		link.start();
		await vi.advanceTimersByTimeAsync(60_000);
		expect(link.connection.getState()).toEqual({
			phase: "refused",
			message: "0.2.0 and 0.3.0 do not fit.",
		});
		expect(transport.opened).toBe(1);
	});

	test("a tab that nobody let in says so and waits for a person", async () => {
		const server = new FakeServer();
		const { transport } = client(server);
		let admitted = false;
		const link = new Link({
			transport,
			client: { name: "test", version: "1" },
			admitted: async () => admitted,
		});
		link.start();
		await vi.advanceTimersByTimeAsync(60_000);
		expect(link.connection.getState().phase).toBe("signed-out");
		expect(transport.opened).toBe(0);
		admitted = true;
		link.nudge();
		await soon();
		expect(link.connection.getState().phase).toBe("open");
	});
});

describe("staying connected", () => {
	test("FAIL-A10 a connection that opens and never answers is given up in 10 s, with a growing pause", async () => {
		const server = new FakeServer();
		const { link, transport } = client(server);
		transport.wire = "hang";
		link.start();
		await vi.advanceTimersByTimeAsync(9_999);
		expect(link.connection.getState().phase).toBe("connecting");
		await vi.advanceTimersByTimeAsync(1);
		expect(link.connection.getState().phase).toBe("away");
		transport.wire = "down";
		const pauses: number[] = [];
		for (let n = 0; n < 8; n++) {
			const state = link.connection.getState();
			if (state.phase !== "away") throw new Error(`phase ${state.phase}`);
			pauses.push(state.retryAt - Date.now());
			await vi.advanceTimersByTimeAsync(state.retryAt - Date.now());
		}
		expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
	});

	test("FAIL-A10 pauses are spread by chance", async () => {
		const server = new FakeServer();
		const { transport } = client(server);
		transport.wire = "down";
		for (const [random, pause] of [
			[0, 125],
			[0.5, 188],
		] as const) {
			const link = new Link({
				transport,
				client: { name: "test", version: "1" },
				random: () => random,
			});
			link.start();
			await vi.advanceTimersByTimeAsync(0);
			const state = link.connection.getState();
			expect(state.phase === "away" && state.retryAt - Date.now()).toBe(pause);
			link.stop();
		}
	});

	test("FAIL-A3 a line that died without a word is noticed and repaired", async () => {
		const server = new FakeServer();
		const { link, transport } = client(server);
		link.start();
		await soon();
		transport.wire = "mute";
		await vi.advanceTimersByTimeAsync(20_000 + 8_000 + 100);
		expect(link.connection.getState().phase).toBe("away");
		transport.wire = "up";
		await vi.advanceTimersByTimeAsync(300);
		expect(link.connection.getState().phase).toBe("open");
	});

	test("a quiet line that answers stays", async () => {
		const server = new FakeServer();
		const { link, transport } = client(server);
		link.start();
		await vi.advanceTimersByTimeAsync(10 * 60_000);
		expect(link.connection.getState().phase).toBe("open");
		expect(transport.opened).toBe(1);
	});

	describe("while nobody sees the page", () => {
		const see = (state: "visible" | "hidden") => {
			vi.spyOn(document, "visibilityState", "get").mockReturnValue(state);
			document.dispatchEvent(new Event("visibilitychange"));
		};
		afterEach(() => vi.restoreAllMocks());

		test("nothing is asked and no timer waits, and the line is tried when it is seen again", async () => {
			const server = new FakeServer();
			const { link, transport } = client(server);
			const off = nudgeOnWake(link);
			link.start();
			await soon();
			expect(vi.getTimerCount()).toBe(1);
			see("hidden");
			expect(vi.getTimerCount()).toBe(0);
			for (const connection of server.connections) connection.push("no/such", {});
			await soon();
			expect(vi.getTimerCount()).toBe(0);
			const before = transport.sent.length;
			transport.wire = "mute";
			await vi.advanceTimersByTimeAsync(60 * 60_000);
			expect(transport.sent.length).toBe(before);
			expect(link.connection.getState().phase).toBe("open");
			see("visible");
			await vi.advanceTimersByTimeAsync(8_000 + 100);
			expect(link.connection.getState().phase).toBe("away");
			off();
		});

		test("a page that starts hidden rests, too", async () => {
			see("hidden");
			const { link } = client(new FakeServer());
			const off = nudgeOnWake(link);
			link.start();
			await soon();
			expect(link.connection.getState().phase).toBe("open");
			expect(vi.getTimerCount()).toBe(0);
			off();
		});
	});

	test("FAIL-A14 a hundred tries with the server down create nothing", async () => {
		const server = new FakeServer();
		const { link, transport } = client(server);
		transport.wire = "down";
		link.start();
		while (transport.opened < 100) await vi.advanceTimersByTimeAsync(10_000);
		transport.wire = "up";
		await vi.advanceTimersByTimeAsync(10_000);
		expect(link.connection.getState().phase).toBe("open");
		expect(server.requestsOf("session/create")).toEqual([]);
		expect(server.sessions.size).toBe(0);
	});

	test("a request in flight when the line breaks is told so; one without a line is refused at once", async () => {
		const server = new FakeServer();
		const { link, transport } = client(server);
		link.start();
		await soon();
		server.hold();
		const lost = link.call("sessions/list", {}).catch((error) => error.kind);
		transport.cut();
		await soon();
		expect(await lost).toBe("lost");
		expect(await link.call("sessions/list", {}).catch((error) => error.kind)).toBe("away");
	});
});
