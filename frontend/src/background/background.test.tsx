import { act, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { BackgroundTask } from "@/contract/session.gen";
import { FakeError, FakeServer } from "@/test/fake-server";
import { taskOf, tool } from "@/test/items";
import { openShell, openTimeline, pause } from "@/test/render";

afterEach(() => {
	window.location.hash = "";
	vi.restoreAllMocks();
});

const make = (part: Partial<BackgroundTask> & { id: string }) =>
	taskOf({ display: { kind: "command", command: "make all" }, ...part });

function withTasks(...tasks: BackgroundTask[]): FakeServer {
	const server = new FakeServer();
	server.session({ id: "s", title: "A session", background: tasks.length });
	server.session({ id: "o", title: "Elsewhere" });
	server.work.tasks = new Map(tasks.map((task) => [task.id, task]));
	return server;
}

const task = (id: string) => document.querySelector(`[data-task-id="${id}"]`) as HTMLElement;

async function openPanel(server: FakeServer) {
	const shell = await openShell(server, "/s/s");
	fireEvent.click(screen.getByTestId("background"));
	await pause();
	return shell;
}

/** There is room beside the conversation. */
function wide(): void {
	const real = window.matchMedia.bind(window);
	vi.spyOn(window, "matchMedia").mockImplementation((query) =>
		real(query.startsWith("(max-width") ? "(max-width: 1px)" : query),
	);
}

describe("the panel", () => {
	test("SP-BG-32 where there is no registry nothing is shown", async () => {
		const server = new FakeServer();
		server.session({ id: "s" });
		const { app } = await openShell(server, "/s/s");
		act(() => app.background.show());
		expect(screen.queryByTestId("background-panel")).toBeNull();
		expect(screen.queryByTestId("background-count")).toBeNull();
	});

	test("its button counts what runs, and goes with the last", async () => {
		const server = withTasks(make({ id: "a" }), make({ id: "b", sessionId: "o" }));
		await openShell(server, "/s/s");
		expect(screen.getByTestId("background-count").textContent).toBe("2");
		for (const id of ["a", "b"])
			act(() => server.work.change(make({ id, status: "completed", endedAt: 1_700_000_001_000 })));
		await pause();
		expect(screen.queryByTestId("background")).toBeNull();
	});

	test("SP-BG-04 it has the tasks of all sessions, what runs first, and leads to each session", async () => {
		const server = withTasks(
			make({ id: "done", status: "failed", endedAt: 1_700_000_065_000, exitCode: 2 }),
			make({ id: "run", sessionId: "o", lastLine: "cc -c a.c\u202e" }),
		);
		await openPanel(server);
		const rows = screen.getAllByTestId("task").map((row) => row.dataset.taskId);
		expect(rows).toEqual(["run", "done"]);
		expect(task("done").textContent).toContain("exit 2");
		expect(task("done").textContent).toContain("1m 5s");
		expect(task("done").textContent).toContain("Failed");
		// What somebody else wrote shows what it hides.
		expect(within(task("run")).getByTestId("task-line").textContent).toContain("U+202E");
		const link = within(task("run")).getByTestId("task-session");
		expect(link.textContent).toBe("Elsewhere");
		expect(link.getAttribute("href")).toBe("#/s/o");
	});

	test("SP-BG-14 Stop is drawn when the push says so; until the answer it cannot be pressed again", async () => {
		const server = withTasks(make({ id: "a" }));
		server.intercept = (method) => (method === "background/stop" ? {} : undefined);
		await openPanel(server);
		server.hold();
		fireEvent.click(within(task("a")).getByTestId("task-stop"));
		await pause();
		const button = within(task("a")).getByTestId("task-stop") as HTMLButtonElement;
		expect(button.disabled).toBe(true);
		act(() => server.release());
		await pause();
		expect(button.disabled).toBe(false);
		expect(task("a").dataset.status).toBe("running");
		act(() => server.work.change(make({ id: "a", status: "stopped", endedAt: 1_700_000_001_000 })));
		await pause();
		expect(task("a").dataset.status).toBe("stopped");
		expect(within(task("a")).queryByTestId("task-stop")).toBeNull();
	});

	test("whoever pressed Stop goes on from the task it stopped", async () => {
		wide();
		const server = withTasks(make({ id: "a" }));
		await openPanel(server);
		const stop = within(task("a")).getByTestId("task-stop");
		stop.focus();
		fireEvent.click(stop);
		// Where a button cannot be pressed, browsers take the focus off it.
		act(() => stop.blur());
		await pause();
		expect(task("a").dataset.status).toBe("stopped");
		expect(document.activeElement).toBe(within(task("a")).getByRole("button"));
	});

	test("SP-BG-24 its output follows, with colours, hidden characters shown, and a word where the start is missing", async () => {
		const server = withTasks(make({ id: "a", label: "exec" }));
		server.work.kept = 40;
		server.work.printed.set("a", `${"x".repeat(60)}\n\u001b[31mred\u001b[0m\u200b\n`);
		await openPanel(server);
		fireEvent.click(within(task("a")).getByRole("button", { expanded: false }));
		await pause();
		const output = within(task("a")).getByTestId("task-output");
		expect(output.querySelector(".ansi-1")?.textContent).toBe("red");
		expect(output.querySelector(".escape")).not.toBeNull();
		expect(output.textContent).toContain("Earlier output is kept no longer");
		act(() => server.work.print("a", "more\n"));
		await pause();
		expect(output.textContent).toContain("more");
	});

	test("a task that ends under a reader's eyes keeps what is open, without reading it anew", async () => {
		const server = withTasks(make({ id: "a" }), make({ id: "b" }));
		server.work.printed.set("b", "one\n");
		await openPanel(server);
		fireEvent.click(within(task("b")).getByRole("button", { expanded: false }));
		await pause();
		const output = within(task("b")).getByTestId("task-output");
		act(() =>
			server.work.change(make({ id: "b", status: "completed", endedAt: 1_700_000_001_000 })),
		);
		await pause();
		expect(within(task("b")).getByTestId("task-output")).toBe(output);
		expect(server.requestsOf("background/output")).toEqual([
			{ taskId: "b" },
			{ taskId: "b", after: 4 },
		]);
	});

	test("following ends where a person scrolls away, and the button leads back to the end", async () => {
		const server = withTasks(make({ id: "a" }));
		server.work.printed.set("a", "one\n");
		await openPanel(server);
		fireEvent.click(within(task("a")).getByRole("button", { expanded: false }));
		await pause();
		const pane = within(task("a")).getByRole("region", { name: "Output of exec" });
		let top = 0;
		Object.defineProperties(pane, {
			scrollHeight: { value: 500 },
			clientHeight: { value: 100 },
			scrollTop: { get: () => top, set: (next: number) => (top = Math.min(next, 400)) },
		});
		act(() => server.work.print("a", "two\n"));
		await pause();
		expect(top).toBe(400);
		top = 100;
		fireEvent.scroll(pane);
		act(() => server.work.print("a", "three\n"));
		await pause();
		expect(pane.textContent).toContain("three");
		expect(top).toBe(100);
		const follow = within(task("a")).getByTestId("task-follow");
		expect(follow.getAttribute("aria-pressed")).toBe("false");
		fireEvent.click(follow);
		expect(top).toBe(400);
	});

	test("it stays where it is when another conversation is opened", async () => {
		wide();
		const server = withTasks(make({ id: "a" }));
		await openPanel(server);
		const panel = screen.getByTestId("background-panel");
		act(() => {
			window.location.hash = "/s/o";
		});
		await pause();
		expect(screen.getByTestId("session-title").textContent).toBe("Elsewhere");
		expect(screen.getByTestId("background-panel")).toBe(panel);
		fireEvent.keyDown(panel, { key: "Escape" });
		expect(screen.queryByTestId("background-panel")).toBeNull();
	});

	test("without room it lies over the conversation, and goes when a link in it is followed", async () => {
		await openPanel(withTasks(make({ id: "a" })));
		expect(screen.getByRole("dialog").dataset.testid).toBe("background-panel");
		fireEvent.click(within(task("a")).getByTestId("task-session"));
		await pause();
		expect(screen.queryByTestId("background-panel")).toBeNull();
	});
});

describe("a session", () => {
	const openMenu = async () => {
		fireEvent.click(screen.getByTestId("session-menu"));
		await pause();
	};
	const entry = () =>
		screen.queryByRole("menuitem", { name: "Stop the background work of this conversation" });

	test("SP-BG-29 all that runs below it is stopped from its menu", async () => {
		const server = withTasks(make({ id: "a" }), make({ id: "b", sessionId: "o" }));
		await openShell(server, "/s/s");
		await openMenu();
		fireEvent.click(entry() as HTMLElement);
		await pause();
		expect(server.requestsOf("background/stopAll")).toEqual([{ sessionId: "s" }]);
		expect(server.work.tasks?.get("a")?.status).toBe("stopped");
		expect(server.work.tasks?.get("b")?.status).toBe("running");
	});

	test("SP-BG-34 a refusal is told; where nothing runs it is not offered", async () => {
		const server = withTasks(make({ id: "a" }));
		server.intercept = (method) => {
			if (method === "background/stopAll")
				throw new FakeError(-32000, "Turns cannot be stopped.", "unsupported");
			return undefined;
		};
		await openShell(server, "/s/s");
		await openMenu();
		fireEvent.click(entry() as HTMLElement);
		await pause();
		expect(screen.getByTestId("toast").textContent).toContain("Turns cannot be stopped.");
		act(() => server.change("s", { background: 0 }));
		await pause();
		await openMenu();
		expect(entry()).toBeNull();
	});
});

describe("the card of a call that was moved", () => {
	const card = tool({ itemId: "c", status: "completed", taskId: "a", durationMs: 3_000 });

	test("SP-TOOL-25 status, duration and last line are the task's, as they are pushed; it leads to its output", async () => {
		const server = withTasks();
		server.work.tasks = new Map([["a", make({ id: "a", lastLine: "cc -c a.c" })]]);
		const { app } = await openTimeline([card], { server });
		const shown = () => document.querySelector(`[data-item-id="c"]`) as HTMLElement;
		expect(within(shown()).getByTestId("task-mark").dataset.status).toBe("running");
		expect(shown().textContent).toContain("cc -c a.c");
		act(() =>
			server.work.change(
				make({
					id: "a",
					status: "failed",
					exitCode: 2,
					endedAt: 1_700_000_065_000,
					lastLine: "no",
				}),
			),
		);
		await pause();
		expect(within(shown()).getByTestId("task-mark").textContent).toBe(
			"exit 2Moved to the background1m 5sFailed",
		);
		fireEvent.click(within(shown()).getByTestId("task-open"));
		expect(app.background.panel.getState()).toEqual({ open: true, taskId: "a" });
	});

	test("SP-TOOL-25 of a task no longer known the card says what it says itself", async () => {
		const server = withTasks();
		server.work.tasks = new Map([["a", make({ id: "a", lastLine: "cc -c a.c" })]]);
		await openTimeline([card], { server });
		act(() => server.work.forget("a"));
		await pause();
		expect(screen.queryByTestId("task-mark")).toBeNull();
		expect(screen.queryByTestId("task-open")).toBeNull();
		expect(document.body.textContent).toContain("Moved to the background");
		expect(document.body.textContent).toContain("3s");
	});
});
