import type { Command } from "./command";

export const settings: Command = {
	id: "settings",
	title: "command.settings",
	shortcut: "Mod+,",
	available: ({ settings }) => settings,
	run: ({ window }) => window.openSettings({ layer: { scope: "global" } }),
};

export const sessionSettings: Command = {
	id: "session-settings",
	title: "command.sessionSettings",
	available: ({ settings, session }) => settings && session !== undefined,
	run: ({ window, session }) => {
		if (session) window.openSettings({ session: session.id });
	},
};
