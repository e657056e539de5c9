import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionItem, SessionSnapshot } from "@/contract/session.gen";
import { summaryOf } from "@/test/fake-server";
import { agent, notice, reasoning, tool, turn, user } from "@/test/items";
import {
	emptySession,
	isRunning,
	reduceSession,
	type SessionPush,
	type SessionState,
	type TimelineItem,
} from "./session";

const snapshotOf = (part: Partial<SessionSnapshot> = {}): SessionSnapshot => ({
	epoch: "e1",
	seq: 10,
	session: summaryOf({ id: "s" }),
	items: [],
	approvals: [],
	...part,
});

const opened = (part: Partial<SessionSnapshot> = {}): SessionState =>
	reduceSession(emptySession, { type: "snapshot", snapshot: snapshotOf(part) });

const at = (seq: number, epoch = "e1") => ({ sessionId: "s", epoch, seq });
const started = (seq: number, item: SessionItem, epoch?: string): SessionPush => ({
	method: "item/started",
	params: { ...at(seq, epoch), item },
});
const completed = (seq: number, item: SessionItem): SessionPush => ({
	method: "item/completed",
	params: { ...at(seq), item },
});
const delta = (seq: number, itemId: string, text: string): SessionPush => ({
	method: "item/delta",
	params: { ...at(seq), itemId, text },
});
const resync = (seq: number): SessionPush => ({ method: "session/resync", params: at(seq) });

const run = (state: SessionState, ...pushes: SessionPush[]): SessionState =>
	pushes.reduce((before, push) => reduceSession(before, { type: "push", push }), state);

const ids = (state: SessionState) => state.items.map((item) => item.itemId);

