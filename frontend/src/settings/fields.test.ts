import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SettingField, SettingRow } from "@/contract/session.gen";
import { localeOf } from "@/i18n/i18n";
import { same } from "@/state/edits";
import {
	choicesOf,
	draftOf,
	editorOf,
	entryId,
	optionsQuery,
	parseDraft,
	problemOf,
	shownValue,
	stepDraft,
} from "./fields";

const { t } = localeOf("en");

const fieldOf = (part: Partial<SettingField> & { type: string }): SettingField => ({
	session: {},
	...part,
});
const rowOf = (
	field: Partial<SettingField> & { type: string },
	part: Partial<SettingRow> = {},
): SettingRow => ({
	plugin: "p",
	key: "k",
	field: fieldOf(field),
	prominence: "common",
	...part,
});

describe("how a field is changed", () => {
	test("every type has its control; one nobody knows is changed as JSON", () => {
		const kinds = {
			string: "text",
			textarea: "lines",
			number: "number",
			boolean: "boolean",
			select: "choice",
			multiselect: "choices",
			"llm-ref": "choice",
			list: "list",
			map: "map",
			"of a newer server": "json",
		};
		for (const [type, kind] of Object.entries(kinds))
			expect(editorOf(fieldOf({ type }))).toBe(kind);
		expect(editorOf(fieldOf({ type: "string", dynamicOptions: "places" }))).toBe("choice");
		expect(editorOf(fieldOf({ type: "list", dynamicOptions: "places" }))).toBe("choices");
	});

	const values: [string, fc.Arbitrary<unknown>][] = [
		["string", fc.string()],
		["textarea", fc.string()],
		["number", fc.double({ noNaN: true, noDefaultInfinity: true })],
		["multiselect", fc.array(fc.oneof(fc.string(), fc.integer(), fc.boolean()))],
		["list", fc.array(fc.string().filter((entry) => entry.trim() !== ""))],
		["map", fc.dictionary(fc.stringMatching(/^\S{1,8}$/), fc.string())],
		["unknown", fc.jsonValue()],
	];
	test.each(values)("a %s that nobody touched is what it was", (type, arbitrary) => {
		const field = fieldOf({ type });
		fc.assert(
			fc.property(arbitrary, (value) => {
				const parsed = parseDraft(field, draftOf(field, value));
				const whole = JSON.parse(JSON.stringify(value)) as unknown;
				expect("value" in parsed && same(JSON.parse(JSON.stringify(parsed.value)), whole)).toBe(
					true,
				);
			}),
		);
	});

	test("lists lose blank entries, maps blank lines; a name twice or none is said", () => {
		expect(parseDraft(fieldOf({ type: "list" }), ["a", " ", ""])).toEqual({ value: ["a"] });
		const map = fieldOf({ type: "map" });
		expect(
			parseDraft(map, [
				[" a ", "1"],
				["", " "],
			]),
		).toEqual({ value: { a: "1" } });
		expect(parseDraft(map, [["", "1"]])).toEqual({ problem: { key: "settings.want.name" } });
		expect(
			parseDraft(map, [
				["a", "1"],
				["a ", "2"],
			]),
		).toEqual({
			problem: { key: "settings.want.once", params: { name: "a" } },
		});
		expect(parseDraft(map, [["__proto__", "1"]])).toEqual({
			value: JSON.parse('{"__proto__":"1"}'),
		});
	});
});

describe("hints about values", () => {
	const number = { type: "number", min: 1, max: 10, integer: true };
	const cases: [string, Partial<SettingField> & { type: string }, unknown, string | undefined][] = [
		["a number in range", number, 10, undefined],
		["below", number, 0, "settings.want.least"],
		["above", number, 11, "settings.want.most"],
		["not whole", number, 1.5, "settings.want.integer"],
		["step is a hint only", { type: "number", step: 5 }, 3, undefined],
		["a text for a number", number, "3", "settings.want.number"],
		[
			"blank where something is required",
			{ type: "string", required: true },
			"  ",
			"settings.want.something",
		],
		["blank where nothing is", { type: "string" }, "", undefined],
		["a pattern is not anchored", { type: "string", pattern: "b+" }, "abc", undefined],
		["a pattern", { type: "string", pattern: "^b" }, "abc", "settings.want.form"],
		["a pattern this engine cannot read", { type: "string", pattern: "(?P<x>a)" }, "b", undefined],
		["options are no white list", { type: "select", options: [] }, "other", undefined],
		["a select takes scalars", { type: "select" }, ["a"], "settings.want.choice"],
		[
			"a select has a pattern too",
			{ type: "select", pattern: "^[a-z]+$" },
			"A",
			"settings.want.form",
		],
		["a model by its entry id", { type: "llm-ref" }, "local/org/model:8b", undefined],
		["a model by two names", { type: "llm-ref" }, { provider: "local", model: "m" }, undefined],
		["half a model", { type: "llm-ref" }, "local/", "settings.want.model"],
		["a list of other things", { type: "list" }, ["a", 1], "settings.want.text"],
		["a map of other things", { type: "map" }, { a: 1 }, "settings.want.text"],
		[
			"an empty list where something is required",
			{ type: "list", required: true },
			[],
			"settings.want.something",
		],
		["a type of a newer server", { type: "colour" }, { r: 1 }, undefined],
	];
	test.each(cases)("%s", (_, field, value, key) => {
		expect(problemOf(fieldOf(field), value)?.key).toBe(key);
	});

	test("arrow keys step inside the bounds and without dust", () => {
		const field = fieldOf({ type: "number", min: 0.1, max: 0.5, step: 0.1 });
		expect(stepDraft(field, "0.2", 1)).toBe("0.3");
		expect(stepDraft(field, "0.5", 1)).toBe("0.5");
		expect(stepDraft(field, "0.1", -1)).toBe("0.1");
		expect(stepDraft(field, "", 1)).toBe("0.1");
		expect(stepDraft(fieldOf({ type: "number" }), "x", -1)).toBe("0");
	});
});

