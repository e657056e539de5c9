import { ChevronsUpDown, Plus, X } from "lucide-react";
import { type KeyboardEvent, type ReactElement, useRef, useState } from "react";
import type { SettingRow } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { same } from "@/state/edits";
import { Button, IconButton } from "@/ui/button";
import { KeyReader, keyPress } from "@/ui/keys";
import { ChoiceField, OptionsStatus } from "./choice-field";
import {
	choicesOf,
	editorOf,
	type ListDraft,
	type MapDraft,
	type OptionsQuery,
	stepDraft,
} from "./fields";
import { useOffered } from "./hooks";
import { inUse, labelOf } from "./rows";

export interface EditorProps {
	row: SettingRow;
	query: OptionsQuery | undefined;
	/** What stands in the field. */
	draft: unknown;
	labelId: string;
	describedBy: string;
	invalid: boolean;
	disabled: boolean;
	onType(draft: unknown): void;
	/** One gesture: written at once. */
	onChoose(value: unknown): void;
	onSave(): void;
	onDiscard(): void;
}

const box =
	"border-line bg-canvas placeholder:text-soft focus:border-edge min-w-0 rounded-lg border px-2.5 text-sm disabled:opacity-60 aria-invalid:border-bad";

/** The control of one field, by its type. */
export function Editor(props: EditorProps): ReactElement {
	switch (editorOf(props.row.field)) {
		case "boolean":
			return <Switch {...props} />;
		case "choice":
			return <One {...props} />;
		case "choices":
			return <Several {...props} />;
		case "number":
			return <NumberBox {...props} />;
		case "list":
			return <List {...props} />;
		case "map":
			return <Table {...props} />;
		case "text":
			return <TextBox {...props} />;
		default:
			return <Lines {...props} />;
	}
}

const named = ({ labelId, describedBy, disabled }: EditorProps) => ({
	"aria-labelledby": labelId,
	"aria-describedby": describedBy,
	disabled,
});

/** The id of a box that is typed into, for the row's label to lead to. */
export const boxId = (labelId: string): string => `${labelId}-box`;

/** Boxes that are typed into can also be said to be wrong. */
const typed = ({ labelId, describedBy, invalid, disabled }: EditorProps) => ({
	id: boxId(labelId),
	"aria-describedby": describedBy,
	"aria-invalid": invalid,
	disabled,
});

/** Enter saves, Escape lets go; neither while an input method composes. `lines`: Enter breaks the line. */
function useKeys({ onSave, onDiscard }: EditorProps, changed: boolean, lines = false) {
	const keys = useRef(new KeyReader());
	return {
		onCompositionStart: () => keys.current.compositionStart(),
		onCompositionEnd: (event: { timeStamp: number }) =>
			keys.current.compositionEnd(event.timeStamp),
		onKeyDown: (event: KeyboardEvent) => {
			const intent = keys.current.read(keyPress(event));
			const saves = !lines || event.ctrlKey || event.metaKey;
			if (intent === "send" && saves) {
				event.preventDefault();
				onSave();
			} else if (intent === "stop" && changed) {
				// The window around would take it for its own.
				event.preventDefault();
				event.stopPropagation();
				onDiscard();
			}
		},
	};
}

function placeholderOf(row: SettingRow, t: ReturnType<typeof useT>): string {
	return row.effective === undefined ? inUse(row, t) : "";
}

function TextBox(props: EditorProps) {
	const t = useT();
	const keys = useKeys(props, true);
	return (
		<input
			{...typed(props)}
			{...keys}
			value={String(props.draft)}
			placeholder={placeholderOf(props.row, t)}
			onChange={(event) => props.onType(event.target.value)}
			className={`${box} h-9 w-full`}
		/>
	);
}

function Lines(props: EditorProps) {
	const t = useT();
	const text = String(props.draft);
	const keys = useKeys(props, true, true);
	const code = editorOf(props.row.field) === "json";
	return (
		<textarea
			{...typed(props)}
			{...keys}
			rows={Math.min(12, Math.max(3, text.split("\n").length))}
			value={text}
			placeholder={placeholderOf(props.row, t)}
			onChange={(event) => props.onType(event.target.value)}
			className={`${box} w-full resize-y py-1.5 leading-6 ${code ? "font-mono text-xs" : ""}`}
		/>
	);
}

