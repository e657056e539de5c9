export type PlainPart = { text: string } | { code: string; language: string };

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;

/** Markdown as paragraphs and blocks of code, which is enough for it to stand where it will stand. */
export function plainParts(text: string): PlainPart[] {
	const parts: PlainPart[] = [];
	let paragraph: string[] = [];
	const close = () => {
		if (paragraph.length > 0) parts.push({ text: paragraph.join("\n") });
		paragraph = [];
	};
	const lines = text.split("\n");
	for (let at = 0; at < lines.length; at++) {
		const line = lines[at] as string;
		const [, marks, info = ""] = FENCE.exec(line) ?? [];
		if (marks !== undefined) {
			close();
			const end = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}\\s*$`);
			const begin = ++at;
			while (at < lines.length && !end.test(lines[at] as string)) at++;
			parts.push({
				code: lines.slice(begin, at).join("\n"),
				language: info.trim().split(/\s/, 1)[0] ?? "",
			});
		} else if (line.trim() === "") close();
		else paragraph.push(line);
	}
	close();
	return parts;
}
