import { describe, expect, test } from "vitest";
import type { BackgroundTask } from "@/contract/session.gen";
import { FakeServer } from "@/test/fake-server";
import { soon, started, stillTime } from "@/test/harness";
import { taskOf } from "@/test/items";
import {
	appendOutput,
	type BackgroundAction,
	noOutput,
	noTasks,
	reduceBackground,
	runningCount,
	type TaskOutput,
	tasksInOrder,
} from "./background";

stillTime();

const run = (...actions: BackgroundAction[]) => actions.reduce(reduceBackground, noTasks);
const push = (upserts: BackgroundTask[], removes: string[] = []): BackgroundAction => ({
	type: "changed",
	upserts,
	removes,
});
const ended = (id: string, part: Partial<BackgroundTask> = {}) =>
	taskOf({ id, status: "completed", endedAt: 9, ...part });

describe("the tasks", () => {
	test("the list and the pushes are one: a push while the list is read wins over it, a removal too", () => {
		const state = run(
			{ type: "reading" },
			push([ended("a"), taskOf({ id: "new" })]),
			push([], ["b"]),
			{
				type: "list",
				tasks: [taskOf({ id: "a" }), taskOf({ id: "b" }), taskOf({ id: "c" })],
			},
		);
		expect([...state.tasks.values()].map(({ id, status }) => [id, status])).toEqual([
			["a", "completed"],
			["new", "running"],
			["c", "running"],
		]);
	});

	test("what the next list does not name is gone, unless it was pushed meanwhile", () => {
		const state = run(
			{ type: "reading" },
			{ type: "list", tasks: [taskOf({ id: "a" }), taskOf({ id: "b" })] },
			push([taskOf({ id: "b", lastLine: "earlier" })]),
			{ type: "reading" },
			push([taskOf({ id: "c" })]),
			{ type: "list", tasks: [] },
		);
		expect([...state.tasks.keys()]).toEqual(["c"]);
	});

	test("SP-BG-19 what has ended does not run again, and output does not go back, by a push that was overtaken", () => {
		const state = run(
			{ type: "reading" },
			{ type: "list", tasks: [ended("a"), taskOf({ id: "b", lastLine: "2", lastOutputAt: 2 })] },
			push([taskOf({ id: "a" }), taskOf({ id: "b", lastLine: "1", lastOutputAt: 1 })]),
		);
		expect(state.tasks.get("a")?.status).toBe("completed");
		expect(state.tasks.get("b")?.lastLine).toBe("2");
	});

	test("SP-BG-20 what goes away goes", () => {
		expect(run(push([taskOf({ id: "a" })]), push([], ["a"])).tasks.size).toBe(0);
	});

	test("what runs stands first, each part with the latest on top", () => {
		const state = run(
			push([
				ended("old", { startedAt: 8, endedAt: 9 }),
				taskOf({ id: "early", startedAt: 1 }),
				ended("new", { startedAt: 2, endedAt: 20 }),
				taskOf({ id: "late", startedAt: 5 }),
			]),
		);
		expect(tasksInOrder(state).map(({ id }) => id)).toEqual(["late", "early", "new", "old"]);
		expect(runningCount(state)).toBe(2);
	});
});

describe("the output", () => {
	const from = (part: Partial<TaskOutput>): TaskOutput => ({ ...noOutput, ...part });

	test("SP-BG-22 what is new goes behind what is there", () => {
		const first = appendOutput(noOutput, 0, { text: "one\n", end: 4, truncated: false });
		const second = appendOutput(first, 4, { text: "two\n", end: 8, truncated: false });
		expect(second).toMatchObject({ text: "one\ntwo\n", end: 8, truncated: false });
	});

	test("SP-BG-24 after a gap the old piece is let go, and it is said that something is missing", () => {
		const state = from({ text: "old", end: 3 });
		const next = appendOutput(state, 3, { text: "new", end: 900, truncated: true });
		expect(next).toMatchObject({ text: "new", end: 900, truncated: true });
		const later = appendOutput(next, 900, { text: "er", end: 902, truncated: false });
		expect(later).toMatchObject({ text: "newer", truncated: true });
	});

	test("an answer to an earlier question is dropped", () => {
		const state = from({ text: "four", end: 4 });
		expect(appendOutput(state, 0, { text: "four", end: 4, truncated: false })).toBe(state);
	});

	test("a task that prints for days does not fill the memory", () => {
		let state = noOutput;
		for (let n = 0; n < 40; n++) {
			const text = "x".repeat(10_000);
			state = appendOutput(state, state.end, { text, end: (n + 1) * 10_000, truncated: false });
		}
		expect(state.text.length).toBeLessThanOrEqual(131_072);
		expect(state).toMatchObject({ end: 400_000, truncated: true });
	});
});

