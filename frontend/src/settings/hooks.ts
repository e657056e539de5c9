import { useEffect, useMemo } from "react";
import { useStore } from "zustand";
import { useLocale } from "@/i18n/i18n";
import { useApp } from "@/state/context";
import { placeKey, type SettingsPlace } from "@/state/edits";
import type { Read, Reading } from "@/state/reading";
import type { Offered, SettingsPage } from "@/state/settings";
import type { OptionsQuery } from "./fields";

const never = {
	subscribe: () => () => undefined,
	getState: () => undefined,
	getInitialState: () => undefined,
};

/** What a reading says, kept right while the component is there. */
export function useRead<T>(reading: Reading<T> | undefined): Read<T> | undefined {
	useEffect(() => reading?.watch(), [reading]);
	return useStore<typeof never | Reading<T>["store"]>(reading?.store ?? never) as
		| Read<T>
		| undefined;
}

export function usePage(place: SettingsPlace | undefined): {
	read: Read<SettingsPage> | undefined;
	retry(): void;
} {
	const { settings } = useApp();
	const key = place && placeKey(place);
	// biome-ignore lint/correctness/useExhaustiveDependencies: places of one key are the same.
	const reading = useMemo(() => (place ? settings.page(place) : undefined), [settings, key]);
	return { read: useRead(reading), retry: () => void reading?.reload() };
}

/** The options of a source, fetched anew when what they depend on changes (SP-CONF-36). */
export function useOffered(query: OptionsQuery | undefined): {
	read: Read<Offered> | undefined;
	retry(): void;
} {
	const { settings } = useApp();
	const { service, dependency } = query ?? {};
	const reading = useMemo(
		() => (service === undefined ? undefined : settings.offered(service, dependency)),
		[settings, service, dependency],
	);
	return { read: useRead(reading), retry: () => void reading?.reload() };
}

/** The words of a list to choose from. */
export function useChoiceTexts() {
	const { t } = useLocale();
	return useMemo(
		() => ({
			find: t("settings.choice.find"),
			none: t("settings.choice.none"),
			empty: t("settings.choice.empty"),
			more: (count: number) => t("settings.choice.more", { count }),
			custom: (text: string) => t("settings.choice.custom", { text }),
		}),
		[t],
	);
}
