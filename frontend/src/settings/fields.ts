import type { SettingField, SettingRow } from "@/contract/session.gen";
import type { MessageKey, Params, Translate } from "@/i18n/i18n";
import { same } from "@/state/edits";
import type { OfferedOption } from "@/state/settings";

/** How a field is changed; a type that this client does not know is changed as JSON. */
export type EditorKind =
	| "text"
	| "lines"
	| "number"
	| "boolean"
	| "choice"
	| "choices"
	| "list"
	| "map"
	| "json";

export function editorOf(field: SettingField): EditorKind {
	switch (field.type) {
		case "string":
			return field.options || field.dynamicOptions ? "choice" : "text";
		case "textarea":
			return "lines";
		case "number":
			return "number";
		case "boolean":
			return "boolean";
		case "select":
		case "llm-ref":
			return "choice";
		case "multiselect":
			return "choices";
		case "list":
			return field.options || field.dynamicOptions ? "choices" : "list";
		case "map":
			return "map";
		default:
			return "json";
	}
}

/** Whether a change of the field is written at once, because it is one gesture. */
export const isGesture = (field: SettingField): boolean =>
	["boolean", "choice"].includes(editorOf(field));

/** A sentence about a value. */
export interface Problem {
	readonly key: MessageKey;
	readonly params?: Params;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value);

/** A list being edited; a blank entry at its end is none yet. */
export type ListDraft = readonly string[];
export type MapDraft = readonly (readonly [name: string, value: string])[];

/** What stands in the field when nobody has typed. */
export function draftOf(field: SettingField, value: unknown): unknown {
	switch (editorOf(field)) {
		case "text":
		case "lines":
			return value === undefined ? "" : asText(value);
		case "number":
			return value === undefined ? "" : asText(value);
		case "choices":
			return Array.isArray(value) ? value : [];
		case "list":
			return Array.isArray(value) ? value.map(asText) : [];
		case "map":
			return isRecord(value)
				? Object.entries(value).map(([name, part]) => [name, asText(part)] as const)
				: [];
		case "json":
			return value === undefined ? "" : JSON.stringify(value, undefined, 2);
		default:
			return value;
	}
}

const asText = (value: unknown): string =>
	typeof value === "string" ? value : (JSON.stringify(value) ?? "");

export type Parsed = { readonly value: unknown } | { readonly problem: Problem };

/** The value that a draft stands for, or what is missing from one. */
export function parseDraft(field: SettingField, draft: unknown): Parsed {
	switch (editorOf(field)) {
		case "number": {
			const text = String(draft).trim();
			const value = Number(text);
			if (text === "" || !Number.isFinite(value))
				return { problem: { key: "settings.want.number" } };
			return checked(field, value);
		}
		case "list":
			return checked(
				field,
				(draft as ListDraft).filter((entry) => entry.trim() !== ""),
			);
		case "map":
			return parseMap(field, draft as MapDraft);
		case "json":
			try {
				return checked(field, JSON.parse(String(draft)));
			} catch {
				return { problem: { key: "settings.want.json" } };
			}
		default:
			return checked(field, draft);
	}
}

function parseMap(field: SettingField, draft: MapDraft): Parsed {
	const value = new Map<string, string>();
	for (const [given, part] of draft) {
		const name = given.trim();
		if (name === "" && part.trim() === "") continue;
		if (name === "") return { problem: { key: "settings.want.name" } };
		if (value.has(name)) return { problem: { key: "settings.want.once", params: { name } } };
		value.set(name, part);
	}
	return checked(field, Object.fromEntries(value));
}

function checked(field: SettingField, value: unknown): Parsed {
	const problem = problemOf(field, value);
	return problem ? { problem } : { value };
}

/**
 * What a field's declaration has against a value. A hint for the person who types; the server decides,
 * and options are suggestions.
 */
export function problemOf(field: SettingField, value: unknown): Problem | undefined {
	switch (field.type) {
		case "string":
		case "textarea":
			return textProblem(field, value);
		case "number":
			return numberProblem(field, value);
		case "boolean":
			return typeof value === "boolean" ? undefined : { key: "settings.want.boolean" };
		case "select":
			return scalarProblem(field, value);
		case "llm-ref":
			return entryId(value) === undefined ? { key: "settings.want.model" } : undefined;
		case "multiselect":
			return listProblem(field, value, (entry) => scalarProblem(field, entry));
		case "list":
			return listProblem(field, value, (entry) => textProblem(field, entry));
		case "map":
			return mapProblem(field, value);
		default:
			return undefined;
	}
}

