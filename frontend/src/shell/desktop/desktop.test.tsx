import { act, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeServer } from "@/test/fake-server";
import { FakeWindow } from "@/test/fake-window";
import { agent, approvalOf } from "@/test/items";
import { openShell, pause } from "@/test/render";

let visibility = "visible";
let focus = true;

beforeEach(() => {
	visibility = "visible";
	focus = true;
	vi.spyOn(document, "visibilityState", "get").mockImplementation(
		() => visibility as DocumentVisibilityState,
	);
	vi.spyOn(document, "hasFocus").mockImplementation(() => focus);
});
afterEach(() => {
	window.location.hash = "";
});

const question = { id: "q", kind: "quit", turns: 2, tasks: 1, waiting: 1 };

async function opened(
	path = "/",
	prepare: (port: FakeWindow, server: FakeServer) => void = () => undefined,
) {
	const server = new FakeServer();
	server.session({ id: "s", title: "A session" }, [agent({ itemId: "a", text: "Hello." })]);
	const port = new FakeWindow();
	prepare(port, server);
	const parts = await openShell(server, path, port);
	const say = async (name: string, payload: unknown) => {
		act(() => port.say(name, payload));
		await pause(40);
	};
	return { ...parts, port, say };
}

const press = (key: string, init: KeyboardEventInit = { ctrlKey: true }) =>
	act(() => void fireEvent.keyDown(document.body, { key, ...init }));

describe("the question before the program ends", () => {
	test("says what runs, has the safe answer in front, and tells that it was seen", async () => {
		const { port, say } = await opened();
		await say("question", question);
		const dialog = screen.getByRole("alertdialog", { name: "Aalis is still working" });
		for (const words of [
			"She works in 2 conversations",
			"1 background task runs",
			"1 approval waits for your answer",
		])
			expect(within(dialog).getByText(words)).toBeDefined();
		expect(document.activeElement).toBe(screen.getByTestId("leave-cancel"));
		expect(port.calls("Decide")).toEqual([["q", "seen"]]);
	});

	test.each(["finish", "stop", "cancel"])(
		"%s is told, and the question is gone",
		async (choice) => {
			const { port, say } = await opened();
			await say("question", question);
			fireEvent.click(screen.getByTestId(`leave-${choice}`));
			await pause();
			expect(port.calls("Decide")).toEqual([
				["q", "seen"],
				["q", choice],
			]);
			expect(screen.queryByRole("alertdialog")).toBeNull();
		},
	);

	test("Escape is a cancel, and told once", async () => {
		const { port, say } = await opened();
		await say("question", question);
		fireEvent.keyDown(screen.getByTestId("leave-cancel"), { key: "Escape" });
		await pause();
		expect(port.calls("Decide")).toEqual([
			["q", "seen"],
			["q", "cancel"],
		]);
		expect(screen.queryByRole("alertdialog")).toBeNull();
	});

	test("decided elsewhere it goes, and nothing is told", async () => {
		const { port, say } = await opened();
		await say("question", { ...question, kind: "restart", waiting: 0 });
		expect(screen.getByTestId("leave-stop").textContent).toBe("Stop and restart now");
		expect(screen.queryByText(/approval waits/)).toBeNull();
		await say("question-over", { id: "q" });
		expect(screen.queryByRole("alertdialog")).toBeNull();
		expect(port.calls("Decide")).toEqual([["q", "seen"]]);
	});

	test("asked before the page is up, or while there is no connection, it is shown all the same", async () => {
		const server = new FakeServer();
		const port = new FakeWindow();
		const parts = openShell(server, "/", port);
		port.say("question", question);
		port.say("update", { version: "2.0.0", busy: false });
		const { transport } = await parts;
		transport.wire = "down";
		act(() => transport.cut());
		await pause();
		expect(screen.getByRole("alertdialog")).toBeDefined();
		expect(screen.getByTestId("update")).toBeDefined();
	});
});

