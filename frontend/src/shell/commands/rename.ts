import type { Command } from "./command";

export const rename: Command = {
	id: "rename",
	title: "command.rename",
	shortcut: "F2",
	available: ({ session, online }) => online && session?.summary !== undefined,
	run: ({ window }) => window.rename(),
};
