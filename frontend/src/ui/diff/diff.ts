import { diffLines, diffWordsWithSpace } from "diff";

export interface DiffPart {
	text: string;
	changed: boolean;
}

export interface DiffLine {
	kind: "same" | "removed" | "added" | "gap" | "note";
	/** Line numbers before and after, where known. */
	before?: number;
	after?: number;
	parts: DiffPart[];
}

const CONTEXT = 3;
/** Beyond this a comparison word by word costs more than it shows. */
const WORDS_LIMIT = 2_000;

const whole = (text: string): DiffPart[] => [{ text, changed: false }];

const linesOf = (text: string): string[] => {
	const lines = text.split("\n");
	if (lines.at(-1) === "") lines.pop();
	return lines;
};

/** The difference of two texts, line by line; lines that became others are compared word by word. */
export function diffTexts(removed: string, added: string): DiffLine[] {
	const lines: DiffLine[] = [];
	let before = 1;
	let after = 1;
	for (const change of diffLines(removed, added)) {
		for (const text of linesOf(change.value)) {
			if (change.removed) lines.push({ kind: "removed", before: before++, parts: whole(text) });
			else if (change.added) lines.push({ kind: "added", after: after++, parts: whole(text) });
			else lines.push({ kind: "same", before: before++, after: after++, parts: whole(text) });
		}
	}
	return fold(markWords(lines));
}

/** A unified diff as the server made it. Its header lines are left out; the path stands elsewhere. */
export function diffPatch(patch: string): DiffLine[] {
	const lines: DiffLine[] = [];
	let before = 0;
	let after = 0;
	let inHunk = false;
	for (const line of linesOf(patch)) {
		const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
		if (hunk) {
			if (inHunk) lines.push({ kind: "gap", parts: [] });
			inHunk = true;
			before = Number(hunk[1]);
			after = Number(hunk[2]);
		} else if (!inHunk) {
			if (!/^(---|\+\+\+|diff |index )/.test(line))
				lines.push({ kind: "note", parts: whole(line) });
		} else if (line.startsWith("-")) {
			lines.push({ kind: "removed", before: before++, parts: whole(line.slice(1)) });
		} else if (line.startsWith("+")) {
			lines.push({ kind: "added", after: after++, parts: whole(line.slice(1)) });
		} else if (line.startsWith("\\")) {
			lines.push({ kind: "note", parts: whole(line.slice(1).trim()) });
		} else {
			lines.push({ kind: "same", before: before++, after: after++, parts: whole(line.slice(1)) });
		}
	}
	return markWords(lines);
}

export function countChanges(lines: readonly DiffLine[]): { added: number; removed: number } {
	let added = 0;
	let removed = 0;
	for (const line of lines) {
		if (line.kind === "added") added++;
		else if (line.kind === "removed") removed++;
	}
	return { added, removed };
}

// A block of removed lines directly followed by as many added ones is taken for the same lines changed.
function markWords(lines: DiffLine[]): DiffLine[] {
	for (let at = 0; at < lines.length; at++) {
		if (lines[at]?.kind !== "removed") continue;
		const from = at;
		while (lines[at]?.kind === "removed") at++;
		const middle = at;
		while (lines[at]?.kind === "added") at++;
		if (middle - from === at - middle) {
			for (let n = 0; n < middle - from; n++) pair(lines[from + n], lines[middle + n]);
		}
		at--;
	}
	return lines;
}

function pair(removed: DiffLine | undefined, added: DiffLine | undefined): void {
	const old = removed?.parts[0]?.text;
	const young = added?.parts[0]?.text;
	if (!removed || !added || old === undefined || young === undefined) return;
	if (old.length + young.length > WORDS_LIMIT) return;
	const changes = diffWordsWithSpace(old, young);
	// Two lines with nothing in common are two lines.
	if (!changes.some((c) => !c.added && !c.removed && c.value.trim() !== "")) return;
	removed.parts = changes.flatMap((c) =>
		c.added ? [] : [{ text: c.value, changed: Boolean(c.removed) }],
	);
	added.parts = changes.flatMap((c) =>
		c.removed ? [] : [{ text: c.value, changed: Boolean(c.added) }],
	);
}

// Unchanged stretches keep three lines at each end.
function fold(lines: DiffLine[]): DiffLine[] {
	const out: DiffLine[] = [];
	let at = 0;
	while (at < lines.length) {
		const from = at;
		while (lines[at]?.kind === "same") at++;
		const length = at - from;
		const head = from === 0 ? 0 : CONTEXT;
		const tail = at === lines.length ? 0 : CONTEXT;
		if (length > head + tail + 1) {
			out.push(...lines.slice(from, from + head), { kind: "gap", parts: [] });
			out.push(...lines.slice(at - tail, at));
		} else {
			out.push(...lines.slice(from, at));
		}
		const line = lines[at];
		if (line && line.kind !== "same") {
			out.push(line);
			at++;
		}
	}
	return out;
}
