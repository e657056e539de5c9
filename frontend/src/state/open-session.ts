import { createStore, type StoreApi } from "zustand/vanilla";
import type { Approval, SessionItem, ToolCallItem } from "@/contract/session.gen";
import { encodeFile } from "./draft-files";
import { type OutboxAction, type OutboxEntry, reduceOutbox } from "./outbox";
import type { Port } from "./port";
import {
	noQueueEdits,
	type QueueEditAction,
	type QueueEdits,
	reduceQueueEdits,
} from "./queue-edits";
import {
	emptySession,
	reducePushes,
	reduceSession,
	type SessionAction,
	type SessionPush,
	type SessionState,
} from "./session";
import { storage } from "./storage";

/** Runs `flush` soon; many calls before it runs are one. */
export type Schedule = (flush: () => void) => void;

/** Faster than this nobody reads, and every flush costs a layout. */
const SPACING_MS = 25;
/** A hidden page has no animation frames, so a timer stands behind. */
const WITHOUT_FRAMES_MS = 120;

function frames(): Schedule {
	let last = Number.NEGATIVE_INFINITY;
	return (flush) => {
		let done = false;
		const now = () => {
			if (done) return;
			done = true;
			last = performance.now();
			flush();
		};
		const frame = () => {
			if (performance.now() - last < SPACING_MS) requestAnimationFrame(frame);
			else now();
		};
		requestAnimationFrame(frame);
		setTimeout(now, WITHOUT_FRAMES_MS);
	};
}

export interface SessionEvents {
	/** A snapshot told what is pending in this session. */
	approvals(sessionId: string, approvals: Approval[]): void;
	/** A card shows how its approval ended. */
	settledCard(item: ToolCallItem): void;
	/** A request failed for a reason that is not the connection's. */
	reason(error: unknown): string;
	isAway(error: unknown): boolean;
	isMissing(error: unknown): boolean;
}

const HISTORY_LIMIT = 100;
/** A reader far up is followed over a reconnect for at most this many pages. */
const FOLLOW_PAGES = 20;

/**
 * One session that somebody looks at: its store, its subscription, its unsent messages. It subscribes
 * when asked to, again whenever its state has become stale, and applies pushes once per frame.
 */
export class OpenSession {
	readonly store = createStore<SessionState>(() => emptySession);
	readonly outbox: StoreApi<readonly OutboxEntry[]>;
	readonly queueEdits = createStore<QueueEdits>(() => noQueueEdits);
	/** The item the reader's eye rests on; undefined at the bottom. Kept by the timeline. */
	anchor: string | undefined;
	/** An item that is to be brought before the reader, until it has been. */
	readonly sought = createStore<{ readonly itemId?: string }>(() => ({}));
	private queue: SessionPush[] = [];
	private scheduled = false;
	private subscribing: Promise<void> | undefined;
	private connected = false;
	/** The files of messages that are on their way or wait to enter a turn, by clientId. */
	private readonly bodies = new Map<string, readonly File[]>();

	constructor(
		readonly id: string,
		private readonly port: Port,
		private readonly events: SessionEvents,
		private readonly schedule: Schedule = frames(),
	) {
		this.outbox = createStore<readonly OutboxEntry[]>(() => readOutbox(id));
		this.store.subscribe(({ queue }, before) => {
			if (queue === before.queue) return;
			const inputIds = new Set(queue?.entries.flatMap(({ ext }) => ext?.inputId ?? []));
			this.editQueue({ type: "queue", inputIds });
		});
	}

	seek(itemId: string | undefined): void {
		this.sought.setState(itemId === undefined ? {} : { itemId }, true);
	}

	/** The connection is there: whatever was shown has to be proven by a new snapshot. */
	open(): void {
		this.connected = true;
		void this.subscribe();
		for (const entry of this.outbox.getState()) {
			if (entry.state === "sending") void this.deliver(entry);
		}
	}

	close(): void {
		this.connected = false;
		this.queue = [];
		this.dispatch({ type: "disconnected" });
	}

	push(push: SessionPush): void {
		this.queue.push(push);
		if (this.scheduled) return;
		this.scheduled = true;
		this.schedule(() => {
			this.scheduled = false;
			this.flush();
		});
	}

