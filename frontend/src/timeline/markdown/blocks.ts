import { fromMarkdown } from "mdast-util-from-markdown";

export interface Blocks {
	readonly text: string;
	/** Top-level blocks; concatenated with what lies between them they are the text. */
	readonly blocks: readonly string[];
	/** Where the last block starts. Everything before it can no longer change. */
	readonly lastStart: number;
}

export const noBlocks: Blocks = { text: "", blocks: [], lastStart: 0 };

/**
 * Splits Markdown into top-level blocks. When the text only grew, what stands before its last block is
 * kept and only the rest is parsed: a stream costs its own length, not its square.
 */
export function splitBlocks(before: Blocks, text: string): Blocks {
	if (text === before.text) return before;
	const grew = before.blocks.length > 0 && text.startsWith(before.text);
	const from = grew ? before.lastStart : 0;
	const kept = grew ? before.blocks.slice(0, -1) : [];
	const tail = text.slice(from);
	const starts = fromMarkdown(tail).children.flatMap((node) => node.position?.start.offset ?? []);
	if (starts.length === 0) return { text, blocks: [...kept, tail], lastStart: from };
	// What precedes the first block (blank lines) belongs to it: indentation decides what it is.
	starts[0] = 0;
	const parts = starts.map((start, at) =>
		tail.slice(
			lineStart(tail, start),
			starts[at + 1] === undefined ? undefined : lineStart(tail, starts[at + 1] as number),
		),
	);
	return {
		text,
		blocks: [...kept, ...parts],
		lastStart: from + lineStart(tail, starts.at(-1) ?? 0),
	};
}

const lineStart = (text: string, offset: number): number => text.lastIndexOf("\n", offset - 1) + 1;

/** The code of a block that is a fence nobody has closed yet; undefined for every other block. */
export function openFence(block: string): { language: string; code: string } | undefined {
	const match = /^\s{0,3}(`{3,}|~{3,})([^\n`]*)\n?/.exec(block);
	const fence = match?.[1];
	if (!match || !fence) return undefined;
	const body = block.slice(match[0].length);
	const closing = new RegExp(
		`^ {0,3}${fence[0] === "`" ? "`" : "~"}{${fence.length},}[ \\t]*$`,
		"m",
	);
	if (closing.test(body)) return undefined;
	return { language: (match[2] ?? "").trim().split(/\s/)[0] ?? "", code: body };
}
