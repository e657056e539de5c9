import { describe, expect, test } from "vitest";
import { FakeWindow } from "@/test/fake-window";
import { Desktop } from "./desktop";
import { readEvent, readHello } from "./desktop-events";
import { initialDesktop, nextZoom, reduceDesktop, shownUpdate } from "./desktop-reducer";

const asked = { id: "q", kind: "quit", turns: 2, tasks: 1, waiting: 0 } as const;

describe("what the window says", () => {
	test.each([
		["go", { session: "s" }, { type: "go", destination: { session: "s" } }],
		["go", { session: "s", item: "i" }, { type: "go", destination: { session: "s", item: "i" } }],
		["go", { new: true }, { type: "go", destination: { fresh: true } }],
		["question", asked, { type: "question", question: asked }],
		["question-over", { id: "q" }, { type: "question-over", id: "q" }],
		["finishing", { kind: "restart", on: true }, { type: "finishing", kind: "restart", on: true }],
		["update", { version: "2", busy: true }, { type: "update", version: "2", busy: true }],
		["command", { id: "stop" }, { type: "command", id: "stop" }],
		["safe", { on: true }, { type: "safe", on: true }],
	])("%s %j is understood", (name, payload, action) => {
		expect(readEvent(name, payload)).toEqual(action);
	});

	test.each([
		["go", {}],
		["go", { session: "" }],
		["go", { new: "yes" }],
		["go", null],
		["question", { kind: "quit" }],
		["question-over", "q"],
		["command", { id: 4 }],
		["whatever", { id: "q" }],
	])("%s %j means nothing", (name, payload) => {
		expect(readEvent(name, payload)).toBeUndefined();
	});

	test("numbers that are none count as none", () => {
		const payload = { id: "q", kind: "?", turns: -1, tasks: Number.NaN, waiting: "3" };
		expect(readEvent("question", payload)).toEqual({
			type: "question",
			question: { id: "q", kind: "quit", turns: 0, tasks: 0, waiting: 0 },
		});
	});

	test("its first answer tells the zoom, and where to go", () => {
		const to = { session: "s" };
		expect(readHello({ zoom: 1.5, go: to })).toEqual({
			type: "hello",
			zoom: 1.5,
			destination: to,
		});
		for (const answer of [undefined, null, {}, { zoom: 0 }, { zoom: "2" }, { zoom: Number.NaN }])
			expect(readHello(answer)).toMatchObject({ zoom: 0, destination: undefined });
	});
});

describe("what is known of the window", () => {
	test("a question told again stays as it is, also while it is answered; another takes its place", () => {
		let state = reduceDesktop(initialDesktop, { type: "question", question: asked });
		state = reduceDesktop(state, { type: "answering", id: "q", choice: "stop" });
		state = reduceDesktop(state, { type: "question", question: { ...asked, turns: 1 } });
		expect(state).toMatchObject({ answering: "stop", question: { turns: 1 } });
		state = reduceDesktop(state, { type: "question", question: { ...asked, id: "r" } });
		expect(state.answering).toBeUndefined();
		expect(reduceDesktop(state, { type: "question-over", id: "q" })).toBe(state);
		state = reduceDesktop(state, { type: "question-over", id: "r" });
		expect(state).toEqual(initialDesktop);
	});

	test("where a person was sent meanwhile is newer than where to go first", () => {
		const state = reduceDesktop(initialDesktop, { type: "go", destination: { session: "new" } });
		const greeted = reduceDesktop(state, {
			type: "hello",
			zoom: 1,
			destination: { session: "old" },
		});
		expect(greeted.destination).toEqual({ session: "new" });
		expect(reduceDesktop(greeted, { type: "went" }).destination).toBeUndefined();
	});

	test("an update that was put aside stays so until there is another", () => {
		const tell = (version: string, busy = false) => ({ type: "update", version, busy }) as const;
		let state = reduceDesktop(initialDesktop, tell("2"));
		state = reduceDesktop(state, { type: "update-dismissed" });
		state = reduceDesktop(state, tell("2", true));
		expect(shownUpdate(state)).toBeUndefined();
		expect(state.update).toEqual({ version: "2", busy: true });
		state = reduceDesktop(state, tell("3"));
		expect(shownUpdate(state)?.version).toBe("3");
		expect(shownUpdate(reduceDesktop(state, tell("")))).toBeUndefined();
	});

	test("zoom goes by steps from wherever it is, and ends at both ends", () => {
		expect(nextZoom(1, 1)).toBe(1.1);
		expect(nextZoom(1, -1)).toBe(0.9);
		expect(nextZoom(1.3, 1)).toBe(1.5);
		expect(nextZoom(1.3, -1)).toBe(1.25);
		// As it comes back from a store of less precision.
		expect(nextZoom(Math.fround(0.67), 1)).toBe(0.75);
		expect(nextZoom(3, 1)).toBe(3);
		expect(nextZoom(0.5, -1)).toBe(0.5);
	});
});

describe("the window's page", () => {
	function opened() {
		const port = new FakeWindow();
		const failures: unknown[] = [];
		const desktop = new Desktop(port, (error) => failures.push(error));
		const off = desktop.listen();
		return { port, desktop, failures, off, state: () => desktop.store.getState() };
	}

	test("an answer that arrives closes the question; one that does not keeps it, and tells", async () => {
		const { port, desktop, failures, state } = opened();
		port.say("question", asked);
		port.answer = () => Promise.reject("the disk is full");
		await desktop.answer("q", "stop");
		expect(state()).toMatchObject({ question: asked });
		expect(state().answering).toBeUndefined();
		expect(failures).toEqual(["the disk is full"]);
		port.answer = () => undefined;
		await desktop.answer("q", "stop");
		expect(state().question).toBeUndefined();
		expect(port.calls("Decide")).toEqual([
			["q", "stop"],
			["q", "stop"],
		]);
	});

	test("a cancel is never waited for", () => {
		const { port, desktop, state } = opened();
		port.say("question", asked);
		port.answer = () => new Promise(() => undefined);
		void desktop.answer("q", "cancel");
		expect(state().question).toBeUndefined();
	});

	test("what was waited for is given up by an answer to no question", async () => {
		const { port, desktop, state } = opened();
		port.say("finishing", { kind: "quit", on: true });
		await desktop.goOn();
		expect(port.calls("Decide")).toEqual([["", "cancel"]]);
		expect(state().finishing).toBe("quit");
		port.say("finishing", { kind: "quit", on: false });
		expect(state().finishing).toBeUndefined();
	});

	test("nothing is heard any more after it let go", () => {
		const { port, off, state } = opened();
		off();
		port.say("question", asked);
		expect(state()).toEqual(initialDesktop);
	});
});
