/**
 * The two ways to carry frames. Both give one ordered channel per call of `open`; neither knows what
 * a frame means. A channel that has closed is never used again.
 */
export interface Channel {
	send(frame: string): void;
	close(): void;
}

export interface ChannelHandlers {
	onFrame(frame: string): void;
	/** Called once, also when the channel never opened. `reason` is the server's sentence, if any. */
	onClose(reason: string): void;
}

export interface Transport {
	readonly kind: "window" | "tab" | "test";
	/** Resolves when frames may be sent; rejects (after onClose or instead of it) when that fails. */
	open(handlers: ChannelHandlers): Promise<Channel>;
}

/**
 * The desktop window's transport. Every bound call runs in a goroutine of its own, so calls that do
 * not wait for each other arrive in any order: one promise chain keeps them in ours. Events sent
 * before somebody listens are lost: listen first, then Open.
 */
export function windowTransport(): Transport {
	return {
		kind: "window",
		async open(handlers) {
			const bridge = window.go?.app?.Bridge;
			const runtime = window.runtime;
			if (!bridge || !runtime) throw new Error("the window has no bridge");
			let open = true;
			const stop = [
				runtime.EventsOn("frame", (frame) => {
					if (open) handlers.onFrame(String(frame));
				}),
				runtime.EventsOn("disconnect", (reason) => end(reason === undefined ? "" : String(reason))),
			];
			const end = (reason: string) => {
				if (!open) return;
				open = false;
				for (const off of stop) off();
				handlers.onClose(reason);
			};
			let tail: Promise<unknown> = Promise.resolve();
			try {
				await bridge.Open();
			} catch (error) {
				end("");
				throw error;
			}
			return {
				send(frame) {
					tail = tail.then(() => (open ? bridge.Send(frame) : undefined)).catch(() => end(""));
				},
				close: () => end(""),
			};
		},
	};
}

/** A tab's transport: the WebSocket beside the page, by cookie or, when given, by bearer. */
export function tabTransport(bearer: () => string | undefined): Transport {
	return {
		kind: "tab",
		open(handlers) {
			return new Promise((resolve, reject) => {
				const scheme = location.protocol === "https:" ? "wss:" : "ws:";
				const token = bearer();
				const socket = new WebSocket(
					`${scheme}//${location.host}/session`,
					token ? [`aalis.bearer.${token}`] : [],
				);
				let open = true;
				const end = (reason: string) => {
					if (!open) return;
					open = false;
					handlers.onClose(reason);
					reject(new Error("the socket closed before it opened"));
				};
				const channel: Channel = {
					send: (frame) => {
						if (socket.readyState === WebSocket.OPEN) socket.send(frame);
					},
					close: () => {
						end("");
						socket.close();
					},
				};
				socket.onopen = () => {
					if (open) resolve(channel);
					else socket.close();
				};
				socket.onmessage = (event) => {
					if (open && typeof event.data === "string") handlers.onFrame(event.data);
				};
				socket.onclose = (event) => end(event.reason);
				socket.onerror = () => {
					// A close event always follows and says what there is to say.
				};
				abortOnTimeout(socket, () => open && socket.readyState === WebSocket.CONNECTING, end);
			});
		},
	};
}

/** How long a connection may take from its first byte to a finished handshake. */
export const HANDSHAKE_TIMEOUT_MS = 10_000;

// A browser waits for minutes on a listener that accepts and never answers, and holds back other
// sockets to the same host meanwhile; closing the socket frees that place.
function abortOnTimeout(socket: WebSocket, waiting: () => boolean, end: (reason: string) => void) {
	setTimeout(() => {
		if (!waiting()) return;
		end("");
		socket.close();
	}, HANDSHAKE_TIMEOUT_MS);
}
