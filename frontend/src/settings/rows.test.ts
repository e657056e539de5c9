import { describe, expect, test } from "vitest";
import type { SettingRow } from "@/contract/session.gen";
import { localeOf } from "@/i18n/i18n";
import { placeKey, reduceEdits, type SettingEdits, type SettingsPlace } from "@/state/edits";
import {
	composerRows,
	editOf,
	findRows,
	fromWhere,
	inUse,
	refusalOf,
	sectionsOf,
	viewEdit,
	withEdited,
} from "./rows";

const { t } = localeOf("en");
const SESSION: SettingsPlace = { session: "s" };
const GLOBAL: SettingsPlace = { layer: { scope: "global" } };

const rowOf = (key: string, part: Partial<SettingRow> = {}): SettingRow => ({
	plugin: "p",
	key,
	field: { type: "string", session: {} },
	prominence: "common",
	...part,
});
const fieldOf = (part: Partial<SettingRow["field"]>): SettingRow["field"] => ({
	type: "string",
	session: {},
	...part,
});

describe("how rows are arranged", () => {
	const rows = [
		rowOf("model", { prominence: "composer" }),
		rowOf("other", { prominence: "composer", plugin: "q" }),
		rowOf("persona"),
		rowOf("b1", { prominence: "advanced", plugin: "b" }),
		rowOf("a1", { prominence: "advanced", plugin: "a" }),
		rowOf("b2", { prominence: "advanced", plugin: "b" }),
	];

	test("SP-CONF-33 advanced rows stand by plugin; the server's order is kept everywhere", () => {
		expect(
			sectionsOf(rows).map(({ plugin, rows }) => [plugin, rows.map(({ key }) => key)]),
		).toEqual([
			[undefined, ["model", "other", "persona"]],
			["b", ["b1", "b2"]],
			["a", ["a1"]],
		]);
		expect(sectionsOf([])).toEqual([]);
	});

	test("SP-CONF-32 the composer rows, and only they, go beside the message box", () => {
		expect(composerRows(rows).map(({ key }) => key)).toEqual(["model", "other"]);
	});

	test("rows are found by any of their words", () => {
		const labelled = rowOf("x", {
			field: fieldOf({ label: "Tool calls", description: "in one turn" }),
		});
		expect(findRows([labelled, ...rows], "TURN tool")).toEqual([labelled]);
		expect(findRows(rows, "b b2").map(({ key }) => key)).toEqual(["b2"]);
		expect(findRows(rows, " ")).toBe(rows);
	});
});

describe("what counts, and where it comes from", () => {
	test("SP-CONF-11 default, then what is really in use, then unset", () => {
		const actual = { value: "raw", label: "follows the preference (now: qwen)" };
		const unset = fieldOf({ session: { unset: "follows the preference" } });
		expect(inUse(rowOf("k", { effective: "set", field: fieldOf({ default: "d" }) }), t)).toBe(
			"set",
		);
		expect(inUse(rowOf("k", { field: fieldOf({ default: "d" }), actual }), t)).toBe("d");
		expect(inUse(rowOf("k", { field: unset, actual }), t)).toBe(
			"follows the preference (now: qwen)",
		);
		expect(inUse(rowOf("k", { field: unset, actual: { value: "qwen" } }), t)).toBe(
			"follows the preference (now: qwen)",
		);
		expect(inUse(rowOf("k", { actual: { value: "qwen" } }), t)).toBe("qwen");
		expect(inUse(rowOf("k", { field: unset }), t)).toBe("follows the preference");
		expect(inUse(rowOf("k"), t)).toBe("Not set");
	});

	test("SP-CONF-13 SP-CONF-16 the source is in the server's words, with the platform that was consulted", () => {
		const order = [
			{ name: "global" as const, label: "总的" },
			{ name: "platform" as const, label: "平台" },
			{ name: "platformType" as const, label: "种类" },
			{ name: "place" as const, label: "场所" },
			{ name: "session" as const, label: "会话" },
		];
		const names = { platform: "onebot", placeName: "Garden club" };
		const from = (source: SettingRow["source"], place: SettingsPlace = SESSION) =>
			fromWhere(rowOf("k", source && { source, effective: 1 }), place, order, names, t);
		expect(from("global")).toBe("From: 总的");
		expect(from("platform")).toBe("From: 平台 · onebot");
		expect(from("platformType")).toBe("From: 种类 · onebot");
		expect(from("place")).toBe("From: 场所 · Garden club");
		expect(from("session")).toBe("Set here");
		expect(from("default")).toBe("Default");
		expect(from(undefined)).toBe("No layer sets this");
		const type: SettingsPlace = {
			layer: { scope: "platformType", platform: "mail", type: "list" },
		};
		expect(from("platform", type)).toBe("From: 平台 · mail");
		expect(from("platformType", type)).toBe("Set here");
		expect(from("global", GLOBAL)).toBe("Set here");
	});

	test("SP-CONF-07 a written value that is not in effect is shown with the reason", () => {
		const field = fieldOf({ type: "number", max: 10, default: 5 });
		const bad = rowOf("k", { field, value: 99, effective: 5, source: "default" });
		expect(refusalOf(bad, GLOBAL, t)).toEqual({ written: "99", why: "This has to be at most 10." });
		const unknown = rowOf("k", { field, value: 7, effective: 5, source: "default" });
		expect(refusalOf(unknown, GLOBAL, t)).toEqual({ written: "7" });
		const good = rowOf("k", { field, value: 7, effective: 7, source: "global" });
		expect(refusalOf(good, GLOBAL, t)).toBeUndefined();
		expect(
			refusalOf(rowOf("k", { field, effective: 5, source: "default" }), GLOBAL, t),
		).toBeUndefined();
	});
});

describe("a change under way", () => {
	const typed = (row: SettingRow, draft: unknown): SettingEdits =>
		reduceEdits(new Map(), SESSION, row, { type: "draft", draft });
	const number = (part: Partial<SettingRow> = {}) =>
		rowOf("k", { field: fieldOf({ type: "number", max: 10 }), ...part });

	test("it says what it would write, or what is wrong with that", () => {
		const view = (draft: string) => {
			const row = number({ value: 1 });
			return viewEdit(row, editOf(typed(row, draft), SESSION, row), true, t)?.parsed;
		};
		expect(view("7")).toEqual({ value: 7 });
		expect(view("70")).toMatchObject({ problem: { key: "settings.want.most" } });
		expect(view("")).toMatchObject({ problem: { key: "settings.want.number" } });
	});

	test("SP-CONF-69 read again, it says what the value has become elsewhere", () => {
		const edits = typed(number({ value: 1 }), "7");
		const now = number({ value: 3 });
		expect(viewEdit(now, editOf(edits, SESSION, now), true, t)).toMatchObject({
			draft: "7",
			elsewhere: "3",
		});
		const same = number({ value: 1 });
		expect(viewEdit(same, editOf(edits, SESSION, same), true, t)?.elsewhere).toBeUndefined();
	});

	test("SP-CONF-69 a row that went while somebody typed in it stays until that is let go", () => {
		const row = number({ value: 1 });
		const edits = typed(row, "7");
		const key = placeKey(SESSION);
		expect(withEdited([], edits, key)).toEqual([row]);
		expect(withEdited([row], edits, key)).toEqual([row]);
		expect(withEdited([], edits, placeKey(GLOBAL))).toEqual([]);
		expect(viewEdit(row, editOf(edits, SESSION, row), false, t)?.gone).toBe(true);
	});
});