function textProblem(field: SettingField, value: unknown): Problem | undefined {
	if (typeof value !== "string") return { key: "settings.want.text" };
	if (field.required && value.trim() === "") return { key: "settings.want.something" };
	return fits(field.pattern, value)
		? undefined
		: { key: "settings.want.form", params: { form: field.pattern ?? "" } };
}

// A pattern that this engine cannot read forbids nothing here.
function fits(pattern: string | undefined, value: string): boolean {
	if (pattern === undefined) return true;
	try {
		return new RegExp(pattern, "u").test(value);
	} catch {
		return true;
	}
}

function numberProblem({ min, max, integer }: SettingField, value: unknown): Problem | undefined {
	if (typeof value !== "number") return { key: "settings.want.number" };
	if (integer && !Number.isInteger(value)) return { key: "settings.want.integer" };
	if (min !== undefined && value < min) return { key: "settings.want.least", params: { min } };
	if (max !== undefined && value > max) return { key: "settings.want.most", params: { max } };
	return undefined;
}

function scalarProblem(field: SettingField, value: unknown): Problem | undefined {
	if (typeof value === "string") return textProblem(field, value);
	if (typeof value === "number") return numberProblem(field, value);
	return typeof value === "boolean" ? undefined : { key: "settings.want.choice" };
}

function listProblem(
	field: SettingField,
	value: unknown,
	each: (entry: unknown) => Problem | undefined,
): Problem | undefined {
	if (!Array.isArray(value)) return { key: "settings.want.list" };
	if (field.required && value.length === 0) return { key: "settings.want.something" };
	for (const entry of value) {
		const problem = each(entry);
		if (problem) return problem;
	}
	return undefined;
}

function mapProblem(field: SettingField, value: unknown): Problem | undefined {
	if (!isRecord(value)) return { key: "settings.want.map" };
	const entries = Object.values(value);
	if (field.required && entries.length === 0) return { key: "settings.want.something" };
	for (const entry of entries) {
		const problem = textProblem({ ...field, required: false }, entry);
		if (problem) return problem;
	}
	return undefined;
}

// ---- models ------------------------------------------------------------------------------------

/** A model as `<provider instance id>/<model id>`, whichever way the value names it (SP-CONF-36). */
export function entryId(value: unknown): string | undefined {
	if (typeof value === "string") return /^[^/]+\/./.test(value) ? value : undefined;
	if (!isRecord(value)) return undefined;
	const { provider, model } = value;
	return typeof provider === "string" && typeof model === "string" && provider && model
		? `${provider}/${model}`
		: undefined;
}

// Servers write a model as its entry id or as an object of two; what a row shows tells which.
export function modelValue({ field, value, effective, actual }: SettingRow, id: string): unknown {
	const known = [value, effective, field.default, actual?.value].find((each) => each !== undefined);
	if (!isRecord(known)) return id;
	const at = id.indexOf("/");
	return { provider: id.slice(0, at), model: id.slice(at + 1) };
}

// ---- options -----------------------------------------------------------------------------------

/** Where a row's options come from, and what they depend on. */
export interface OptionsQuery {
	readonly service: string;
	readonly dependency?: string;
}

/** The service that lists models by entry id. */
const MODELS = "llm";

export function optionsQuery(
	row: SettingRow,
	rows: readonly SettingRow[],
): OptionsQuery | undefined {
	const { field } = row;
	const service = field.dynamicOptions ?? (field.type === "llm-ref" ? MODELS : undefined);
	if (service === undefined) return undefined;
	const dependency = dependencyOf(row, rows);
	return { service, ...(dependency === undefined ? {} : { dependency }) };
}

/** The value of the row that this one depends on, its actual one when unset (SP-CONF-36). */
function dependencyOf(row: SettingRow, rows: readonly SettingRow[]): string | undefined {
	const on = dependedOn(row, rows);
	if (!on) return undefined;
	const value = on.effective ?? on.field.default ?? on.actual?.value;
	if (value === undefined || value === null) return undefined;
	return on.field.type === "llm-ref" ? entryId(value) : asText(value);
}

