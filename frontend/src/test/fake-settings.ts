import type {
	ConfigOverridesResult,
	LayerLabel,
	OverrideTarget,
	SessionSummary,
	SettingField,
	SettingLayer,
	SettingLayerInfo,
	SettingRow,
	SettingSource,
} from "@/contract/session.gen";
import type { OfferedOption } from "@/state/settings";
import { FakeError, type FakeServer } from "./fake-server";

/** A field as its plugin declares it, functions included. */
export interface FakeField extends Omit<SettingField, "session"> {
	plugin: string;
	key: string;
	session?: SettingField["session"];
	/** What the plugin says is really in use. */
	actual?: () => SettingRow["actual"];
	/** Why a value is not taken. */
	refuse?: (value: unknown) => string | undefined;
}

type Where = SettingLayer | { scope: "session"; id: string };

const keyOf = (where: Where): string => {
	switch (where.scope) {
		case "global":
			return "global";
		case "platform":
			return `platform ${where.platform}`;
		case "platformType":
			return `type ${where.platform} ${where.type}`;
		case "place":
			return `place ${where.key}`;
		case "session":
			return `session ${where.id}`;
	}
};

/** The settings service of a fake server: layers, resolution, the rules of a write, what else is written. */
export class FakeSettings {
	fields: FakeField[] = [];
	order: LayerLabel[] = [
		{ name: "global", label: "Everywhere" },
		{ name: "platform", label: "Platform" },
		{ name: "platformType", label: "Kind of chat" },
		{ name: "place", label: "Place" },
		{ name: "session", label: "This conversation" },
	];
	layers: SettingLayerInfo[] = [{ layer: { scope: "global" } }];
	/** The platform of connections. */
	platform = "webui";
	/** Why writes to the host document are not saved; undefined: they are. */
	unsaved: string | undefined;
	/** Options by source; a function is asked with the dependency. */
	readonly sources = new Map<
		string,
		(dependency: string | undefined) => readonly OfferedOption[]
	>();
	/** Why sources may not offer all there is. */
	problems: readonly string[] = [];
	private readonly written = new Map<string, Map<string, unknown>>();

	constructor(private readonly server: FakeServer) {}

	/** Writes without any rule, as a hand in the document would. */
	set(where: Where, plugin: string, key: string, value: unknown): void {
		const place = this.written.get(keyOf(where)) ?? new Map();
		if (value === null) place.delete(`${plugin}/${key}`);
		else place.set(`${plugin}/${key}`, value);
		this.written.set(keyOf(where), place);
	}

	get(where: Where, plugin: string, key: string): unknown {
		return this.written.get(keyOf(where))?.get(`${plugin}/${key}`);
	}

	/** Says that something changed (SP-CONF-68). */
	changed(): void {
		for (const connection of this.server.connections) connection.push("session/config/changed", {});
	}

	handle(method: string, params: Record<string, unknown>): object {
		if (!this.server.features.settings)
			throw new FakeError(-32000, "There are no session settings.", "unsupported");
		switch (method) {
			case "session/config/layers":
				return { layers: this.layers, order: this.order };
			case "session/config/get":
				return this.ofSession(String(params.sessionId));
			case "session/config/update":
				return this.update({ scope: "session", id: String(params.sessionId) }, params);
			case "session/config/layer/get":
				return { items: this.rows(params.layer as SettingLayer) };
			case "session/config/layer/update":
				return this.update(params.layer as SettingLayer, params);
			default:
				return this.overrides(String(params.plugin));
		}
	}

	private summary(id: string): SessionSummary | undefined {
		return this.server.sessions.get(id)?.summary;
	}

	private ofSession(id: string): object {
		const summary = this.summary(id);
		return {
			items: this.rows({ scope: "session", id }),
			platform: summary?.platform ?? this.platform,
		};
	}

	/** The layers a place resolves by, the weakest first. */
	private chain(where: Where): Where[] {
		switch (where.scope) {
			case "global":
				return [where];
			case "platform":
				return [{ scope: "global" }, where];
			case "platformType":
				return [{ scope: "global" }, { scope: "platform", platform: where.platform }, where];
			case "place": {
				const info = this.layers.find(({ layer }) => keyOf(layer) === keyOf(where));
				return [...this.outer(info?.platform, info?.type), where];
			}
			case "session": {
				const summary = this.summary(where.id);
				const platform = summary?.platform ?? this.platform;
				const place = summary?.place;
				return [
					...this.outer(platform, summary?.chat?.type),
					...(place ? [{ scope: "place" as const, key: place.key }] : []),
					where,
				];
			}
		}
	}

