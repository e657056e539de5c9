import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import { type Intent, KeyReader } from "@/ui/keys";
import { TipProvider } from "@/ui/tip";
import { Composer } from "./composer";

type Part = Partial<Parameters<KeyReader["read"]>[0]>;
const enter = (part: Part = {}) => ({
	key: "Enter",
	keyCode: 13,
	isComposing: false,
	shiftKey: false,
	ctrlKey: false,
	metaKey: false,
	altKey: false,
	repeat: false,
	timeStamp: 10_000,
	...part,
});

describe("keys", () => {
	test("Enter sends, Shift+Enter breaks the line, a held key is one wish", () => {
		const reader = new KeyReader();
		expect(reader.read(enter())).toBe("send");
		expect(reader.read(enter({ shiftKey: true }))).toBe("none");
		expect(reader.read(enter({ repeat: true }))).toBe("none");
		expect(reader.read(enter({ key: "a", keyCode: 65 }))).toBe("none");
	});

	// What three kinds of input methods do when their candidate is taken with Enter.
	const methods: [string, (reader: KeyReader) => Intent[]][] = [
		[
			"Chromium: the key comes inside the composition",
			(reader) => {
				reader.compositionStart();
				const intent = reader.read(enter({ isComposing: true, keyCode: 229 }));
				reader.compositionEnd(10_001);
				return [intent];
			},
		],
		[
			"WebKit: the composition ends first, the key follows with code 229",
			(reader) => {
				reader.compositionStart();
				reader.compositionEnd(9_000);
				return [reader.read(enter({ keyCode: 229, timeStamp: 10_000 }))];
			},
		],
		[
			"others: the composition ends, and a plain Enter is right behind",
			(reader) => {
				reader.compositionStart();
				reader.compositionEnd(9_990);
				return [reader.read(enter({ timeStamp: 10_000 }))];
			},
		],
		[
			"a flag that is missing: the composition itself is remembered",
			(reader) => {
				reader.compositionStart();
				return [reader.read(enter())];
			},
		],
	];
	test.each(methods)("FAIL-H8 %s: nothing is sent", (_, play) => {
		const reader = new KeyReader();
		expect(play(reader)).toEqual(["none"]);
		expect(reader.read(enter({ timeStamp: 20_000 }))).toBe(
			_.startsWith("a flag") ? "none" : "send",
		);
	});

	test("FAIL-H8 Escape that leaves a composition stops no turn", () => {
		const reader = new KeyReader();
		reader.compositionStart();
		expect(reader.read(enter({ key: "Escape", keyCode: 27, isComposing: true }))).toBe("none");
		reader.compositionEnd(10_000);
		expect(reader.read(enter({ key: "Escape", keyCode: 27, timeStamp: 10_010 }))).toBe("none");
		expect(reader.read(enter({ key: "Escape", keyCode: 27, timeStamp: 11_000 }))).toBe("stop");
	});
});

function open(part: Partial<Parameters<typeof Composer>[0]> = {}) {
	const onSend = vi.fn(() => true);
	const onStop = vi.fn();
	render(
		<TipProvider>
			<Composer place="s" appName="Aalis" enabled onSend={onSend} onStop={onStop} {...part} />
		</TipProvider>,
	);
	const box = screen.getByRole("textbox") as HTMLTextAreaElement;
	const type = (value: string) => fireEvent.change(box, { target: { value } });
	return { onSend, onStop, box, type };
}

