import { TriangleAlert } from "lucide-react";
import { memo, useEffect, useId, useRef } from "react";
import { useStore } from "zustand";
import type { ConfigLayersResult, SettingRow } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp } from "@/state/context";
import { rowKey, type SettingsPlace } from "@/state/edits";
import { Button } from "@/ui/button";
import { Menu } from "@/ui/menu";
import { boxId, Editor } from "./editors";
import { draftOf, isGesture, type OptionsQuery } from "./fields";
import type { LayerLine } from "./layers";
import { OtherPlaces } from "./other-places";
import { editOf, fromWhere, inUse, labelOf, refusalOf, viewEdit } from "./rows";

/** Where a person wants to go on: a place, and the row there. */
export interface SettingsAt {
	readonly place: SettingsPlace;
	readonly focus?: string;
}

export interface RowProps {
	row: SettingRow;
	place: SettingsPlace;
	/** The platform whose layer was consulted. */
	platform: string | undefined;
	/** The place that a session lives in. */
	placeName: string | undefined;
	layers: ConfigLayersResult | undefined;
	/** Layers where the same setting can be changed. */
	moves: readonly LayerLine[];
	service: string | undefined;
	dependency: string | undefined;
	/** The server still lists it. */
	offered: boolean;
	focused: boolean;
	onGo(at: SettingsAt): void;
}

/** One setting at one place: its value, where that comes from, and what can be done about it. */
export const Row = memo(function Row(props: RowProps) {
	const {
		row,
		place,
		platform,
		placeName,
		layers,
		moves,
		service,
		dependency,
		offered,
		focused,
		onGo,
	} = props;
	const t = useT();
	const { settings } = useApp();
	const online = useOnline();
	const id = useId();
	const edit = viewEdit(
		row,
		useStore(settings.edits, (edits) => editOf(edits, place, row)),
		offered,
		t,
	);
	const frame = useFocus(focused);
	const { field } = row;
	const label = labelOf(row);
	const typed = edit?.dirty === true;
	const gesture = isGesture(field);
	const problem =
		typed && edit.parsed && "problem" in edit.parsed ? edit.parsed.problem : undefined;
	const refusal = refusalOf(row, place, t);
	const origin = fromWhere(row, place, layers?.order ?? [], { platform, placeName }, t);
	// The field shows what is written; what counts instead has to be said.
	const from = refusal ? t("settings.inEffect", { value: inUse(row, t), from: origin }) : origin;
	const save = () => {
		if (!typed || !("value" in edit.parsed) || edit.saving || !online) return;
		void settings.save(place, row, edit.parsed.value);
	};
	const query: OptionsQuery | undefined =
		service === undefined
			? undefined
			: { service, ...(dependency === undefined ? {} : { dependency }) };
	return (
		// biome-ignore lint/a11y/useSemanticElements: a row is no form of its own.
		<div
			ref={frame}
			role="group"
			aria-labelledby={id}
			data-testid="setting"
			data-setting={`${row.plugin}/${row.key}`}
			className={`border-line grid scroll-mt-4 gap-x-6 gap-y-2 border-t py-3.5 first:border-t-0 min-[900px]:grid-cols-[minmax(0,1fr)_minmax(0,19rem)] ${focused ? "bg-accent-wash -mx-3 rounded-lg px-3" : ""}`}
		>
			<div className="min-w-0">
				<label id={id} htmlFor={boxId(id)} className="block text-[14.5px] font-medium break-words">
					{label}
				</label>
				{field.description && (
					<p className="text-soft mt-0.5 text-[13px] text-pretty break-words">
						{field.description}
					</p>
				)}
			</div>
			<div className="min-w-0">
				<Editor
					row={row}
					query={query}
					draft={typed ? edit.draft : draftOf(field, row.value ?? row.effective)}
					labelId={id}
					describedBy={problem ? `${id}-problem ${id}-note` : `${id}-note`}
					invalid={problem !== undefined || refusal !== undefined}
					disabled={gesture ? !online || edit?.saving === true : false}
					onType={(draft) => settings.type(place, row, draft)}
					onChoose={(value) => {
						settings.type(place, row, value);
						void settings.save(place, row, value);
					}}
					onSave={save}
					onDiscard={() => settings.drop(place, row)}
				/>
				<div className="mt-1 -mr-2.5 flex flex-wrap items-center">
					<p
						id={`${id}-note`}
						className="text-soft mr-auto py-1 text-xs break-words"
						data-testid="setting-from"
					>
						{from}
					</p>
					{row.value !== undefined && (
						<Button
							small
							tone="quiet"
							aria-label={t("settings.reset.label", { label })}
							disabled={!online || edit?.saving === true}
							onClick={() => void settings.save(place, row, null)}
						>
							{t("settings.reset")}
						</Button>
					)}
					{moves.length > 0 && (
						<Menu
							trigger={
								<Button small tone="quiet" aria-label={t("settings.moveTo.label", { label })}>
									{t("settings.moveTo")}
								</Button>
							}
							entries={moves.map((move) => ({
								key: move.key,
								label: move.name === move.group ? move.name : `${move.group} · ${move.name}`,
								run: () => onGo({ place: move.place, focus: rowKey(row) }),
							}))}
						/>
					)}
					{"layer" in place && layers && (
						<OtherPlaces row={row} place={place} layers={layers} onGo={onGo} />
					)}
				</div>
				<div className="space-y-1 text-xs empty:hidden">
					{refusal && (
						<Warning>
							{refusal.why
								? t("settings.refused.why", { written: refusal.written, why: refusal.why })
								: t("settings.refused", { written: refusal.written })}
						</Warning>
					)}
					{edit?.gone && <Warning>{t("settings.gone")}</Warning>}
					{edit?.elsewhere !== undefined && (
						<Warning>{t("settings.changedElsewhere", { value: edit.elsewhere })}</Warning>
					)}
					{problem && (
						<p id={`${id}-problem`} className="text-bad">
							{t(problem.key, problem.params)}
						</p>
					)}
					{edit?.refused !== undefined && (
						<p role="alert" className="text-bad break-words">
							{edit.refused}
						</p>
					)}
				</div>
				{typed && (!gesture || edit.refused !== undefined) && (
					<div className="mt-1.5 flex gap-1">
						<Button
							small
							tone="accent"
							disabled={!online || edit.saving || problem !== undefined}
							onClick={save}
						>
							{t(edit.saving ? "settings.saving" : "common.save")}
						</Button>
						<Button
							small
							tone="quiet"
							disabled={edit.saving}
							onClick={() => settings.drop(place, row)}
						>
							{t("settings.discard")}
						</Button>
					</div>
				)}
			</div>
		</div>
	);
});

function Warning({ children }: { children: string }) {
	return (
		<p className="text-warn flex gap-1.5 break-words">
			<TriangleAlert size={13} aria-hidden className="mt-0.5 shrink-0" />
			<span className="min-w-0">{children}</span>
		</p>
	);
}

/** Brings the row that was asked for into view, with the keyboard at its control. */
function useFocus(focused: boolean) {
	const frame = useRef<HTMLDivElement>(null);
	useEffect(() => {
		if (!focused) return;
		// After the window around has given its own focus.
		const timer = setTimeout(() => {
			frame.current?.scrollIntoView({ block: "center" });
			frame.current?.querySelector<HTMLElement>("input, textarea, button")?.focus();
		}, 30);
		return () => clearTimeout(timer);
	}, [focused]);
	return frame;
}
