import { ChevronDown } from "lucide-react";
import type { ReactElement } from "react";
import { useStore } from "zustand";
import type { SettingRow } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp, useHost } from "@/state/context";
import { editKey, type SettingsPlace } from "@/state/edits";
import { Popover } from "@/ui/popover";
import { Tip } from "@/ui/tip";
import { ChoiceField } from "./choice-field";
import { editorOf, entryId, optionsQuery } from "./fields";
import { usePage, useRead } from "./hooks";
import { Row } from "./row";
import { composerRows, inUse, labelOf } from "./rows";

/** The rows of a session that go beside the message box; none while there is no settings service. */
export function useQuickRows(sessionId: string): {
	rows: readonly SettingRow[];
	all: readonly SettingRow[];
} {
	const there = useHost((host) => host.features.settings);
	const { read } = usePage(there ? { session: sessionId } : undefined);
	const all = (there && read?.value?.items) || NONE;
	return { all, rows: composerRows(all) };
}

const NONE: readonly SettingRow[] = [];

/** The quick switch beside the message box (SP-CONF-32). */
export function QuickSettings({
	sessionId,
	rows,
	all,
}: {
	sessionId: string;
	rows: readonly SettingRow[];
	/** Every row of the session: some depend on others. */
	all: readonly SettingRow[];
}) {
	const t = useT();
	return (
		// biome-ignore lint/a11y/useSemanticElements: it is no form of its own.
		<div
			role="group"
			aria-label={t("settings.quick")}
			data-testid="quick-settings"
			className="flex flex-wrap items-center gap-0.5"
		>
			{rows.map((row) => (
				<Quick
					key={`${row.plugin} ${row.key}`}
					row={row}
					all={all}
					place={{ session: sessionId }}
				/>
			))}
		</div>
	);
}

function Quick({
	row,
	all,
	place,
}: {
	row: SettingRow;
	all: readonly SettingRow[];
	place: SettingsPlace;
}) {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	const { settings } = app;
	const edit = useStore(settings.edits, (edits) => edits.get(editKey(place, row)));
	const saving = edit?.phase === "saving";
	const value = saving && edit.draft !== undefined ? edit.draft : row.effective;
	const choose = async (next: unknown) => {
		settings.type(place, row, next);
		if (await settings.save(place, row, next)) return;
		// There is no room to go on here: the reason is told, and what is in use is shown again.
		const refused = settings.edits.getState().get(editKey(place, row));
		if (refused?.message !== undefined) app.toast(refused.message, "error");
		settings.drop(place, row);
	};
	switch (editorOf(row.field)) {
		case "boolean":
			return (
				<Pill
					label={labelOf(row)}
					shown={t(value === true ? "settings.on" : "settings.off")}
					saving={saving}
					disabled={!online}
					role="switch"
					aria-checked={value === true}
					onClick={() => void choose(value !== true)}
				/>
			);
		case "choice":
			return (
				<ChoiceField
					row={row}
					query={optionsQuery(row, all)}
					value={value}
					onChoose={(next) => void choose(next)}
					trigger={(shown) => (
						<Pill
							label={labelOf(row)}
							shown={brief(row, value) ?? shown}
							full={shown}
							saving={saving}
							disabled={!online}
							opens
						/>
					)}
				/>
			);
		default:
			return <Field row={row} all={all} place={place} shown={inUse(row, t)} />;
	}
}

// A model's own name is enough here; its provider stands in the list.
function brief(row: SettingRow, value: unknown): string | undefined {
	const id = row.field.type === "llm-ref" ? entryId(value ?? row.actual?.value) : undefined;
	return id?.slice(id.indexOf("/") + 1);
}

/** A field that wants typing, in a panel of its own. */
function Field({
	row,
	all,
	place,
	shown,
}: {
	row: SettingRow;
	all: readonly SettingRow[];
	place: SettingsPlace;
	shown: string;
}) {
	const { settings } = useApp();
	const { value: layers } = useRead(settings.layers) ?? {};
	const { read } = usePage(place);
	const { service, dependency } = optionsQuery(row, all) ?? {};
	return (
		<Popover
			label={labelOf(row)}
			align="start"
			className="w-96 px-4"
			trigger={<Pill label={labelOf(row)} shown={shown} saving={false} opens />}
		>
			<div className="min-h-0 overflow-y-auto">
				<Row
					row={row}
					place={place}
					platform={read?.value?.platform}
					placeName={undefined}
					layers={layers}
					moves={[]}
					service={service}
					dependency={dependency}
					offered
					focused={false}
					onGo={() => undefined}
				/>
			</div>
		</Popover>
	);
}

function Pill({
	label,
	shown,
	full = shown,
	saving,
	opens = false,
	...rest
}: {
	label: string;
	shown: string;
	/** All there is to say, when `shown` is short. */
	full?: string;
	saving: boolean;
	opens?: boolean;
} & Omit<React.ComponentProps<"button">, "children">): ReactElement {
	return (
		<Tip text={`${label} · ${full}`}>
			<button
				type="button"
				data-testid="quick-setting"
				{...rest}
				className={`text-soft hover:bg-hover hover:text-ink data-popup-open:bg-hover flex h-8 max-w-64 min-w-0 items-center gap-1.5 rounded-lg px-2 text-[13px] transition-colors disabled:cursor-default disabled:opacity-60 ${saving ? "pulse" : ""}`}
			>
				<span className="sr-only sm:not-sr-only sm:shrink-0">{label}</span>
				<span className="text-ink min-w-0 truncate">{shown}</span>
				{opens && <ChevronDown size={13} aria-hidden className="shrink-0" />}
			</button>
		</Tip>
	);
}
