import type { Command } from "./command";

export const stop: Command = {
	id: "stop",
	title: "command.stop",
	shortcut: "Mod+.",
	available: ({ session, online }) => online && session?.running === true,
	run: ({ app, session }) => {
		if (session) void app.stop(session.id, session.turnId);
	},
};
