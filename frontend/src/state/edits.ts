import type { SettingLayer, SettingRow } from "@/contract/session.gen";

/** Where settings are read and written: one session, or one layer. */
export type SettingsPlace = { readonly session: string } | { readonly layer: SettingLayer };

/** A name for a place; two places with one name are the same. */
export function placeKey(place: SettingsPlace): string {
	if ("session" in place) return JSON.stringify(["session", place.session]);
	const { layer } = place;
	switch (layer.scope) {
		case "global":
			return JSON.stringify(["global"]);
		case "platform":
			return JSON.stringify(["platform", layer.platform]);
		case "platformType":
			return JSON.stringify(["platformType", layer.platform, layer.type]);
		case "place":
			return JSON.stringify(["place", layer.key]);
	}
}

/** A row is known by (plugin, key), Spec SP-CONF-02. */
export const rowKey = ({ plugin, key }: { plugin: string; key: string }): string =>
	JSON.stringify([plugin, key]);

/** True for values that JSON would write alike, whatever the order of keys. */
export function same(a: unknown, b: unknown): boolean {
	if (Object.is(a, b)) return true;
	if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
	if (Array.isArray(a) !== Array.isArray(b)) return false;
	const keys = Object.keys(a);
	return (
		keys.length === Object.keys(b).length &&
		keys.every(
			(key) =>
				key in b && same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
		)
	);
}

/**
 * A setting that a person is changing. It lives beside the rows, so that reading them again leaves it
 * alone (SP-CONF-69); it ends when the server took it or the person let it go.
 */
export interface SettingEdit {
	readonly place: string;
	/** The row as it was when the change began. */
	readonly row: SettingRow;
	/** What stands in the field; undefined when only a reset is under way. */
	readonly draft: unknown;
	readonly phase: "open" | "saving" | "refused";
	/** Why the server refused. */
	readonly message?: string;
	/** The value that was last sent; null resets. */
	readonly sent?: unknown;
}

export type SettingEdits = ReadonlyMap<string, SettingEdit>;

export type EditAction =
	| { type: "draft"; draft: unknown }
	| { type: "drop" }
	| { type: "saving"; sent: unknown }
	/** `draft` is what stood in the field when it was sent. */
	| { type: "saved"; draft: unknown }
	| { type: "refused"; message: string };

/** The key of a row's change at a place. */
export const editKey = (place: SettingsPlace, row: SettingRow): string =>
	`${placeKey(place)} ${rowKey(row)}`;

export function reduceEdits(
	edits: SettingEdits,
	place: SettingsPlace,
	row: SettingRow,
	action: EditAction,
): SettingEdits {
	const key = editKey(place, row);
	const before = edits.get(key);
	const put = (part: Partial<SettingEdit>) =>
		new Map(edits).set(key, {
			place: placeKey(place),
			row,
			draft: undefined,
			phase: "open",
			...before,
			...part,
		});
	switch (action.type) {
		case "draft":
			return put({ draft: action.draft, phase: before?.phase === "saving" ? "saving" : "open" });
		case "saving":
			return put({ phase: "saving", sent: action.sent });
		case "refused":
			return before ? put({ phase: "refused", message: action.message }) : edits;
		case "drop":
			return without(edits, key);
		case "saved":
			// Typed on since it was sent: that is a change of its own.
			return before && before.draft !== action.draft ? put({ phase: "open" }) : without(edits, key);
	}
}

function without(edits: SettingEdits, key: string): SettingEdits {
	if (!edits.has(key)) return edits;
	const next = new Map(edits);
	next.delete(key);
	return next;
}

/**
 * Rows of a place were read again: a change whose answer was lost, and which turns out to be there, is
 * done.
 */
export function reconcileEdits(
	edits: SettingEdits,
	place: string,
	rows: readonly SettingRow[],
): SettingEdits {
	let next = edits;
	for (const [key, edit] of edits) {
		if (edit.place !== place || edit.phase !== "refused" || !("sent" in edit)) continue;
		const row = rows.find((other) => rowKey(other) === rowKey(edit.row));
		const written =
			edit.sent === null ? row && row.value === undefined : same(row?.value, edit.sent);
		if (written) next = without(next, key);
	}
	return next;
}
