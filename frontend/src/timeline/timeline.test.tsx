import { fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, test, vi } from "vitest";
import { currentLocale } from "@/i18n/i18n";
import { FakeServer } from "@/test/fake-server";
import { agent, approvalOf, notice, tool, turn, user } from "@/test/items";
import { openTimeline, pause } from "@/test/render";
import { settledWords } from "./items/settlement";

const card = (id: string) => document.querySelector(`[data-item-id="${id}"]`) as HTMLElement;

afterEach(() => {
	vi.useRealTimers();
});

describe("tool cards", () => {
	test.each([
		["generating", "Preparing…"],
		["running", "Running"],
		["completed", "Done"],
		["failed", "Failed"],
		["denied", "Denied"],
		["aborted", "Stopped"],
	] as const)("%s has a look of its own", async (status, words) => {
		await openTimeline([tool({ itemId: "c", status })]);
		expect(card("c").dataset.status).toBe(status);
		expect(within(card("c")).getByText(words)).toBeDefined();
	});

	test("one that was never run says so", async () => {
		await openTimeline([tool({ itemId: "c", status: "failed", notExecuted: true })]);
		expect(within(card("c")).getByText("Not run")).toBeDefined();
	});

	test("SP-TOOL-16 one without a display gets the generic card: its tool, its arguments, its result", async () => {
		await openTimeline([
			tool({
				itemId: "c",
				tool: "weather",
				args: { city: "Oslo", days: 3 },
				status: "completed",
				result: '{"temp":-4}',
			}),
		]);
		fireEvent.click(within(card("c")).getByRole("button", { name: /weather/ }));
		expect(card("c").textContent).toContain("city");
		expect(card("c").textContent).toContain("Oslo");
		expect(card("c").textContent).toContain('"temp": -4');
	});

	test("a command shows its output, its exit code and where it ran", async () => {
		await openTimeline([
			tool({
				itemId: "c",
				status: "failed",
				durationMs: 2_000,
				output: "\x1b[31mno\x1b[0m such file",
				display: { kind: "command", command: "cat x", cwd: "/home/ann", exitCode: 1 },
			}),
		]);
		expect(card("c").textContent).toContain("exit 1");
		expect(card("c").textContent).toContain("in /home/ann");
		expect(within(card("c")).getByText("no").closest(".ansi-1")).not.toBeNull();
	});

	test("SP-SETTLE-04 whether the owner decided is told by owner alone", () => {
		const { t } = currentLocale();
		const by = (owner: boolean) =>
			settledWords(
				{
					state: "approved",
					source: "answer",
					at: 1,
					by: { platform: "webui", userId: "console", nickname: "Ann", owner },
				},
				t,
			);
		expect(by(true)).toBe("Approved by you");
		expect(by(false)).toBe("Approved by Ann");
	});

	test.each([
		["absent", "denied", "Denied: nobody was there to ask"],
		["timeout", "expired", "Expired: no answer in time"],
		["ineligible", "denied", "Denied: this turn may not ask for approval"],
		["rate-limit", "denied", "Denied: too many requests at once"],
		["turn-ended", "cancelled", "Cancelled with its turn"],
		["shutdown", "cancelled", "Cancelled: the program stopped"],
	] as const)("settled by %s, the card says it", async (source, state, words) => {
		await openTimeline([
			tool({
				itemId: "c",
				status: "denied",
				approvalId: "p",
				settlement: { state, source, at: 1 },
			}),
		]);
		expect(within(card("c")).getByText(words)).toBeDefined();
	});
});

