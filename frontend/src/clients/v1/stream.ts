import { readFrame } from "./events";
import type { V1Event } from "./protocol.gen";
import { FrameReader } from "./sse";

/** How a stream is followed. Times are in milliseconds. */
export interface FollowOptions {
	/** Go on behind this number; 0, the default, is everything. */
	since?: number;
	/** Ends the stream; the loop over it then just ends. */
	signal?: AbortSignal;
	/** How long nothing at all may come before the connection counts as dead; thrice a heartbeat. */
	silence?: number;
	/** The first wait before connecting again; it doubles up to `longestWait`. */
	firstWait?: number;
	longestWait?: number;
	/** Told of every connection that failed or ended, for a sign on the screen. */
	onDisconnect?: (cause: unknown, wait: number) => void;
}

/** Opens the stream behind a number; what it throws decides whether to try again. */
export type Connect = (after: number, signal: AbortSignal) => Promise<Response>;

/** Whether an error is final: connecting again would give the same. */
export type IsFinal = (error: unknown) => boolean;

/** How many numbers are remembered to tell a repetition from an event that came late. */
const REMEMBERED = 4096;

/** The numbers seen last. Whatever is older than those is taken for seen. */
class Seen {
	#numbers = new Set<number>();
	#floor: number;
	last: number;

	constructor(since: number) {
		this.#floor = since;
		this.last = since;
	}

	/** Notes a number; false when it was there. */
	note(seq: number): boolean {
		if (seq <= this.#floor || this.#numbers.has(seq)) return false;
		this.#numbers.add(seq);
		this.last = Math.max(this.last, seq);
		if (this.#numbers.size > 2 * REMEMBERED) {
			const sorted = [...this.#numbers].sort((a, b) => a - b);
			this.#floor = sorted[REMEMBERED] ?? this.#floor;
			this.#numbers = new Set(sorted.slice(REMEMBERED + 1));
		}
		return true;
	}
}

/**
 * Follows the events of a session for ever: each once, whatever happens to the line. It connects again
 * behind the last number, waits longer each time that gives nothing, and ends when the signal says so.
 * Heartbeats and what this client does not know are not given.
 *
 * @throws what `connect` throws, when it is final (the session is gone, the credentials are refused)
 */
export async function* follow(
	connect: Connect,
	isFinal: IsFinal,
	options: FollowOptions = {},
): AsyncGenerator<V1Event, void, undefined> {
	const { signal, silence = 45_000, firstWait = 250, longestWait = 15_000 } = options;
	const seen = new Seen(options.since ?? 0);
	let failures = 0;
	while (!signal?.aborted) {
		const line = new AbortController();
		const end = () => line.abort(signal?.reason);
		signal?.addEventListener("abort", end, { once: true });
		let cause: unknown = new Error("the stream has ended");
		try {
			const watch = new Watch(silence, line);
			try {
				for await (const read of frames(await connect(seen.last, line.signal), watch)) {
					failures = 0;
					if (read.seq === undefined || !seen.note(read.seq)) continue;
					if (read.event) yield read.event;
				}
			} finally {
				watch.stop();
			}
		} catch (error) {
			if (signal?.aborted) return;
			if (isFinal(error)) throw error;
			cause = error;
		} finally {
			signal?.removeEventListener("abort", end);
			line.abort();
		}
		if (signal?.aborted) return;
		// Between half and the whole, so that many clients do not come back in step.
		const wait = Math.min(longestWait, firstWait * 2 ** failures) * (0.5 + Math.random() / 2);
		failures++;
		options.onDisconnect?.(cause, wait);
		await pause(wait, signal);
	}
}

/** Ends a line on which nothing comes. */
class Watch {
	#timer: ReturnType<typeof setTimeout> | undefined;
	readonly #silence: number;
	readonly #line: AbortController;

	constructor(silence: number, line: AbortController) {
		this.#silence = silence;
		this.#line = line;
		this.heard();
	}

	heard() {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(
			() => this.#line.abort(new Error("nothing has come for too long")),
			this.#silence,
		);
	}

	stop() {
		clearTimeout(this.#timer);
	}
}

async function* frames(response: Response, watch: Watch) {
	if (!response.body) return;
	const reader = response.body.getReader();
	const text = new TextDecoder();
	const parser = new FrameReader();
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			watch.heard();
			for (const frame of parser.push(text.decode(value, { stream: true }))) yield readFrame(frame);
		}
	} finally {
		// The line may be dead already; its end is what is wanted.
		await reader.cancel().catch(() => undefined);
	}
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const over = () => {
			clearTimeout(timer);
			signal?.removeEventListener("abort", over);
			resolve();
		};
		const timer = setTimeout(over, ms);
		signal?.addEventListener("abort", over, { once: true });
	});
}
