import { createStore } from "zustand/vanilla";
import type { ConfigLayersResult, ConfigOverridesResult, SettingRow } from "@/contract/session.gen";
import {
	type EditAction,
	editKey,
	placeKey,
	reconcileEdits,
	reduceEdits,
	type SettingEdits,
	type SettingsPlace,
} from "./edits";
import type { Port } from "./port";
import { type ReadErrors, Reading } from "./reading";

/** The rows of one place; `platform` is the one whose layer was consulted for a session. */
export interface SettingsPage {
	readonly items: readonly SettingRow[];
	readonly platform?: string;
}

/** One choice that a source of options offers. */
export interface OfferedOption {
	readonly value: string;
	readonly label: string;
	readonly description?: string;
}

/** What a source offers, and why that may not be all of it. */
export interface Offered {
	readonly options: readonly OfferedOption[];
	readonly problems: readonly string[];
}

/** Fetches the options of a source; `dependency` is the value of the row it depends on (SP-CONF-34). */
export type OptionsPort = (service: string, dependency: string | undefined) => Promise<Offered>;

/** So many answers are kept that nobody looks at. */
const KEPT = 30;

/** The settings of sessions and layers: what was read of them, and what is being changed. */
export class SettingsStore {
	readonly layers: Reading<ConfigLayersResult>;
	readonly edits = createStore<SettingEdits>(() => new Map());
	/** Why a change is in effect but not on disk; stays until one is on disk or somebody puts it away. */
	readonly unsaved = createStore<{ readonly text?: string }>(() => ({}));
	private readonly pages = new Map<string, Reading<SettingsPage>>();
	private readonly plugins = new Map<string, Reading<ConfigOverridesResult>>();
	private readonly sources = new Map<string, Reading<Offered>>();
	private connected = false;
	private available = false;
	/** One write after another: the later one is what a person wanted last. */
	private tail: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly port: Port,
		private readonly errors: ReadErrors,
		private readonly options: OptionsPort,
	) {
		this.layers = this.reading(() => port.call("session/config/layers", {}));
	}

	// ---- reading ---------------------------------------------------------------------------------

	page(place: SettingsPlace): Reading<SettingsPage> {
		const key = placeKey(place);
		return keep(this.pages, key, () =>
			this.reading<SettingsPage>(
				() =>
					"session" in place
						? this.port.call("session/config/get", { sessionId: place.session })
						: this.port.call("session/config/layer/get", { layer: place.layer }),
				({ items }) => this.edits.setState(reconcileEdits(this.edits.getState(), key, items), true),
			),
		);
	}

	/** Everywhere outside global that a plugin instance's settings are written (SP-CONF-67). */
	overrides(plugin: string): Reading<ConfigOverridesResult> {
		return keep(this.plugins, plugin, () =>
			this.reading(() => this.port.call("session/config/overrides", { plugin })),
		);
	}

	offered(service: string, dependency: string | undefined): Reading<Offered> {
		return keep(this.sources, JSON.stringify([service, dependency]), () =>
			this.reading(() => this.options(service, dependency)),
		);
	}

	private reading<T>(fetch: () => Promise<T>, arrived?: (value: T) => void): Reading<T> {
		return new Reading(fetch, this.errors, () => this.connected && this.available, arrived);
	}

	/** After a handshake whatever is watched is read again. */
	opened(available: boolean): void {
		this.connected = true;
		this.available = available;
		this.changed();
	}

	closed(): void {
		this.connected = false;
	}

	/** The settings service came or went (SP-FEAT-10). */
	service(available: boolean): void {
		const came = available && !this.available;
		this.available = available;
		if (came) this.changed();
	}

	/** Reads again what somebody looks at (SP-CONF-69). Options may have changed along. */
	changed(): void {
		const all = [this.layers, ...this.pages.values(), ...this.plugins.values()];
		for (const reading of [...all, ...this.sources.values()]) {
			if (reading.watched) void reading.reload();
		}
	}

	// ---- changing --------------------------------------------------------------------------------

	private edit(place: SettingsPlace, row: SettingRow, action: EditAction): void {
		this.edits.setState(reduceEdits(this.edits.getState(), place, row, action), true);
	}

	type(place: SettingsPlace, row: SettingRow, draft: unknown): void {
		this.edit(place, row, { type: "draft", draft });
	}

	drop(place: SettingsPlace, row: SettingRow): void {
		this.edit(place, row, { type: "drop" });
	}

	/** Writes one value, null to reset; a refusal stays with the change, for the person to go on. */
	async save(place: SettingsPlace, row: SettingRow, value: unknown): Promise<boolean> {
		const draft = this.edits.getState().get(editKey(place, row))?.draft;
		this.edit(place, row, { type: "saving", sent: value });
		try {
			await this.write(place, row, value);
			this.edit(place, row, { type: "saved", draft });
			return true;
		} catch (error) {
			this.edit(place, row, { type: "refused", message: this.errors.message(error) });
			return false;
		}
	}

	/** Writes one value; rejects with why it was not taken. */
	write(place: SettingsPlace, { plugin, key }: SettingRow, value: unknown): Promise<void> {
		const run = async () => {
			const change = { plugin, key, value };
			const result =
				"session" in place
					? await this.port.call("session/config/update", { sessionId: place.session, ...change })
					: await this.port.call("session/config/layer/update", { layer: place.layer, ...change });
			const { unsaved, ...page } = result;
			this.page(place).put(page);
			// Only layers outside records are in the host document, which is saved as a whole (SP-CONF-60).
			const document = "layer" in place && place.layer.scope !== "place";
			if (unsaved !== undefined) this.unsaved.setState({ text: unsaved }, true);
			else if (document) this.unsaved.setState({}, true);
		};
		const done = this.tail.then(run);
		this.tail = done.catch(() => undefined);
		return done;
	}

	dismissUnsaved(): void {
		this.unsaved.setState({}, true);
	}
}

// The least recently made of those that nobody watches make room.
function keep<T>(map: Map<string, Reading<T>>, key: string, make: () => Reading<T>): Reading<T> {
	const known = map.get(key);
	if (known) return known;
	const made = make();
	map.set(key, made);
	for (const [other, reading] of map) {
		if (map.size <= KEPT) break;
		if (other !== key && !reading.watched) map.delete(other);
	}
	return made;
}
