import { memo, type Ref, useMemo, useState } from "react";
import { Untrusted } from "../untrusted";
import { parseAnsi } from "./ansi";

/** A long output shows its end; the rest is one click away. */
const SHOWN_LINES = 300;

/** What a command printed. */
export const Output = memo(function Output({
	text,
	label,
	more,
	pane,
	onScroll,
}: {
	text: string;
	label: string;
	/** The name of the button that shows so many more lines. */
	more(count: number): string;
	/** The part that scrolls. */
	pane?: Ref<HTMLElement>;
	onScroll?(): void;
}) {
	const [all, setAll] = useState(false);
	const { shown, hidden } = useMemo(() => {
		const lines = text.replace(/\n+$/, "").split("\n");
		const hidden = all ? 0 : Math.max(0, lines.length - SHOWN_LINES);
		return { shown: lines.slice(hidden).join("\n"), hidden };
	}, [text, all]);
	const runs = useMemo(() => parseAnsi(shown), [shown]);
	return (
		<>
			{hidden > 0 && (
				<button
					type="button"
					className="text-accent px-3 pt-2 text-left text-[13px] hover:underline"
					onClick={() => setAll(true)}
				>
					{more(hidden)}
				</button>
			)}
			<section
				ref={pane}
				onScroll={onScroll}
				// biome-ignore lint/a11y/noNoninteractiveTabindex: a pane that scrolls must be reachable by keyboard.
				tabIndex={0}
				aria-label={label}
				className="max-h-96 overflow-auto px-3 py-2 font-mono text-[12.5px] leading-normal break-words whitespace-pre-wrap"
			>
				{runs.map((run, at) => (
					<span
						// biome-ignore lint/suspicious/noArrayIndexKey: runs have no identity but their place.
						key={at}
						className={run.className}
					>
						<Untrusted text={run.text} />
					</span>
				))}
			</section>
		</>
	);
});
