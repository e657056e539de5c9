import type { SessionSummary } from "@/contract/session.gen";
import type { MessageKey } from "@/i18n/i18n";
import type { App } from "@/state/app";
import type { Desktop } from "@/state/desktop";
import type { DesktopState } from "@/state/desktop-reducer";
import type { SettingsPlace } from "@/state/edits";

/** What a command can act on: the app, the session in front, and the parts of the window. */
export interface CommandContext {
	app: App;
	online: boolean;
	/** There are settings to change (features.settings). */
	settings: boolean;
	/** There are folders to choose from or to add to. */
	places: boolean;
	/** There is a registry of background tasks. */
	background: boolean;
	session?: {
		id: string;
		summary?: SessionSummary;
		running: boolean;
		turnId?: string;
	};
	/** The desktop window around the page, and what it is like now; absent in a tab. */
	desktop?: { actions: Desktop; state: DesktopState };
	/** The sidebar's order, for going to the neighbour. */
	neighbours(): string[];
	window: {
		go(path: string): void;
		focusComposer(): void;
		focusSearch(): void;
		toggleSidebar(): void;
		openPalette(): void;
		openInbox(): void;
		jumpToLatest(): void;
		rename(): void;
		confirmDelete(session: SessionSummary): void;
		openSettings(place: SettingsPlace): void;
		openPlaces(): void;
		/** Everything that stands before what the window shows. */
		closeDialogs(): void;
	};
}

/** One thing a person can do. Keys, menus and the palette all read the registry. */
export interface Command {
	id: string;
	title: MessageKey;
	shortcut?: string;
	/** Other keys that mean the same, which no menu shows. */
	otherKeys?: readonly string[];
	/** Absent: always. */
	available?(context: CommandContext): boolean;
	run(context: CommandContext): void;
}
