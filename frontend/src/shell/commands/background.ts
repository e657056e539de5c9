import type { Command } from "./command";

export const background: Command = {
	id: "background",
	title: "command.background",
	available: ({ background }) => background,
	run: ({ app }) => app.background.show(),
};

/** Stops what runs below the session in front and its background tasks; its own turn goes on. */
export const stopAll: Command = {
	id: "stop-all",
	title: "command.stopAll",
	available: ({ session, online }) => online && (session?.summary?.background ?? 0) > 0,
	run: ({ app, session }) => {
		if (session) void app.stopAll(session.id);
	},
};
