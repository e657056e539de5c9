import type { Command } from "./command";

export const focusComposer: Command = {
	id: "focus-composer",
	title: "command.focusComposer",
	shortcut: "Mod+I",
	run: ({ window }) => window.focusComposer(),
};
