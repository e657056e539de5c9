/** Terminal output as styled runs: colours and weights, carriage returns, backspaces; the rest is dropped. */
export interface Run {
	text: string;
	/** Space-separated ansi-… classes. */
	className: string;
}

interface Style {
	colour?: number;
	bold?: boolean;
	dim?: boolean;
	italic?: boolean;
	underline?: boolean;
	inverse?: boolean;
}

// CSI sequences, OSC sequences up to BEL or ST (or their line's end), two-byte escapes.
const ESC = String.raw`\u001b`;
const BEL = String.raw`\u0007`;
const SEQUENCE = new RegExp(
	[
		String.raw`${ESC}\[([0-9;:?]*)[ -/]*([@-~])`,
		String.raw`${ESC}\][^${BEL}${ESC}\n]*(?:${BEL}|${ESC}\\)?`,
		`${ESC}[ -/]*[0-~]`,
		ESC,
	].join("|"),
	"g",
);

export function parseAnsi(text: string): Run[] {
	const cells: { char: string; className: string }[] = [];
	let style: Style = {};
	let className = "";
	let cursor = 0;
	let lineStart = 0;
	const write = (plain: string) => {
		for (const char of plain) {
			if (char === "\n") {
				cursor = cells.length;
				cells.push({ char, className: "" });
				lineStart = ++cursor;
			} else if (char === "\r") cursor = lineStart;
			else if (char === "\b") cursor = Math.max(lineStart, cursor - 1);
			else cells[cursor++] = { char, className };
		}
	};
	let from = 0;
	for (const match of text.matchAll(SEQUENCE)) {
		write(text.slice(from, match.index));
		from = match.index + match[0].length;
		if (match[2] === "m") {
			style = apply(style, match[1] ?? "");
			className = classes(style);
		} else if (match[2] === "K" && (match[1] ?? "") !== "1") {
			// Erase to the end of the line, or the whole of it: progress bars do.
			cells.length = Math.max(lineStart, match[1] === "2" ? lineStart : cursor);
			cursor = Math.min(cursor, cells.length);
		}
	}
	write(text.slice(from));
	return runs(cells);
}

function runs(cells: { char: string; className: string }[]): Run[] {
	const out: Run[] = [];
	for (const { char, className } of cells) {
		const last = out.at(-1);
		if (last && last.className === className) last.text += char;
		else out.push({ text: char, className });
	}
	return out;
}

function apply(style: Style, codes: string): Style {
	let next = { ...style };
	const list = codes === "" ? [0] : codes.split(/[;:]/).map(Number);
	for (let at = 0; at < list.length; at++) {
		const code = list[at] ?? 0;
		if (code === 0) next = {};
		else if (code === 1) next.bold = true;
		else if (code === 2) next.dim = true;
		else if (code === 3) next.italic = true;
		else if (code === 4) next.underline = true;
		else if (code === 7) next.inverse = true;
		else if (code === 22) next = { ...next, bold: false, dim: false };
		else if (code === 23) next.italic = false;
		else if (code === 24) next.underline = false;
		else if (code === 27) next.inverse = false;
		else if (code >= 30 && code <= 37) next.colour = code - 30;
		else if (code >= 90 && code <= 97) next.colour = code - 82;
		else if (code === 39) delete next.colour;
		else if (code === 38 || code === 48) {
			// Of 256 and of 16 million colours the nearest of our sixteen is shown; grounds are left out,
			// because no theme keeps text readable on any ground.
			const wide = list[at + 1] === 2;
			const colour = wide ? nearest(list.slice(at + 2, at + 5)) : indexed(list[at + 2] ?? 0);
			at += wide ? 4 : 2;
			if (code === 38) next.colour = colour;
		}
	}
	return next;
}

function indexed(n: number): number {
	if (n < 16) return n;
	if (n >= 232) return n < 244 ? 8 : 7;
	const cube = n - 16;
	return nearest([Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51]);
}

function nearest([red = 0, green = 0, blue = 0]: number[]): number {
	const top = Math.max(red, green, blue);
	if (top - Math.min(red, green, blue) < 32) return top < 128 ? 8 : 7;
	return (red > top * 0.6 ? 1 : 0) + (green > top * 0.6 ? 2 : 0) + (blue > top * 0.6 ? 4 : 0);
}

function classes(style: Style): string {
	const names: string[] = [];
	if (style.colour !== undefined && style.colour !== 7 && style.colour !== 15) {
		names.push(`ansi-${style.colour}`);
	}
	for (const name of ["bold", "dim", "italic", "underline", "inverse"] as const) {
		if (style[name]) names.push(`ansi-${name}`);
	}
	return names.join(" ");
}

/** The last line with something on it, for a card that is folded. */
export function lastLine(text: string): string {
	const tail = text.slice(-2_000).trimEnd();
	const line = tail.slice(tail.lastIndexOf("\n") + 1);
	return parseAnsi(line)
		.map((run) => run.text)
		.join("");
}