describe("lines of the window", () => {
	test("what ends by itself can be taken back", async () => {
		const { port, say } = await opened();
		await say("finishing", { kind: "quit", on: true });
		expect(screen.getByTestId("finishing").textContent).toContain("Aalis quits when she is done");
		fireEvent.click(screen.getByTestId("finishing-cancel"));
		expect(port.calls("Decide")).toEqual([["", "cancel"]]);
		await say("finishing", { kind: "quit", on: false });
		expect(screen.queryByTestId("finishing")).toBeNull();
	});

	test("a newer version is told of, and may be put aside until there is another", async () => {
		const { port, say } = await opened();
		await say("update", { version: "2.0.0", busy: true });
		expect(screen.getByTestId("update").textContent).toContain(
			"Version 2.0.0 is installed; restart to use it.",
		);
		expect(screen.getByTestId("update-restart").textContent).toBe("Restart when nothing runs");
		await say("update", { version: "2.0.0", busy: false });
		fireEvent.click(screen.getByTestId("update-restart"));
		expect(port.calls("Restart")).toEqual([[]]);
		fireEvent.click(screen.getByRole("button", { name: "Not now" }));
		await say("update", { version: "2.0.0", busy: true });
		expect(screen.queryByTestId("update")).toBeNull();
		await say("update", { version: "2.0.1", busy: false });
		expect(screen.getByTestId("update")).toBeDefined();
		await say("update", { version: "", busy: false });
		expect(screen.queryByTestId("update")).toBeNull();
	});

	test("a refused restart says why", async () => {
		const { say } = await opened("/", (port) => {
			port.answer = (call) =>
				call === "Restart" ? Promise.reject("The file is gone.") : undefined;
		});
		await say("update", { version: "2.0.0", busy: false });
		fireEvent.click(screen.getByTestId("update-restart"));
		await pause();
		expect(screen.getByTestId("toast").textContent).toContain("The file is gone.");
	});

	test("the safe renderer is told of once, not at each start", async () => {
		const { say, unmount } = await opened();
		await say("safe", { on: true });
		await say("safe", { on: true });
		expect(screen.getAllByTestId("toast")).toHaveLength(1);
		unmount();
		const again = await opened();
		await again.say("safe", { on: true });
		expect(screen.queryByTestId("toast")).toBeNull();
	});
});

describe("where the window sends its page", () => {
	test("to a session, at the start and later", async () => {
		const { say } = await opened("/", (port) => {
			port.greeting = { zoom: 1, go: { session: "s" } };
		});
		expect(window.location.hash).toBe("#/s/s");
		expect(screen.getByText("Hello.")).toBeDefined();
		await say("go", { new: true });
		expect(window.location.hash).toBe("#/new");
		expect(document.activeElement?.tagName).toBe("TEXTAREA");
		await say("go", { session: "s", item: "a" });
		expect(window.location.hash).toBe("#/s/s");
	});

	test("to one that is not there, which is said", async () => {
		const { say } = await opened();
		await say("go", { session: "no/where" });
		expect(screen.getByTestId("session-gone").textContent).toContain(
			"This conversation is not there",
		);
	});

	test("past a dialog that stands in the way", async () => {
		const { say } = await opened();
		press("k");
		expect(screen.getByTestId("palette")).toBeDefined();
		await say("go", { new: true });
		expect(screen.queryByTestId("palette")).toBeNull();
		expect(window.location.hash).toBe("#/new");
	});

	test("by its menu: a command runs if it is available, and only then", async () => {
		const { say, server } = await opened("/s/s");
		await say("command", { id: "stop" });
		await say("command", { id: "no such command" });
		expect(server.requestsOf("turn/abort")).toEqual([]);
		await say("command", { id: "palette" });
		expect(screen.getByTestId("palette")).toBeDefined();
	});
});

