import type { Command } from "./command";

export const palette: Command = {
	id: "palette",
	title: "command.palette",
	shortcut: "Mod+K",
	run: ({ window }) => window.openPalette(),
};
