import { afterEach, beforeEach, vi } from "vitest";
import { Link } from "@/link/link";
import type { ChannelHandlers, Transport } from "@/link/transport";
import { errorReader } from "@/shell/read-error";
import { App } from "@/state/app";
import type { FakeConnection, FakeServer } from "./fake-server";

/** How the wire behaves. `hang` accepts and never answers; `mute` swallows what is sent from now on. */
export type Wire = "up" | "down" | "hang" | "mute";

/** A transport over a fake server whose wire a test can cut, silence and join again. */
export class FakeTransport implements Transport {
	readonly kind = "test";
	wire: Wire = "up";
	opened = 0;
	private live:
		| { handlers: ChannelHandlers; connection: FakeConnection; closed: boolean }
		| undefined;
	/** Sees every frame the server sends; returning false loses it. */
	filter: (frame: string) => boolean = () => true;
	/** Every frame the client sends. */
	readonly sent: string[] = [];

	constructor(private readonly server: FakeServer) {}

	async open(handlers: ChannelHandlers) {
		this.opened++;
		if (this.wire === "hang") return new Promise<never>(() => undefined);
		if (this.wire === "down") throw new Error("nobody listens");
		const state = { handlers, closed: false } as NonNullable<FakeTransport["live"]>;
		state.connection = this.server.connect(
			(frame) => {
				if (!this.filter(frame)) return;
				// Behind the caller's own work, as from a socket, and in order.
				queueMicrotask(() => {
					if (!state.closed && this.wire !== "mute") handlers.onFrame(frame);
				});
			},
			(reason) => this.end(state, reason),
		);
		this.live = state;
		return {
			send: (frame: string) => {
				this.sent.push(frame);
				if (!state.closed && this.wire !== "mute") state.connection.receive(frame);
			},
			close: () => {
				state.closed = true;
				state.connection.close();
			},
		};
	}

	/** The connection breaks; what was on its way is lost. */
	cut(): void {
		if (this.live) this.end(this.live, "");
	}

	private end(state: NonNullable<FakeTransport["live"]>, reason: string): void {
		if (state.closed) return;
		state.closed = true;
		state.connection.close();
		state.handlers.onClose(reason);
	}
}

/** A link and an app over a fake server; pushes are applied at once. */
export function client(server: FakeServer) {
	const transport = new FakeTransport(server);
	const link = new Link({
		transport,
		client: { name: "test", version: "1" },
		random: () => 1,
	});
	const app = new App(
		link,
		errorReader,
		async (service, dependency) => server.options(service, dependency),
		(flush) => queueMicrotask(flush),
	);
	return { transport, link, app };
}

/** Lets everything that is ready happen, without moving time. */
export async function settle(): Promise<void> {
	for (let n = 0; n < 30; n++) await Promise.resolve();
}

/** Time stands still in every test of a file, but for what `soon` lets pass. */
export function stillTime(): void {
	beforeEach(() => {
		vi.useFakeTimers();
	});
	afterEach(() => {
		vi.useRealTimers();
	});
}

export const soon = (ms = 5) => vi.advanceTimersByTimeAsync(ms);

/** A client that has shaken hands and read its lists. */
export async function started(server: FakeServer) {
	const parts = client(server);
	parts.link.start();
	await soon();
	return parts;
}
