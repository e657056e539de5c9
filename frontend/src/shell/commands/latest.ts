import type { Command } from "./command";

export const latest: Command = {
	id: "latest",
	title: "command.latest",
	shortcut: "Alt+End",
	available: ({ session }) => session !== undefined,
	run: ({ window }) => window.jumpToLatest(),
};