describe("pushes after a snapshot", () => {
	test("SP-SUB-19 those not above the snapshot's seq are dropped", () => {
		const state = opened({ items: [agent({ itemId: "a", text: "Hello" })] });
		expect(run(state, delta(9, "a", " twice"), delta(10, "a", " twice"))).toBe(state);
		expect(run(state, delta(11, "a", " once")).items[0]).toMatchObject({ text: "Hello once" });
	});

	test("SP-SUB-20 one of another epoch makes the state stale and changes nothing shown", () => {
		const state = opened({ items: [user({ itemId: "u" })] });
		const next = run(state, started(1, agent({ itemId: "a" }), "e2"));
		expect(next.phase).toBe("stale");
		expect(ids(next)).toEqual(["u"]);
	});

	test("SP-SUB-21 a gap in seq is no loss", () => {
		const next = run(opened(), started(11, agent({ itemId: "a" })), delta(9_000, "a", "x"));
		expect(next.phase).toBe("live");
		expect(next.items[0]).toMatchObject({ text: "x" });
	});

	test("the same item started again replaces what was there", () => {
		const next = run(
			opened(),
			started(11, tool({ itemId: "c", status: "generating" })),
			started(12, tool({ itemId: "c", status: "running", args: { command: "ls" } })),
		);
		expect(next.items).toEqual([tool({ itemId: "c", status: "running", args: { command: "ls" } })]);
	});

	test("a delta goes to the text of messages and reasoning and to the output of a call", () => {
		const next = run(
			opened(),
			started(11, agent({ itemId: "a", text: "A" })),
			started(12, reasoning({ itemId: "r", text: "R" })),
			started(13, tool({ itemId: "c" })),
			delta(14, "a", "1"),
			delta(15, "r", "2"),
			delta(16, "c", "3"),
			delta(17, "c", "4"),
			delta(18, "nobody", "5"),
		);
		expect(next.items).toMatchObject([{ text: "A1" }, { text: "R2" }, { output: "34" }]);
	});

	test("completed overrides whatever was streamed, as often as it comes", () => {
		const next = run(
			opened(),
			started(11, agent({ itemId: "a" })),
			delta(12, "a", "half a th"),
			completed(13, agent({ itemId: "a", text: "A whole thought." })),
			completed(
				14,
				agent({ itemId: "a", text: "A whole thought.", undelivered: { reason: "late" } }),
			),
		);
		expect(next.items).toEqual([
			agent({ itemId: "a", text: "A whole thought.", undelivered: { reason: "late" } }),
		]);
		expect(next.streaming.size).toBe(0);
	});

	test("SP-SUB-30 where history, snapshot and pushes overlap, items are one by itemId", () => {
		const question = user({ itemId: "u", text: "Well?" });
		let state = opened({ items: [question, agent({ itemId: "a", text: "So" })], before: "b" });
		state = run(state, completed(11, question), completed(12, agent({ itemId: "a", text: "So." })));
		state = reduceSession(state, {
			type: "older",
			after: "b",
			items: [user({ itemId: "old" }), question],
		});
		expect(ids(state)).toEqual(["old", "u", "a"]);
		expect(state.items[2]).toMatchObject({ text: "So." });
	});

	test("SP-SUB-35 after a resync nothing is mixed in, and the next snapshot stands alone", () => {
		let state = opened({ items: [user({ itemId: "gone" })], before: "b" });
		state = run(state, resync(11), started(12, agent({ itemId: "also-gone" })));
		expect(state.phase).toBe("stale");
		state = reduceSession(state, { type: "subscribing" });
		state = reduceSession(state, {
			type: "snapshot",
			snapshot: snapshotOf({ seq: 20, items: [user({ itemId: "kept" })] }),
		});
		expect(state.phase).toBe("live");
		expect(ids(state)).toEqual(["kept"]);
		expect(state.before).toBeUndefined();
	});

	test("a resync that arrives while the snapshot is under way is not lost", () => {
		let state = reduceSession(opened(), { type: "disconnected" });
		state = reduceSession(state, { type: "subscribing" });
		state = run(state, resync(30));
		state = reduceSession(state, { type: "snapshot", snapshot: snapshotOf({ seq: 20 }) });
		expect(state.phase).toBe("stale");
	});

	test("SP-ITEM-06 plan, usage and queue are no entries of the timeline", () => {
		const fixed: SessionItem[] = [
			{ kind: "plan", itemId: "plan", at: 1, items: [] },
			{ kind: "queue", itemId: "queue", at: 1, entries: [] },
			{
				kind: "usage",
				itemId: "usage",
				at: 1,
				used: 1,
				contextWindow: 10,
				usageRatio: 0.1,
				parts: [],
			},
		];
		const state = run(opened({ items: fixed }), ...fixed.map((item, n) => completed(11 + n, item)));
		expect(state.items).toEqual([]);
		expect(state).toMatchObject({ plan: fixed[0], queue: fixed[1], usage: fixed[2] });
	});

	test("an item that came late stands where its time puts it", () => {
		const state = run(
			opened({ items: [user({ itemId: "u1", at: 100 }), user({ itemId: "u3", at: 300 })] }),
			completed(11, user({ itemId: "u2", at: 200 })),
			completed(12, user({ itemId: "u4", at: 300 })),
		);
		expect(ids(state)).toEqual(["u1", "u2", "u3", "u4"]);
		expect([...state.index]).toEqual([
			["u1", 0],
			["u2", 1],
			["u3", 2],
			["u4", 3],
		]);
	});

	test("a turn runs from its start to its outcome, whatever the summary still says", () => {
		const summary = summaryOf({ id: "s", running: true });
		expect(isRunning(opened({ session: summary }))).toBe(true);
		let state = run(opened(), started(11, turn({ itemId: "t" })));
		expect(isRunning(state)).toBe(true);
		state = reduceSession(state, { type: "summary", summary });
		state = run(state, completed(12, turn({ itemId: "t", outcome: "error" })));
		expect(isRunning(state)).toBe(false);
	});

	test("a page of history that was asked for before a new snapshot does not fit any more", () => {
		let state = opened({ before: "b1", items: [user({ itemId: "u" })] });
		state = reduceSession(state, { type: "older-loading" });
		state = reduceSession(state, { type: "snapshot", snapshot: snapshotOf({ before: "b2" }) });
		state = reduceSession(state, { type: "older", after: "b1", items: [user({ itemId: "x" })] });
		expect(ids(state)).toEqual([]);
		expect(state.before).toBe("b2");
	});
});

