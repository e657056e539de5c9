import { Ban, Check, CircleSlash, Hand, Loader, Square, X } from "lucide-react";
import type { ReactNode } from "react";

/** How far work is. */
export type Look =
	| "generating"
	| "waiting"
	| "running"
	| "completed"
	| "failed"
	| "denied"
	| "stopped"
	| "aborted";

/** What each state looks like, wherever work is shown; the word beside it is the caller's. */
export const looks: Record<Look, { tone: string; icon: ReactNode }> = {
	generating: { tone: "text-soft", icon: <Loader size={14} className="pulse" /> },
	waiting: { tone: "text-warn", icon: <Hand size={14} /> },
	running: { tone: "text-accent", icon: <Loader size={14} className="spin" /> },
	completed: { tone: "text-good", icon: <Check size={14} /> },
	failed: { tone: "text-bad", icon: <X size={14} /> },
	denied: { tone: "text-warn", icon: <Ban size={14} /> },
	stopped: { tone: "text-soft", icon: <Square size={12} /> },
	aborted: { tone: "text-soft", icon: <CircleSlash size={14} /> },
};
