import { createStore } from "zustand/vanilla";
import {
	type InitializeResult,
	SESSION_PROTOCOL_VERSION,
	type SessionMethodName,
	type SessionMethodParams,
	type SessionMethodResult,
} from "@/contract/session.gen";
import { RpcClient } from "./client";
import type { Push } from "./decode";
import { isRefusal, LinkError, RpcError } from "./errors";
import { type Channel, HANDSHAKE_TIMEOUT_MS, type Transport } from "./transport";

export type Connection =
	| { phase: "connecting" }
	| { phase: "open" }
	/** Between two attempts; the next one starts at `retryAt` (ms since the epoch). */
	| { phase: "away"; retryAt: number; reason: string }
	/** The server wants a sign-in first; only a person can help. */
	| { phase: "signed-out" }
	/** The server speaks another version; only a reload can help. */
	| { phase: "refused"; message: string };

export interface LinkOptions {
	transport: Transport;
	client: { name: string; version: string };
	/** Whether the transport would be let in; throws when nobody answers. Absent: always. */
	admitted?: () => Promise<boolean>;
	random?: () => number;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
/** After this long without a byte the client asks, because a dead route sends no close. */
const QUIET_MS = 20_000;
const PROBE_TIMEOUT_MS = 8_000;

/**
 * The one owner of reconnecting. It keeps a connection open as long as it is started, and tells what
 * others must do again after each handshake; nothing else in the program retries a connection.
 */
export class Link {
	readonly connection = createStore<Connection>(() => ({ phase: "connecting" }));
	private readonly pushHandlers = new Set<(push: Push) => void>();
	private readonly openHandlers = new Set<(init: InitializeResult) => void>();
	private readonly closeHandlers = new Set<() => void>();
	private client: RpcClient | undefined;
	private channel: Channel | undefined;
	private retry: ReturnType<typeof setTimeout> | undefined;
	private probe: ReturnType<typeof setTimeout> | undefined;
	private attempt = 0;
	/** Rises with every attempt: what an earlier attempt still reports is ignored. */
	private generation = 0;
	private started = false;
	/** Nobody looks at what comes. */
	private resting = false;

	constructor(private readonly options: LinkOptions) {}

	start(): void {
		if (this.started) return;
		this.started = true;
		void this.connect();
	}

	stop(): void {
		this.started = false;
		clearTimeout(this.retry);
		this.drop();
	}

	/** Tries at once instead of waiting; while open, makes sure that somebody is still there. */
	nudge(): void {
		this.resting = false;
		if (!this.started) return;
		const { phase } = this.connection.getState();
		if (phase === "away" || phase === "signed-out") {
			clearTimeout(this.retry);
			this.attempt = 0;
			void this.connect();
		} else if (phase === "open") {
			void this.check();
		}
	}

	/** Lets a quiet line be until the next nudge: nobody looks, so nobody is told anything too late. */
	rest(): void {
		this.resting = true;
		clearTimeout(this.probe);
	}

	call = <M extends SessionMethodName>(
		method: M,
		params: SessionMethodParams<M>,
	): Promise<SessionMethodResult<M>> => {
		if (!this.client || this.connection.getState().phase !== "open") {
			return Promise.reject(new LinkError("away", "not connected"));
		}
		return this.client.call(method, params);
	};

	onPush = (handler: (push: Push) => void): (() => void) => listen(this.pushHandlers, handler);
	/** Called after every handshake, before any push of that connection. */
	onOpen = (handler: (init: InitializeResult) => void): (() => void) =>
		listen(this.openHandlers, handler);
	onClose = (handler: () => void): (() => void) => listen(this.closeHandlers, handler);