function NumberBox(props: EditorProps) {
	const t = useT();
	const { row, draft, onType } = props;
	const { min, max } = row.field;
	const keys = useKeys(props, true);
	const now = Number(draft);
	return (
		<input
			{...typed(props)}
			{...keys}
			role="spinbutton"
			inputMode="decimal"
			aria-valuenow={String(draft).trim() === "" || Number.isNaN(now) ? undefined : now}
			aria-valuemin={min}
			aria-valuemax={max}
			value={String(draft)}
			placeholder={placeholderOf(row, t)}
			onChange={(event) => onType(event.target.value)}
			onKeyDown={(event) => {
				const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
				if (by === 0) return keys.onKeyDown(event);
				event.preventDefault();
				onType(stepDraft(row.field, String(draft), by));
			}}
			className={`${box} h-9 w-full tabular-nums`}
		/>
	);
}

function Switch(props: EditorProps) {
	const t = useT();
	const on = props.draft === true;
	return (
		<button
			type="button"
			role="switch"
			aria-checked={on}
			{...named(props)}
			onClick={() => props.onChoose(!on)}
			className="flex h-9 items-center gap-2.5 rounded-lg disabled:cursor-default disabled:opacity-60"
		>
			<span
				aria-hidden
				className={`flex h-5 w-9 items-center rounded-full border p-0.5 transition-colors ${on ? "bg-accent border-transparent" : "bg-sunken border-edge"}`}
			>
				<span
					className={`size-3.5 rounded-full transition-transform ${on ? "bg-on-accent translate-x-4" : "bg-edge"}`}
				/>
			</span>
			<span className="text-sm">
				{props.draft === undefined ? inUse(props.row, t) : t(on ? "settings.on" : "settings.off")}
			</span>
		</button>
	);
}

function One(props: EditorProps) {
	const { row, query, draft, onChoose } = props;
	return (
		<ChoiceField
			row={row}
			query={query}
			value={draft}
			onChoose={onChoose}
			trigger={(shown) => (
				<button
					type="button"
					{...named(props)}
					aria-labelledby={`${props.labelId} ${props.labelId}-value`}
					data-testid="choice"
					className={`${box} flex min-h-9 w-full items-center gap-2 py-1 text-left`}
				>
					<span
						id={`${props.labelId}-value`}
						title={shown}
						className={`line-clamp-2 min-w-0 flex-1 break-words ${draft === undefined ? "text-soft" : ""}`}
					>
						{shown}
					</span>
					<ChevronsUpDown size={14} aria-hidden className="text-soft shrink-0" />
				</button>
			)}
		/>
	);
}

function Several(props: EditorProps) {
	const t = useT();
	const { row, query, draft, disabled, onType } = props;
	const { read, retry } = useOffered(query);
	const chosen = draft as readonly unknown[];
	const choices = choicesOf({ ...row, effective: chosen }, read?.value?.options ?? [], t);
	const [own, setOwn] = useState("");
	const toggle = (value: unknown, on: boolean) =>
		onType(on ? [...chosen, value] : chosen.filter((other) => !same(other, value)));
	const free = row.field.allowCustom === true || row.field.type === "list";
	const add = () => {
		const text = own.trim();
		if (text !== "" && !chosen.includes(text)) onType([...chosen, text]);
		setOwn("");
	};
	return (
		// biome-ignore lint/a11y/useSemanticElements: the row's own label names it.
		<div
			role="group"
			aria-labelledby={props.labelId}
			aria-describedby={props.describedBy}
			className="border-line bg-canvas overflow-hidden rounded-lg border"
		>
			{query && <OptionsStatus read={read} onRetry={retry} />}
			{row.effective === undefined && chosen.length === 0 && (
				<p className="text-soft px-2.5 pt-1.5 text-sm">{inUse(row, t)}</p>
			)}
			{choices.length > 0 && (
				<div className="max-h-52 overflow-y-auto py-1">
					{choices.map((choice) => (
						<label
							key={choice.key}
							className="hover:bg-hover flex items-start gap-2.5 px-2.5 py-1 text-sm"
						>
							<input
								type="checkbox"
								disabled={disabled}
								checked={chosen.some((value) => same(value, choice.value))}
								onChange={(event) => toggle(choice.value, event.target.checked)}
								className="accent-accent mt-1 size-3.5 shrink-0"
							/>
							<span className="min-w-0 flex-1 break-words">
								{choice.label}
								{choice.hint && <span className="text-soft block text-xs">{choice.hint}</span>}
							</span>
						</label>
					))}
				</div>
			)}
			{choices.length === 0 && !free && (!query || read?.value) && (
				<p className="text-soft px-2.5 py-2 text-sm">{t("settings.choice.empty")}</p>
			)}
			{free && (
				<div className="border-line flex gap-1 border-t p-1 first:border-t-0">
					<input
						aria-label={t("settings.choices.add")}
						placeholder={t("settings.choices.add")}
						disabled={disabled}
						value={own}
						onChange={(event) => setOwn(event.target.value)}
						onKeyDown={(event) => {
							if (event.nativeEvent.isComposing || event.keyCode === 229) return;
							if (event.key !== "Enter") return;
							event.preventDefault();
							add();
						}}
						className="placeholder:text-soft h-7 min-w-0 flex-1 bg-transparent px-1.5 text-sm"
					/>
					<Button small tone="quiet" disabled={disabled || own.trim() === ""} onClick={add}>
						{t("settings.list.add")}
					</Button>
				</div>
			)}
		</div>
	);
}

