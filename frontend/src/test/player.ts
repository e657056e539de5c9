import { LinkError, RpcError } from "@/link/errors";
import { Link } from "@/link/link";
import type { Channel, Transport } from "@/link/transport";
import { App, type ErrorReader } from "@/state/app";
import type { SessionState, TimelineItem } from "@/state/session";

/** A socket as Node's `ws` has it, as far as a player needs one. */
interface Socket {
	on(event: "open" | "error", handler: () => void): void;
	on(event: "message", handler: (data: unknown) => void): void;
	on(event: "close", handler: (code: number, reason: unknown) => void): void;
	send(frame: string): void;
	terminate(): void;
	close(): void;
}

const reader: ErrorReader = {
	message: (error) => (error instanceof Error ? error.message : String(error)),
	isAway: (error) => error instanceof LinkError && (error.kind === "away" || error.kind === "lost"),
	reason: (error) => (error instanceof RpcError ? error.reason : undefined),
};

/**
 * A client without a page: the program's own link and stores, over a socket that can be cut. `tap` sees
 * every frame, `sent` by the client or `got` from the server.
 */
export function player(
	name: string,
	connect: () => Socket,
	tap: (way: "sent" | "got", frame: string) => void = () => undefined,
) {
	let socket: Socket | undefined;
	const transport: Transport = {
		kind: "test",
		open: (handlers) =>
			new Promise<Channel>((resolve, reject) => {
				const mine = connect();
				socket = mine;
				let open = true;
				const end = (reason: string) => {
					if (!open) return;
					open = false;
					handlers.onClose(reason);
					reject(new Error("closed"));
				};
				mine.on("open", () =>
					resolve({
						send: (frame) => {
							tap("sent", frame);
							mine.send(frame);
						},
						close: () => {
							end("");
							mine.close();
						},
					}),
				);
				mine.on("message", (data) => {
					if (!open) return;
					tap("got", String(data));
					handlers.onFrame(String(data));
				});
				mine.on("close", (_, reason) => end(String(reason)));
				mine.on("error", () => undefined);
			}),
	};
	const link = new Link({ transport, client: { name, version: "1" } });
	const app = new App(
		link,
		reader,
		() => Promise.reject(new Error("no options here")),
		(flush) => setTimeout(flush, 0),
	);
	// Somebody sits there, or nobody would be asked.
	link.onOpen(() => void link.call("presence/update", { active: true }).catch(() => undefined));
	link.start();
	return {
		app,
		link,
		/** Cuts the line as a lost network does: nobody says goodbye. */
		cut: () => socket?.terminate(),
		isOpen: () => link.connection.getState().phase === "open",
		stop: () => link.stop(),
		/** What a person would see of a session. */
		picture: (id: string) => picture(app.look(id).store.getState()),
		/** What stands in the list. */
		list: () =>
			[...app.lists.store.getState().byId.values()]
				.map(({ id, title, archived, running, attention, tokens, lastActivityAt }) => ({
					id,
					title,
					archived,
					running,
					attention,
					tokens,
					lastActivityAt,
				}))
				.sort((a, b) => (a.id < b.id ? -1 : 1)),
		/** What has not come to rest: sessions in which something runs or waits, messages on their way. */
		unrest: (ids: readonly string[]) =>
			ids.flatMap((id) => {
				const session = app.look(id);
				const { phase, summary, queue } = session.store.getState();
				const outbox = session.outbox.getState();
				// What was said to a session that somebody deletes stays with whoever said it, as failed.
				const way = outbox.filter(({ state }) => phase !== "gone" || state !== "failed");
				const rests = phase === "live" && summary?.running !== true && !queue?.entries.length;
				if ((phase === "gone" || rests) && way.length === 0) return [];
				return [{ id, phase, running: summary?.running, queue: queue?.entries, outbox }];
			}),
	};
}

export type Player = ReturnType<typeof player>;

// Some things are shown while they happen and are no part of a conversation afterwards: how a
// compression goes (SP-REFR-02), a call that was never made (SP-TOOL-14), words that led to nothing
// (SP-REFR-08), and thinking of a turn that was cut off.
const fleeting = (item: TimelineItem, cut: ReadonlySet<string>): boolean =>
	(item.kind === "notice" && item.topic === "compress") ||
	(item.kind === "tool-call" && item.notExecuted === true) ||
	((item.kind === "agent-message" || item.kind === "reasoning") && cut.has(item.turnId ?? ""));

function picture(state: SessionState) {
	const cut = new Set(
		state.items.flatMap((item) =>
			item.kind === "turn" && item.outcome !== "replied" ? [item.turnId ?? item.itemId] : [],
		),
	);
	return {
		phase: state.phase,
		items: state.items.filter((item) => item.kind !== "turn" && !fleeting(item, cut)),
		// Where a turn's end is drawn goes by the last of its items, fleeting ones among them.
		turns: state.items.filter((item) => item.kind === "turn"),
		plan: state.plan?.items ?? [],
		queue: state.queue?.entries ?? [],
		usage: state.usage && { ...state.usage, at: 0 },
		title: state.summary?.title,
	};
}
