import { describe, expect, test } from "vitest";
import type { SessionSummary } from "@/contract/session.gen";
import { tool } from "@/test/items";
import { stateOfSession, subtasksOf } from "./subtasks";

const call = (name: string, result?: string) =>
	subtasksOf(tool({ itemId: "c", tool: name, ...(result === undefined ? {} : { result }) }));

describe("the sub-tasks of a card", () => {
	test("one that was made", () => {
		expect(
			call("create_subtask", '{"subtaskId":"a","name":"A","status":"running","message":"x"}'),
		).toEqual([{ id: "a", name: "A", status: "running" }]);
	});

	test("all that were waited for, without what is none", () => {
		const result = JSON.stringify({
			subtasks: [
				{ subtaskId: "a", name: "A", status: "completed", reply: "x" },
				{ subtaskId: "b", status: "failed" },
				{ subtaskId: 3, status: "failed" },
				{ subtaskId: "c", status: "dreaming" },
				null,
			],
		});
		expect(call("wait_subtasks", result)).toEqual([
			{ id: "a", name: "A", status: "completed" },
			{ id: "b", name: "", status: "failed" },
		]);
	});

	test.each([
		["another tool", "exec", '{"subtaskId":"a","status":"running"}'],
		["no result yet", "create_subtask", undefined],
		["a refusal in words", "create_subtask", "There are 40 sub-tasks"],
		["JSON that is no object", "create_subtask", "[1]"],
	])("none of %s", (_, name, result) => {
		expect(call(name, result)).toEqual([]);
	});
});

describe("how a sub-session stands", () => {
	const of = (part: Partial<SessionSummary>) =>
		stateOfSession({
			attention: false,
			running: false,
			background: 0,
			error: false,
			lastTurn: { outcome: "replied", endedAt: 1 },
			...part,
		} as SessionSummary);
	test("what needs the owner first, then what works, then the end", () => {
		expect(of({ attention: true, running: true })).toBe("waiting");
		expect(of({ running: true, error: true })).toBe("running");
		expect(of({ background: 1 })).toBe("running");
		expect(of({ error: true, lastTurn: { outcome: "error", endedAt: 1 } })).toBe("failed");
		expect(of({ lastTurn: { outcome: "aborted", endedAt: 1 } })).toBe("stopped");
		expect(of({ lastTurn: { outcome: "silent", endedAt: 1 } })).toBe("completed");
		expect(of({})).toBe("completed");
	});
});
