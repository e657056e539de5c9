/** Gives a row the focus, or the nearest there is. */
export function focusRow(root: Element | null, at: number): void {
	const links = root?.querySelectorAll<HTMLElement>("[data-row-link]");
	links?.[Math.max(0, Math.min(links.length - 1, at))]?.focus();
}
