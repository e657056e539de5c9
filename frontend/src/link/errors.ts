import type { AppCode } from "@/contract/session.gen";

/** What the server answered instead of a result. `message` is a sentence in the reader's language. */
export class RpcError extends Error {
	override readonly name = "RpcError";
	constructor(
		readonly code: number,
		message: string,
		/** The reason of an application error; absent for the other codes. */
		readonly reason?: AppCode,
	) {
		super(message);
	}
}

/**
 * No answer came. `lost` means the request may have been carried out: the connection ended, or the
 * answer was unreadable, after it had been handed over.
 */
export class LinkError extends Error {
	override readonly name = "LinkError";
	constructor(
		readonly kind: "away" | "lost" | "timeout" | "unreadable",
		message: string,
	) {
		super(message);
	}
}

/** True when the server itself said no, so that asking again would get the same answer. */
export const isRefusal = (error: unknown, reason?: AppCode): error is RpcError =>
	error instanceof RpcError && (reason === undefined || error.reason === reason);
