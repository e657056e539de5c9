import type {
	ConfigLayersResult,
	LayerLabel,
	OverrideTarget,
	SessionSummary,
	SettingLayer,
	SettingLayerInfo,
	SettingLayerName,
	SettingOverrides,
} from "@/contract/session.gen";
import { placeKey, type SettingsPlace } from "@/state/edits";

/** What a layer is called in the list: the server's label, and the platform of a window (SP-CONF-25). */
export function layerName(
	{ layer, label, platform }: SettingLayerInfo,
	order: readonly LayerLabel[],
): string {
	switch (layer.scope) {
		case "global":
			return label ?? orderLabel(order, "global");
		case "platform":
			return label ?? layer.platform;
		case "platformType":
			return `${layer.platform} · ${label ?? layer.type}`;
		case "place": {
			const name = label ?? layer.key;
			return platform === undefined ? name : `${platform} · ${name}`;
		}
	}
}

export const orderLabel = (order: readonly LayerLabel[], name: SettingLayerName): string =>
	order.find((each) => each.name === name)?.label ?? name;

/** The layers by weight, as one sentence would list them; later ones override earlier ones (SP-CONF-15). */
export const precedence = (order: readonly LayerLabel[]): string =>
	order.map(({ label }) => label).join(" → ");

export interface LayerLine {
	readonly key: string;
	readonly place: SettingsPlace;
	readonly name: string;
	/** The kind of layer, in the server's words. */
	readonly group: string;
}

/** The list of layers in the server's order, narrowed by words. */
export function layerLines({ layers, order }: ConfigLayersResult, query = ""): LayerLine[] {
	const words = query.trim().toLowerCase();
	return layers
		.map((info) => ({
			key: placeKey({ layer: info.layer }),
			place: { layer: info.layer },
			name: layerName(info, order),
			group: orderLabel(order, info.layer.scope),
		}))
		.filter(({ name }) => name.toLowerCase().includes(words));
}

/**
 * The layers a session's settings resolve by, for "change at": the consulted platform, the type of its
 * chat window, and its place only when it has one (SP-SUM-19, SP-SUM-20).
 */
export function layersOfSession(
	summary: SessionSummary | undefined,
	platform: string | undefined,
	layers: ConfigLayersResult,
): LayerLine[] {
	const type = summary?.chat?.type;
	const wanted: SettingLayer[] = [
		{ scope: "global" },
		...(platform === undefined ? [] : [{ scope: "platform" as const, platform }]),
		...(platform === undefined || type === undefined
			? []
			: [{ scope: "platformType" as const, platform, type }]),
		...(summary?.place ? [{ scope: "place" as const, key: summary.place.key }] : []),
	];
	const keys = new Set(wanted.map((layer) => placeKey({ layer })));
	return layerLines(layers).filter(({ key }) => keys.has(key));
}

/** One more place where a setting is written, and where to look at it. */
export interface Elsewhere {
	readonly key: string;
	readonly place: SettingsPlace;
	readonly name: string;
	readonly value: unknown;
}

/** The places where a setting is written, but for the one that is looked at (SP-CONF-67). */
export function elsewhere(
	overrides: readonly SettingOverrides[],
	key: string,
	here: SettingsPlace,
	layers: ConfigLayersResult,
	untitled: string,
): Elsewhere[] {
	const entries = overrides.find((each) => each.key === key)?.entries ?? [];
	return entries
		.map(({ target, value }) => ({ ...placeOf(target, layers, untitled), value }))
		.filter((entry) => entry.key !== placeKey(here));
}

function placeOf(
	target: OverrideTarget,
	{ layers, order }: ConfigLayersResult,
	untitled: string,
): Omit<Elsewhere, "value"> {
	if ("session" in target) {
		const { id, title, parent } = target.session as {
			id: string;
			title: string;
			parent?: { title: string };
		};
		const own = title || untitled;
		return {
			key: placeKey({ session: id }),
			place: { session: id },
			name: parent ? `${parent.title || untitled} › ${own}` : own,
		};
	}
	const { layer, label } = target as { layer: SettingLayer; label?: string };
	const key = placeKey({ layer });
	const known = layers.find((info) => placeKey({ layer: info.layer }) === key);
	const info = known ?? { layer, ...(label === undefined ? {} : { label }) };
	return { key, place: { layer }, name: layerName(info, order) };
}
