import { describe, expect, test } from "vitest";
import { completed, slashChoices, slashWords } from "./slash";

describe("what can be said to the program", () => {
	test.each([
		["/", slashWords],
		["/c", ["clear", "compress"]],
		["/CO", ["compress"]],
		["/help", []],
		["/nothing", []],
		["/etc/hosts", []],
		["/model x", []],
		["", []],
		["say /help", []],
	])("%s", (text, choices) => {
		expect(slashChoices(text)).toEqual(choices);
	});

	test("a word that takes something leaves room for it", () => {
		expect(slashWords.map(completed)).toEqual([
			"/help",
			"/clear",
			"/model ",
			"/compress",
			"/status",
		]);
	});
});
