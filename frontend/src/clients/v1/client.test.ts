import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, Client, EventLog, type FollowOptions, offersRetry, type V1Event } from ".";
import { readFrame } from "./events";
import { FrameReader } from "./sse";

const delta = (seq: number, text = String(seq)): V1Event => ({
	v: 1,
	seq,
	type: "message.delta",
	sessionId: "s",
	at: "2026-11-30T00:00:00.000Z",
	data: { messageId: "m", text },
});

const frame = (event: Record<string, unknown>) =>
	`event: ${event.type}\nid: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;

/** What one connection gives: an answer, an error, or pieces of a stream that then ends or stays open. */
type Line = Response | Error | { pieces: (string | Uint8Array)[]; open?: boolean };

/** A fetch that plays lines in turn and notes how it was asked; the last line is played for ever. */
function scripted(lines: Line[]) {
	const asked: { url: string; init: RequestInit; headers: Record<string, string> }[] = [];
	const play = async (url: string, init: RequestInit): Promise<Response> => {
		const line = lines[Math.min(asked.length, lines.length - 1)];
		asked.push({ url, init, headers: init.headers as Record<string, string> });
		if (!line || line instanceof Error) throw line;
		if (line instanceof Response) return line.clone();
		const encoder = new TextEncoder();
		return new Response(
			new ReadableStream<Uint8Array>({
				start(body) {
					for (const piece of line.pieces)
						body.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
					if (!line.open) body.close();
					init.signal?.addEventListener("abort", () => {
						try {
							body.error(init.signal?.reason);
						} catch {
							// it had ended
						}
					});
				},
			}),
		);
	};
	const client = new Client({ url: "http://server/", token: "t", fetch: play as typeof fetch });
	return { asked, client };
}

const refusal = (status: number, code: string, retryable = false) =>
	Response.json(
		{ error: { code, message: "words", retryable, requestId: "r", later: 1 } },
		{ status },
	);

/** Takes so many events; time passes as fast as the client waits for it. */
async function take(client: Client, count: number, options: FollowOptions = {}) {
	let over = false;
	const got = collect(client, count, options).finally(() => {
		over = true;
	});
	got.catch(() => undefined); // whoever awaits it gets it
	while (!over) await vi.advanceTimersToNextTimerAsync();
	return got;
}

async function collect(client: Client, count: number, options: FollowOptions = {}) {
	const got: V1Event[] = [];
	for await (const event of client.events("s", options)) {
		got.push(event);
		if (got.length === count) break;
	}
	return got;
}

const texts = (events: readonly V1Event[]) =>
	events.map((event) => (event.type === "message.delta" ? event.data.text : event.type)).join(" ");

beforeEach(() => {
	vi.useFakeTimers();
});
afterEach(() => {
	vi.useRealTimers();
});

describe("frames", () => {
	it("V1-082 V1-083 reads them wherever they are cut, with any end of line", () => {
		for (const end of ["\n", "\r\n", "\r"]) {
			const whole =
				`: hello\n\nevent: a\nid: 7\ndata: one\ndata:two\n\nretry: 5\ndata: three\n\nid: 9\n\ndata: cut`
					.split("\n")
					.join(end);
			for (let at = 0; at <= whole.length; at++) {
				const reader = new FrameReader();
				const got = [...reader.push(whole.slice(0, at)), ...reader.push(whole.slice(at))];
				expect(got, `cut at ${at}`).toEqual([
					{ event: "a", data: "one\ntwo", id: "7" },
					{ event: "message", data: "three" },
				]);
			}
		}
	});
	it("V1-103 puts a character together that was cut between its bytes", async () => {
		const bytes = new TextEncoder().encode(frame(delta(1, "你好")));
		const pieces = Array.from(bytes, (byte) => new Uint8Array([byte]));
		expect(texts(await take(scripted([{ pieces }]).client, 1))).toBe("你好");
	});
	it("V1-011 V1-013 V1-015 passes over what it does not know, and counts it", () => {
		const of = (data: unknown) => readFrame({ event: "x", id: "4", data: JSON.stringify(data) });
		for (const unknown of [
			{ ...delta(4), type: "tomorrow" },
			{ ...delta(4), v: 2 },
			[1],
			null,
			{ v: 1, seq: "4", type: "error", data: {} },
		])
			expect(of(unknown)).toEqual({ seq: 4 });
		expect(readFrame({ event: "x", data: "{" })).toEqual({});
	});
	it("V1-012 keeps an event that has more fields", () => {
		const more = { ...delta(4), later: { x: 1 } };
		expect(readFrame({ event: "x", data: JSON.stringify(more) }).event).toEqual(more);
	});
	it("V1-109 a heartbeat moves nothing", () => {
		const beat = { ...delta(9), type: "heartbeat", data: {} };
		expect(readFrame({ event: "heartbeat", data: JSON.stringify(beat) }).seq).toBeUndefined();
	});
});

describe("the log", () => {
	it("V1-094 V1-095 keeps one of each and sorts by number", () => {
		const log = new EventLog();
		expect([5, 1, 3, 5, 2, 4, 1].map((seq) => log.add(delta(seq)))).toEqual([
			true,
			true,
			true,
			false,
			true,
			true,
			false,
		]);
		expect([texts(log.events), log.lastSeq]).toEqual(["1 2 3 4 5", 5]);
	});
	it("V1-214 offers to try again when the error says so", () => {
		const error = (retryable: boolean): V1Event => ({
			...delta(1),
			type: "error",
			data: { code: "engine_error", message: "m", retryable },
		});
		expect([true, false].map((r) => offersRetry(error(r)))).toEqual([true, false]);
		expect(offersRetry(delta(1))).toBe(false);
	});
});

describe("the stream", () => {
	it("V1-096 goes on behind the last number when the line is cut, even inside a frame", async () => {
		const { client, asked } = scripted([
			{ pieces: [frame(delta(1)), frame(delta(2)).slice(0, -9)] },
			new TypeError("network"),
			{ pieces: [frame(delta(2)), frame(delta(5))] },
			{ pieces: [frame(delta(6))] },
		]);
		expect(texts(await take(client, 4))).toBe("1 2 5 6");
		expect(asked.map((one) => one.headers["Last-Event-ID"])).toEqual(["0", "1", "1", "5"]);
		expect(asked[0]?.url).toBe("http://server/v1/sessions/s/events");
		expect(asked[0]?.headers.Authorization).toBe("Bearer t");
	});
	it("V1-094 gives an event that comes twice once, and one that comes late", async () => {
		const { client } = scripted([
			{ pieces: [1, 3, 3, 2, 1].map((seq) => frame(delta(seq))) },
			{ pieces: [3, 4].map((seq) => frame(delta(seq))) },
		]);
		expect(texts(await take(client, 4))).toBe("1 3 2 4");
	});
	it("V1-011 V1-013 V1-015 goes on over unknown events and resumes behind them", async () => {
		const { client, asked } = scripted([
			{
				pieces: [
					frame(delta(1)),
					frame({ ...delta(2), type: "tomorrow" }),
					frame({ ...delta(3), v: 2 }),
				],
			},
			{ pieces: [frame(delta(4))] },
		]);
		expect(texts(await take(client, 2))).toBe("1 4");
		expect(asked[1]?.headers["Last-Event-ID"]).toBe("3");
	});
	it("goes on behind the number it is given", async () => {
		const { client, asked } = scripted([{ pieces: [frame(delta(8)), frame(delta(9))] }]);
		expect(texts(await take(client, 1, { since: 8 }))).toBe("9");
		expect(asked[0]?.headers["Last-Event-ID"]).toBe("8");
	});
	it("waits longer each time, and from the beginning again once something came", async () => {
		const waits: number[] = [];
		const { client } = scripted([
			new TypeError("network"),
			refusal(503, "engine_unavailable", true),
			refusal(429, "rate_limited", true),
			{ pieces: [frame(delta(1))] },
			{ pieces: [frame(delta(2))] },
		]);
		const onDisconnect = (_: unknown, wait: number) => waits.push(wait);
		await take(client, 2, { firstWait: 1000, longestWait: 2500, onDisconnect });
		const most = [1000, 2000, 2500, 1000];
		expect(waits).toHaveLength(most.length);
		for (const [i, wait] of waits.entries()) {
			expect(wait).toBeLessThanOrEqual(most[i] ?? 0);
			expect(wait).toBeGreaterThanOrEqual((most[i] ?? 0) / 2);
		}
	});
	it("V1-107 leaves a line on which nothing comes", async () => {
		const causes: unknown[] = [];
		const { client, asked } = scripted([
			{ pieces: [frame(delta(1))], open: true },
			{ pieces: [frame(delta(2))], open: true },
		]);
		const onDisconnect = (cause: unknown) => causes.push(cause);
		expect(texts(await take(client, 2, { silence: 5000, onDisconnect }))).toBe("1 2");
		expect(String(causes)).toBe("Error: nothing has come for too long");
		expect(asked[0]?.init.signal?.aborted).toBe(true);
	});
	it("ends when it is told to: reading, and waiting", async () => {
		for (const line of [{ pieces: [], open: true }, new TypeError("network")]) {
			const stop = new AbortController();
			const { client, asked } = scripted([line]);
			const ended = collect(client, 1, { signal: stop.signal, firstWait: 1e8, longestWait: 1e8 });
			await vi.waitFor(() => expect(asked).toHaveLength(1));
			stop.abort();
			expect(await ended).toEqual([]);
		}
		expect(vi.getTimerCount()).toBe(0);
	});
	it("ends the connection when the loop is left", async () => {
		const { client, asked } = scripted([{ pieces: [frame(delta(1))], open: true }]);
		await take(client, 1);
		expect(asked[0]?.init.signal?.aborted).toBe(true);
		expect(vi.getTimerCount()).toBe(0);
	});
	it("V1-031 V1-085 does not ask again what is refused for good", async () => {
		for (const [status, code] of [
			[401, "unauthenticated"],
			[404, "not_found"],
		] as const) {
			const { client, asked } = scripted([refusal(status, code)]);
			await expect(take(client, 1)).rejects.toMatchObject({ status, body: { code } });
			expect(asked).toHaveLength(1);
		}
	});
});

describe("requests", () => {
	it("V1-215 a message has a new key each time, or the one it is given", async () => {
		const { client, asked } = scripted([
			Response.json({ status: "accepted", messageId: "m", seq: 1 }, { status: 202 }),
		]);
		await client.send("a/b", "hi");
		await client.send("a/b", "hi");
		await client.send("a/b", "hi", "mine");
		const keys = asked.map((one) => JSON.parse(String(one.init.body)).idempotencyKey);
		expect([new Set(keys).size, keys[2]]).toEqual([3, "mine"]);
		expect(asked[0]?.url).toBe("http://server/v1/sessions/a%2Fb/messages");
	});
	it("V1-012 V1-212 an answer that says no is an ApiError, of this protocol or of a proxy", async () => {
		const no = scripted([refusal(409, "session_closed")]).client;
		await expect(no.cancel("s")).rejects.toMatchObject({ status: 409, retryable: false });
		const proxy = scripted([new Response("<html>", { status: 502 })]).client;
		const error = await proxy.me().catch((e: unknown) => e);
		expect(error).toBeInstanceOf(ApiError);
		expect(error).toMatchObject({ status: 502, retryable: true, body: undefined });
	});
	it("V1-044 a server that is not well says so in the same shape", async () => {
		const { client } = scripted([Response.json({ status: "degraded" }, { status: 503 })]);
		expect((await client.health()).status).toBe("degraded");
	});
	it("asks with what is given of a query", async () => {
		const { client, asked } = scripted([Response.json({ sessions: [] })]);
		await client.sessions({ projectId: "p q", limit: 3 });
		await client.sessions();
		expect(asked.map((one) => one.url)).toEqual([
			"http://server/v1/sessions?projectId=p+q&limit=3",
			"http://server/v1/sessions",
		]);
	});
});
