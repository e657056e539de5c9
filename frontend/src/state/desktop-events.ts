/** Where the window wishes the page to go. */
export interface Destination {
	readonly session?: string;
	/** An item of that session. */
	readonly item?: string;
	/** To an empty message box. */
	readonly fresh?: true;
}

/** The end of the program, or its end and new start. */
export type Leave = "quit" | "restart";

/** What is to happen with what still runs. */
export type Choice = "finish" | "stop" | "cancel";

/** Asked before the program ends while something runs. */
export interface Question {
	readonly id: string;
	readonly kind: Leave;
	/** Conversations in which she works. */
	readonly turns: number;
	/** Background tasks that run. */
	readonly tasks: number;
	/** Approvals that wait. */
	readonly waiting: number;
}

export type DesktopAction =
	| { type: "hello"; zoom: number; destination: Destination | undefined }
	| { type: "go"; destination: Destination }
	| { type: "went" }
	| { type: "command"; id: string }
	| { type: "ran" }
	| { type: "question"; question: Question }
	| { type: "answering"; id: string; choice: Choice }
	| { type: "unanswered"; id: string }
	| { type: "question-over"; id: string }
	| { type: "finishing"; kind: Leave; on: boolean }
	| { type: "update"; version: string; busy: boolean }
	| { type: "update-dismissed" }
	| { type: "zoom"; factor: number }
	| { type: "safe"; on: boolean };

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (payload: unknown): Fields =>
	typeof payload === "object" && payload !== null ? (payload as Fields) : {};
const text = (value: unknown): string | undefined =>
	typeof value === "string" && value !== "" ? value : undefined;
const count = (value: unknown): number =>
	typeof value === "number" && value > 0 ? Math.floor(value) : 0;
const leave = (value: unknown): Leave => (value === "restart" ? "restart" : "quit");

function destination(payload: unknown): Destination | undefined {
	const { session, item, new: fresh } = fieldsOf(payload);
	const id = text(session);
	if (id === undefined) return fresh === true ? { fresh: true } : undefined;
	const itemId = text(item);
	return itemId === undefined ? { session: id } : { session: id, item: itemId };
}

/** What an event of the window means; nothing where it cannot be understood. */
export function readEvent(name: string, payload: unknown): DesktopAction | undefined {
	const fields = fieldsOf(payload);
	const id = text(fields.id);
	switch (name) {
		case "go": {
			const to = destination(payload);
			return to && { type: "go", destination: to };
		}
		case "command":
			return id === undefined ? undefined : { type: "command", id };
		case "question":
			if (id === undefined) return undefined;
			return {
				type: "question",
				question: {
					id,
					kind: leave(fields.kind),
					turns: count(fields.turns),
					tasks: count(fields.tasks),
					waiting: count(fields.waiting),
				},
			};
		case "question-over":
			return id === undefined ? undefined : { type: "question-over", id };
		case "finishing":
			return { type: "finishing", kind: leave(fields.kind), on: fields.on === true };
		case "update":
			return { type: "update", version: text(fields.version) ?? "", busy: fields.busy === true };
		case "safe":
			return { type: "safe", on: fields.on === true };
		default:
			return undefined;
	}
}

/** A file that was dropped on the window, which the page can only ask for. */
export interface DroppedFile {
	readonly id: string;
	readonly name: string;
	readonly size: number;
}

export function readDropped(payload: unknown): readonly DroppedFile[] {
	if (!Array.isArray(payload)) return [];
	return payload.flatMap((one) => {
		const { id, name, size } = fieldsOf(one);
		const known = text(id);
		return known === undefined ? [] : [{ id: known, name: text(name) ?? known, size: count(size) }];
	});
}

/** The window's first answer. A zoom of 0 means that the window has none to offer. */
export function readHello(answer: unknown): DesktopAction {
	const { zoom, go } = fieldsOf(answer);
	const usable = typeof zoom === "number" && Number.isFinite(zoom) && zoom > 0;
	return { type: "hello", zoom: usable ? zoom : 0, destination: destination(go) };
}
