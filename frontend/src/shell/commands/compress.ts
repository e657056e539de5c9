import type { Command } from "./command";

/** Shortens what she reads of the session in front; what a person sees stays (SP-FEAT-10). */
export const compress: Command = {
	id: "compress",
	title: "command.compress",
	available: ({ app, session, online }) =>
		online && session !== undefined && app.host.getState().features.compress,
	run: ({ app, session }) => {
		if (session) void app.compress(session.id);
	},
};
