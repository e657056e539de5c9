import { createEvent, fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { LARGEST_FILE } from "@/state/draft-files";
import { FakeServer } from "@/test/fake-server";
import { client } from "@/test/harness";
import { pause, renderWith } from "@/test/render";
import { Composer } from "./composer";
import { pastedFiles, useDraftFiles } from "./files";

beforeEach(() => {
	URL.createObjectURL = () => "blob:x";
	URL.revokeObjectURL = () => undefined;
});

function Box({ place, ...rest }: { place: string } & Partial<Parameters<typeof Composer>[0]>) {
	const files = useDraftFiles(place);
	return (
		<Composer place={place} appName="Aalis" enabled onSend={() => true} files={files} {...rest} />
	);
}

function open(part: Partial<Parameters<typeof Composer>[0]> = {}) {
	const parts = client(new FakeServer());
	const onSend = vi.fn<(text: string, files?: readonly File[]) => boolean | Promise<boolean>>(
		() => true,
	);
	const view = renderWith(parts, <Box place="s" onSend={onSend} {...part} />);
	return { ...parts, ...view, onSend };
}

const file = (name: string, type = "text/plain") => new File([name], name, { type });
const choose = (...files: File[]) =>
	fireEvent.change(screen.getByTestId("attach-input"), { target: { files } });
const names = () => screen.queryAllByTestId("draft-file").map(({ textContent }) => textContent);
const box = () => screen.getByRole("textbox") as HTMLTextAreaElement;

/** What a drag or a paste carries. */
const transfer = (files: File[], words: Record<string, string> = {}) => ({
	files,
	types: [...Object.keys(words), ...(files.length > 0 ? ["Files"] : [])],
	getData: (type: string) => words[type] ?? "",
	dropEffect: "none",
});

describe("files in the message box", () => {
	test("SP-TURN-04 files are sent with the words, and without any", () => {
		const { onSend } = open();
		const send = screen.getByTestId("send") as HTMLButtonElement;
		expect(send.disabled).toBe(true);
		choose(file("a.txt"));
		expect(send.disabled).toBe(false);
		fireEvent.click(send);
		fireEvent.click(send);
		expect(onSend).toHaveBeenCalledOnce();
		expect(onSend.mock.calls[0]?.[0]).toBe("");
		expect(onSend.mock.calls[0]?.[1]?.map(({ name }) => name)).toEqual(["a.txt"]);
		expect(names()).toEqual([]);
	});

	test("a message that was not taken keeps its words and its files", async () => {
		open({ onSend: async () => false });
		choose(file("a.txt"));
		fireEvent.change(box(), { target: { value: "look" } });
		fireEvent.click(screen.getByTestId("send"));
		await vi.waitFor(() => expect(names()).toEqual(["a.txt5 B"]));
		expect(box().value).toBe("look");
	});

	test("one is taken off, and the focus goes to the words", () => {
		open();
		choose(file("a.txt"), file("b.txt"));
		fireEvent.click(screen.getByRole("button", { name: "Remove a.txt" }));
		expect(names()).toEqual(["b.txt5 B"]);
		expect(document.activeElement).toBe(box());
	});

	test("what is too large or empty is told with its name and the limit, and nothing is sent", () => {
		const large = file("film.mp4");
		Object.defineProperty(large, "size", { value: LARGEST_FILE + 1 });
		const { onSend } = open();
		choose(large, new File([], "nothing.txt"));
		expect(screen.getByRole("alert").textContent).toBe(
			"film.mp4 has 20.1 MiB; at most 20 MiB are taken.nothing.txt is empty.",
		);
		expect((screen.getByTestId("send") as HTMLButtonElement).disabled).toBe(true);
		fireEvent.keyDown(box(), { key: "Enter", keyCode: 13 });
		expect(onSend).not.toHaveBeenCalled();
	});

	test("Stop gives way to Send as soon as a file is attached", () => {
		open({ running: true, onStop: () => undefined });
		expect(screen.queryByTestId("stop")).not.toBeNull();
		choose(file("a.txt"));
		expect(screen.queryByTestId("stop")).toBeNull();
		expect(screen.queryByTestId("send")).not.toBeNull();
	});

	test("drafts keep their files while the person is elsewhere, each place its own", () => {
		const { app, link, unmount } = open();
		choose(file("a.txt"));
		unmount();
		const other = renderWith({ app, link } as ReturnType<typeof client>, <Box place="other" />);
		expect(names()).toEqual([]);
		other.unmount();
		renderWith({ app, link } as ReturnType<typeof client>, <Box place="s" />);
		expect(names()).toEqual(["a.txt5 B"]);
	});

	test("a paste of files attaches them; a paste of words with their picture stays words", () => {
		open();
		fireEvent.paste(box(), { clipboardData: transfer([file("image.png", "image/png")]) });
		expect(names()).toEqual(["image.png9 B"]);
		const words = transfer([file("cells.png")], { "text/html": "<td>1</td>", "text/plain": "1" });
		fireEvent.paste(box(), { clipboardData: words });
		expect(names()).toHaveLength(1);
		expect(pastedFiles(transfer([file("a")], { "text/html": "<img>" }) as never)).toHaveLength(1);
	});

	test("a drop anywhere attaches files and never leads away; dragged words are not ours", () => {
		open();
		const drag = (kind: "dragOver" | "drop", data: object) => {
			const event = createEvent[kind](document.body, { dataTransfer: data });
			fireEvent(document.body, event);
			return event.defaultPrevented;
		};
		expect(drag("dragOver", transfer([], { "text/plain": "x" }))).toBe(false);
		expect(drag("dragOver", transfer([file("a.txt")]))).toBe(true);
		expect(screen.queryByText("Drop files to attach them")).not.toBeNull();
		expect(drag("drop", transfer([file("a.txt")]))).toBe(true);
		expect(screen.queryByText("Drop files to attach them")).toBeNull();
		expect(names()).toEqual(["a.txt5 B"]);
	});

	test("while nobody is there to answer nothing is taken, and a drop leads nowhere", () => {
		open({ enabled: false });
		expect((screen.getByTestId("attach") as HTMLButtonElement).disabled).toBe(true);
		const event = createEvent.drop(document.body, { dataTransfer: transfer([file("a.txt")]) });
		fireEvent(document.body, event);
		expect(event.defaultPrevented).toBe(true);
		expect(names()).toEqual([]);
	});

	test("a place without files has no way to attach", async () => {
		renderWith(
			client(new FakeServer()),
			<Composer place="s" appName="A" enabled onSend={() => true} />,
		);
		await pause(1);
		expect(screen.queryByTestId("attach")).toBeNull();
	});
});
