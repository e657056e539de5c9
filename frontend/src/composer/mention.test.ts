import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mentionAt, withMention } from "./mention";

describe("naming files", () => {
	test.each([
		["@", 1, { from: 0, query: "" }],
		["look at @src/ma", 15, { from: 8, query: "src/ma" }],
		["a\n@b", 4, { from: 2, query: "b" }],
		["@boat and more", 5, { from: 0, query: "boat" }],
		["@boat and more", 9, undefined],
		["me@example.org", 14, undefined],
		["@@", 2, undefined],
		["", 0, undefined],
	])("%j at %i", (text, caret, want) => {
		expect(mentionAt(text, caret)).toEqual(want);
	});

	test("what was typed is replaced, and the caret stands behind it", () => {
		const say = (text: string, caret: number, path: string) => {
			const mention = mentionAt(text, caret);
			if (!mention) throw new Error("no mention");
			return withMention(text, caret, mention, path);
		};
		expect(say("look at @bo", 11, "boat.txt")).toEqual({ text: "look at @boat.txt ", caret: 18 });
		expect(say("@bo now", 3, "boat.txt")).toEqual({ text: "@boat.txt now", caret: 10 });
		expect(say("@m", 2, "my boat.txt")).toEqual({ text: '@"my boat.txt" ', caret: 15 });
	});

	test("nothing else of the text is touched, and no second name begins", () => {
		fc.assert(
			fc.property(
				fc.string(),
				fc.stringMatching(/^[a-z/.]{1,9}$/),
				fc.string(),
				(head, path, tail) => {
					const text = `${head} @${tail}`;
					const caret = head.length + 2;
					const mention = mentionAt(text, caret);
					if (!mention) throw new Error("no mention");
					const after = withMention(text, caret, mention, path);
					expect(after.text.startsWith(`${head} @${path}`)).toBe(true);
					expect(after.text.endsWith(tail)).toBe(true);
					expect(mentionAt(after.text, after.caret)).toBeUndefined();
				},
			),
		);
	});
});