describe("the message box", () => {
	test("FAIL-A20 a double click and a double Enter send one message", () => {
		const { onSend, type, box } = open();
		type("Hello");
		const send = screen.getByTestId("send");
		fireEvent.click(send);
		fireEvent.click(send);
		expect(onSend).toHaveBeenCalledExactlyOnceWith("Hello");
		type("Again");
		fireEvent.keyDown(box, { key: "Enter", keyCode: 13 });
		fireEvent.keyDown(box, { key: "Enter", keyCode: 13 });
		expect(onSend).toHaveBeenCalledTimes(2);
	});

	test("a message that was not taken comes back into the box", async () => {
		const { type, box } = open({ onSend: async () => false });
		type("Keep me");
		fireEvent.click(screen.getByTestId("send"));
		await vi.waitFor(() => expect(box.value).toBe("Keep me"));
	});

	test("Stop takes the place of Send while a turn runs and the box is empty", () => {
		const { onStop, onSend, type } = open({ running: true });
		fireEvent.click(screen.getByTestId("stop"));
		expect(onStop).toHaveBeenCalledOnce();
		type("One more thing");
		expect(screen.queryByTestId("stop")).toBeNull();
		fireEvent.click(screen.getByTestId("send"));
		expect(onSend).toHaveBeenCalledWith("One more thing");
	});

	test("blank text, too long text and an absent assistant send nothing", () => {
		const { onSend, type, box } = open();
		type("   \n");
		fireEvent.keyDown(box, { key: "Enter", keyCode: 13 });
		type("x".repeat(200_001));
		fireEvent.keyDown(box, { key: "Enter", keyCode: 13 });
		expect(onSend).not.toHaveBeenCalled();
		expect(screen.getByText("Too long by 1 character")).toBeDefined();
	});

	test("a slash lists what can be said to the program; keys and clicks take one, Escape leaves it", () => {
		const { box, type, onSend } = open();
		type("/");
		expect(screen.getAllByRole("option")).toHaveLength(5);
		type("/c");
		expect(screen.getAllByRole("option").map((option) => option.textContent)).toEqual([
			expect.stringContaining("/clear"),
			expect.stringContaining("/compress"),
		]);
		fireEvent.keyDown(box, { key: "Enter", keyCode: 229 });
		expect(box.value).toBe("/c");
		fireEvent.keyDown(box, { key: "ArrowDown" });
		expect(box.getAttribute("aria-activedescendant")).toBe("suggestion-1");
		fireEvent.keyDown(box, { key: "Enter", keyCode: 13 });
		expect(box.value).toBe("/compress");
		expect(onSend).not.toHaveBeenCalled();
		expect(screen.queryByTestId("suggestions")).toBeNull();
		fireEvent.keyDown(box, { key: "Enter", keyCode: 13 });
		expect(onSend).toHaveBeenCalledExactlyOnceWith("/compress");
		type("/m");
		fireEvent.keyDown(box, { key: "Tab" });
		expect(box.value).toBe("/model ");
		type("/h");
		fireEvent.keyDown(box, { key: "Escape" });
		expect(screen.queryByTestId("suggestions")).toBeNull();
		type("/he");
		fireEvent.mouseDown(screen.getByRole("option"));
		expect(box.value).toBe("/help");
	});

	test("an at-sign offers files of the place, asked for once the typing rests", async () => {
		const findFiles = vi.fn(async (query: string) => [`src/${query || "top"}.go`, "my boat.txt"]);
		const { box, type, onSend } = open({ findFiles });
		const typed = (value: string) => {
			type(value);
			box.setSelectionRange(value.length, value.length);
			fireEvent.select(box);
		};
		typed("look at @m");
		typed("look at @ma");
		await vi.waitFor(() => expect(screen.getAllByRole("option")).toHaveLength(2));
		expect(findFiles).toHaveBeenLastCalledWith("ma");
		fireEvent.keyDown(box, { key: "Enter", keyCode: 13 });
		expect(box.value).toBe("look at @src/ma.go ");
		expect(screen.queryByTestId("suggestions")).toBeNull();
		expect(onSend).not.toHaveBeenCalled();
		typed(`${box.value}and @b`);
		await vi.waitFor(() => expect(screen.getAllByRole("option")).toHaveLength(2));
		fireEvent.mouseDown(screen.getAllByRole("option")[1] as HTMLElement);
		expect(box.value).toBe('look at @src/ma.go and @"my boat.txt" ');
	});

	test("files that cannot be found are not offered, and what is typed is sent as it is", async () => {
		const findFiles = vi.fn(() => Promise.reject(new Error("away")));
		const { box, type, onSend } = open({ findFiles });
		type("@boat");
		box.setSelectionRange(5, 5);
		fireEvent.select(box);
		await vi.waitFor(() => expect(findFiles).toHaveBeenCalled());
		expect(screen.queryByTestId("suggestions")).toBeNull();
		fireEvent.keyDown(box, { key: "Enter", keyCode: 13 });
		expect(onSend).toHaveBeenCalledExactlyOnceWith("@boat");
	});

	test("drafts are kept per session", () => {
		open().type("half a thought");
		window.dispatchEvent(new Event("pagehide"));
		expect(localStorage.getItem("aalis.draft.s")).toBe("half a thought");
		cleanup();
		expect(open({ place: "other" }).box.value).toBe("");
		cleanup();
		expect(open({ place: "s" }).box.value).toBe("half a thought");
	});
});