	flush(): void {
		const pushes = this.queue;
		this.queue = [];
		if (pushes.length > 0) {
			this.store.setState(reducePushes(this.store.getState(), pushes), true);
			this.noticeItems(
				pushes.flatMap((push) => ("item" in push.params ? (push.params.item as SessionItem) : [])),
			);
		}
		if (this.store.getState().phase === "stale") void this.subscribe();
	}

	subscribe(): Promise<void> {
		if (!this.connected) return Promise.resolve();
		this.subscribing ??= this.fetchSnapshot().finally(() => {
			this.subscribing = undefined;
			// Made stale again while the snapshot was under way.
			if (this.connected && this.store.getState().phase === "stale" && this.ok)
				void this.subscribe();
		});
		return this.subscribing;
	}

	private ok = true;

	private async fetchSnapshot(): Promise<void> {
		const { anchor } = this;
		this.flushQuietly();
		this.dispatch({ type: "subscribing" });
		try {
			const snapshot = await this.port.call("session/subscribe", { sessionId: this.id });
			const older = await this.pagesUpTo(anchor, snapshot.items, snapshot.before);
			this.flushQuietly();
			this.dispatch({ type: "snapshot", snapshot, ...older });
			this.events.approvals(this.id, snapshot.approvals);
			this.noticeItems(snapshot.items);
			const acknowledged = this.outbox.getState().filter((entry) => entry.state === "sent");
			this.changeOutbox({ type: "seen", clientIds: new Set(acknowledged.map((e) => e.clientId)) });
			this.ok = true;
		} catch (error) {
			this.ok = false;
			if (this.events.isMissing(error)) this.dispatch({ type: "gone" });
			else if (!this.events.isAway(error)) {
				this.dispatch({ type: "failed", message: this.events.reason(error) });
			}
		}
	}

	// Pushes that already arrived are handed to the reducer before a snapshot is, which sorts them out
	// by epoch and seq; left in the queue they would be taken for later ones.
	private flushQuietly(): void {
		const pushes = this.queue;
		this.queue = [];
		if (pushes.length > 0) this.store.setState(reducePushes(this.store.getState(), pushes), true);
	}

	// A reader who has scrolled up keeps the place: the pages in between are read again, because what
	// was loaded before the break may have been rewritten since.
	private async pagesUpTo(anchor: string | undefined, items: SessionItem[], before?: string) {
		if (anchor === undefined || items.some((item) => item.itemId === anchor)) return {};
		let pages: SessionItem[] = [];
		let cursor = before;
		for (let n = 0; cursor !== undefined && n < FOLLOW_PAGES; n++) {
			const page = await this.port.call("session/history", {
				sessionId: this.id,
				before: cursor,
				limit: HISTORY_LIMIT,
			});
			pages = [...page.items, ...pages];
			cursor = page.before;
			if (page.items.some((item) => item.itemId === anchor)) break;
		}
		return { older: pages, ...(cursor === undefined ? {} : { before: cursor }) };
	}

	async loadOlder(): Promise<void> {
		const { before, older, phase } = this.store.getState();
		if (before === undefined || older === "loading" || phase !== "live") return;
		this.dispatch({ type: "older-loading" });
		try {
			const page = await this.port.call("session/history", {
				sessionId: this.id,
				before,
				limit: HISTORY_LIMIT,
			});
			this.dispatch({
				type: "older",
				after: before,
				items: page.items,
				...(page.before === undefined ? {} : { before: page.before }),
			});
		} catch (error) {
			// The place it pointed to was rewound away: only a new snapshot knows the beginning.
			if (this.events.isMissing(error)) await this.subscribe();
			else this.dispatch({ type: "older-failed" });
		}
	}

	/** Sends one message. Returns at once; the outbox shows how it goes. */
	send(text: string, files: readonly File[] = []): void {
		const entry: OutboxEntry = {
			clientId: crypto.randomUUID(),
			text,
			...(files.length > 0 ? { files: files.map(({ name }) => name) } : {}),
			at: Date.now(),
			state: "sending",
		};
		if (files.length > 0) this.bodies.set(entry.clientId, files);
		this.changeOutbox({ type: "add", entry });
		void this.deliver(entry);
	}

	retry(clientId: string): void {
		const entry = this.outbox.getState().find((other) => other.clientId === clientId);
		if (!entry || entry.lost) return;
		this.changeOutbox({ type: "sending", clientId });
		void this.deliver(entry);
	}

	discard(clientId: string): void {
		this.bodies.delete(clientId);
		this.changeOutbox({ type: "discard", clientId });
	}

