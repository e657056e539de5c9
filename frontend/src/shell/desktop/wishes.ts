import { type ReactNode, useEffect, useMemo } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { useT } from "@/i18n/i18n";
import { useApp, useDesktop } from "@/state/context";
import type { Desktop } from "@/state/desktop";
import { initialDesktop } from "@/state/desktop-reducer";
import { storage } from "@/state/storage";
import { commands } from "../commands";
import type { CommandContext } from "../commands/command";
import { newSession } from "../commands/new-session";

/** The window as commands see it. */
export function useCommandDesktop(): CommandContext["desktop"] {
	const desktop = useDesktop();
	const state = useStore(desktop?.store ?? none);
	return useMemo(() => desktop && { actions: desktop, state }, [desktop, state]);
}

const none = createStore(() => initialDesktop);

/** Does what the window wishes: goes where it was sent, runs what was chosen in its menu. */
export function Wishes({
	desktop,
	context,
}: {
	desktop: Desktop;
	context: CommandContext;
}): ReactNode {
	useSafeRendererNews(desktop);
	const destination = useStore(desktop.store, (state) => state.destination);
	const command = useStore(desktop.store, (state) => state.command);
	useEffect(() => {
		if (!destination) return;
		desktop.do({ type: "went" });
		context.window.closeDialogs();
		if (destination.session === undefined) {
			newSession.run(context);
			return;
		}
		if (destination.item !== undefined)
			context.app.look(destination.session).seek(destination.item);
		context.window.go(`/s/${encodeURIComponent(destination.session)}`);
	}, [desktop, destination, context]);
	useEffect(() => {
		if (command === undefined) return;
		desktop.do({ type: "ran" });
		const found = commands.find(({ id }) => id === command);
		if (found && (found.available?.(context) ?? true)) found.run(context);
	}, [desktop, command, context]);
	return null;
}

const TOLD = "safe-renderer.told";

/** Tells once that the window draws more slowly than it could, and why. */
function useSafeRendererNews(desktop: Desktop): void {
	const t = useT();
	const app = useApp();
	const safe = useStore(desktop.store, (state) => state.safe);
	useEffect(() => {
		if (!safe || storage.get(TOLD)) return;
		storage.set(TOLD, "yes");
		app.toast(t("window.safe"));
	}, [safe, app, t]);
}
