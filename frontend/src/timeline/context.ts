import { createContext, type ReactNode, useContext } from "react";
import type { Approval } from "@/contract/session.gen";
import type { OpenSession } from "@/state/open-session";

/** What item views need of the place they stand in. Other surfaces are handed in by the shell. */
export interface TimelineContextValue {
	session: OpenSession;
	appName: string;
	/** Draws an approval that waits; the approval surface's own card. */
	renderApproval(approval: Approval): ReactNode;
}

export const TimelineContext = createContext<TimelineContextValue | undefined>(undefined);

export function useTimeline(): TimelineContextValue {
	const value = useContext(TimelineContext);
	if (!value) throw new Error("an item view stands outside the timeline");
	return value;
}
