import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { QueueItem } from "@/contract/session.gen";
import { FakeError, FakeServer } from "@/test/fake-server";
import { soon, started, stillTime } from "@/test/harness";
import { noQueueEdits, type QueueEditAction, reduceQueueEdits } from "./queue-edits";

stillTime();

const queueOf = (...words: string[]): QueueItem => ({
	kind: "queue",
	itemId: "queue",
	at: 1,
	entries: words.map((text) => ({
		speaker: { platform: "webui", owner: true },
		text,
		attachments: 0,
		ext: { inputId: `id-${text}` },
	})),
});

async function withQueue(...words: string[]) {
	const server = new FakeServer();
	server.session({ id: "s" }).fixed.queue = queueOf(...words);
	const parts = await started(server);
	const session = parts.app.look("s");
	await soon();
	const begin = (word: string, draft: string) => {
		const inputId = `id-${word}`;
		session.editQueue({ type: "begin", inputId, text: word });
		session.editQueue({ type: "type", inputId, draft });
		return inputId;
	};
	const waiting = () => session.store.getState().queue?.entries.map(({ text }) => text);
	return { ...parts, server, session, begin, waiting };
}

describe("waiting messages", () => {
	test("FAIL-A18 a change reaches the server under the entry's own id, and the place stays", async () => {
		const { app, server, session, begin, waiting } = await withQueue("one", "two", "three");
		await app.changeQueued(session, begin("two", "  zwei \n"));
		await soon();
		expect(server.requestsOf("ext/queue/edit")).toEqual([
			{ sessionId: "s", inputId: "id-two", content: "zwei" },
		]);
		expect(waiting()).toEqual(["one", "zwei", "three"]);
		expect(session.queueEdits.getState()).toEqual(noQueueEdits);
		await app.changeQueued(session, begin("two", "deux"));
		await soon();
		expect(waiting()).toEqual(["one", "deux", "three"]);
	});

	test("words that stay the same ask for nothing", async () => {
		const { app, server, session, begin } = await withQueue("one");
		await app.changeQueued(session, begin("one", "one "));
		expect(server.requestsOf("ext/queue/edit")).toEqual([]);
		expect(session.queueEdits.getState().open.size).toBe(0);
	});

	test("FAIL-A18 taken up while it was being changed, its new words become homeless, not lost", async () => {
		const { server, session, begin } = await withQueue("one", "two");
		begin("one", "one, but better");
		server.complete("s", queueOf("two"));
		await soon();
		expect(session.queueEdits.getState().open.size).toBe(0);
		expect(session.takeHomeless()).toEqual(["one, but better"]);
		expect(session.takeHomeless()).toEqual([]);
	});

	test("FAIL-A18 a conflict is told, and the words are kept", async () => {
		const { app, server, session, begin } = await withQueue("one");
		const inputId = begin("one", "uno");
		server.need("s").fixed.queue = queueOf();
		await app.changeQueued(session, inputId);
		expect(app.toasts.getState().map(({ text }) => text)).toEqual([
			"That message waits no longer.",
		]);
		expect(session.takeHomeless()).toEqual(["uno"]);
	});

	test("FAIL-A18 taken up while the change is on its way: the answer decides", async () => {
		const { app, server, session, begin } = await withQueue("one", "two");
		server.hold();
		const saving = app.changeQueued(session, begin("one", "uno"));
		server.complete("s", queueOf("two"));
		await soon();
		expect(session.queueEdits.getState().homeless).toEqual([]);
		server.release();
		await saving;
		expect(session.queueEdits.getState()).toEqual(noQueueEdits);
	});

	test("FAIL-A18 taken up meanwhile and then refused for any reason: the words are homeless, not in a field that is gone", async () => {
		const { app, server, session, begin } = await withQueue("one");
		server.intercept = (method) => {
			if (method === "ext/queue/edit") throw new FakeError(-32603, "The disk is full.");
			return undefined;
		};
		server.hold();
		const saving = app.changeQueued(session, begin("one", "uno"));
		server.complete("s", queueOf());
		await soon();
		server.release();
		await saving;
		expect(session.queueEdits.getState().open.size).toBe(0);
		expect(session.takeHomeless()).toEqual(["uno"]);
	});

	test("without a connection the field stays open with what was typed", async () => {
		const { app, transport, session, begin } = await withQueue("one");
		const inputId = begin("one", "uno");
		transport.cut();
		const saving = app.changeQueued(session, inputId);
		await soon();
		await saving;
		expect(session.queueEdits.getState().open.get(inputId)).toMatchObject({
			draft: "uno",
			saving: false,
		});
	});

	test("a session with half a change is not let go", async () => {
		const { app, server, begin } = await withQueue("one");
		const leave = app.enter("s");
		begin("one", "uno");
		leave();
		for (let n = 0; n < 5; n++) {
			server.session({ id: `other-${n}` });
			app.look(`other-${n}`);
			app.enter(`other-${n}`)();
		}
		expect(server.requestsOf("session/unsubscribe")).not.toContainEqual({ sessionId: "s" });
	});

	test("FAIL-A21 whatever happens in the queue, no typed word is lost and none appears twice", () => {
		const ids = ["a", "b", "c"];
		const id = fc.constantFrom(...ids);
		const step: fc.Arbitrary<QueueEditAction> = fc.oneof(
			id.map((inputId) => ({ type: "begin" as const, inputId, text: `first ${inputId}` })),
			fc
				.tuple(id, fc.stringMatching(/^[a-z]{1,6}$/))
				.map(([inputId, draft]) => ({ type: "type" as const, inputId, draft })),
			id.map((inputId) => ({ type: "leave" as const, inputId })),
			id.map((inputId) => ({ type: "saving" as const, inputId })),
			id.map((inputId) => ({ type: "saved" as const, inputId })),
			fc
				.tuple(id, fc.boolean())
				.map(([inputId, left]) => ({ type: "refused" as const, inputId, left })),
			fc.subarray(ids).map((waiting) => ({ type: "queue" as const, inputIds: new Set(waiting) })),
		);
		fc.assert(
			fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
				let state = noQueueEdits;
				// Every draft that was typed and neither taken by the server nor let go by the person.
				const owed = new Map<string, string>();
				const homeless: string[] = [];
				for (const action of steps) {
					const edit = "inputId" in action ? state.open.get(action.inputId) : undefined;
					const before = state;
					state = reduceQueueEdits(state, action);
					if (action.type === "type" && edit && !edit.saving)
						owed.set(action.inputId, action.draft);
					if (action.type === "leave" && edit && !edit.saving) owed.delete(action.inputId);
					if (action.type === "saved") owed.delete(action.inputId);
					for (const inputId of before.open.keys()) {
						if (state.open.has(inputId) || !owed.has(inputId)) continue;
						homeless.push(owed.get(inputId) ?? "");
						owed.delete(inputId);
					}
				}
				expect(state.homeless).toEqual(homeless);
				for (const [inputId, draft] of owed) expect(state.open.get(inputId)?.draft).toBe(draft);
			}),
			{ numRuns: 400 },
		);
	});
});
