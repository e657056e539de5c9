import { describe, expect, test } from "vitest";
import { emptySession, reduceSession, type SessionState, type TimelineItem } from "@/state/session";
import { summaryOf } from "@/test/fake-server";
import { agent, reasoning, tool, turn, user } from "@/test/items";
import { lastLine, parseAnsi } from "@/ui/ansi/ansi";
import { injectorsByPlugin } from "./items/usage-parts";
import { noBlocks, openFence, splitBlocks } from "./markdown/blocks";
import { countAfter, isPrepend, rowsOf } from "./rows";

const stateOf = (items: TimelineItem[], running = false): SessionState =>
	reduceSession(emptySession, {
		type: "snapshot",
		snapshot: {
			epoch: "e",
			seq: 1,
			session: summaryOf({ id: "s", running }),
			items,
			approvals: [],
		},
	});

const keys = (items: TimelineItem[], running = false) =>
	rowsOf(stateOf(items, running)).map((row) => row.key);
const MONDAY = new Date(2026, 10, 30, 10).getTime();

describe("rows", () => {
	const question = user({ itemId: "u", turnId: "t", at: MONDAY });
	const reply = agent({ itemId: "a", turnId: "t", at: MONDAY + 2, text: "Yes." });
	const end = turn({ itemId: "t", turnId: "t", at: MONDAY + 1, outcome: "replied" });

	test("a turn is drawn after its last item, wherever its own item stands", () => {
		const live = keys([question, end, reply]).slice(2);
		const history = keys([question, reply, end]).slice(2);
		expect(live).toEqual(["u", "a", "turn:t"]);
		expect(history).toEqual(live);
	});

	test("a compression that has its line is not told twice", () => {
		const told = (facts: Record<string, unknown>) =>
			keys([
				{ kind: "notice", itemId: "c", at: MONDAY, topic: "compress", text: "…", facts },
				{ kind: "notice", itemId: "l", at: MONDAY, topic: "event-marker", text: "line" },
			]).slice(2);
		expect(told({ status: "start" })).toEqual(["c", "l"]);
		expect(told({ status: "error", reason: "no key" })).toEqual(["c", "l"]);
		expect(told({ status: "done" })).toEqual(["c", "l"]);
		expect(told({ status: "done", tokensBefore: 9, tokensAfter: 3 })).toEqual(["l"]);
	});

	test("a running turn says so until something is being written", () => {
		const running = turn({ itemId: "t", turnId: "t", at: MONDAY });
		expect(keys([running]).at(-1)).toBe("working");
		expect(keys([], true).at(-1)).toBe("working");
		const state = stateOf([running, reply]);
		expect(rowsOf({ ...state, streaming: new Set(["a"]) }).at(-1)?.key).toBe("a");
		expect(keys([running, reply]).at(-1)).toBe("working");
	});

	test("days are set apart, and what has nothing to show yet has no row", () => {
		const rows = keys([
			user({ itemId: "u1", at: MONDAY - 86_400_000 }),
			user({ itemId: "u2", at: MONDAY }),
			agent({ itemId: "a", at: MONDAY + 1 }),
			reasoning({ itemId: "r", at: MONDAY + 1 }),
		]);
		expect(rows.map((key) => key.replace(/:.*/, ""))).toEqual(["start", "day", "u1", "day", "u2"]);
	});

	test("what is new behind a reader is counted; what was put before is told apart", () => {
		const before = rowsOf(stateOf([question, reply]));
		const after = rowsOf(
			stateOf([
				question,
				reply,
				tool({ itemId: "c", at: MONDAY + 3 }),
				user({ itemId: "u2", at: MONDAY + 4 }),
			]),
		);
		expect(countAfter(after, "a")).toBe(2);
		expect(isPrepend(before, after)).toBe(false);
		const older = rowsOf(stateOf([user({ itemId: "u0", at: MONDAY - 5 }), question, reply]));
		expect(isPrepend(before, older)).toBe(true);
		expect(isPrepend(older, before)).toBe(false);
	});
});

describe("Markdown blocks", () => {
	const text =
		"# Title\n\nA *paragraph*.\n\n- one\n\n- two\n\n```go\nfunc a() {\n\n}\n```\nend\n\n| a |\n|---|\n| b |\n";

	test("top-level blocks together are the text", () => {
		const { blocks } = splitBlocks(noBlocks, text);
		expect(blocks.join("")).toBe(text);
		expect(blocks.map((block) => block.trim().split("\n")[0])).toEqual([
			"# Title",
			"A *paragraph*.",
			"- one",
			"```go",
			"end",
			"| a |",
		]);
	});

	test("growing piece by piece gives the same blocks, and finished ones are never touched again", () => {
		let grown = noBlocks;
		for (let length = 1; length <= text.length; length++) {
			const before = grown;
			grown = splitBlocks(grown, text.slice(0, length));
			expect(grown.blocks.join("")).toBe(text.slice(0, length));
			expect(grown.blocks.slice(0, before.blocks.length - 1)).toEqual(before.blocks.slice(0, -1));
		}
		expect(grown.blocks).toEqual(splitBlocks(noBlocks, text).blocks);
	});

	test("a text that is not the earlier one grown is split anew", () => {
		const grown = splitBlocks(noBlocks, "old text\n\nmore");
		expect(splitBlocks(grown, "new").blocks).toEqual(["new"]);
	});

	test("a fence nobody has closed is known by its start", () => {
		expect(openFence("```go\nfunc a()")).toEqual({ language: "go", code: "func a()" });
		expect(openFence("~~~~\n~~~\nx")).toEqual({ language: "", code: "~~~\nx" });
		expect(openFence("```\ndone\n```")).toBeUndefined();
		expect(openFence("text")).toBeUndefined();
	});
});

describe("terminal output", () => {
	const drawn = (text: string) =>
		parseAnsi(text)
			.map((run) => (run.className ? `<${run.className}>${run.text}</>` : run.text))
			.join("");

	test("colours and weights become classes", () => {
		expect(drawn("a \x1b[1;31mred\x1b[0m b \x1b[38;5;10mg\x1b[39m \x1b[38;2;0;0;255mx\x1b[m")).toBe(
			"a <ansi-1 ansi-bold>red</> b <ansi-10>g</> <ansi-4>x</>",
		);
	});

	test("a line that is written over shows its last state", () => {
		expect(drawn("10%\r50%\r100%\ndone\b\b.")).toBe("100%\ndo.e");
		expect(drawn("long line\r\x1b[Kshort\n")).toBe("short\n");
		expect(lastLine("a\nfirst\r\x1b[2Klast\n\n")).toBe("last");
	});

	test("other sequences leave nothing behind", () => {
		expect(drawn("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b[2J\x1b[?25lc\x1b(Bd")).toBe("abcd");
	});
});

test("SP-USAGE-03 the detail of a part is merged by plugin instance", () => {
	expect(injectorsByPlugin({ "time/now": 20, "persona/base": 100, "persona/mood": 14 })).toEqual([
		["persona", 114],
		["time", 20],
	]);
	expect(injectorsByPlugin(undefined)).toEqual([]);
});
