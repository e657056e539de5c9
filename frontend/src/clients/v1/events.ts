import { EVENT_TYPES, EVENT_VERSION, type V1Event } from "./protocol.gen";
import type { Frame } from "./sse";

/** What a frame is to a client: an event it knows, and the number up to which it has been told. */
export interface Read {
	/** Absent for what this client does not know: another type, another version, no JSON. */
	event?: V1Event;
	/** The number to go on behind; absent for a heartbeat. */
	seq?: number;
}

const known: ReadonlySet<string> = new Set(EVENT_TYPES);

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value);

const isSeq = (value: unknown): value is number =>
	typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/**
 * Reads a frame. Fields that nobody knows stay where they are and do no harm; an event of an unknown
 * type, or of a later version, is none, but its number counts all the same.
 */
export function readFrame(frame: Frame): Read {
	const id = frame.id !== undefined && /^\d+$/.test(frame.id) ? Number(frame.id) : undefined;
	const read: Read = id !== undefined && isSeq(id) ? { seq: id } : {};
	let value: unknown;
	try {
		value = JSON.parse(frame.data);
	} catch {
		return read;
	}
	if (!isObject(value) || !isSeq(value.seq) || !isObject(value.data)) return read;
	if (value.v !== EVENT_VERSION || typeof value.type !== "string" || !known.has(value.type))
		return read;
	// The server's schemas are checked where they are made; here the envelope is what is looked at.
	read.event = value as V1Event;
	if (value.type !== "heartbeat") read.seq = value.seq;
	return read;
}

/** Keeps the events of one session once each, in the order of their numbers. */
export class EventLog {
	#events: V1Event[] = [];

	/** Everything so far, by number. */
	get events(): readonly V1Event[] {
		return this.#events;
	}

	/** The highest number so far, 0 for none. */
	get lastSeq(): number {
		return this.#events.at(-1)?.seq ?? 0;
	}

	/** Adds an event where it belongs; false when it was there already, or is a heartbeat. */
	add(event: V1Event): boolean {
		if (event.type === "heartbeat") return false;
		let at = this.#events.length;
		// From the end: events come in order but for rare exceptions.
		while (at > 0 && (this.#events[at - 1]?.seq ?? 0) > event.seq) at--;
		if (this.#events[at - 1]?.seq === event.seq) return false;
		this.#events.splice(at, 0, event);
		return true;
	}
}

/** Whether an event offers the person to try again, by a new message with a new key. */
export const offersRetry = (event: V1Event): boolean =>
	event.type === "error" && event.data.retryable;
