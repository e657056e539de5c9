import type { Command } from "./command";

export const quit: Command = {
	id: "quit",
	title: "command.quit",
	shortcut: "Mod+Q",
	available: ({ desktop }) => desktop?.actions.offers("Quit") === true,
	run: ({ desktop }) => void desktop?.actions.quit(),
};