describe("an approval on its card", () => {
	const waiting = tool({
		itemId: "c",
		tool: "exec",
		approvalId: "p",
		args: { command: "ls" },
		display: { kind: "command", command: "ls" },
	});

	async function open(facts: Parameters<typeof approvalOf>[0]["facts"], more: object = {}) {
		const server = new FakeServer();
		server.approvals.set(
			"p",
			approvalOf({ id: "p", sessionId: "s", callId: "c", ...(facts ? { facts } : {}), ...more }),
		);
		return openTimeline([waiting], { server });
	}

	test("it is answered there, and says who settled it", async () => {
		const { server } = await open({ command: "ls", params: { command: "ls" } });
		fireEvent.click(screen.getByTestId("approve"));
		await pause();
		expect(server.requestsOf("approval/respond")).toEqual([
			{ approvalId: "p", decision: "approve", contentHash: "0123abcd" },
		]);
		expect(screen.queryByTestId("approval-card")).toBeNull();
		expect(card("c").dataset.status).toBe("running");
	});

	test("denied with a note", async () => {
		const { server } = await open({ command: "ls", params: {} });
		fireEvent.click(screen.getByTestId("deny-note"));
		fireEvent.change(screen.getByLabelText("Why not? She will read this."), {
			target: { value: "Use find" },
		});
		fireEvent.click(screen.getByTestId("deny"));
		await pause();
		expect(server.requestsOf("approval/respond")).toMatchObject([
			{ decision: "deny", note: "Use find" },
		]);
		expect(within(card("c")).getByText("Denied by you")).toBeDefined();
	});

	const HIDDEN = "\u202e";
	test.each([
		["command", { command: `a${HIDDEN}b`, params: {} }],
		["cwd", { command: "x", cwd: `a${HIDDEN}b`, params: {} }],
		["path of a diff", { diff: { path: `a${HIDDEN}b`, patch: "" }, params: {} }],
		["diff", { diff: { path: "x", patch: `@@ -1 +1 @@\n-a${HIDDEN}b\n` }, params: {} }],
		["parameter", { params: { key: `a${HIDDEN}b` } }],
		["name of a parameter", { params: { [`a${HIDDEN}b`]: 1 } }],
		["nested parameter", { params: { list: [{ deep: `a${HIDDEN}b` }] } }],
	])("SP-APPR-30 FAIL-B21 the %s is shown with what it hides", async (_, facts) => {
		await open(facts);
		const shown = screen.getByTestId("approval-card");
		expect(shown.textContent).toContain("⟦U+202E⟧");
		expect(shown.textContent).not.toContain(HIDDEN);
	});

	test("SP-APPR-30 FAIL-B21 and so are the tool's name and the titles on the way to the session", async () => {
		await open(
			{ params: {} },
			{ tool: `re${HIDDEN}ad`, chain: [{ id: "x", title: `up${HIDDEN}` }] },
		);
		const shown = screen.getByTestId("approval-card");
		expect(shown.textContent).toContain("re⟦U+202E⟧ad");
		expect(shown.textContent).toContain("up⟦U+202E⟧");
		expect(document.body.textContent).not.toContain(HIDDEN);
	});

	test("FAIL-B21 a card of the past hides nothing either", async () => {
		await openTimeline([
			tool({
				itemId: "c",
				status: "failed",
				tool: `x${HIDDEN}`,
				args: { a: `b${HIDDEN}` },
				result: `r${HIDDEN}`,
			}),
			tool({
				itemId: "d",
				status: "failed",
				output: `o${HIDDEN}`,
				display: { kind: "command", command: `c${HIDDEN}`, cwd: `w${HIDDEN}` },
			}),
			tool({
				itemId: "e",
				status: "completed",
				display: { kind: "file-change", path: `p${HIDDEN}`, added: `l${HIDDEN}` },
			}),
		]);
		expect(document.body.textContent).not.toContain(HIDDEN);
		for (const text of ["x⟦", "b⟦", "r⟦", "o⟦", "c⟦", "w⟦", "p⟦", "l⟦"]) {
			expect(document.body.textContent).toContain(text);
		}
	});

	test("a card that waits without its approval asks for it once", async () => {
		const { server } = await openTimeline([user({ itemId: "u" })]);
		server.start("s", waiting);
		await pause(60);
		expect(screen.getByText("Details of this approval are on their way…")).toBeDefined();
		server.approvals.set("p", approvalOf({ id: "p", sessionId: "s", callId: "c" }));
		await pause(900);
		expect(screen.getByTestId("approve")).toBeDefined();
		expect(server.requestsOf("session/subscribe")).toHaveLength(2);
	});

	test("only the answers that are offered are there", async () => {
		await open({ params: {} }, { options: ["deny"] });
		expect(screen.queryByTestId("approve")).toBeNull();
		expect(screen.getByTestId("deny")).toBeDefined();
	});
});

describe("notices and ends of turns", () => {
	test("SP-NOTICE-04 a kind the client knows is drawn from its facts, not its text", async () => {
		await openTimeline([
			notice({
				itemId: "n",
				topic: "background-task",
				text: "for the model",
				facts: { tool: "exec", status: "failed", exitCode: 2 },
			}),
			notice({ itemId: "m", topic: "friend-request", text: "Bob wants to be friends" }),
		]);
		expect(card("n").textContent).toContain("exec failed in the background");
		expect(card("n").textContent).toContain("exit 2");
		expect(card("n").textContent).not.toContain("for the model");
		expect(card("m").textContent).toContain("Bob wants to be friends");
	});

	test("SP-NOTICE-08 after the tool-call limit she can be asked to go on, while nothing runs", async () => {
		const { server } = await openTimeline([
			notice({ itemId: "n", topic: "tool-limit", text: "That was the limit.", canContinue: true }),
			notice({ itemId: "old", topic: "tool-limit", text: "An earlier limit." }),
		]);
		const buttons = screen.getAllByTestId("continue");
		expect(buttons).toHaveLength(1);
		fireEvent.click(buttons[0] as HTMLElement);
		await pause();
		expect(server.requestsOf("turn/continue")).toEqual([{ sessionId: "s" }]);
		server.start("s", turn({ itemId: "t" }));
		await pause(60);
		expect((screen.getByTestId("continue") as HTMLButtonElement).disabled).toBe(true);
	});

	test("a failed turn says why", async () => {
		await openTimeline([
			turn({ itemId: "t", outcome: "error", reason: "The model answered 503.", endedAt: 2 }),
		]);
		expect(screen.getByText("The model answered 503.")).toBeDefined();
		expect(screen.getByTestId("turn").dataset.outcome).toBe("error");
	});
});

