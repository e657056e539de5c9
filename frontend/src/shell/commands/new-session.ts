import type { Command } from "./command";

/** Opens the empty message box; the session comes into being with its first message. */
export const newSession: Command = {
	id: "new-session",
	title: "command.newSession",
	shortcut: "Mod+Shift+O",
	run: ({ window }) => {
		window.go("/new");
		window.focusComposer();
	},
};