function List(props: EditorProps) {
	const t = useT();
	const { row, disabled, onType } = props;
	const entries = props.draft as ListDraft;
	const keys = useKeys(props, true);
	const label = labelOf(row);
	return (
		// biome-ignore lint/a11y/useSemanticElements: the row's own label names it.
		<div
			role="group"
			aria-labelledby={props.labelId}
			aria-describedby={props.describedBy}
			className="space-y-1.5"
		>
			{entries.map((entry, at) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity but their place.
				<div key={at} className="flex gap-1">
					<input
						{...keys}
						aria-label={t("settings.list.entry", { label, number: at + 1 })}
						disabled={disabled}
						value={entry}
						onChange={(event) => onType(entries.with(at, event.target.value))}
						className={`${box} h-8 flex-1`}
					/>
					<Remove at={at} disabled={disabled} onRemove={() => onType(entries.toSpliced(at, 1))} />
				</div>
			))}
			<Button small tone="quiet" disabled={disabled} onClick={() => onType([...entries, ""])}>
				<Plus size={14} aria-hidden />
				{t("settings.list.add")}
			</Button>
		</div>
	);
}

function Table(props: EditorProps) {
	const t = useT();
	const { row, disabled, onType } = props;
	const entries = props.draft as MapDraft;
	const keys = useKeys(props, true);
	const label = labelOf(row);
	return (
		// biome-ignore lint/a11y/useSemanticElements: the row's own label names it.
		<div
			role="group"
			aria-labelledby={props.labelId}
			aria-describedby={props.describedBy}
			className="space-y-1.5"
		>
			{entries.map(([name, value], at) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity but their place.
				<div key={at} className="flex gap-1">
					<input
						{...keys}
						aria-label={t("settings.map.name", { label, number: at + 1 })}
						placeholder={t("settings.map.name.hint")}
						disabled={disabled}
						value={name}
						onChange={(event) => onType(entries.with(at, [event.target.value, value]))}
						className={`${box} h-8 w-2/5`}
					/>
					<input
						{...keys}
						aria-label={t("settings.map.value", { label, number: at + 1 })}
						placeholder={t("settings.map.value.hint")}
						disabled={disabled}
						value={value}
						onChange={(event) => onType(entries.with(at, [name, event.target.value]))}
						className={`${box} h-8 flex-1`}
					/>
					<Remove at={at} disabled={disabled} onRemove={() => onType(entries.toSpliced(at, 1))} />
				</div>
			))}
			<Button small tone="quiet" disabled={disabled} onClick={() => onType([...entries, ["", ""]])}>
				<Plus size={14} aria-hidden />
				{t("settings.list.add")}
			</Button>
		</div>
	);
}

function Remove({ at, disabled, onRemove }: { at: number; disabled: boolean; onRemove(): void }) {
	const t = useT();
	return (
		<IconButton
			label={t("settings.list.remove", { number: at + 1 })}
			disabled={disabled}
			className="size-8"
			onClick={onRemove}
		>
			<X size={14} />
		</IconButton>
	);
}
