import type { Command } from "./command";

/** Opens the same interface, signed in, in the system's browser. */
export const openTab: Command = {
	id: "open-in-browser",
	title: "command.openTab",
	available: ({ desktop }) => desktop?.actions.offers("OpenTab") === true,
	run: ({ desktop }) => void desktop?.actions.openTab(),
};
