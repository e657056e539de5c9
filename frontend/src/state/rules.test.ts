import { describe, expect, test } from "vitest";
import type { SettingRow } from "@/contract/session.gen";
import { prefixOf, remember, ruleOf } from "./rules";

describe("what is offered", () => {
	test.each([
		["git status", "git status"],
		["git  status src/a.go", "git status"],
		["ls -la", "ls"],
		["make", "make"],
		["git status && rm x", undefined],
		["echo $HOME", undefined],
		["cat 'a b'", undefined],
		["echo é", undefined],
		["a\nb", undefined],
		["  ", undefined],
	])("%j: %j", (command, want) => {
		expect(prefixOf(command)).toBe(want);
	});

	test("a rule is written as it is stored", () => {
		expect(ruleOf("exact", "echo  'a'\u200b")).toBe("exact: echo  'a'\u200b");
		expect(ruleOf("prefix", " git   status ")).toBe("prefix: git status");
	});
});

describe("remembering", () => {
	const port = (value: unknown) => {
		const calls: [string, unknown][] = [];
		const rows = [{ plugin: "aalis", key: "allow", value }] as SettingRow[];
		return {
			calls,
			call: async (method: string, params: unknown) => {
				calls.push([method, params]);
				return { items: rows };
			},
		};
	};
	const store = (p: ReturnType<typeof port>, rule: string, scope: "session" | "global") =>
		remember(p as never, "s", rule, scope);

	test("FAIL-B18 adds to what stands in the layer, and keeps it", async () => {
		const p = port(["exact: a"]);
		await store(p, "prefix: b c", "session");
		expect(p.calls[1]).toEqual([
			"session/config/update",
			{ sessionId: "s", plugin: "aalis", key: "allow", value: ["exact: a", "prefix: b c"] },
		]);
	});

	test("everywhere is the global layer; what was none becomes a list", async () => {
		const p = port(undefined);
		await store(p, "exact: b", "global");
		expect(p.calls[1]).toEqual([
			"session/config/layer/update",
			{ layer: { scope: "global" }, plugin: "aalis", key: "allow", value: ["exact: b"] },
		]);
	});

	test("twice is once", async () => {
		const p = port(["exact: a"]);
		await store(p, "exact: a", "session");
		expect(p.calls.length).toBe(1);
	});
});
