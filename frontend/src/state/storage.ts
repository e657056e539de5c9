/** What the browser keeps for us: drafts, unsent messages, pane sizes, choices. Nothing else. */
export const storage = {
	get(key: string): string | undefined {
		try {
			return localStorage.getItem(`aalis.${key}`) ?? undefined;
		} catch {
			return undefined; // Storage is off or full of somebody else's; we do without.
		}
	},
	set(key: string, value: string | undefined): void {
		try {
			if (value === undefined) localStorage.removeItem(`aalis.${key}`);
			else localStorage.setItem(`aalis.${key}`, value);
		} catch {
			// As above.
		}
	},
};
