import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import {
	type SessionMethodName,
	type SessionSnapshot,
	sessionMethods,
} from "@/contract/session.gen";
import { emptySession, reduceSession, type SessionPush, type SessionState } from "@/state/session";
import { summaryOf } from "@/test/fake-server";
import { agent, user } from "@/test/items";
import { rowsOf } from "@/timeline/rows";
import { decode, decodeResult } from "./decode";

interface Transcript {
	name: string;
	/** In the order of the file: who sent it, on which connection. */
	frames: { peer: string; direction: ">" | "<"; text: string }[];
}

const folder = resolve("../backend/wire/session/testdata");

function transcripts(): Transcript[] {
	return readdirSync(folder)
		.filter((name) => name.endsWith(".txtar"))
		.map((name) => ({
			name,
			frames: readFileSync(resolve(folder, name), "utf8")
				.split("\n")
				.flatMap((line) => {
					const match = /^(\w+)([<>]) (\{.*)$/.exec(line);
					return match
						? [{ peer: match[1] ?? "", direction: match[2] as ">" | "<", text: match[3] ?? "" }]
						: [];
				}),
		}));
}

const key = (peer: string, id: unknown) => `${peer}:${typeof id}:${id}`;

describe("the server's recorded frames", () => {
	test.each(transcripts())(
		"SP-PKG-13 $name parses with the published schemas alone",
		({ frames }) => {
			const asked = new Map<string, SessionMethodName>();
			for (const { peer, text } of frames.filter((frame) => frame.direction === ">")) {
				let frame: { id?: unknown; method?: unknown };
				try {
					frame = JSON.parse(text);
				} catch {
					continue; // Transcripts send broken frames on purpose.
				}
				if (typeof frame.method === "string" && frame.method in sessionMethods) {
					asked.set(key(peer, frame.id), frame.method as SessionMethodName);
				}
			}
			for (const { peer, text } of frames.filter((frame) => frame.direction === "<")) {
				const incoming = decode(text);
				expect(incoming, text).toBeDefined();
				expect(incoming?.type, text).not.toBe("unknown");
				if (incoming?.type !== "result") continue;
				const method = asked.get(key(peer, incoming.id));
				if (method) expect(decodeResult(method, incoming.result), text).toBeDefined();
			}
		},
	);

	test.each(transcripts())(
		"$name: what is reduced from pushes is what the next snapshot says",
		({ frames }) => {
			const asked = new Map<string, string>();
			const states = new Map<string, SessionState>();
			for (const { peer, direction, text } of frames) {
				if (direction === ">") {
					const frame = /"method":"session\/subscribe"/.test(text) ? JSON.parse(text) : undefined;
					if (frame) asked.set(key(peer, frame.id), frame.params.sessionId);
					continue;
				}
				const incoming = decode(text);
				if (incoming?.type === "push" && "sessionId" in incoming.push.params) {
					const at = `${peer} ${incoming.push.params.sessionId}`;
					const state = states.get(at);
					if (state)
						states.set(
							at,
							reduceSession(state, { type: "push", push: incoming.push as SessionPush }),
						);
				}
				if (incoming?.type !== "result") continue;
				const session = asked.get(key(peer, incoming.id));
				if (session === undefined) continue;
				const snapshot = decodeResult("session/subscribe", incoming.result) as SessionSnapshot;
				const at = `${peer} ${session}`;
				const fresh = reduceSession(emptySession, { type: "snapshot", snapshot });
				const reduced = states.get(at);
				if (reduced?.phase === "live" && reduced.epoch === fresh.epoch) {
					// What is drawn: live and history carry a turn's item in different places (SP-TURNI-04).
					const rows = rowsOf(fresh).filter((row) => row.type === "item" || row.type === "turn");
					const drawn = rowsOf({ ...reduced, streaming: new Set() });
					const same = drawn.filter((row) => row.type === "item" || row.type === "turn");
					expect(same.slice(-rows.length || undefined)).toEqual(rows);
				}
				states.set(at, fresh);
			}
		},
	);
});

describe("frames of a newer server", () => {
	test("FAIL-A12 a kind of item nobody knows yet is left out, and the rest of the snapshot stands", () => {
		const snapshot = {
			epoch: "e",
			seq: 1,
			session: {
				...summaryOf({ id: "s" }),
				sparkle: "new",
			},
			items: [
				user({ itemId: "u" }),
				{ kind: "hologram", itemId: "h", at: 1 },
				agent({ itemId: "a" }),
			],
			approvals: [],
		};
		const decoded = decodeResult("session/subscribe", snapshot) as SessionSnapshot;
		expect(decoded.items.map((item) => item.itemId)).toEqual(["u", "a"]);
	});

	test("FAIL-A12 an unknown push and an unknown kind of item are ignored, not failed", () => {
		const frame = (method: string, params: object) =>
			JSON.stringify({ jsonrpc: "2.0", method, params });
		expect(decode(frame("weather/changed", {}))).toEqual({
			type: "unknown",
			method: "weather/changed",
		});
		const item = { kind: "hologram", itemId: "h", at: 1 };
		expect(decode(frame("item/started", { sessionId: "s", epoch: "e", seq: 2, item }))?.type).toBe(
			"unknown",
		);
	});

	test("an error whose reason is new still ends its request", () => {
		const text =
			'{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"No.","data":{"code":"too-early"}}}';
		expect(decode(text)).toEqual({ type: "error", id: 4, code: -32000, message: "No." });
	});
});