describe("messages", () => {
	test("SP-FILE-02 a file's handle goes back unchanged", async () => {
		const src = "abc-DEF_123.xyz";
		await openTimeline([
			agent({
				itemId: "a",
				text: "Here.",
				attachments: [{ kind: "file", src, name: "report.pdf" }],
			}),
		]);
		const link = within(card("a")).getByRole("link");
		const address = new URL(link.getAttribute("href") ?? "", "http://x");
		expect(address.pathname).toBe("/api/session-file");
		expect(Object.fromEntries(address.searchParams)).toEqual({ sessionId: "s", handle: src });
	});

	test("SEC-12 raw HTML stays text, and a link of another scheme is no link", async () => {
		await openTimeline([
			agent({
				itemId: "a",
				text: '<img src=x onerror="alert(1)"> [bad](javascript:alert(1)) [file](file:///etc/passwd) [good](https://example.org) ![pic](https://tracker.example/p.png)',
			}),
		]);
		expect(card("a").querySelector("img")).toBeNull();
		expect([...card("a").querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual([
			"https://example.org/",
			"https://tracker.example/p.png",
		]);
		expect(card("a").textContent).toContain("bad");
	});

	test("FAIL-A6 what streamed and was completed is one element with the whole text", async () => {
		const { server } = await openTimeline([turn({ itemId: "t" })]);
		server.start("s", agent({ itemId: "a" }));
		for (const word of ["One ", "two ", "**three"]) server.delta("s", "a", word);
		await pause(60);
		expect(card("a").dataset.status).toBe("streaming");
		expect(card("a").textContent).toContain("One two three");
		server.complete("s", agent({ itemId: "a", text: "One two **three**." }));
		server.complete("s", agent({ itemId: "a", text: "One two **three**." }));
		await pause(60);
		expect(document.querySelectorAll('[data-item-id="a"]')).toHaveLength(1);
		expect(card("a").querySelector("strong")?.textContent).toBe("three");
		expect(card("a").dataset.status).toBe("completed");
	});

	test("a message that failed offers to be sent again or dropped", async () => {
		localStorage.setItem("aalis.outbox.s", JSON.stringify([{ clientId: "c", text: "left over" }]));
		const { session } = await openTimeline([]);
		expect(screen.getByTestId("unsent").textContent).toContain("left over");
		fireEvent.click(screen.getByRole("button", { name: "Discard" }));
		await pause();
		expect(session.outbox.getState()).toEqual([]);
		expect(screen.queryByTestId("unsent")).toBeNull();
	});
});

describe("rooms", () => {
	const other = { platform: "local", userId: "7", nickname: "Ann Lee", owner: false };
	const words = (id: string) => within(card(id)).getByRole("article");

	test("SP-UMSG-01 others stand on the left by name and initials, the owner on the right", async () => {
		await openTimeline([
			user({ itemId: "o", text: "mine" }),
			user({ itemId: "a", text: "theirs", speaker: other, entry: "opened", addressed: true }),
		]);
		expect(words("o").dataset.speaker).toBe("owner");
		expect(words("o").className).toContain("items-end");
		expect(words("a").dataset.speaker).toBe("other");
		expect(words("a").className).toContain("items-start");
		expect(words("a").textContent).toContain("AL");
		expect(words("a").textContent).toContain("Ann Lee");
	});

	test("SP-UMSG-08 what entered no turn is drawn quietly, what joined one says so", async () => {
		await openTimeline([
			user({ itemId: "q", text: "aside", speaker: other }),
			user({ itemId: "o", speaker: other, entry: "opened", addressed: true }),
			user({ itemId: "j", speaker: other, entry: "joined", addressed: true }),
		]);
		expect(words("q").dataset.aside).toBe("true");
		expect(words("o").dataset.aside).toBeUndefined();
		expect(words("o").textContent).not.toContain("added while");
		expect(words("j").textContent).toContain("added while she was working");
	});

	test("SP-AMSG-05 a reply that did not arrive says why, one on its way that it is", async () => {
		await openTimeline([
			agent({ itemId: "n", text: "no", undelivered: { reason: "The platform refused it." } }),
			agent({ itemId: "w", text: "wait", ext: { sending: true } }),
			agent({ itemId: "y", text: "yes" }),
		]);
		expect(card("n").textContent).toContain("Not delivered: The platform refused it.");
		expect(card("w").textContent).toContain("On its way into the room");
		expect(card("y").textContent).not.toContain("Not delivered");
		expect(card("y").textContent).not.toContain("On its way");
	});

	test("a name cannot turn the line around", async () => {
		await openTimeline([
			user({ itemId: "b", speaker: { ...other, nickname: "\u202Eevil" }, entry: "opened" }),
		]);
		expect(words("b").textContent).not.toContain("\u202E");
	});
});
