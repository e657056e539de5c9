import type { BackgroundOutputResult, BackgroundTask } from "@/contract/session.gen";

/** The background tasks of all sessions as the server last told them. */
export interface BackgroundState {
	/** `absent`: the server has no task registry. */
	readonly phase: "unknown" | "ready" | "absent";
	readonly tasks: ReadonlyMap<string, BackgroundTask>;
	/** The ids that were pushed while the list is being read; absent while it is not. */
	readonly told?: ReadonlySet<string>;
	/** The tasks that were asked to stop, until the answer is there. */
	readonly stopping: ReadonlySet<string>;
}

export type BackgroundAction =
	| { type: "reading" }
	| { type: "list"; tasks: readonly BackgroundTask[] }
	| { type: "unread"; absent: boolean }
	| { type: "changed"; upserts: readonly BackgroundTask[]; removes: readonly string[] }
	| { type: "stopping"; id: string; asked: boolean }
	| { type: "disconnected" };

export const noTasks: BackgroundState = {
	phase: "unknown",
	tasks: new Map(),
	stopping: new Set(),
};

export function reduceBackground(
	state: BackgroundState,
	action: BackgroundAction,
): BackgroundState {
	switch (action.type) {
		case "reading":
			return { ...state, told: new Set() };
		case "list":
			return listed(state, action.tasks);
		case "unread": {
			const { told: _, ...rest } = state;
			return action.absent ? { ...rest, phase: "absent", tasks: new Map() } : rest;
		}
		case "changed":
			return changed(state, action);
		case "stopping": {
			const stopping = new Set(state.stopping);
			if (action.asked) stopping.add(action.id);
			else stopping.delete(action.id);
			return { ...state, stopping };
		}
		case "disconnected": {
			const { told: _, ...rest } = state;
			return { ...rest, stopping: new Set() };
		}
	}
}

// What was pushed since the list was asked for is at least as new as what the list says.
function listed(state: BackgroundState, list: readonly BackgroundTask[]): BackgroundState {
	const { told = new Set<string>(), ...rest } = state;
	const tasks = new Map<string, BackgroundTask>();
	for (const [id, task] of state.tasks) if (told.has(id)) tasks.set(id, task);
	for (const task of list) if (!told.has(task.id)) tasks.set(task.id, task);
	return { ...rest, phase: "ready", tasks };
}

function changed(
	state: BackgroundState,
	{ upserts, removes }: Extract<BackgroundAction, { type: "changed" }>,
): BackgroundState {
	const tasks = new Map(state.tasks);
	for (const task of upserts) {
		const known = tasks.get(task.id);
		if (!known || !older(task, known)) tasks.set(task.id, task);
	}
	for (const id of removes) tasks.delete(id);
	const ids = [...upserts.map(({ id }) => id), ...removes];
	const told = state.told && { told: new Set([...state.told, ...ids]) };
	return { ...state, tasks, ...told };
}

// A push that a reply has overtaken says less than is known: what has ended does not run again, and
// output does not go back (SP-BG-19).
function older(task: BackgroundTask, known: BackgroundTask): boolean {
	if (known.status !== "running") return task.status === "running";
	return task.status === "running" && (task.lastOutputAt ?? 0) < (known.lastOutputAt ?? 0);
}

/** What runs, the latest first, and then what has ended, the latest first. */
export function tasksInOrder({ tasks }: BackgroundState): BackgroundTask[] {
	const rank = (task: BackgroundTask) => (task.status === "running" ? 0 : 1);
	const when = (task: BackgroundTask) => task.endedAt ?? task.startedAt;
	return [...tasks.values()].sort(
		(a, b) => rank(a) - rank(b) || when(b) - when(a) || (a.id < b.id ? -1 : 1),
	);
}

export const runningCount = ({ tasks }: BackgroundState): number =>
	[...tasks.values()].filter(({ status }) => status === "running").length;

// ---- output ----------------------------------------------------------------------------------------

/** What is shown of a task's output. */
export interface TaskOutput {
	readonly phase: "loading" | "ready" | "failed";
	readonly text: string;
	/** Where the next reading begins. */
	readonly end: number;
	/** Something before the text is kept no longer. */
	readonly truncated: boolean;
	readonly error?: string;
}

export const noOutput: TaskOutput = { phase: "loading", text: "", end: 0, truncated: false };

/** More than the server keeps; a page that follows for days does not grow with it. */
const SHOWN_MOST = 131_072;

/** Takes what was printed after `after`. An answer to an earlier question is dropped. */
export function appendOutput(
	state: TaskOutput,
	after: number,
	{ text, end, truncated }: BackgroundOutputResult,
): TaskOutput {
	if (after !== state.end) return state;
	// Spec SP-BG-24: what lay between is gone, so the two pieces do not join.
	const whole = truncated ? text : state.text + text;
	const over = whole.length > SHOWN_MOST;
	return {
		phase: "ready",
		text: over ? whole.slice(-SHOWN_MOST) : whole,
		end,
		truncated: state.truncated || truncated || over,
	};
}
