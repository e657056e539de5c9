import { currentLocale } from "@/i18n/i18n";
import { nextZoom } from "@/state/desktop-reducer";
import { announce } from "@/ui/announce";
import type { Command, CommandContext } from "./command";

// A tab has its browser's zoom.
const available = ({ desktop }: CommandContext) => (desktop?.state.zoom ?? 0) > 0;

function zoom({ desktop }: CommandContext, factorOf: (now: number) => number): void {
	if (!desktop) return;
	const factor = factorOf(desktop.state.zoom);
	const { t, percent } = currentLocale();
	announce(t("zoom.now", { percent: percent(factor) }));
	void desktop.actions.zoom(factor);
}

export const zoomIn: Command = {
	id: "zoom-in",
	title: "command.zoomIn",
	shortcut: "Mod+Plus",
	// Where + is typed with Shift, without it, too.
	otherKeys: ["Mod+Shift+Plus", "Mod+="],
	available,
	run: (context) => zoom(context, (now) => nextZoom(now, 1)),
};

export const zoomOut: Command = {
	id: "zoom-out",
	title: "command.zoomOut",
	shortcut: "Mod+-",
	available,
	run: (context) => zoom(context, (now) => nextZoom(now, -1)),
};

export const zoomReset: Command = {
	id: "zoom-reset",
	title: "command.zoomReset",
	shortcut: "Mod+0",
	available,
	run: (context) => zoom(context, () => 1),
};
