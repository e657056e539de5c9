import { Settings2 } from "lucide-react";
import { useStore } from "zustand";
import { languageStore, useT } from "@/i18n/i18n";
import { IconButton } from "@/ui/button";
import { Menu, type MenuEntry } from "@/ui/menu";
import type { Command, CommandContext } from "./commands/command";
import { languageEn, languageHost, languageZh } from "./commands/language";
import { places } from "./commands/places";
import { settings } from "./commands/settings";
import { themeDark, themeLight, themeSystem } from "./commands/theme";
import { shown } from "./shortcuts";
import { themeStore } from "./theme";

/** Appearance and language; the same commands the palette has. */
export function PreferencesMenu({ context }: { context: CommandContext }) {
	const t = useT();
	const { choice: theme } = useStore(themeStore);
	const { choice: language } = useStore(languageStore);
	const entry = (command: Command, checked: boolean, apart = false): MenuEntry => ({
		key: command.id,
		label: t(command.title),
		checked,
		apart,
		run: () => command.run(context),
	});
	return (
		<Menu
			align="start"
			trigger={
				<IconButton label={t("sidebar.preferences")} data-testid="preferences">
					<Settings2 size={17} />
				</IconButton>
			}
			entries={[
				entry(themeSystem, theme === "system"),
				entry(themeLight, theme === "light"),
				entry(themeDark, theme === "dark"),
				entry(languageHost, language === "host", true),
				entry(languageEn, language === "en"),
				entry(languageZh, language === "zh-CN"),
				...(places.available?.(context)
					? [
							{
								key: places.id,
								label: t(places.title),
								apart: true,
								run: () => places.run(context),
							},
						]
					: []),
				...(settings.available?.(context)
					? [
							{
								key: settings.id,
								label: t("preferences.settings"),
								shortcut: shown(settings.shortcut),
								apart: true,
								run: () => settings.run(context),
							},
						]
					: []),
			]}
		/>
	);
}
