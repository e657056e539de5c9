import { storage } from "@/state/storage";

const key = (place: string) => `draft.${place}`;

/** What was being written at a place, kept over restarts. */
export const readDraft = (place: string): string => storage.get(key(place)) ?? "";
export const writeDraft = (place: string, text: string): void =>
	storage.set(key(place), text === "" ? undefined : text);
