/**
 * Makes what a person is asked to decide on, or is told that was done, readable without deceit. The
 * server sends facts verbatim; every fact passes here before it is shown (SP-APPR-30), and nothing is
 * dropped silently: a character that could hide or reorder text becomes a visible escape such as
 * ⟦U+202E⟧. Newline and tab stay.
 */

/** A run of one kind: text as it is, or an escape standing for what it hides. */
export interface Piece {
	text: string;
	escape: boolean;
}

// Controls, format characters (bidi controls, zero width, tags), line and paragraph separators, private
// use, unassigned; spaces that only look like one; and letters that draw nothing.
const HIDDEN =
	/[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]|[^\P{Zs}\u{20}\u{3000}]|\u{34F}|[\u{115F}\u{1160}\u{3164}\u{FFA0}]|\u{17B4}|\u{17B5}|[\u{180B}-\u{180F}]|[\u{FE00}-\u{FE0F}]|[\u{E0000}-\u{E0FFF}]/u;

// Lone surrogates are no characters at all.
const SURROGATE = /\p{Cs}/gu;

/** So many blanks inside a line push what follows out of sight; blank lines do the same downwards. */
const BLANKS = / {24,}/;
const BREAKS = /\n(?:[ \t]*\n){4,}/;

// A Latin word with a Cyrillic or Greek letter in it is read as something it is not.
const MIXED =
	/(?=[\p{L}\p{M}]*\p{Script=Latin})(?=[\p{L}\p{M}]*[\p{Script=Cyrillic}\p{Script=Greek}])[\p{L}\p{M}]+/u;
const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Greek}]/u;

const SPLIT = new RegExp(
	`(?<hidden>${HIDDEN.source})|(?<breaks>${BREAKS.source})|(?<blanks>${BLANKS.source})|(?<mixed>${MIXED.source})`,
	"gu",
);

const point = (character: string): string =>
	`⟦U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟧`;

/** The text in pieces, for a view that marks the escapes. */
export function piecesForCard(text: string): Piece[] {
	const whole = text.replace(SURROGATE, "\u{FFFD}");
	const pieces: Piece[] = [];
	const plain = (part: string) => {
		if (part !== "") pieces.push({ text: part, escape: false });
	};
	const hidden = (part: string) => pieces.push({ text: part, escape: true });
	let from = 0;
	for (const match of whole.matchAll(SPLIT)) {
		plain(whole.slice(from, match.index));
		from = match.index + match[0].length;
		const groups = match.groups ?? {};
		if (groups.hidden !== undefined) hidden(point(match[0]));
		else if (groups.breaks !== undefined) {
			hidden(`⟦\\n × ${match[0].split("\n").length - 1}⟧`);
			plain("\n");
		} else if (groups.blanks !== undefined) hidden(`⟦space × ${match[0].length}⟧`);
		else {
			for (const letter of match[0]) {
				plain(letter);
				if (FOREIGN.test(letter)) hidden(point(letter));
			}
		}
	}
	plain(whole.slice(from));
	return pieces;
}

/** The same as one string. */
export const sanitizeForCard = (text: string): string =>
	piecesForCard(text)
		.map((piece) => piece.text)
		.join("");

/** Any value of the parameters as text, keys included. */
export function valueForCard(value: unknown): string {
	return typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "");
}
