import type { Command } from "./command";

export const search: Command = {
	id: "search",
	title: "command.search",
	shortcut: "Mod+Shift+F",
	run: ({ window }) => window.focusSearch(),
};
