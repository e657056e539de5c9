import { useT } from "@/i18n/i18n";
import type { SlashWord } from "./slash";

/** The commands that fit what is typed. Tab and Enter take the marked one, as a click does. */
export function SlashList({
	words,
	marked,
	onChoose,
}: {
	words: readonly SlashWord[];
	marked: number;
	onChoose(word: SlashWord): void;
}) {
	const t = useT();
	return (
		<div
			id="slash-words"
			role="listbox"
			aria-label={t("composer.slash")}
			data-testid="slash"
			tabIndex={-1}
			className="border-line border-b p-1.5 text-sm"
		>
			{words.map((word, at) => (
				<div
					key={word}
					id={`slash-${word}`}
					role="option"
					tabIndex={-1}
					aria-selected={at === marked}
					className={`flex cursor-pointer items-baseline gap-3 rounded-lg px-3 py-1.5 ${at === marked ? "bg-hover" : ""}`}
					// Before the box loses the focus.
					onMouseDown={(event) => {
						event.preventDefault();
						onChoose(word);
					}}
				>
					<code className="font-mono text-[13px]">/{word}</code>
					<span className="text-soft truncate">{t(`composer.slash.${word}`)}</span>
				</div>
			))}
		</div>
	);
}
