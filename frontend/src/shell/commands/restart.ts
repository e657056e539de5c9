import type { Command } from "./command";

/** Starts the newer version of the program that has been installed. */
export const restart: Command = {
	id: "restart",
	title: "command.restart",
	available: ({ desktop }) =>
		desktop?.state.update !== undefined && desktop.actions.offers("Restart"),
	run: ({ desktop }) => void desktop?.actions.restart(),
};
