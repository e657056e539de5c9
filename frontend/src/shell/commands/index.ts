import { archive, unarchive } from "./archive";
import { background, stopAll } from "./background";
import type { Command } from "./command";
import { compress } from "./compress";
import { copyId } from "./copy-id";
import { remove } from "./delete";
import { focusComposer } from "./focus-composer";
import { inbox } from "./inbox";
import { languageEn, languageHost, languageZh } from "./language";
import { latest } from "./latest";
import { nextSession, previousSession } from "./neighbour";
import { newSession } from "./new-session";
import { openTab } from "./open-tab";
import { palette } from "./palette";
import { places } from "./places";
import { quit } from "./quit";
import { rename } from "./rename";
import { restart } from "./restart";
import { rewind } from "./rewind";
import { search } from "./search";
import { sessionSettings, settings } from "./settings";
import { stop } from "./stop";
import { themeDark, themeLight, themeSystem } from "./theme";
import { toggleSidebar } from "./toggle-sidebar";
import { zoomIn, zoomOut, zoomReset } from "./zoom";

/** Everything a person can do, in the order the palette lists it. */
export const commands: readonly Command[] = [
	newSession,
	stop,
	stopAll,
	rewind,
	compress,
	inbox,
	background,
	search,
	palette,
	focusComposer,
	latest,
	previousSession,
	nextSession,
	rename,
	archive,
	unarchive,
	remove,
	copyId,
	sessionSettings,
	settings,
	places,
	toggleSidebar,
	themeLight,
	themeDark,
	themeSystem,
	languageEn,
	languageZh,
	languageHost,
	zoomIn,
	zoomOut,
	zoomReset,
	openTab,
	restart,
	quit,
];
