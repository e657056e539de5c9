/** A file that is being named: where its `@` stands, and what was typed behind it. */
export interface Mention {
	readonly from: number;
	readonly query: string;
}

/** The name that is being typed at the caret. An `@` inside a word, as of an address, begins none. */
export function mentionAt(text: string, caret: number): Mention | undefined {
	const before = text.slice(0, caret);
	const found = /(?:^|\s)@([^\s@"]*)$/.exec(before);
	if (!found) return undefined;
	const query = found[1] ?? "";
	return { from: caret - query.length - 1, query };
}

/** The text with the file named, and where the caret goes. A path with spaces is put in quotes. */
export function withMention(text: string, caret: number, mention: Mention, path: string) {
	const name = /\s/.test(path) ? `@"${path}"` : `@${path}`;
	const rest = text.slice(caret);
	const gap = /^\s/.test(rest) ? "" : " ";
	const head = `${text.slice(0, mention.from)}${name}${gap}`;
	return { text: head + rest, caret: head.length + (gap === "" ? 1 : 0) };
}
