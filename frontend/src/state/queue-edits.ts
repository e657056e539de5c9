/** A waiting message that is being given other words. */
export interface QueueEdit {
	readonly original: string;
	readonly draft: string;
	/** On its way to the server. */
	readonly saving: boolean;
	/** It left the queue meanwhile; the answer to what is on its way decides what becomes of the words. */
	readonly left: boolean;
}

/**
 * The changes under way in one session's queue, by inputId. Words that were typed end in one of three
 * ways: the server took them, the person let them go, or their message waits no longer and they are
 * homeless until the message box takes them over (FAIL-A18, FAIL-A21).
 */
export interface QueueEdits {
	readonly open: ReadonlyMap<string, QueueEdit>;
	readonly homeless: readonly string[];
}

export type QueueEditAction =
	| { type: "begin"; inputId: string; text: string }
	| { type: "type"; inputId: string; draft: string }
	| { type: "leave"; inputId: string }
	| { type: "saving"; inputId: string }
	| { type: "saved"; inputId: string }
	/** `left`: the server said that it waits no longer. */
	| { type: "refused"; inputId: string; left: boolean }
	| { type: "queue"; inputIds: ReadonlySet<string> }
	| { type: "rehomed" };

export const noQueueEdits: QueueEdits = { open: new Map(), homeless: [] };

export function reduceQueueEdits(state: QueueEdits, action: QueueEditAction): QueueEdits {
	if (action.type === "rehomed") return { ...state, homeless: [] };
	if (action.type === "queue") return leaving(state, action.inputIds);
	const { inputId } = action;
	const edit = state.open.get(inputId);
	if (action.type === "begin") {
		if (edit) return state;
		const { text } = action;
		return put(state, inputId, { original: text, draft: text, saving: false, left: false });
	}
	if (!edit) return state;
	switch (action.type) {
		case "type":
			return edit.saving ? state : put(state, inputId, { ...edit, draft: action.draft });
		case "saving":
			return put(state, inputId, { ...edit, saving: true });
		case "leave":
			return edit.saving ? state : without(state, inputId);
		case "saved":
			return without(state, inputId);
		case "refused":
			return edit.left || action.left
				? homeless(state, inputId, edit)
				: put(state, inputId, { ...edit, saving: false });
	}
}

function put(state: QueueEdits, inputId: string, edit: QueueEdit): QueueEdits {
	return { ...state, open: new Map(state.open).set(inputId, edit) };
}

function without(state: QueueEdits, inputId: string): QueueEdits {
	const open = new Map(state.open);
	open.delete(inputId);
	return { ...state, open };
}

function homeless(state: QueueEdits, inputId: string, edit: QueueEdit): QueueEdits {
	const next = without(state, inputId);
	const changed = edit.draft.trim() !== "" && edit.draft !== edit.original;
	return changed ? { ...next, homeless: [...next.homeless, edit.draft] } : next;
}

function leaving(state: QueueEdits, waiting: ReadonlySet<string>): QueueEdits {
	let next = state;
	for (const [inputId, edit] of state.open) {
		if (waiting.has(inputId)) {
			if (edit.left) next = put(next, inputId, { ...edit, left: false });
		} else if (edit.saving) {
			if (!edit.left) next = put(next, inputId, { ...edit, left: true });
		} else next = homeless(next, inputId, edit);
	}
	return next;
}
