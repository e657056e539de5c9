import type { Command } from "./command";

export const places: Command = {
	id: "places",
	title: "command.places",
	available: ({ places }) => places,
	run: ({ window }) => window.openPlaces(),
};
