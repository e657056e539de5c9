import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { piecesForCard, sanitizeForCard } from "./sanitize";

const escapeOf = (code: number) => `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
const range = (from: number, to = from) =>
	Array.from({ length: to - from + 1 }, (_, n) => from + n);

describe("sanitizeForCard", () => {
	const named: [string, number[]][] = [
		["C0 controls and DEL", [...range(0x00, 0x08), ...range(0x0b, 0x1f), 0x7f]],
		["C1 controls", range(0x80, 0x9f)],
		[
			"bidi controls",
			[0x061c, ...range(0x200e, 0x200f), ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)],
		],
		["soft hyphen, joiners and zero width", [0x00ad, 0x034f, ...range(0x200b, 0x200d), 0xfeff]],
		["letters that draw nothing", [0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0]],
		["variation selectors", [...range(0x180b, 0x180f), ...range(0xfe00, 0xfe0f)]],
		["invisible operators", [...range(0x2060, 0x2064), ...range(0x206a, 0x206f)]],
		["interlinear annotations", range(0xfff9, 0xfffb)],
		["the tag block", range(0xe0000, 0xe0fff)],
		["line and paragraph separators", [0x2028, 0x2029]],
		["private use", [0xe000, 0xf8ff, 0xf0000, 0x10fffd]],
		["unassigned", [0x0378, 0xffff, 0x2fffe]],
		["spaces that only look like one", [0x00a0, 0x1680, ...range(0x2000, 0x200a), 0x202f, 0x205f]],
	];

	test.each(named)("SP-APPR-30 FAIL-B20 %s are shown as escapes", (_, codes) => {
		for (const code of codes) {
			const hidden = String.fromCodePoint(code);
			expect(sanitizeForCard(`rm${hidden}x`)).toBe(`rm${escapeOf(code)}x`);
		}
	});

	test("FAIL-B20 a lone surrogate is shown as the replacement character", () => {
		expect(sanitizeForCard("a\ud800b\udc00c")).toBe("a\ufffdb\ufffdc");
		expect(sanitizeForCard("😀")).toBe("😀");
	});

	test("newline and tab stay, and so does ordinary writing of any script", () => {
		const text =
			'if a {\n\tprintln("你好，世界")\n}　— naïve Ελλάδα кириллица العربية हिन्दी 한국어 ５';
		expect(sanitizeForCard(text)).toBe(text);
	});

	test("FAIL-B20 blanks that push the rest out of sight are counted", () => {
		expect(sanitizeForCard(`ls${" ".repeat(300)}; rm -rf ~`)).toBe("ls⟦space × 300⟧; rm -rf ~");
		expect(sanitizeForCard(`ls${"\n".repeat(80)}rm -rf ~`)).toBe("ls⟦\\n × 80⟧\nrm -rf ~");
		expect(sanitizeForCard("a\n\n\nb")).toBe("a\n\n\nb");
	});

	test("FAIL-B21 a foreign letter in a Latin word is named", () => {
		expect(sanitizeForCard("p\u0430ypal.com")).toBe("p\u0430⟦U+0430⟧ypal.com");
		expect(sanitizeForCard("cur\u03bf")).toBe("cur\u03bf⟦U+03BF⟧");
	});

	test("FAIL-B20 whatever comes in, nothing hidden comes out and nothing is dropped", () => {
		// What Unicode calls a format, control, separator or private character.
		const hidden = /[\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]|[^\P{Cc}\n\t]/u;
		fc.assert(
			fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
				const clean = sanitizeForCard(text);
				expect(clean).not.toMatch(hidden);
				const plain = piecesForCard(text).filter((piece) => !piece.escape);
				// What is kept is kept in order.
				let from = 0;
				for (const piece of plain) {
					const at = clean.indexOf(piece.text, from);
					expect(at).toBeGreaterThanOrEqual(from);
					from = at + piece.text.length;
				}
				for (const character of text) {
					const code = character.codePointAt(0) ?? 0;
					const shown = clean.includes(character) || clean.includes(escapeOf(code));
					expect(shown || /\p{Cs}|\s/u.test(character), escapeOf(code)).toBe(true);
				}
			}),
			{ numRuns: 500 },
		);
	});

	test("an escape written by hand cannot pass for a hidden character's", () => {
		expect(piecesForCard("⟦U+202E⟧")).toEqual([{ text: "⟦U+202E⟧", escape: false }]);
	});
});
