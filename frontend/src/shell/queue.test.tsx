import { fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, test } from "vitest";
import type { QueueEntry } from "@/contract/session.gen";
import { FakeError, FakeServer } from "@/test/fake-server";
import { turn } from "@/test/items";
import { openShell, pause } from "@/test/render";

afterEach(() => {
	window.location.hash = "";
});

const entryOf = (text: string, part: Partial<QueueEntry> = {}): QueueEntry => ({
	speaker: { platform: "webui", userId: "console", owner: true },
	text,
	attachments: 0,
	ext: { inputId: `id-${text}` },
	...part,
});

async function openQueue(...entries: QueueEntry[]) {
	const server = new FakeServer();
	const session = server.session({ id: "s", title: "S", running: true }, [turn({ itemId: "t" })]);
	session.fixed.queue = { kind: "queue", itemId: "queue", at: 1, entries };
	const parts = await openShell(server, "/s/s");
	const box = () => screen.getByRole("textbox", { name: "Message" }) as HTMLTextAreaElement;
	return { ...parts, box };
}

const rows = () => screen.queryAllByTestId("queue-entry");
const row = (at: number) => within(rows()[at] as HTMLElement);
const field = (at = 0) => row(at).getByTestId("queue-field") as HTMLTextAreaElement;
const enter = (box: HTMLElement, part: object = {}) =>
	fireEvent.keyDown(box, { key: "Enter", keyCode: 13, ...part });

function change(at: number, words: string) {
	fireEvent.click(row(at).getByRole("button", { name: "Change" }));
	fireEvent.change(field(at), { target: { value: words } });
}

describe("changing what waits", () => {
	test("FAIL-A18 Enter saves in place, with the focus back where it was", async () => {
		const { server } = await openQueue(entryOf("one"), entryOf("two"));
		change(1, "zwei");
		expect(document.activeElement).toBe(field(1));
		enter(field(1));
		await pause();
		expect(server.requestsOf("ext/queue/edit")).toEqual([
			{ sessionId: "s", inputId: "id-two", content: "zwei" },
		]);
		expect(rows().map((entry) => entry.textContent)).toEqual(["one", "zwei"]);
		expect(document.activeElement).toBe(row(1).getByRole("button", { name: "Change" }));
		expect(server.requestsOf("turn/send")).toEqual([]);
	});

	test("Escape leaves the words as they were, and stops no turn", async () => {
		const { server } = await openQueue(entryOf("one"));
		change(0, "other");
		fireEvent.keyDown(field(), { key: "Escape", keyCode: 27 });
		await pause();
		expect(rows().map((entry) => entry.textContent)).toEqual(["one"]);
		expect(server.requests.map(({ method }) => method)).not.toContain("turn/abort");
		expect(server.requestsOf("ext/queue/edit")).toEqual([]);
	});

	test("FAIL-H8 the Enter that ends a composition saves nothing; Shift+Enter breaks the line", async () => {
		const { server } = await openQueue(entryOf("one"));
		change(0, "ni");
		fireEvent.compositionStart(field());
		enter(field());
		fireEvent.compositionEnd(field());
		enter(field(), { keyCode: 229 });
		enter(field(), { shiftKey: true });
		await pause();
		expect(server.requestsOf("ext/queue/edit")).toEqual([]);
	});

	test("blank words are not saved; with attachments they may be", async () => {
		const { server } = await openQueue(entryOf("one"), entryOf("two", { attachments: 1 }));
		change(0, "  ");
		enter(field(0));
		change(1, "");
		enter(field(1));
		await pause();
		expect(server.requestsOf("ext/queue/edit")).toEqual([
			{ sessionId: "s", inputId: "id-two", content: "" },
		]);
	});

	test("FAIL-A21 two at once: each keeps its own words while the other is saved", async () => {
		await openQueue(entryOf("one"), entryOf("two"));
		change(0, "uno");
		change(1, "dos");
		enter(field(1));
		await pause();
		expect(field(0).value).toBe("uno");
		expect(rows()[1]?.textContent).toBe("dos");
	});

	test("FAIL-A18 taken up meanwhile: said, and the words go on in the message box below what is there", async () => {
		const { server, box } = await openQueue(entryOf("one"));
		fireEvent.change(box(), { target: { value: "next thought" } });
		change(0, "one, but better");
		server.complete("s", { kind: "queue", itemId: "queue", at: 1, entries: [] });
		await pause();
		expect(box().value).toBe("next thought\none, but better");
		expect(screen.getByTestId("toast").textContent).toContain("waits no longer");
	});

	test("FAIL-A18 a refusal that is none of the queue's leaves the field open", async () => {
		const { server } = await openQueue(entryOf("one"));
		server.intercept = (method) => {
			if (method === "ext/queue/edit") throw new FakeError(-32603, "The disk is full.");
			return undefined;
		};
		change(0, "uno");
		enter(field());
		await pause();
		expect(field().value).toBe("uno");
		expect(screen.getByTestId("toast").textContent).toContain("The disk is full.");
	});
});

describe("taking back what waits", () => {
	test("FAIL-A18 its words return into an empty message box", async () => {
		const { server, box } = await openQueue(entryOf("one"), entryOf("two"));
		fireEvent.click(row(0).getByRole("button", { name: "Take back" }));
		await pause();
		expect(server.requestsOf("ext/queue/remove")).toEqual([{ sessionId: "s", inputId: "id-one" }]);
		expect(rows().map((entry) => entry.textContent)).toEqual(["two"]);
		expect(box().value).toBe("one");
	});

	test("what is being written stays as it is", async () => {
		const { box } = await openQueue(entryOf("one"));
		fireEvent.change(box(), { target: { value: "mine" } });
		fireEvent.click(row(0).getByRole("button", { name: "Take back" }));
		await pause();
		expect(rows()).toEqual([]);
		expect(box().value).toBe("mine");
	});

	test("FAIL-A18 just taken up: the conflict is told and nothing returns", async () => {
		const { server, box } = await openQueue(entryOf("one"));
		server.need("s").fixed.queue = { kind: "queue", itemId: "queue", at: 1, entries: [] };
		fireEvent.click(row(0).getByRole("button", { name: "Take back" }));
		await pause();
		expect(screen.getByTestId("toast").textContent).toContain("That message waits no longer.");
		expect(box().value).toBe("");
	});

	test("what others said can be taken out, not changed; it is not put into the owner's mouth", async () => {
		const speaker = { platform: "onebot", nickname: "Jo", owner: false };
		const { box } = await openQueue(entryOf("theirs", { speaker }));
		expect(row(0).queryByRole("button", { name: "Change" })).toBeNull();
		fireEvent.click(row(0).getByRole("button", { name: "Take back" }));
		await pause();
		expect(rows()).toEqual([]);
		expect(box().value).toBe("");
	});

	test("a server that names no entries offers neither", async () => {
		const { ext: _, ...foreign } = entryOf("one");
		await openQueue(foreign);
		expect(rows()[0]?.textContent).toBe("one");
		expect(row(0).queryAllByRole("button")).toEqual([]);
	});
});
