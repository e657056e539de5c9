import { createStore } from "zustand/vanilla";

/** What the server takes with one message (decisions I1). */
export const MOST_FILES = 20;
export const LARGEST_FILE = 20 * 2 ** 20;
export const LARGEST_MESSAGE = 50 * 2 ** 20;

/** A file that is going to be sent, or on its way. It lives as long as the page does. */
export interface DraftFile {
	readonly id: number;
	readonly file: File;
}

/** Why a file was not taken up. */
export interface NotTaken {
	readonly why: "many" | "empty" | "large" | "together";
	readonly name: string;
	/** Bytes. */
	readonly size: number;
}

/** A file that is not here yet. */
export interface OfferedFile {
	readonly name: string;
	/** Bytes. */
	readonly size: number;
	read(): Promise<File>;
}

/** Takes up what the server would take; what it would not is told before anything is sent. */
export function takeUp(
	list: readonly DraftFile[],
	incoming: readonly DraftFile[],
): { list: readonly DraftFile[]; refused: readonly NotTaken[] } {
	const taken = [...list];
	const refused: NotTaken[] = [];
	let total = taken.reduce((sum, { file }) => sum + file.size, 0);
	for (const draft of incoming) {
		const { name, size } = draft.file;
		const why = whyNot(size, taken.length, total);
		if (why) refused.push({ why, name, size });
		else {
			taken.push(draft);
			total += size;
		}
	}
	return { list: taken, refused };
}

function whyNot(size: number, count: number, total: number): NotTaken["why"] | undefined {
	if (size === 0) return "empty";
	if (size > LARGEST_FILE) return "large";
	if (count >= MOST_FILES) return "many";
	return total + size > LARGEST_MESSAGE ? "together" : undefined;
}

export interface DraftFilesState {
	readonly files: readonly DraftFile[];
	readonly refused: readonly NotTaken[];
}

const none: DraftFilesState = { files: [], refused: [] };

/** The files of unsent messages, by the place of their box: a session's id, or `new`. */
export class DraftFiles {
	readonly store = createStore<ReadonlyMap<string, DraftFilesState>>(() => new Map());
	private next = 1;

	at(place: string): DraftFilesState {
		return this.store.getState().get(place) ?? none;
	}

	add(place: string, files: readonly File[], before: readonly NotTaken[] = []): void {
		const incoming = files.map((file) => ({ id: this.next++, file }));
		const { list, refused } = takeUp(this.at(place).files, incoming);
		this.set(place, { files: list, refused: [...before, ...refused] });
	}

	/** Takes up files that have to be fetched first; what is too large is not fetched. */
	async fetch(place: string, offers: readonly OfferedFile[]): Promise<void> {
		const refused: NotTaken[] = [];
		const wanted: OfferedFile[] = [];
		for (const offer of offers) {
			const { name, size } = offer;
			const why = whyNot(size, wanted.length, 0);
			if (why) refused.push({ why, name, size });
			else wanted.push(offer);
		}
		this.add(place, await Promise.all(wanted.map((offer) => offer.read())), refused);
	}

	remove(place: string, id: number): void {
		this.set(place, {
			files: this.at(place).files.filter((draft) => draft.id !== id),
			refused: [],
		});
	}

	/** Hands the files over; they are the caller's from then on. */
	take(place: string): readonly File[] {
		const { files } = this.at(place);
		this.set(place, none);
		return files.map(({ file }) => file);
	}

	private set(place: string, state: DraftFilesState): void {
		const next = new Map(this.store.getState());
		if (state.files.length === 0 && state.refused.length === 0) next.delete(place);
		else next.set(place, state);
		this.store.setState(next, true);
	}
}

/** A file that could not be read any more when it was to be sent. */
export class UnreadableFile extends Error {
	constructor(readonly fileName: string) {
		super(`${fileName} cannot be read`);
	}
}

/** A file as the protocol carries it (SP-TURN-05, SP-TURN-06). */
export async function encodeFile(file: File): Promise<{ data: string; name: string }> {
	const data = await new Promise<string>((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => resolve(String(reader.result));
		reader.onerror = () => reject(new UnreadableFile(file.name));
		// Without a type the address begins with `data:;base64,` or names a default; the server looks at
		// the bytes either way.
		reader.readAsDataURL(file);
	});
	return { data, name: file.name };
}