describe("where options come from", () => {
	const model = (part: Partial<SettingRow>) => ({
		...rowOf({ type: "llm-ref", dynamicOptions: "llm" }, part),
		key: "model",
	});
	const thinking = rowOf({
		type: "select",
		dynamicOptions: "llm-thinking",
		session: { dependsOn: "model" },
	});
	const asked = (...rows: SettingRow[]) => optionsQuery(thinking, [...rows, thinking]);

	test("SP-CONF-34 the source is named by the field; a model without one is of the language models", () => {
		expect(optionsQuery(rowOf({ type: "multiselect", dynamicOptions: "toolGroups" }), [])).toEqual({
			service: "toolGroups",
		});
		expect(optionsQuery(rowOf({ type: "llm-ref" }), [])).toEqual({ service: "llm" });
		expect(optionsQuery(rowOf({ type: "select" }), [])).toBeUndefined();
	});

	test("SP-CONF-36 the effective value is passed, a model as its entry id whichever way it is written", () => {
		const dependency = (effective: unknown) => asked(model({ effective }))?.dependency;
		expect(dependency("cloud/large")).toBe("cloud/large");
		expect(dependency({ provider: "cloud", model: "org/large" })).toBe("cloud/org/large");
		expect(entryId({ provider: "", model: "x" })).toBeUndefined();
	});

	test("SP-CONF-36 unset, its actual value is passed; without one, none", () => {
		expect(asked(model({ actual: { value: "local/now", label: "words" } }))?.dependency).toBe(
			"local/now",
		);
		expect(asked(model({ effective: "a/b", actual: { value: "c/d" } }))?.dependency).toBe("a/b");
		expect(asked(model({}))).toEqual({ service: "llm-thinking" });
		expect(asked()).toEqual({ service: "llm-thinking" });
	});

	test("SP-CONF-36 a row of another plugin is named with that", () => {
		const foreign = rowOf({
			type: "select",
			dynamicOptions: "x",
			session: { dependsOn: "other/kind" },
		});
		const other = { ...rowOf({ type: "number" }, { effective: 7 }), plugin: "other", key: "kind" };
		expect(optionsQuery(foreign, [model({ effective: "a/b" }), other])?.dependency).toBe("7");
	});
});

describe("what there is to choose", () => {
	const offered = [
		{ value: "local/small", label: "local/small" },
		{ value: "cloud/org/large", label: "Large", description: "128k" },
		{ value: "nonsense", label: "no model at all" },
	];

	test("SP-CONF-35 models stand under their provider, each by its own name", () => {
		const choices = choicesOf(rowOf({ type: "llm-ref" }), offered, t);
		expect(choices.map(({ group, label, value }) => [group, label, value])).toEqual([
			["local", "small", "local/small"],
			["cloud", "Large", "cloud/org/large"],
		]);
	});

	test("SP-CONF-35 a model is written the way the server writes it", () => {
		const effective = { provider: "cloud", model: "org/large" };
		const choices = choicesOf(rowOf({ type: "llm-ref" }, { effective }), offered, t);
		expect(choices.map(({ value }) => value)).toEqual([
			{ provider: "local", model: "small" },
			{ provider: "cloud", model: "org/large" },
		]);
	});

	test("declared and fetched options are one list without repeats, and what is in use is always there", () => {
		const row = rowOf(
			{ type: "select", options: [{ label: "Automatic", value: "auto" }] },
			{ effective: "gone" },
		);
		const choices = choicesOf(
			row,
			[
				{ value: "auto", label: "again" },
				{ value: "low", label: "Low" },
			],
			t,
		);
		expect(choices.map(({ value, hint }) => [value, hint])).toEqual([
			["auto", undefined],
			["low", undefined],
			["gone", "not offered now"],
		]);
	});
});

test("values are shown as they are, with the words of their options", () => {
	const select = fieldOf({ type: "select", options: [{ label: "Two", value: 2 }] });
	expect(shownValue(select, 2, t)).toBe("Two");
	expect(shownValue(select, "2", t)).toBe("2");
	expect(shownValue(fieldOf({ type: "boolean" }), false, t)).toBe("Off");
	expect(shownValue(fieldOf({ type: "llm-ref" }), { provider: "a", model: "b" }, t)).toBe("a/b");
	expect(shownValue(fieldOf({ type: "list" }), ["x", "y"], t)).toBe("x, y");
	expect(shownValue(fieldOf({ type: "list" }), [], t)).toBe("None");
	expect(shownValue(fieldOf({ type: "map" }), { a: "1" }, t)).toBe("a: 1");
	expect(shownValue(fieldOf({ type: "string" }), "", t)).toBe("(empty)");
	// Raw data that looks like a text object is data (SP-I18N-14).
	expect(shownValue(fieldOf({ type: "string" }), { key: "x", params: { a: 1 } }, t)).toBe(
		'key: x, params: {"a":1}',
	);
});
