/** Shortcuts are written `Mod+Shift+O`, the key + as `Plus`; Mod is ⌘ on Apple machines and Ctrl elsewhere. */
export const isApple = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);

interface Press {
	key: string;
	code: string;
	ctrlKey: boolean;
	metaKey: boolean;
	shiftKey: boolean;
	altKey: boolean;
}

export function matches(shortcut: string, press: Press, apple = isApple()): boolean {
	const parts = shortcut.split("+");
	const last = parts.at(-1) ?? "";
	const key = last === "Plus" ? "+" : last;
	const has = (name: string) => parts.includes(name);
	const mod = apple ? press.metaKey : press.ctrlKey;
	const other = apple ? press.ctrlKey : press.metaKey;
	if (
		mod !== has("Mod") ||
		other ||
		press.shiftKey !== has("Shift") ||
		press.altKey !== has("Alt")
	) {
		return false;
	}
	// Alt changes what a key types; its place on the board does not change.
	return press.key.toLowerCase() === key.toLowerCase() || press.code === `Key${key.toUpperCase()}`;
}

const apple: Record<string, string> = {
	Mod: "⌘",
	Shift: "⇧",
	Alt: "⌥",
	ArrowUp: "↑",
	ArrowDown: "↓",
	Plus: "+",
};
const others: Record<string, string> = { Mod: "Ctrl", ArrowUp: "↑", ArrowDown: "↓", Plus: "+" };

/** The shortcut as a person reads it. */
export function shown(shortcut: string | undefined, onApple = isApple()): string | undefined {
	if (shortcut === undefined) return undefined;
	const names = onApple ? apple : others;
	return shortcut
		.split("+")
		.map((part) => names[part] ?? part)
		.join(onApple ? "" : "+");
}
