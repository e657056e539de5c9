import { useState } from "react";
import { Untrusted } from "../untrusted";
import type { DiffLine } from "./diff";

const looks: Record<DiffLine["kind"], { row: string; sign: string; word: string }> = {
	same: { row: "", sign: " ", word: "" },
	removed: { row: "bg-bad-wash", sign: "−", word: "bg-bad/25 rounded-sm" },
	added: { row: "bg-good-wash", sign: "+", word: "bg-good/25 rounded-sm" },
	gap: { row: "text-soft", sign: "⋯", word: "" },
	note: { row: "text-soft italic", sign: " ", word: "" },
};

const FIRST_LINES = 400;

/** A change of a file, as lines. `more` names the button that shows the rest of a long one. */
export function DiffView({
	lines,
	label,
	more,
}: {
	lines: readonly DiffLine[];
	label: string;
	more(count: number): string;
}) {
	const [all, setAll] = useState(false);
	const shown = all ? lines : lines.slice(0, FIRST_LINES);
	const width = Math.max(...lines.map((line) => String(line.after ?? line.before ?? "").length), 2);
	return (
		// biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame of its own.
		<div role="group" aria-label={label} className="font-mono text-[12.5px] leading-normal">
			{shown.map((line, at) => (
				<div
					// biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place.
					key={at}
					className={`flex ${looks[line.kind].row}`}
				>
					<span
						aria-hidden
						className="text-soft shrink-0 px-2 text-right select-none"
						style={{ minWidth: `${width + 2}ch` }}
					>
						{line.after ?? line.before ?? ""}
					</span>
					<span className="w-4 shrink-0 text-center select-none">{looks[line.kind].sign}</span>
					<span className="min-w-0 flex-1 pr-3 break-words whitespace-pre-wrap">
						{line.parts.map((part, n) => (
							<span
								// biome-ignore lint/suspicious/noArrayIndexKey: as above.
								key={n}
								className={part.changed ? looks[line.kind].word : ""}
							>
								<Untrusted text={part.text} />
							</span>
						))}
					</span>
				</div>
			))}
			{shown.length < lines.length && (
				<button
					type="button"
					className="text-accent w-full px-3 py-2 text-left font-sans text-[13px] hover:underline"
					onClick={() => setAll(true)}
				>
					{more(lines.length - shown.length)}
				</button>
			)}
		</div>
	);
}
