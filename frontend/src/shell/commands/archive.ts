import type { Command } from "./command";

export const archive: Command = {
	id: "archive",
	title: "command.archive",
	available: ({ session, online }) => online && session?.summary?.archived === false,
	run: ({ app, session }) => {
		if (session) void app.archive(session.id);
	},
};

export const unarchive: Command = {
	id: "unarchive",
	title: "command.unarchive",
	available: ({ session, online }) => online && session?.summary?.archived === true,
	run: ({ app, session }) => {
		if (session) void app.unarchive(session.id);
	},
};