// ---- properties --------------------------------------------------------------------------------

/** A life of a session: what the server would hold after each push. */
const script = fc.array(
	fc.oneof(
		{
			weight: 3,
			arbitrary: fc.record({
				do: fc.constant("start" as const),
				kind: fc.constantFrom("agent", "reasoning", "tool", "user", "notice"),
				id: fc.integer({ min: 0, max: 5 }),
			}),
		},
		{
			weight: 8,
			arbitrary: fc.record({
				do: fc.constant("delta" as const),
				id: fc.integer({ min: 0, max: 5 }),
				text: fc.string({ maxLength: 4 }),
			}),
		},
		{
			weight: 3,
			arbitrary: fc.record({
				do: fc.constant("complete" as const),
				id: fc.integer({ min: 0, max: 5 }),
			}),
		},
	),
	{ maxLength: 40 },
);

type Step = { push: SessionPush; after: readonly TimelineItem[] };

function live(script_: typeof script extends fc.Arbitrary<infer T> ? T : never): Step[] {
	const held: TimelineItem[] = [];
	const steps: Step[] = [];
	let seq = 10;
	const step = (push: SessionPush) => steps.push({ push, after: structuredClone(held) });
	for (const event of script_) {
		const index = held.findIndex((item) => item.itemId === `i${event.id}`);
		const known = held[index];
		seq += 1 + (event.id % 3);
		if (event.do === "start") {
			const make = { agent, reasoning, tool, user, notice }[event.kind as "agent"];
			const item: TimelineItem = make({
				itemId: `i${event.id}`,
				at: known?.at ?? 1_000 + held.length,
			});
			if (known) held[index] = item;
			else held.push(item);
			step(started(seq, structuredClone(item)));
		} else if (event.do === "delta" && known) {
			if (known.kind === "tool-call") known.output = (known.output ?? "") + event.text;
			else if (known.kind === "agent-message" || known.kind === "reasoning")
				known.text += event.text;
			step(delta(seq, known.itemId, event.text));
		} else if (event.do === "complete" && known) {
			step(completed(seq, structuredClone(known)));
		}
	}
	return steps;
}

describe("properties", () => {
	test("FAIL-A7 snapshot at any moment plus the pushes after it is the whole, at every later moment", () => {
		fc.assert(
			fc.property(script, fc.nat(), fc.nat({ max: 5 }), (events, cut, overlap) => {
				const steps = live(events);
				if (steps.length === 0) return;
				const here = cut % steps.length;
				const now = steps[here] as Step;
				let state = opened({ seq: now.push.params.seq, items: structuredClone([...now.after]) });
				// Pushes that are in the snapshot already may still be under way.
				for (const { push } of steps.slice(Math.max(0, here - overlap), here + 1)) {
					state = run(state, push);
				}
				expect(state.items).toEqual(now.after);
				for (const { push, after } of steps.slice(here + 1)) {
					state = run(state, push);
					expect(state.items).toEqual(after);
				}
			}),
		);
	});

	test("FAIL-A9 however often the same snapshot comes, nothing doubles", () => {
		fc.assert(
			fc.property(script, fc.integer({ min: 2, max: 20 }), (events, times) => {
				const steps = live(events);
				const last = steps.at(-1);
				if (!last) return;
				const snapshot = snapshotOf({ seq: last.push.params.seq, items: [...last.after] });
				let state = emptySession;
				for (let n = 0; n < times; n++) {
					state = reduceSession(state, { type: "disconnected" });
					state = reduceSession(state, { type: "subscribing" });
					state = reduceSession(state, { type: "snapshot", snapshot });
				}
				expect(state.items).toEqual(last.after);
				expect(new Set(ids(state)).size).toBe(state.items.length);
			}),
		);
	});

	test("the index always tells where an item stands", () => {
		fc.assert(
			fc.property(script, (events) => {
				let state = opened();
				for (const { push } of live(events)) {
					state = run(state, push);
					state.items.forEach((item, place) => {
						expect(state.index.get(item.itemId)).toBe(place);
					});
					expect(state.index.size).toBe(state.items.length);
				}
			}),
		);
	});
});
