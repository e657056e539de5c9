/** The one way out of the program: web pages and mail, nothing else (SEC-12). */
const ALLOWED = new Set(["http:", "https:", "mailto:"]);

/** The address if it may be opened, else undefined. Relative addresses lead nowhere we know. */
export function outward(href: string | undefined): string | undefined {
	if (!href) return undefined;
	try {
		const url = new URL(href);
		return ALLOWED.has(url.protocol) ? url.href : undefined;
	} catch {
		return undefined;
	}
}

interface DesktopBridge {
	OpenLink?(url: string): Promise<void>;
}

/**
 * Opens an address outside. Does nothing where it is none of the allowed kinds; rejects with a sentence
 * where the system could not open it.
 */
export async function openOutside(href: string): Promise<void> {
	const url = outward(href);
	if (url === undefined) return;
	const { go } = window as { go?: { app?: { Bridge?: DesktopBridge } } };
	const bridge = go?.app?.Bridge;
	if (bridge?.OpenLink) await bridge.OpenLink(url);
	else window.open(url, "_blank", "noopener,noreferrer");
}
