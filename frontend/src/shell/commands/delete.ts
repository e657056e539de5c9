import type { Command } from "./command";

export const remove: Command = {
	id: "delete",
	title: "command.delete",
	available: ({ session, online }) => online && session?.summary !== undefined,
	run: ({ window, session }) => {
		if (session?.summary) window.confirmDelete(session.summary);
	},
};