	private async connect(): Promise<void> {
		const generation = ++this.generation;
		const current = () => this.started && generation === this.generation;
		this.connection.setState({ phase: "connecting" }, true);
		const deadline = setTimeout(() => {
			if (current()) this.lost("");
		}, HANDSHAKE_TIMEOUT_MS);
		try {
			if (this.options.admitted && !(await this.options.admitted())) {
				if (current()) this.connection.setState({ phase: "signed-out" }, true);
				return;
			}
			if (!current()) return;
			const channel = await this.options.transport.open({
				onFrame: (frame) => {
					if (!current()) return;
					this.heard();
					this.client?.receive(frame);
				},
				// A server that refuses sends its answer and closes: the answer is read first.
				onClose: (reason) => {
					setTimeout(() => current() && this.lost(reason), 0);
				},
			});
			if (!current()) {
				channel.close();
				return;
			}
			await this.handshake(channel, current);
		} catch (error) {
			if (current()) this.failed(error);
		} finally {
			clearTimeout(deadline);
		}
	}

	private async handshake(channel: Channel, current: () => boolean): Promise<void> {
		this.channel = channel;
		const client = new RpcClient(channel.send, (push) => {
			for (const handler of this.pushHandlers) handler(push);
		});
		this.client = client;
		// Spec SP-INIT-01: the first frame of a connection.
		const init = await client.call("initialize", {
			protocolVersion: SESSION_PROTOCOL_VERSION,
			client: this.options.client,
		});
		if (!current()) return;
		this.attempt = 0;
		this.connection.setState({ phase: "open" }, true);
		this.heard();
		for (const handler of this.openHandlers) handler(init);
	}

	private failed(error: unknown): void {
		if (isRefusal(error, "unsupported")) {
			this.drop();
			this.connection.setState({ phase: "refused", message: error.message }, true);
			return;
		}
		this.lost(error instanceof RpcError ? error.message : "");
	}

	private lost(reason: string): void {
		this.drop();
		// The server closes right behind its refusal; the answer already said what matters.
		if (!this.started || this.connection.getState().phase === "refused") return;
		const delay = this.delay();
		this.connection.setState({ phase: "away", retryAt: Date.now() + delay, reason }, true);
		clearTimeout(this.retry);
		this.retry = setTimeout(() => void this.connect(), delay);
	}

	/** Doubling, with jitter so that several tabs do not knock at once. */
	private delay(): number {
		const random = this.options.random ?? Math.random;
		const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.attempt++);
		return Math.round(full * (0.5 + random() / 2));
	}

	private drop(): void {
		this.generation++;
		clearTimeout(this.probe);
		const wasOpen = this.connection.getState().phase === "open";
		const { client, channel } = this;
		this.client = undefined;
		this.channel = undefined;
		client?.close();
		channel?.close();
		if (wasOpen) for (const handler of this.closeHandlers) handler();
	}

	private heard(): void {
		clearTimeout(this.probe);
		if (this.resting || this.connection.getState().phase !== "open") return;
		this.probe = setTimeout(() => void this.check(), QUIET_MS);
	}

	// Unsubscribing what nobody subscribed is answered {} and changes nothing (SP-SUB-12).
	private async check(): Promise<void> {
		const { client, generation } = this;
		if (!client) return;
		try {
			await client.call("session/unsubscribe", { sessionId: "-" }, PROBE_TIMEOUT_MS);
		} catch (error) {
			const silent = error instanceof LinkError && error.kind === "timeout";
			if (silent && generation === this.generation) this.lost("");
		}
	}
}

function listen<T>(handlers: Set<T>, handler: T): () => void {
	handlers.add(handler);
	return () => handlers.delete(handler);
}

/** Wakes the link when the machine or the page comes back, and lets it rest while nobody sees the page. */
export function nudgeOnWake(link: Link, page: Window = window): () => void {
	const wake = () => {
		if (page.document.visibilityState === "visible") link.nudge();
		else link.rest();
	};
	if (page.document.visibilityState !== "visible") link.rest();
	page.addEventListener("online", wake);
	page.addEventListener("focus", wake);
	page.document.addEventListener("visibilitychange", wake);
	return () => {
		page.removeEventListener("online", wake);
		page.removeEventListener("focus", wake);
		page.document.removeEventListener("visibilitychange", wake);
	};
}
