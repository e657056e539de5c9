import type { LayerLabel, SettingRow, SettingSource } from "@/contract/session.gen";
import type { Translate } from "@/i18n/i18n";
import {
	editKey,
	rowKey,
	type SettingEdit,
	type SettingEdits,
	type SettingsPlace,
	same,
} from "@/state/edits";
import { parseDraft, problemOf, shownValue } from "./fields";

export const labelOf = ({ field, key }: SettingRow): string => field.label ?? key;

/** Rows that stand together; `plugin` heads what is advanced (SP-CONF-33). */
export interface Section {
	readonly plugin?: string;
	readonly rows: readonly SettingRow[];
}

/** The rows in the order the server gives them: composer and common first, then advanced by plugin. */
export function sectionsOf(rows: readonly SettingRow[]): Section[] {
	const first = rows.filter(({ prominence }) => prominence !== "advanced");
	const plugins = new Map<string, SettingRow[]>();
	for (const row of rows) {
		if (row.prominence !== "advanced") continue;
		plugins.set(row.plugin, [...(plugins.get(row.plugin) ?? []), row]);
	}
	return [
		...(first.length > 0 ? [{ rows: first }] : []),
		...[...plugins].map(([plugin, rows]) => ({ plugin, rows })),
	];
}

/** The rows that a few words find, by what stands on them. */
export function findRows(rows: readonly SettingRow[], query: string): readonly SettingRow[] {
	const words = query.trim().toLowerCase().split(/\s+/).filter(Boolean);
	if (words.length === 0) return rows;
	return rows.filter((row) => {
		const text = [labelOf(row), row.field.description, row.key, row.plugin].join(" ").toLowerCase();
		return words.every((word) => text.includes(word));
	});
}

/** The rows for the quick switch (SP-CONF-32). */
export const composerRows = (rows: readonly SettingRow[]): SettingRow[] =>
	rows.filter(({ prominence }) => prominence === "composer");

/** The rows that are shown: those of the server, and one that went while somebody was typing in it. */
export function withEdited(
	rows: readonly SettingRow[],
	edits: SettingEdits,
	place: string,
): readonly SettingRow[] {
	const known = new Set(rows.map(rowKey));
	const gone = [...edits.values()].filter(
		(edit) => edit.place === place && !known.has(rowKey(edit.row)),
	);
	return gone.length === 0 ? rows : [...rows, ...gone.map((edit) => edit.row)];
}

/** What is in use, in the words of SP-CONF-11: what a layer says, the default, what is real, unset. */
export function inUse(row: SettingRow, t: Translate): string {
	const { field, effective, actual } = row;
	if (effective !== undefined) return shownValue(field, effective, t);
	if (field.default !== undefined) return shownValue(field, field.default, t);
	const unset = field.session.unset;
	if (!actual) return unset ?? t("settings.unset");
	// A label says all of it: what is followed, and what that is now.
	if (actual.label !== undefined) return actual.label;
	const value = shownValue(field, actual.value, t);
	return unset === undefined ? value : t("settings.now", { unset, value });
}

/** The layer a place is, by the name that `order` and sources use. */
export const layerOf = (place: SettingsPlace): SettingSource =>
	"session" in place ? "session" : place.layer.scope;

/** Where what is in use comes from, in the server's own words for its layers (SP-CONF-13, SP-CONF-16). */
export function fromWhere(
	{ source, field }: SettingRow,
	place: SettingsPlace,
	order: readonly LayerLabel[],
	names: { platform?: string | undefined; placeName?: string | undefined },
	t: Translate,
): string {
	if (source === undefined) {
		if (field.default !== undefined) return t("settings.from.default");
		return t("settings.from.nowhere");
	}
	if (source === "default") return t("settings.from.default");
	if (source === layerOf(place)) return t("settings.from.here");
	const layer = order.find(({ name }) => name === source)?.label ?? source;
	const platform = "session" in place ? names.platform : platformOf(place);
	const which = {
		platform,
		platformType: platform,
		place: names.placeName,
		global: undefined,
		session: undefined,
	};
	const name = which[source];
	return t("settings.from", { layer: name === undefined ? layer : `${layer} · ${name}` });
}

function platformOf(place: SettingsPlace): string | undefined {
	if ("session" in place) return undefined;
	const { layer } = place;
	return layer.scope === "platform" || layer.scope === "platformType" ? layer.platform : undefined;
}

/** Why what is written at a place is not in effect there: SP-CONF-07 for global, the same elsewhere. */
export interface Refusal {
	readonly written: string;
	/** Absent when the declaration alone does not tell. */
	readonly why?: string;
}

export function refusalOf(
	row: SettingRow,
	place: SettingsPlace,
	t: Translate,
): Refusal | undefined {
	if (row.value === undefined || row.source === layerOf(place)) return undefined;
	const problem = problemOf(row.field, row.value);
	return {
		written: shownValue(row.field, row.value, t),
		...(problem ? { why: t(problem.key, problem.params) } : {}),
	};
}

/** What may be said and done about a row's change. */
export interface EditView {
	readonly draft: unknown;
	readonly saving: boolean;
	/** Differs from what is written. */
	readonly dirty: boolean;
	/** The value to write, when the draft is one. */
	readonly parsed: ReturnType<typeof parseDraft>;
	readonly refused?: string;
	/** What is written here has become this since the change began. */
	readonly elsewhere?: string;
	/** The row is not offered any more. */
	readonly gone: boolean;
}

export function viewEdit(
	row: SettingRow,
	edit: SettingEdit | undefined,
	offered: boolean,
	t: Translate,
): EditView | undefined {
	if (!edit) return undefined;
	const before = edit.row.value ?? edit.row.effective;
	const now = row.value ?? row.effective;
	const moved = !same(before, now) && edit.phase !== "saving";
	return {
		draft: edit.draft,
		saving: edit.phase === "saving",
		dirty: edit.draft !== undefined,
		parsed: parseDraft(row.field, edit.draft),
		...(edit.phase === "refused" && edit.message !== undefined ? { refused: edit.message } : {}),
		...(moved && offered && edit.draft !== undefined
			? { elsewhere: now === undefined ? t("settings.unset") : shownValue(row.field, now, t) }
			: {}),
		gone: !offered,
	};
}

/** The change of one row, if there is one. */
export const editOf = (
	edits: SettingEdits,
	place: SettingsPlace,
	row: SettingRow,
): SettingEdit | undefined => edits.get(editKey(place, row));
