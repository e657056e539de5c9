import type { Choice, DesktopAction, Destination, Leave, Question } from "./desktop-events";

export interface DesktopState {
	/** 1 is the page's own size; 0 where the window offers no zoom. */
	readonly zoom: number;
	/** Where to go, until the page has gone there. */
	readonly destination?: Destination;
	/** A command of the registry to run, until it has run. */
	readonly command?: string;
	readonly question?: Question;
	/** What is being answered; the window has not said yet that it heard. */
	readonly answering?: Choice;
	/** The program ends, or starts anew, once nothing runs. */
	readonly finishing?: Leave;
	readonly update?: { readonly version: string; readonly busy: boolean };
	/** The version whose line was dismissed. */
	readonly dismissed?: string;
	/** The window draws with the safe renderer. */
	readonly safe: boolean;
}

export const initialDesktop: DesktopState = { zoom: 0, safe: false };

/** A copy without some of what may be absent. */
function without<K extends keyof DesktopState>(state: DesktopState, ...keys: K[]): DesktopState {
	const copy = { ...state };
	for (const key of keys) delete copy[key];
	return copy;
}

export function reduceDesktop(state: DesktopState, action: DesktopAction): DesktopState {
	switch (action.type) {
		case "hello":
			return {
				...state,
				zoom: action.zoom,
				// A place that was asked for meanwhile is the newer wish.
				...(action.destination && !state.destination ? { destination: action.destination } : {}),
			};
		case "go":
			return { ...state, destination: action.destination };
		case "went":
			return without(state, "destination");
		case "command":
			return { ...state, command: action.id };
		case "ran":
			return without(state, "command");
		case "question":
			// Told again, it is the one that is shown, and may be on its way to be answered.
			if (state.question?.id === action.question.id) return { ...state, question: action.question };
			return { ...without(state, "answering"), question: action.question };
		case "answering":
			if (state.question?.id !== action.id) return state;
			// A second thought is never held up.
			return action.choice === "cancel"
				? without(state, "question", "answering")
				: { ...state, answering: action.choice };
		case "unanswered":
			return state.question?.id === action.id ? without(state, "answering") : state;
		case "question-over":
			return state.question?.id === action.id ? without(state, "question", "answering") : state;
		case "finishing":
			return action.on ? { ...state, finishing: action.kind } : without(state, "finishing");
		case "update":
			return action.version === ""
				? without(state, "update")
				: { ...state, update: { version: action.version, busy: action.busy } };
		case "update-dismissed":
			return state.update ? { ...state, dismissed: state.update.version } : state;
		case "zoom":
			return { ...state, zoom: action.factor };
		case "safe":
			return { ...state, safe: action.on };
	}
}

/** The update that is to be told of: there is one, and nobody has put it aside. */
export const shownUpdate = (state: DesktopState): DesktopState["update"] =>
	state.update?.version === state.dismissed ? undefined : state.update;

const ZOOMS = [0.5, 0.67, 0.75, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3] as const;

/** The next size in a direction, from whatever it is now; the same where there is none. */
export function nextZoom(now: number, direction: 1 | -1): number {
	const close = 0.005;
	const further =
		direction > 0
			? ZOOMS.find((zoom) => zoom > now + close)
			: ZOOMS.findLast((zoom) => zoom < now - close);
	return further ?? now;
}
