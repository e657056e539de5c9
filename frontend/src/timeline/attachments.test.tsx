import { fireEvent, screen, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import type { ItemAttachment, SessionItem } from "@/contract/session.gen";
import { FakeError } from "@/test/fake-server";
import { agent, user } from "@/test/items";
import { openTimeline, pause } from "@/test/render";

const stored = "attachments:/00ff";
const image: ItemAttachment = { kind: "image", name: "cat.png", src: stored };

const openWith = (...attachments: ItemAttachment[]) =>
	openTimeline([user({ itemId: "u 1", text: "", attachments })]);

describe("attachments in the timeline", () => {
	test("SP-ATT-01 SP-ATT-02 media is shown by its item and place, never by its storage address", async () => {
		await openWith(
			{ kind: "file", name: "x" },
			image,
			{ kind: "audio", name: "a.mp3", src: stored },
			{ kind: "video", name: "v.mp4", src: stored },
		);
		const sources = screen
			.getAllByTestId("attachment")
			.map((element) => element.getAttribute("src"));
		const at = (n: number) => `/api/session-media?sessionId=s&itemId=u+1&n=${n}`;
		expect(sources).toEqual([null, at(1), at(2), at(3)]);
		expect(document.body.innerHTML).not.toContain(stored);
	});

	test("SP-ATT-03 SP-FILE-02 SP-FILE-03 a file's handle goes back as it came, and names the download", async () => {
		await openWith({ kind: "file", name: "r&d.pdf", src: "aGFuZGxl-_.c3Vt" });
		const link = screen.getByTestId("attachment");
		expect(link.getAttribute("href")).toBe("/api/session-file?sessionId=s&handle=aGFuZGxl-_.c3Vt");
		expect(link.getAttribute("download")).toBe("r&d.pdf");
	});

	test("SP-ATT-04 without a source there is the name and nothing to click", async () => {
		await openWith({ kind: "image", name: "gone.png" });
		const chip = screen.getByTestId("attachment");
		expect(chip.textContent).toBe("gone.png");
		expect(chip.closest("a, button")).toBeNull();
	});

	test("SEC-12 an address of elsewhere is not loaded, only offered to be opened", async () => {
		await openWith({ kind: "image", name: "there.png", src: "https://example.org/there.png" });
		expect(document.querySelector("img, video, audio")).toBeNull();
		expect(screen.getByRole("button", { name: /there\.png/ })).toBeDefined();
	});

	test("SP-AMSG-01 her files are shown alike, also without words", async () => {
		await openTimeline([agent({ itemId: "a", attachments: [image] }) as SessionItem]);
		expect(screen.getByTestId("attachment").getAttribute("src")).toContain("itemId=a&n=0");
	});

	test("what cannot be shown can still be kept", async () => {
		await openWith(image);
		fireEvent.error(screen.getByTestId("attachment"));
		const link = screen.getByTestId("attachment");
		expect(link.tagName).toBe("A");
		expect(link.getAttribute("download")).toBe("cat.png");
	});

	test("an image opens large and closes with Escape", async () => {
		await openWith(image);
		fireEvent.click(screen.getByRole("button", { name: "Enlarge cat.png" }));
		await pause();
		const large = within(screen.getByTestId("lightbox"));
		expect(large.getByRole("img", { name: "cat.png" }).getAttribute("src")).toContain("n=0");
		expect(large.getByLabelText("Save")).toBeDefined();
		fireEvent.keyDown(document.activeElement ?? document.body, { key: "Escape" });
		await vi.waitFor(() => expect(screen.queryByTestId("lightbox")).toBeNull());
	});

	test("in the window, saving asks where through its binding", async () => {
		const Save = vi.fn(async () => true);
		vi.stubGlobal("go", { app: { Bridge: { Open: vi.fn(), Send: vi.fn(), Save } } });
		await openWith({ kind: "file", name: "a.txt", src: "h.s" });
		const link = screen.getByTestId("attachment");
		const click = new MouseEvent("click", { bubbles: true, cancelable: true });
		link.dispatchEvent(click);
		expect(click.defaultPrevented).toBe(true);
		expect(Save).toHaveBeenCalledExactlyOnceWith(
			"/api/session-file?sessionId=s&handle=h.s",
			"a.txt",
		);
	});

	test("in the window, what is played is fetched: its players do not know the page's scheme", async () => {
		vi.stubGlobal("go", { app: { Bridge: { Open: vi.fn(), Send: vi.fn() } } });
		const fetched = vi.fn(async () => new Response("RIFF"));
		vi.stubGlobal("fetch", fetched);
		URL.createObjectURL = () => "blob:tone";
		await openWith(image, { kind: "audio", name: "a.wav", src: stored });
		await vi.waitFor(() =>
			expect(screen.getAllByTestId("attachment").map((e) => e.getAttribute("src"))).toEqual([
				"/api/session-media?sessionId=s&itemId=u+1&n=0",
				"blob:tone",
			]),
		);
		expect(fetched).toHaveBeenCalledOnce();
	});

	test("a message that was not taken says what goes with it", async () => {
		const { session, server } = await openTimeline([]);
		server.intercept = (method) => {
			if (method === "turn/send") throw new FakeError(-32603, "The disk is full.");
			return undefined;
		};
		session.send("", [new File(["x"], "a.txt")]);
		await pause();
		expect(screen.getByTestId("unsent").textContent).toMatch(/^a\.txtNot sent: The disk is full\./);
	});
});
