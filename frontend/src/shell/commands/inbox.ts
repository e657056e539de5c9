import type { Command } from "./command";

export const inbox: Command = {
	id: "inbox",
	title: "command.inbox",
	shortcut: "Mod+Shift+A",
	run: ({ window }) => window.openInbox(),
};
