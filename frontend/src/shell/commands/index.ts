import { archive, unarchive } from "./archive";
import type { Command } from "./command";
import { copyId } from "./copy-id";
import { remove } from "./delete";
import { focusComposer } from "./focus-composer";
import { inbox } from "./inbox";
import { languageEn, languageHost, languageZh } from "./language";
import { latest } from "./latest";
import { nextSession, previousSession } from "./neighbour";
import { newSession } from "./new-session";
import { palette } from "./palette";
import { rename } from "./rename";
import { search } from "./search";
import { stop } from "./stop";
import { themeDark, themeLight, themeSystem } from "./theme";
import { toggleSidebar } from "./toggle-sidebar";

/** Everything a person can do, in the order the palette lists it. */
export const commands: readonly Command[] = [
	newSession,
	stop,
	inbox,
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
	toggleSidebar,
	themeLight,
	themeDark,
	themeSystem,
	languageEn,
	languageZh,
	languageHost,
];
