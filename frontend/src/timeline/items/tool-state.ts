import type { ToolCallItem } from "@/contract/session.gen";

/** What a card shows: its status, and waiting where a running one waits for a person. */
export type ToolState = ToolCallItem["status"] | "waiting";

/** An approval without a settlement is pending, as long as the call itself is. */
export const isWaiting = (item: ToolCallItem): boolean =>
	item.approvalId !== undefined && item.settlement === undefined && item.status === "running";

export const stateOf = (item: ToolCallItem): ToolState =>
	isWaiting(item) ? "waiting" : item.status;
