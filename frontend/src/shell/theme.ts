import { createStore } from "zustand/vanilla";
import { storage } from "@/state/storage";

export type ThemeChoice = "light" | "dark" | "system";

const read = (): ThemeChoice => {
	const stored = storage.get("theme");
	return stored === "light" || stored === "dark" ? stored : "system";
};

export const themeStore = createStore<{ choice: ThemeChoice }>(() => ({ choice: read() }));

export function chooseTheme(choice: ThemeChoice): void {
	storage.set("theme", choice === "system" ? undefined : choice);
	themeStore.setState({ choice });
}

/** Keeps the page in the chosen theme; `system` follows the system as it changes. */
export function followTheme(page: Document): () => void {
	const dark = window.matchMedia("(prefers-color-scheme: dark)");
	const apply = () => {
		const { choice } = themeStore.getState();
		page.documentElement.dataset.theme =
			choice === "system" ? (dark.matches ? "dark" : "light") : choice;
	};
	apply();
	dark.addEventListener("change", apply);
	const off = themeStore.subscribe(apply);
	return () => {
		dark.removeEventListener("change", apply);
		off();
	};
}
