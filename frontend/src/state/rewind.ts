import { createStore } from "zustand/vanilla";
import type { Features, RewindScope, TurnItem, TurnRewindResult } from "@/contract/session.gen";
import type { Port } from "./port";
import { isRunning, type SessionState } from "./session";

/** A rewind from the question to what came of it. */
export interface Rewinding {
	readonly sessionId: string;
	readonly turnId: string;
	readonly scope: RewindScope;
	readonly phase: "asking" | "rewinding" | "done" | "undoing" | "undone";
	/** Why the latest step was refused. */
	readonly problem?: string;
	/** What the rewind did. */
	readonly result?: TurnRewindResult;
	/** What taking it back did. */
	readonly undone?: TurnRewindResult;
}

/** A rewind that happened and can be taken back. */
export type Rewound = Rewinding & { result: TurnRewindResult };

export type RewindAction =
	| { type: "ask"; sessionId: string; turnId: string }
	| { type: "scope"; scope: RewindScope }
	| { type: "go" }
	| { type: "done"; result: TurnRewindResult }
	| { type: "undo"; rewound: Rewound }
	| { type: "undone"; result: TurnRewindResult }
	| { type: "refused"; message: string }
	| { type: "close" };

const busy = (state: Rewinding | undefined): boolean =>
	state?.phase === "rewinding" || state?.phase === "undoing";

/** What is under way is neither replaced nor closed: its result has to be told (FAIL-C5). */
export function reduceRewind(
	state: Rewinding | undefined,
	action: RewindAction,
): Rewinding | undefined {
	switch (action.type) {
		case "ask": {
			if (busy(state)) return state;
			const { sessionId, turnId } = action;
			return { sessionId, turnId, scope: "code", phase: "asking" };
		}
		case "close":
			return busy(state) ? state : undefined;
		case "undo": {
			if (busy(state)) return state;
			const { problem: _, ...rewound } = action.rewound;
			return { ...rewound, phase: "undoing" };
		}
	}
	if (!state) return state;
	const { problem: _, ...rest } = state;
	switch (action.type) {
		case "scope":
			return state.phase === "asking" ? { ...rest, scope: action.scope } : state;
		case "go":
			return state.phase === "asking" ? { ...rest, phase: "rewinding" } : state;
		case "done":
			return { ...rest, phase: "done", result: action.result };
		case "undone":
			return { ...rest, phase: "undone", undone: action.result };
		case "refused":
			return {
				...rest,
				phase: state.phase === "undoing" ? "done" : "asking",
				problem: action.message,
			};
	}
}

/** Asks, rewinds and takes back. One at a time. */
export class Rewinds {
	readonly store = createStore<{ now: Rewinding | undefined }>(() => ({ now: undefined }));

	constructor(
		private readonly port: Port,
		private readonly message: (error: unknown) => string,
	) {}

	do(action: RewindAction): void {
		this.store.setState({ now: reduceRewind(this.store.getState().now, action) });
	}

	/** Rewinds what is asked about. A second call while it is under way does nothing (FAIL-C10). */
	async go(): Promise<void> {
		const { now } = this.store.getState();
		if (now?.phase !== "asking") return;
		const { sessionId, turnId, scope } = now;
		this.do({ type: "go" });
		try {
			const result = await this.port.call("turn/rewind", { sessionId, turnId, scope });
			this.do({ type: "done", result });
		} catch (error) {
			this.do({ type: "refused", message: this.message(error) });
		}
	}

	/** Takes a rewind back, files and conversation. */
	async undo(rewound: Rewound): Promise<void> {
		const undoId = rewound.result.ext?.undoId;
		if (undoId === undefined || busy(this.store.getState().now)) return;
		this.do({ type: "undo", rewound });
		try {
			const { sessionId } = rewound;
			const result = await this.port.call("ext/rewind/undo", { sessionId, undoId });
			this.do({ type: "undone", result });
		} catch (error) {
			this.do({ type: "refused", message: this.message(error) });
		}
	}
}

/** The rewind if it did something that can be taken back. */
export const rewoundOf = (state: Rewinding | undefined): Rewound | undefined =>
	state?.phase === "done" && state.result?.ext ? { ...state, result: state.result } : undefined;

type Shown = Pick<SessionState, "items" | "summary">;

/** Spec SP-REWIND-06: only a turn that is over, and only while none runs. */
export const canRewind = (features: Features, running: boolean, turn: TurnItem): boolean =>
	features.rewind && !running && turn.outcome !== undefined;

/** The latest turn that can be rewound. */
export function lastRewindable(features: Features, state: Shown): TurnItem | undefined {
	const running = isRunning(state);
	const turn = state.items.findLast((item) => item.kind === "turn");
	return turn?.kind === "turn" && canRewind(features, running, turn) ? turn : undefined;
}

export const turnIdOf = (turn: TurnItem): string => turn.turnId ?? turn.itemId;

/** What the cards of a turn say it changed, to be seen before it is rewound (FAIL-C5). */
export function changesOf(
	{ items }: Pick<SessionState, "items">,
	turnId: string,
): { files: string[]; commands: number } {
	const files = new Set<string>();
	let commands = 0;
	for (const item of items) {
		if (item.kind !== "tool-call" || item.turnId !== turnId || item.notExecuted) continue;
		if (item.status === "denied") continue;
		if (item.display?.kind === "command") commands++;
		else if (item.display?.kind === "file-change" && item.status === "completed")
			files.add(item.display.path);
	}
	return { files: [...files], commands };
}

const WORKSPACE = "workspace:/";

/** A storage address as a person reads it: relative to the folder of the session's place. */
export const pathOf = (uri: string): string =>
	uri.startsWith(WORKSPACE) ? uri.slice(WORKSPACE.length) : uri;

/** What a rewind, or its taking back, did to files. */
export interface Outcome {
	readonly restored: readonly string[];
	readonly deleted: readonly string[];
	readonly skipped: readonly { path: string; reason: string }[];
	/** What is to be said of the whole of it. */
	readonly remarks: readonly string[];
}

export function outcomeOf({ restored, deleted, errors }: TurnRewindResult): Outcome {
	return {
		restored: restored.map(pathOf),
		deleted: deleted.map(pathOf),
		skipped: errors
			.filter(({ uri }) => uri !== "")
			.map(({ uri, reason }) => ({ path: pathOf(uri), reason })),
		remarks: errors.filter(({ uri }) => uri === "").map(({ reason }) => reason),
	};
}