	private outer(platform: string | undefined, type: string | undefined): Where[] {
		return [
			{ scope: "global" },
			...(platform === undefined ? [] : [{ scope: "platform" as const, platform }]),
			...(platform === undefined || type === undefined
				? []
				: [{ scope: "platformType" as const, platform, type }]),
		];
	}

	private applies(field: FakeField, where: Where): boolean {
		const kinds = field.session?.appliesTo;
		switch (where.scope) {
			case "session": {
				const kind = this.summary(where.id)?.kind ?? "owner";
				return field.session?.narrowest !== "place" && (!kinds || kinds.includes(kind));
			}
			case "platformType":
				return !kinds || kinds.includes("room") || kinds.includes("task");
			case "place": {
				const window = where.key.startsWith("window");
				return !kinds || kinds.includes(window ? "room" : "owner");
			}
			default:
				return true;
		}
	}

	private rows(where: Where): SettingRow[] {
		const rank = { composer: 0, common: 1, advanced: 2 };
		const last = Number.MAX_VALUE;
		return this.fields
			.filter((field) => this.applies(field, where))
			.map((field) => this.row(field, where))
			.sort(
				(a, b) =>
					rank[a.prominence] - rank[b.prominence] ||
					(a.field.session.order ?? last) - (b.field.session.order ?? last),
			);
	}

	private row(declared: FakeField, where: Where): SettingRow {
		const { plugin, key, actual: _, refuse: __, session = {}, ...rest } = declared;
		const field = { ...rest, session } as SettingField;
		const resolved = this.resolve(declared, where);
		const value = this.get(where, plugin, key);
		const actual = resolved ? undefined : declared.actual?.();
		return {
			plugin,
			key,
			field,
			prominence: session.prominence ?? "advanced",
			...(value === undefined ? {} : { value }),
			...resolved,
			...(actual === undefined ? {} : { actual }),
		};
	}

	private resolve(
		field: FakeField,
		where: Where,
	): { effective: unknown; source: SettingSource } | undefined {
		for (const layer of this.chain(where).reverse()) {
			const value = this.get(layer, field.plugin, field.key);
			if (value !== undefined && field.refuse?.(value) === undefined)
				return { effective: value, source: layer.scope };
		}
		if (field.default === undefined) return undefined;
		return { effective: field.default, source: "default" };
	}

	private update(where: Where, params: Record<string, unknown>): object {
		const { plugin, key, value } = params;
		const field = this.fields.find((each) => each.plugin === plugin && each.key === key);
		if (!field) throw new FakeError(-32602, "There is no such setting.");
		if (value === undefined) throw new FakeError(-32602, "A value is missing.");
		if (where.scope === "place" && !this.layers.some(({ layer }) => keyOf(layer) === keyOf(where)))
			throw new FakeError(-32602, "There is no such place.");
		if (value !== null) {
			if (!this.applies(field, where))
				throw new FakeError(-32602, "This setting does not apply here.");
			const problem = field.refuse?.(value);
			if (problem !== undefined) throw new FakeError(-32602, problem);
		}
		this.set(where, field.plugin, field.key, value);
		setTimeout(() => this.changed(), 0);
		const document = where.scope !== "session" && where.scope !== "place";
		const page = where.scope === "session" ? this.ofSession(where.id) : { items: this.rows(where) };
		return document && this.unsaved !== undefined ? { ...page, unsaved: this.unsaved } : page;
	}

	private overrides(plugin: string): ConfigOverridesResult {
		const targets: [string, OverrideTarget][] = [
			...this.layers
				.filter(({ layer }) => layer.scope !== "global")
				.map(({ layer, label }): [string, OverrideTarget] => [
					keyOf(layer),
					{ layer, ...(label === undefined ? {} : { label }) },
				]),
			...[...this.server.sessions.values()].map(({ summary }): [string, OverrideTarget] => {
				const parent = summary.ancestors?.at(-1);
				const { id, title } = summary;
				return [
					keyOf({ scope: "session", id }),
					{ session: { id, title, ...(parent ? { parent } : {}) } },
				];
			}),
		];
		const items = this.fields
			.filter((field) => field.plugin === plugin)
			.map(({ key }) => ({
				key,
				entries: targets.flatMap(([where, target]) => {
					const value = this.written.get(where)?.get(`${plugin}/${key}`);
					return value === undefined ? [] : [{ target, value }];
				}),
			}))
			.filter(({ entries }) => entries.length > 0);
		return { items };
	}
}
