import { type ReactElement, type ReactNode, useMemo, useState } from "react";
import type { SettingRow } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { same } from "@/state/edits";
import type { Read } from "@/state/reading";
import type { Offered, OfferedOption } from "@/state/settings";
import { Button } from "@/ui/button";
import { Choice } from "@/ui/choice";
import { choicesOf, entryId, isFixed, modelValue, type OptionsQuery, shownValue } from "./fields";
import { useChoiceTexts, useOffered } from "./hooks";
import { inUse, labelOf } from "./rows";

const NONE: readonly OfferedOption[] = [];

/** One of what a row offers; what its source has is fetched when the list opens. */
export function ChoiceField({
	row,
	query,
	value,
	trigger,
	onChoose,
}: {
	row: SettingRow;
	query: OptionsQuery | undefined;
	value: unknown;
	/** `shown` is what is chosen now, in words. */
	trigger(shown: string): ReactElement<Record<string, unknown>>;
	onChoose(value: unknown): void;
}) {
	const t = useT();
	const texts = useChoiceTexts();
	const [open, setOpen] = useState(false);
	const { field } = row;
	// The words for a choice come from its source; a model is called by its id.
	const wordless = value !== undefined && field.type === "select" && !isFixed(field, value);
	const { read, retry } = useOffered(open || wordless ? query : undefined);
	const offered = read?.value?.options ?? NONE;
	const choices = useMemo(
		() => (open || wordless ? choicesOf(row, offered, t) : []),
		[open, wordless, row, offered, t],
	);
	const chosen = choices.find((choice) => same(choice.value, value));
	const shown =
		value === undefined
			? inUse(row, t)
			: field.type === "select" && chosen
				? chosen.label
				: shownValue(field, value, t);
	// A plain text with suggestions takes anything; a model only what could be one.
	const free = field.allowCustom === true || field.type === "string";
	const custom = (text: string) => {
		if (field.type !== "llm-ref") onChoose(text);
		else if (entryId(text) !== undefined) onChoose(modelValue(row, text));
	};
	return (
		<Choice
			label={labelOf(row)}
			trigger={trigger(shown)}
			options={choices}
			chosen={chosen?.key}
			texts={texts}
			onChoose={(choice) => onChoose(choice.value)}
			onCustom={free ? custom : undefined}
			status={query && <OptionsStatus read={read} onRetry={retry} />}
			onOpenChange={setOpen}
		/>
	);
}

/** That options are on their way, or could not be had; nothing when they are there. */
export function OptionsStatus({
	read,
	onRetry,
}: {
	read: Read<Offered> | undefined;
	onRetry(): void;
}): ReactNode {
	const t = useT();
	if (read?.phase === "failed") {
		return (
			<div
				role="alert"
				className="text-bad flex items-center justify-between gap-2 px-3 py-2 text-sm"
			>
				{t("settings.choice.failed")}
				<Button small onClick={onRetry}>
					{t("common.retry")}
				</Button>
			</div>
		);
	}
	if (read?.value !== undefined) {
		return read.value.problems.map((problem) => (
			<p key={problem} className="text-warn px-3 pt-2 text-xs break-words">
				{problem}
			</p>
		));
	}
	return (
		<p role="status" className="text-soft px-3 py-2 text-sm">
			{t("common.loading")}
		</p>
	);
}
