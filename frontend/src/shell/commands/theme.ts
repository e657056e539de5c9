import { chooseTheme } from "../theme";
import type { Command } from "./command";

export const themeLight: Command = {
	id: "theme-light",
	title: "command.themeLight",
	run: () => chooseTheme("light"),
};

export const themeDark: Command = {
	id: "theme-dark",
	title: "command.themeDark",
	run: () => chooseTheme("dark"),
};

export const themeSystem: Command = {
	id: "theme-system",
	title: "command.themeSystem",
	run: () => chooseTheme("system"),
};
