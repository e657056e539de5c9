import type {
	InitializeResult,
	SessionMethodName,
	SessionMethodParams,
	SessionMethodResult,
	SessionNotificationName,
	SessionNotificationParams,
} from "@/contract/session.gen";

export type Push = {
	[N in SessionNotificationName]: { method: N; params: SessionNotificationParams<N> };
}[SessionNotificationName];

/** What the stores need of a connection. The link fills it; tests fill it with plain functions. */
export interface Port {
	/** Rejects at once when there is no connection. */
	call<M extends SessionMethodName>(
		method: M,
		params: SessionMethodParams<M>,
	): Promise<SessionMethodResult<M>>;
	onPush(handler: (push: Push) => void): () => void;
	/** Called after every handshake, before any push of that connection. */
	onOpen(handler: (init: InitializeResult) => void): () => void;
	onClose(handler: () => void): () => void;
}
