import { chooseLanguage } from "@/i18n/i18n";
import type { Command } from "./command";

export const languageEn: Command = {
	id: "language-en",
	title: "command.languageEn",
	run: () => chooseLanguage("en"),
};

export const languageZh: Command = {
	id: "language-zh",
	title: "command.languageZh",
	run: () => chooseLanguage("zh-CN"),
};

export const languageHost: Command = {
	id: "language-host",
	title: "command.languageHost",
	run: () => chooseLanguage("host"),
};
