import { bearer } from "./auth";
import { inWindow } from "./bridge";
import { LinkError } from "./errors";

/** Where a file is fetched: its handle goes back as it came (SP-FILE-02). */
export const downloadAddress = (sessionId: string, handle: string): string =>
	`/api/session-file?${new URLSearchParams({ sessionId, handle })}`;

/** Where the n-th attachment of an item is shown from, if it is an image, audio or video. */
export const mediaAddress = (sessionId: string, itemId: string, n: number): string =>
	`/api/session-media?${new URLSearchParams({ sessionId, itemId, n: String(n) })}`;

/**
 * An element cannot show a bearer: with one, files are fetched first. In the window the system's players
 * do not know the page's own scheme, while pictures do.
 */
export const needsFetch = (plays = false): boolean => (inWindow() ? plays : bearer() !== undefined);

/** Gives the bytes behind one of the addresses. */
export async function fetchFile(address: string): Promise<Blob> {
	const token = bearer();
	const response = await fetch(address, {
		headers: token ? { Authorization: `Bearer ${token}` } : {},
	}).catch(() => {
		throw new LinkError("lost", "no answer about a file");
	});
	if (!response.ok) throw new LinkError("unreadable", `file: ${response.status}`);
	return response.blob();
}

/** True where a link alone cannot save a file: `saveFile` does. */
export const savesByItself = (): boolean => inWindow() || bearer() !== undefined;

/** Saves a file where links do not: the window asks where, a tab with a bearer fetches first. */
export async function saveFile(address: string, name: string): Promise<void> {
	const bridge = window.go?.app?.Bridge;
	if (inWindow()) {
		if (!bridge?.Save) throw new LinkError("unreadable", "this window saves no files");
		await bridge.Save(address, name);
		return;
	}
	const url = URL.createObjectURL(await fetchFile(address));
	const link = document.createElement("a");
	link.href = url;
	link.download = name;
	link.click();
	// The browser has begun to read it by then.
	setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
