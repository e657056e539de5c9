/** Merges the detail of a part by plugin instance, the prefix of its keys (SP-USAGE-03). */
export function injectorsByPlugin(
	injectors: Record<string, number> | undefined,
): [plugin: string, tokens: number][] {
	const sums = new Map<string, number>();
	for (const [key, tokens] of Object.entries(injectors ?? {})) {
		const plugin = key.split("/", 1)[0] ?? key;
		sums.set(plugin, (sums.get(plugin) ?? 0) + tokens);
	}
	return [...sums].sort((a, b) => b[1] - a[1]);
}