describe("over a connection", () => {
	function withTasks(...tasks: BackgroundTask[]): FakeServer {
		const server = new FakeServer();
		server.session({ id: "s" });
		server.work.tasks = new Map(tasks.map((task) => [task.id, task]));
		return server;
	}

	test("SP-BG-15 they are watched and read after each handshake", async () => {
		const server = withTasks(taskOf({ id: "a" }));
		const { app, transport } = await started(server);
		const ids = () => [...app.background.store.getState().tasks.keys()];
		expect(ids()).toEqual(["a"]);
		server.work.change(taskOf({ id: "b" }));
		await soon();
		expect(ids()).toEqual(["a", "b"]);
		transport.cut();
		server.work.tasks = new Map([["c", taskOf({ id: "c" })]]);
		await soon(600);
		expect(ids()).toEqual(["c"]);
		server.work.forget("c");
		await soon();
		expect(ids()).toEqual([]);
	});

	test("SP-BG-16 without a registry nothing is there; one that comes up is read", async () => {
		const server = new FakeServer();
		const { app } = await started(server);
		expect(app.background.store.getState().phase).toBe("absent");
		server.work.tasks = new Map([["kept", taskOf({ id: "kept", status: "aborted" })]]);
		server.work.change(taskOf({ id: "new" }));
		await soon();
		expect(app.background.store.getState().phase).toBe("ready");
		expect([...app.background.store.getState().tasks.keys()].sort()).toEqual(["kept", "new"]);
	});

	test("SP-BG-14 asked to stop, a task runs until its push says otherwise", async () => {
		const server = withTasks(taskOf({ id: "a" }));
		const { app } = await started(server);
		const { store } = app.background;
		server.hold();
		void app.stopTask("a");
		void app.stopTask("a");
		await soon(0);
		expect(server.requestsOf("background/stop")).toEqual([{ taskId: "a" }]);
		expect(store.getState().stopping.has("a")).toBe(true);
		// The push may come before the answer.
		expect(store.getState().tasks.get("a")?.status).toBe("stopped");
		server.release();
		await soon();
		expect(store.getState().stopping.has("a")).toBe(false);
	});

	test("a stop that fails is told, and can be tried again", async () => {
		const server = withTasks(taskOf({ id: "a" }));
		const { app } = await started(server);
		server.work.tasks?.delete("a");
		await app.stopTask("a");
		expect(app.toasts.getState()).toMatchObject([{ text: "There is no such task." }]);
		expect(app.background.store.getState().stopping.size).toBe(0);
	});

	test("SP-BG-22 following asks only for what is new, when something new was printed", async () => {
		const server = withTasks(taskOf({ id: "a" }));
		server.work.printed.set("a", "one\n");
		const { app } = await started(server);
		let output = noOutput;
		const stop = app.background.follow("a", (next) => {
			output = next;
		});
		await soon();
		await soon(5_000);
		server.work.print("a", "two\n");
		await soon();
		expect(output).toMatchObject({ phase: "ready", text: "one\ntwo\n", end: 8 });
		stop();
		server.work.print("a", "three\n");
		await soon();
		expect(server.requestsOf("background/output")).toEqual([
			{ taskId: "a" },
			{ taskId: "a", after: 4 },
		]);
	});

	test("a reading that a break took away is made up for with the next connection", async () => {
		const server = withTasks(taskOf({ id: "a" }));
		server.work.printed.set("a", "one\n");
		const { app, transport } = await started(server);
		let output = noOutput;
		server.hold();
		app.background.follow("a", (next) => {
			output = next;
		});
		transport.cut();
		server.release();
		await soon(600);
		expect(output).toMatchObject({ phase: "ready", text: "one\n" });
	});

	test("following goes on over a break", async () => {
		const server = withTasks(taskOf({ id: "a" }));
		server.work.printed.set("a", "one\n");
		const { app, transport } = await started(server);
		let output = noOutput;
		app.background.follow("a", (next) => {
			output = next;
		});
		await soon();
		transport.cut();
		server.work.print("a", "two\n");
		await soon(600);
		expect(output).toMatchObject({ text: "one\ntwo\n", end: 8 });
	});
});
