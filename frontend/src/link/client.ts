import type {
	AppCode,
	SessionMethodName,
	SessionMethodParams,
	SessionMethodResult,
} from "@/contract/session.gen";
import { decode, decodeResult, type Push } from "./decode";
import { LinkError, RpcError } from "./errors";

interface Waiting {
	method: SessionMethodName;
	resolve(result: unknown): void;
	reject(error: Error): void;
	timer: ReturnType<typeof setTimeout>;
}

/** Long enough for a compression; everything else answers in milliseconds. */
const CALL_TIMEOUT_MS = 120_000;

/**
 * Requests and answers over one open channel. Lives as long as the channel; the reconnect owner makes
 * a new one for the next. It never answers a notification (SP-FRAME-06).
 */
export class RpcClient {
	private nextId = 1;
	private readonly waiting = new Map<string | number, Waiting>();
	private closed = false;

	constructor(
		private readonly send: (frame: string) => void,
		private readonly onPush: (push: Push) => void,
	) {}

	call<M extends SessionMethodName>(
		method: M,
		params: SessionMethodParams<M>,
		timeoutMs = CALL_TIMEOUT_MS,
	): Promise<SessionMethodResult<M>> {
		if (this.closed) return Promise.reject(new LinkError("away", "not connected"));
		const id = this.nextId++;
		return new Promise<SessionMethodResult<M>>((resolve, reject) => {
			const timer = setTimeout(() => {
				this.waiting.delete(id);
				reject(new LinkError("timeout", `${method} was not answered`));
			}, timeoutMs);
			this.waiting.set(id, {
				method,
				resolve: resolve as (result: unknown) => void,
				reject,
				timer,
			});
			this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
		});
	}

	receive(text: string): void {
		const incoming = decode(text);
		if (!incoming) {
			console.warn("a frame outside the contract was ignored");
			return;
		}
		if (incoming.type === "push") {
			this.onPush(incoming.push);
			return;
		}
		if (incoming.type === "unknown" || incoming.id === null) return;
		const waiting = this.waiting.get(incoming.id);
		if (!waiting) return;
		this.waiting.delete(incoming.id);
		clearTimeout(waiting.timer);
		if (incoming.type === "error") {
			waiting.reject(
				new RpcError(incoming.code, incoming.message, incoming.reason as AppCode | undefined),
			);
			return;
		}
		const result = decodeResult(waiting.method, incoming.result);
		if (result === undefined) {
			waiting.reject(
				new LinkError("unreadable", `the answer to ${waiting.method} is not in the contract`),
			);
		} else {
			waiting.resolve(result);
		}
	}

	/** Ends every request that still waits. Whether it was carried out is unknown. */
	close(): void {
		this.closed = true;
		const lost = [...this.waiting.values()];
		this.waiting.clear();
		for (const waiting of lost) {
			clearTimeout(waiting.timer);
			waiting.reject(
				new LinkError("lost", `the connection ended before ${waiting.method} was answered`),
			);
		}
	}
}
