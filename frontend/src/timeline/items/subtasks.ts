import type { SessionSummary, ToolCallItem } from "@/contract/session.gen";
import type { Look } from "@/ui/looks";

/** A sub-task as the result of a call names it. */
export interface NamedSubtask {
	readonly id: string;
	readonly name: string;
	/** How it stood when the call returned. */
	readonly status: SubtaskState;
}

export const SUBTASK_STATES = [
	"running",
	"waiting",
	"completed",
	"failed",
	"stopped",
	"interrupted",
	"deleted",
] as const;

export type SubtaskState = (typeof SUBTASK_STATES)[number];

export const lookOf: Record<SubtaskState, Look> = {
	running: "running",
	waiting: "waiting",
	completed: "completed",
	failed: "failed",
	stopped: "stopped",
	interrupted: "aborted",
	deleted: "stopped",
};

const TOOLS = new Set([
	"create_subtask",
	"send_to_subtask",
	"check_subtask",
	"wait_subtasks",
	"stop_subtask",
	"delete_subtask",
]);

/** The sub-tasks that a call is about, as its result has them; nothing for any other call. */
export function subtasksOf({ tool, result }: ToolCallItem): NamedSubtask[] {
	if (!TOOLS.has(tool) || result === undefined) return [];
	const said = parsed(result);
	const all = Array.isArray(said?.subtasks) ? said.subtasks : [said];
	return all.flatMap((one) => named(one) ?? []);
}

function parsed(text: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return isObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value);

function named(value: unknown): NamedSubtask | undefined {
	if (!isObject(value) || typeof value.subtaskId !== "string") return undefined;
	const status = SUBTASK_STATES.find((known) => known === value.status);
	if (!status) return undefined;
	const name = typeof value.name === "string" ? value.name : "";
	return { id: value.subtaskId, name, status };
}

/** How a sub-session stands now. One that has not worked yet is about to. */
export function stateOfSession(session: SessionSummary): SubtaskState {
	if (session.attention) return "waiting";
	if (session.running || session.background > 0 || !session.lastTurn) return "running";
	if (session.error) return "failed";
	return session.lastTurn.outcome === "aborted" ? "stopped" : "completed";
}
