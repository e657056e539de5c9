import type { SettingLayer, SettingRow } from "@/contract/session.gen";
import type { Port } from "./port";

/** The setting with what may run without asking; lists of all layers count together. */
const PLUGIN = "aalis";
const ALLOW = "allow";

export type RuleKind = "exact" | "prefix";

/** Where a rule counts: in one conversation, or everywhere. */
export type RuleScope = "session" | "global";

/** A rule as it is written and stored, character by character. */
export const ruleOf = (kind: RuleKind, words: string): string =>
	kind === "exact" ? `exact: ${words}` : `prefix: ${words.trim().split(/\s+/).join(" ")}`;

const PLAIN = /^[A-Za-z0-9 _./:+@=,-]+$/;

/**
 * The prefix to offer for a command: its program and one word more, if it is nothing but plain words.
 * The server decides what may be stored.
 */
export function prefixOf(command: string): string | undefined {
	if (!PLAIN.test(command)) return undefined;
	const words = command.trim().split(/ +/).slice(0, 2);
	return words.filter((word, at) => at === 0 || !word.startsWith("-")).join(" ") || undefined;
}

const allowed = (rows: readonly SettingRow[]): unknown[] => {
	const value = rows.find(({ plugin, key }) => plugin === PLUGIN && key === ALLOW)?.value;
	return Array.isArray(value) ? value : [];
};

/**
 * Adds a rule to those of a layer; one that stands there already changes nothing. Gives why it counts
 * but could not be saved, if so.
 */
export async function remember(
	port: Pick<Port, "call">,
	sessionId: string,
	rule: string,
	scope: RuleScope,
): Promise<string | undefined> {
	const setting = { plugin: PLUGIN, key: ALLOW };
	if (scope === "session") {
		const rules = allowed((await port.call("session/config/get", { sessionId })).items);
		if (rules.includes(rule)) return undefined;
		const value = [...rules, rule];
		return (await port.call("session/config/update", { sessionId, ...setting, value })).unsaved;
	}
	const layer: SettingLayer = { scope: "global" };
	const rules = allowed((await port.call("session/config/layer/get", { layer })).items);
	if (rules.includes(rule)) return undefined;
	const value = [...rules, rule];
	return (await port.call("session/config/layer/update", { layer, ...setting, value })).unsaved;
}