describe("files that are dropped on the window", () => {
	test("are asked for where they are wanted, and what is too large is not", async () => {
		const { port, say } = await opened("/s/s");
		port.files.set("1", new Blob(["the words"]));
		await say("dropped", [
			{ id: "1", name: "notes.txt", size: 9 },
			{ id: "2", name: "film.mp4", size: 2 ** 31 },
			{ name: "nothing" },
		]);
		await pause();
		expect(screen.getAllByTestId("draft-file").map(({ textContent }) => textContent)).toEqual([
			"notes.txt9 B",
		]);
		expect(screen.getByTestId("file-refused").textContent).toContain("film.mp4");
		await say("dropped", [{ id: "3", name: "gone.txt", size: 1 }]);
		expect(screen.getByTestId("toast").textContent).toContain("there is no such file");
	});

	test("are taken while they are dragged over it, and what the page drags itself is not", async () => {
		await opened("/s/s");
		const dragged = (type: string, types: string[]) => {
			const event = new Event(type, { bubbles: true, cancelable: true });
			const dataTransfer = { types, dropEffect: "move", files: [] };
			Object.assign(event, { dataTransfer });
			act(() => void fireEvent(document.body, event));
			return dataTransfer.dropEffect;
		};
		expect(dragged("dragover", ["text/uri-list", "text/html"])).toBe("copy");
		expect(dragged("dragover", ["text/html"])).toBe("none");
		dragged("dragstart", ["text/uri-list"]);
		expect(dragged("dragover", ["text/uri-list"])).toBe("none");
		dragged("dragend", ["text/uri-list"]);
		expect(dragged("dragover", ["text/uri-list"])).toBe("copy");
	});
});

describe("what the window is told", () => {
	test("that the page has drawn, once by itself and whenever it is asked", async () => {
		const { port, say } = await opened();
		await pause(60);
		expect(port.calls("Painted")).toHaveLength(1);
		await say("paint", undefined);
		await pause(60);
		expect(port.calls("Painted")).toHaveLength(2);
	});

	test("whether a person is in front of it", async () => {
		const { port } = await opened();
		focus = false;
		fireEvent.blur(window);
		focus = true;
		fireEvent.focus(window);
		visibility = "hidden";
		fireEvent(document, new Event("visibilitychange"));
		expect(port.calls("Front")).toEqual([[true], [false], [true], [false]]);
	});

	test("its title, with the approvals that wait", async () => {
		const { port, link, server } = await opened("/s/s");
		await link.call("presence/update", { active: true });
		server.request(approvalOf({ id: "p", sessionId: "other", tool: "exec" }));
		await pause();
		expect(port.titles.at(-1)).toBe("(1) Aalis");
	});
});

describe("commands of the window", () => {
	test("zoom by keys, by steps, and back", async () => {
		const { port } = await opened();
		press("+");
		press("=");
		press("+", { ctrlKey: true, shiftKey: true });
		press("-");
		press("0");
		expect(port.calls("Zoom")).toEqual([[1.1], [1.25], [1.5], [1.25], [1]]);
	});

	test("a window that offers no zoom leaves the keys alone", async () => {
		const { port } = await opened("/", (fake) => {
			fake.greeting = { zoom: 0 };
		});
		press("+");
		expect(port.calls("Zoom")).toEqual([]);
	});

	test("quit, open in browser and restart are where they can be done, and nowhere in a tab", async () => {
		const { port, say, unmount } = await opened();
		press("q");
		expect(port.calls("Quit")).toEqual([[]]);
		const offered = () => {
			press("k");
			const names = screen.getAllByRole("option").map((option) => option.textContent ?? "");
			fireEvent.keyDown(screen.getByRole("combobox"), { key: "Escape" });
			return names.filter((name) => /Quit|browser|Zoom|Actual|new version/.test(name));
		};
		expect(offered()).toEqual([
			"Zoom inCtrl++",
			"Zoom outCtrl+-",
			"Actual sizeCtrl+0",
			"Open in browser",
			"QuitCtrl+Q",
		]);
		await pause();
		await say("update", { version: "2", busy: false });
		expect(offered()).toContain("Restart to use the new version");
		unmount();
		await openShell(new FakeServer());
		expect(offered()).toEqual([]);
	});
});