/** `dependsOn` is a key of the same plugin, or `plugin/key` of another's. */
function dependedOn(row: SettingRow, rows: readonly SettingRow[]): SettingRow | undefined {
	const name = row.field.session.dependsOn;
	if (name === undefined) return undefined;
	return (
		rows.find((other) => other.plugin === row.plugin && other.key === name) ??
		rows.find((other) => `${other.plugin}/${other.key}` === name)
	);
}

/** One thing to choose. */
export interface Choice {
	readonly key: string;
	readonly value: unknown;
	readonly label: string;
	readonly hint?: string;
	/** Choices of one provider stand together. */
	readonly group?: string;
}

const choiceKey = (value: unknown): string => JSON.stringify(value) ?? "";

/** What a row offers to choose from; what is in use stands among it even when nobody offers it. */
export function choicesOf(
	row: SettingRow,
	offered: readonly OfferedOption[],
	t: Translate,
): Choice[] {
	const { field } = row;
	const fixed = (field.options ?? []).map(({ label, value }) => ({
		key: choiceKey(value),
		value,
		label,
	}));
	const choices: Choice[] = [
		...fixed,
		...offered.flatMap((option) => offeredChoice(row, option) ?? []),
	];
	const unique = [...new Map(choices.map((choice) => [choice.key, choice])).values()];
	const chosen = Array.isArray(row.effective) ? row.effective : [row.effective];
	const missing = chosen.filter(
		(value) => value !== undefined && !unique.some((choice) => same(choice.value, value)),
	);
	return [
		...unique,
		...missing.map((value) => ({
			key: choiceKey(value),
			value,
			label: shownValue(field, value, t),
			hint: t("settings.choice.missing"),
		})),
	];
}

/** The declaration itself has words for the value. */
export const isFixed = (field: SettingField, value: unknown): boolean =>
	field.options?.some((option) => same(option.value, value)) ?? false;

function offeredChoice(row: SettingRow, option: OfferedOption): Choice | undefined {
	const { value, label, description } = option;
	const hint = description === undefined ? {} : { hint: description };
	if (row.field.type !== "llm-ref") return { key: choiceKey(value), value, label, ...hint };
	if (entryId(value) === undefined) return undefined;
	const model = modelValue(row, value);
	const group = value.slice(0, value.indexOf("/"));
	const name = label === value ? value.slice(group.length + 1) : label;
	// What heads the group need not be said again.
	const rest = description === group ? {} : hint;
	return { key: choiceKey(model), value: model, label: name, group, ...rest };
}

// ---- words -------------------------------------------------------------------------------------

/** A value as a person reads it; values are raw, so nothing of it is translated but the words around. */
export function shownValue(field: SettingField, value: unknown, t: Translate): string {
	if (typeof value === "boolean") return t(value ? "settings.on" : "settings.off");
	const option = field.options?.find((each) => same(each.value, value));
	if (option) return option.label;
	if (field.type === "llm-ref") return entryId(value) ?? asText(value);
	if (Array.isArray(value)) {
		if (value.length === 0) return t("settings.none");
		return value.map((entry) => shownValue(field, entry, t)).join(", ");
	}
	if (isRecord(value)) {
		const entries = Object.entries(value).map(([name, part]) => `${name}: ${asText(part)}`);
		return entries.length === 0 ? t("settings.none") : entries.join(", ");
	}
	return value === "" ? t("settings.blank") : asText(value);
}

/** The next number up or down, kept inside the bounds; nonsense starts from the lower one. */
export function stepDraft({ min, max, step = 1 }: SettingField, draft: string, by: 1 | -1): string {
	const now = Number(draft);
	const start = draft.trim() === "" || Number.isNaN(now) ? undefined : now;
	const next = start === undefined ? (min ?? 0) : start + by * step;
	const digits = Math.max(decimals(step), decimals(start ?? 0));
	return String(Number(Math.min(max ?? next, Math.max(min ?? next, next)).toFixed(digits)));
}

const decimals = (value: number): number => Math.min(12, String(value).split(".")[1]?.length ?? 0);
