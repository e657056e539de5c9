import type { Command } from "./command";

export const toggleSidebar: Command = {
	id: "toggle-sidebar",
	title: "command.toggleSidebar",
	shortcut: "Mod+B",
	run: ({ window }) => window.toggleSidebar(),
};
