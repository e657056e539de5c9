import { fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { stay } from "./stay";

let off: () => void = () => undefined;
const failed = vi.fn();
const OpenLink = vi.fn(async (_url: string) => undefined);

function page(inWindow: boolean) {
	off = stay(window, { inWindow, failed });
	if (inWindow) (window as { go?: unknown }).go = { app: { Bridge: { OpenLink } } };
	render(
		<main>
			<a href="https://example.org/">outside</a>
			<a href="#/s/other">inside</a>
			<a href="/api/session-file?x" download="x">
				file
			</a>
			<a href="/elsewhere">elsewhere</a>
			<a href="file:///etc/passwd">disk</a>
			<a href="https://example.org/own" onClick={(event) => event.preventDefault()}>
				own
			</a>
			<form action="/gone">
				<input aria-label="words" />
			</form>
			<p>nothing</p>
		</main>,
	);
}

/** True when the browser would have done what it does by itself. */
const clicked = (name: string, init: MouseEventInit = {}) =>
	fireEvent(
		screen.getByText(name),
		new MouseEvent(init.button === 1 ? "auxclick" : "click", {
			bubbles: true,
			cancelable: true,
			...init,
		}),
	);

function dragged(type: "dragover" | "drop", on: Element, types: string[]) {
	const event = new Event(type, { bubbles: true, cancelable: true });
	const dataTransfer = { types, dropEffect: "move" };
	Object.assign(event, { dataTransfer });
	return { lets: fireEvent(on, event), effect: dataTransfer.dropEffect };
}

const ways: [string, MouseEventInit][] = [
	["a click", {}],
	["the middle button", { button: 1 }],
	["Ctrl and a click", { ctrlKey: true }],
	["Shift and a click", { shiftKey: true }],
];

beforeEach(() => {
	OpenLink.mockReset();
	failed.mockReset();
});
afterEach(() => {
	off();
	delete (window as { go?: unknown }).go;
	window.location.hash = "";
});

describe("SEC-12 the page in the window is never left", () => {
	test.each(ways)("by %s on a link", async (_, init) => {
		page(true);
		expect(clicked("outside", init)).toBe(false);
		expect(OpenLink.mock.calls).toEqual([["https://example.org/"]]);
		for (const name of ["file", "elsewhere", "disk"]) expect(clicked(name, init)).toBe(false);
		expect(OpenLink).toHaveBeenCalledOnce();
		expect(failed).not.toHaveBeenCalled();
	});

	test("a link within goes there, also where a browser would open a tab", () => {
		page(true);
		expect(clicked("inside")).toBe(true);
		expect(clicked("inside", { ctrlKey: true })).toBe(false);
		expect(window.location.hash).toBe("#/s/other");
	});

	test("what could not be opened is told", async () => {
		page(true);
		OpenLink.mockRejectedValue("There is no browser.");
		clicked("outside");
		await Promise.resolve();
		await Promise.resolve();
		expect(failed).toHaveBeenCalledWith("There is no browser.");
	});

	test("the right button opens no link, and who handles a click keeps it", () => {
		page(true);
		fireEvent(
			screen.getByText("outside"),
			new MouseEvent("auxclick", { bubbles: true, cancelable: true, button: 2 }),
		);
		clicked("own");
		expect(OpenLink).not.toHaveBeenCalled();
	});

	test("by what is dropped: a link, a picture, a file; words go where words are written", () => {
		page(true);
		const [anywhere, words] = [screen.getByText("nothing"), screen.getByLabelText("words")];
		for (const types of [["text/uri-list", "text/plain"], ["Files"], ["text/html"]]) {
			expect(dragged("dragover", anywhere, types)).toEqual({ lets: false, effect: "none" });
			expect(dragged("drop", anywhere, types).lets).toBe(false);
		}
		expect(dragged("dragover", words, ["text/plain"])).toEqual({ lets: true, effect: "move" });
		expect(dragged("drop", words, ["text/plain"]).lets).toBe(true);
		expect(dragged("drop", words, ["Files"]).lets).toBe(false);
	});

	test("by a form", () => {
		page(true);
		const form = screen.getByLabelText("words").closest("form") as HTMLFormElement;
		expect(fireEvent.submit(form)).toBe(false);
	});
});

describe("SEC-12 the page in a tab", () => {
	test("opens what is outside in another, lets links within and files be, and goes nowhere else", () => {
		const open = vi.spyOn(window, "open").mockReturnValue(null);
		page(false);
		for (const [, init] of ways) {
			expect(clicked("outside", init)).toBe(false);
			expect(clicked("inside", init)).toBe(true);
			expect(clicked("file", init)).toBe(true);
			expect(clicked("elsewhere", init)).toBe(false);
			expect(clicked("disk", init)).toBe(false);
		}
		expect(open).toHaveBeenCalledTimes(ways.length);
		expect(open).toHaveBeenCalledWith("https://example.org/", "_blank", "noopener,noreferrer");
	});
});
