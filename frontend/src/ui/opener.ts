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

interface DesktopRuntime {
	BrowserOpenURL?(url: string): void;
}

/** Opens an address outside. False when it is none of the allowed kinds. */
export function openOutside(href: string): boolean {
	const url = outward(href);
	if (url === undefined) return false;
	const runtime = (window as { runtime?: DesktopRuntime }).runtime;
	if (runtime?.BrowserOpenURL) runtime.BrowserOpenURL(url);
	else window.open(url, "_blank", "noopener,noreferrer");
	return true;
}
