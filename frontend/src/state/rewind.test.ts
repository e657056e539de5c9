import { describe, expect, test } from "vitest";
import type { TurnRewindResult } from "@/contract/session.gen";
import { FakeError, FakeServer } from "@/test/fake-server";
import { soon, started, stillTime } from "@/test/harness";
import { agent, tool, turn } from "@/test/items";
import {
	canRewind,
	changesOf,
	lastRewindable,
	outcomeOf,
	type Rewinding,
	reduceRewind,
	rewoundOf,
} from "./rewind";

stillTime();

const result: TurnRewindResult = {
	ok: true,
	restored: ["workspace:/src/a.ts"],
	deleted: ["workspace:/b.txt"],
	errors: [],
	ext: { undoId: "u", root: "/home/ann" },
};
const asking: Rewinding = { sessionId: "s", turnId: "t", scope: "code", phase: "asking" };
const features = { send: true, rewind: true, compress: false, settings: false };

describe("what can be rewound", () => {
	const over = turn({ itemId: "t", outcome: "replied" });

	test("SP-REWIND-06 a turn that is over, while none runs, with the service there", () => {
		expect(canRewind(features, false, over)).toBe(true);
		expect(canRewind(features, true, over)).toBe(false);
		expect(canRewind(features, false, turn({ itemId: "t" }))).toBe(false);
		expect(canRewind({ ...features, rewind: false }, false, over)).toBe(false);
	});

	test("SP-REWIND-06 the latest is none while one runs", () => {
		const earlier = turn({ itemId: "e", outcome: "error" });
		expect(lastRewindable(features, { items: [earlier, over] })?.itemId).toBe("t");
		expect(lastRewindable(features, { items: [over, turn({ itemId: "now" })] })).toBeUndefined();
		expect(lastRewindable(features, { items: [] })).toBeUndefined();
	});

	test("FAIL-C5 its cards say beforehand what it changed: each file once, and how many commands ran", () => {
		const change = (itemId: string, path: string, part: object = {}) =>
			tool({
				itemId,
				turnId: "t",
				status: "completed",
				display: { kind: "file-change", path },
				...part,
			});
		const command = { display: { kind: "command", command: "make" } } as const;
		const items = [
			change("1", "a.ts"),
			change("2", "a.ts"),
			change("3", "b.ts"),
			change("4", "denied.ts", { status: "denied" }),
			change("5", "failed.ts", { status: "failed" }),
			change("6", "other.ts", { turnId: "other" }),
			tool({ itemId: "7", turnId: "t", status: "failed", ...command }),
			tool({ itemId: "8", turnId: "t", status: "aborted", notExecuted: true, ...command }),
			tool({ itemId: "9", turnId: "t", status: "denied", ...command }),
			agent({ itemId: "10", turnId: "t" }),
		];
		expect(changesOf({ items }, "t")).toEqual({ files: ["a.ts", "b.ts"], commands: 1 });
	});
});

describe("a rewind", () => {
	test("files only is what it begins with", () => {
		const begun = reduceRewind(undefined, { type: "ask", sessionId: "s", turnId: "t" });
		expect(begun).toEqual(asking);
	});

	test("FAIL-C5 what is under way is neither closed nor replaced", () => {
		const under = reduceRewind(asking, { type: "go" });
		expect(reduceRewind(under, { type: "close" })).toBe(under);
		expect(reduceRewind(under, { type: "ask", sessionId: "x", turnId: "y" })).toBe(under);
		expect(reduceRewind(under, { type: "scope", scope: "code-and-chat" })).toBe(under);
	});

	test("a refusal leads back to where it was tried, and says why", () => {
		const under = reduceRewind(asking, { type: "go" });
		const refused = reduceRewind(under, { type: "refused", message: "busy" });
		expect(refused).toEqual({ ...asking, problem: "busy" });
		const rewound = { ...asking, phase: "done", result } as const;
		const undoing = reduceRewind(rewound, { type: "undo", rewound });
		expect(undoing?.phase).toBe("undoing");
		expect(reduceRewind(undoing, { type: "refused", message: "gone" })).toEqual({
			...rewound,
			problem: "gone",
		});
	});

	test("only what happened can be taken back, and only once", () => {
		const { ext: _, ...nothing } = result;
		expect(rewoundOf({ ...asking, phase: "done", result: nothing })).toBeUndefined();
		expect(rewoundOf({ ...asking, phase: "done", result })).toBeDefined();
		expect(rewoundOf({ ...asking, phase: "undone", result, undone: result })).toBeUndefined();
	});

	test("FAIL-C5 every file is told, with the reason where it was skipped, relative to its folder", () => {
		const errors = [
			{ uri: "workspace:/c.txt", reason: "It was changed since." },
			{ uri: "elsewhere:/d", reason: "Unknown." },
			{ uri: "", reason: "Not all of it was kept." },
		];
		expect(outcomeOf({ ...result, errors })).toEqual({
			restored: ["src/a.ts"],
			deleted: ["b.txt"],
			skipped: [
				{ path: "c.txt", reason: "It was changed since." },
				{ path: "elsewhere:/d", reason: "Unknown." },
			],
			remarks: ["Not all of it was kept."],
		});
	});
});

describe("over a connection", () => {
	async function ready() {
		const server = new FakeServer();
		server.session({ id: "s" }, [turn({ itemId: "t", turnId: "t", outcome: "replied" })]);
		const { app } = await started(server);
		app.rewinds.do({ type: "ask", sessionId: "s", turnId: "t" });
		return { server, app, now: () => app.rewinds.store.getState().now };
	}

	test("FAIL-C10 pressed twice, it is asked for once", async () => {
		const { server, app, now } = await ready();
		await Promise.all([app.rewinds.go(), app.rewinds.go()]);
		expect(server.requestsOf("turn/rewind")).toEqual([
			{ sessionId: "s", turnId: "t", scope: "code" },
		]);
		expect(now()?.phase).toBe("done");
	});

	test("taking back names the rewind, and happens once", async () => {
		const { server, app, now } = await ready();
		await app.rewinds.go();
		const rewound = rewoundOf(now());
		if (!rewound) throw new Error("nothing to take back");
		await Promise.all([app.rewinds.undo(rewound), app.rewinds.undo(rewound)]);
		const undoId = rewound.result.ext?.undoId;
		expect(server.requestsOf("ext/rewind/undo")).toEqual([{ sessionId: "s", undoId }]);
		expect(now()?.phase).toBe("undone");
	});

	test("what the server refuses is told in its words", async () => {
		const { server, app, now } = await ready();
		server.intercept = (method) => {
			if (method === "turn/rewind") throw new FakeError(-32000, "A turn runs.", "conflict");
			return undefined;
		};
		await app.rewinds.go();
		await soon();
		expect(now()).toMatchObject({ phase: "asking", problem: "A turn runs." });
	});
});