	/** The files of a message that was taken back; they are the caller's from then on. */
	reclaim(clientId: string): readonly File[] {
		const files = this.bodies.get(clientId) ?? [];
		this.bodies.delete(clientId);
		return files;
	}

	editQueue(action: QueueEditAction): void {
		this.queueEdits.setState(reduceQueueEdits(this.queueEdits.getState(), action), true);
	}

	/** Hands over the words whose message waits no longer; they are the caller's from then on. */
	takeHomeless(): readonly string[] {
		const { homeless } = this.queueEdits.getState();
		if (homeless.length > 0) this.editQueue({ type: "rehomed" });
		return homeless;
	}

	/** Something was typed here that no server has yet. */
	get unfinished(): boolean {
		const { open, homeless } = this.queueEdits.getState();
		return this.outbox.getState().length > 0 || open.size > 0 || homeless.length > 0;
	}

	/** Files that are being read; messages behind them wait, because they leave in order. */
	private reading: Promise<unknown> | undefined;

	private async encoded(clientId: string) {
		const files = this.bodies.get(clientId);
		if (!files && !this.reading) return [];
		const mine = (this.reading ?? Promise.resolve()).then(() =>
			Promise.all((files ?? []).map(encodeFile)),
		);
		const settled = mine
			.catch(() => undefined)
			.then(() => {
				if (this.reading === settled) this.reading = undefined;
			});
		this.reading = settled;
		return mine;
	}

	private async deliver({ clientId, text }: OutboxEntry): Promise<void> {
		try {
			const attachments = await this.encoded(clientId);
			await this.port.call("turn/send", {
				sessionId: this.id,
				content: text,
				...(attachments.length > 0 ? { attachments } : {}),
				ext: { clientId },
			});
			this.changeOutbox({ type: "sent", clientId });
			this.noticeSeen();
		} catch (error) {
			// Without a connection it waits for the next one: the clientId makes it one message.
			if (this.events.isAway(error)) return;
			this.changeOutbox({ type: "failed", clientId, message: this.events.reason(error) });
		}
	}

	private dispatch(action: SessionAction): void {
		this.store.setState(reduceSession(this.store.getState(), action), true);
	}

	/** The list was told a newer summary than the snapshot's. */
	summary(summary: NonNullable<SessionState["summary"]>): void {
		if (this.store.getState().phase !== "gone") this.dispatch({ type: "summary", summary });
	}

	gone(): void {
		this.dispatch({ type: "gone" });
	}

	private noticeItems(items: readonly SessionItem[]): void {
		for (const item of items) {
			if (item.kind === "tool-call" && item.settlement) this.events.settledCard(item);
			// What has entered its turn is not taken back any more.
			if (item.kind === "user-message" && item.ext) this.bodies.delete(item.ext.clientId);
		}
		this.noticeSeen();
	}

	private noticeSeen(): void {
		if (this.outbox.getState().length === 0) return;
		const { items, queue } = this.store.getState();
		const seen = new Set<string>();
		for (const item of items) {
			if (item.kind === "user-message" && item.ext) seen.add(item.ext.clientId);
		}
		for (const entry of queue?.entries ?? []) if (entry.ext?.clientId) seen.add(entry.ext.clientId);
		this.changeOutbox({ type: "seen", clientIds: seen });
	}

	private changeOutbox(action: OutboxAction): void {
		const next = reduceOutbox(this.outbox.getState(), action);
		this.outbox.setState(next, true);
		const kept = next.filter((entry) => entry.state !== "sent");
		storage.set(`outbox.${this.id}`, kept.length > 0 ? JSON.stringify(kept) : undefined);
	}
}

// After a reload nobody knows whether the request got through; sending it again is safe, but an old
// message should not leave by itself.
function readOutbox(id: string): readonly OutboxEntry[] {
	try {
		const kept: unknown = JSON.parse(storage.get(`outbox.${id}`) ?? "[]");
		if (!Array.isArray(kept)) return [];
		return kept.flatMap((entry: Partial<OutboxEntry>) =>
			typeof entry.clientId === "string" && typeof entry.text === "string"
				? {
						clientId: entry.clientId,
						text: entry.text,
						...(Array.isArray(entry.files) && entry.files.length > 0
							? { files: entry.files.map(String), lost: true as const }
							: {}),
						at: entry.at ?? 0,
						state: "failed" as const,
					}
				: [],
		);
	} catch {
		return [];
	}
}
