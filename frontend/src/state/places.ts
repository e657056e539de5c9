import { createStore } from "zustand/vanilla";
import type { PlaceInfo } from "@/contract/session.gen";
import type { Port } from "./port";
import { storage } from "./storage";

export interface PlacesState {
	/** The folders, the default workspace first; absent where the server has none to offer. */
	readonly places: readonly PlaceInfo[] | undefined;
	/** The key of the folder that was used last in this browser. */
	readonly last: string | undefined;
}

const KEY = "place";

/** The folders a conversation can begin in. */
export class Places {
	readonly store = createStore<PlacesState>(() => ({
		places: undefined,
		last: storage.get(KEY),
	}));

	constructor(
		private readonly port: Port,
		private readonly isAway: (error: unknown) => boolean,
	) {}

	opened(): void {
		void this.read();
	}

	/** Where the server has no folders nothing is offered; without a connection what was known stays. */
	async read(): Promise<void> {
		try {
			const { places } = await this.port.call("ext/places/list", {});
			this.store.setState({ places });
		} catch (error) {
			if (!this.isAway(error)) this.store.setState({ places: undefined });
		}
	}

	choose(key: string): void {
		storage.set(KEY, key);
		this.store.setState({ last: key });
	}

	/** Adds a folder by its absolute path and chooses it. */
	async add(path: string): Promise<void> {
		const { place } = await this.port.call("ext/places/add", { path });
		this.choose(place.key);
		await this.read();
	}

	/** Forgets a folder; nothing in it is touched. */
	async remove(key: string): Promise<void> {
		await this.port.call("ext/places/remove", { key });
		await this.read();
	}
}

/** What there is to choose from: nothing while there is only the default. */
export const choosable = ({ places }: PlacesState): readonly PlaceInfo[] =>
	places && places.length > 1 ? places : NONE;

const NONE: readonly PlaceInfo[] = [];

/** Where a new conversation begins: where the last one did, as long as that folder is there. */
export function chosenPlace(state: PlacesState): PlaceInfo | undefined {
	const places = choosable(state);
	const last = places.find(({ key }) => key === state.last);
	return last && !last.missing ? last : places[0];
}

/** What is said of it when it is created; the default needs no word. */
export function placeToSay(state: PlacesState): string | undefined {
	const chosen = chosenPlace(state);
	return chosen && chosen !== state.places?.[0] ? chosen.key : undefined;
}

const DEFAULT = "workspace:default";

/** Whether a session's place is one that has to be told: a folder other than the default. */
export const isOther = (place: { key: string; kind: string } | undefined): boolean =>
	place?.kind === "workspace" && place.key !== DEFAULT;
