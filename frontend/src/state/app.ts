import { createStore } from "zustand/vanilla";
import type { Decision, Features, InitializeResult, ToolCallItem } from "@/contract/session.gen";
import { type ApprovalsAction, emptyApprovals, reduceApprovals } from "./approvals";
import { SessionLists } from "./lists";
import { OpenSession, type Schedule, type SessionEvents } from "./open-session";
import type { Port, Push } from "./port";
import type { SessionPush } from "./session";

export interface HostState {
	/** The latest handshake; absent before the first. */
	readonly init?: InitializeResult;
	readonly features: Features;
	readonly appName: string;
}

export interface Toast {
	readonly id: number;
	readonly text: string;
	readonly tone: "error" | "plain";
}

/** How errors of the connection are told apart; filled from the link's error types. */
export interface ErrorReader {
	/** The sentence for a person. */
	message(error: unknown): string;
	/** No connection, or it ended before the answer. */
	isAway(error: unknown): boolean;
	reason(error: unknown): string | undefined;
}

/** Sessions that stay subscribed after the person has left them, so that going back is instant. */
const KEPT = 3;

const nothing: Features = { send: false, rewind: false, compress: false, settings: false };

/**
 * Everything a window knows, and the one place where pushes meet stores. It owns no connection: it
 * asks again after each handshake (watch, lists, subscriptions) and waits for nothing else.
 */
export class App {
	readonly host = createStore<HostState>(() => ({ features: nothing, appName: "Aalis" }));
	readonly lists: SessionLists;
	readonly approvals = createStore(() => emptyApprovals);
	readonly toasts = createStore<readonly Toast[]>(() => []);
	private readonly open = new Map<string, OpenSession>();
	/** How many components look at a session now. */
	private readonly looking = new Map<string, number>();
	private connected = false;
	private nextToast = 1;
	private readonly askedFor = new Set<string>();

	constructor(
		private readonly port: Port,
		private readonly errors: ErrorReader,
		private readonly schedule?: Schedule,
	) {
		this.lists = new SessionLists(port);
		port.onOpen((init) => this.opened(init));
		port.onClose(() => this.closed());
		port.onPush((push) => this.push(push));
	}

	private opened(init: InitializeResult): void {
		this.connected = true;
		this.host.setState({ init, features: init.features, appName: init.appName }, true);
		// What is pending is told again: by presence, and by the snapshots of open sessions.
		this.approve({ type: "reset" });
		// Watching first, then reading: nothing can fall in between.
		void this.port.call("sessions/watch", {}).catch(() => undefined);
		this.lists.opened();
		for (const session of this.open.values()) session.open();
	}

	private closed(): void {
		this.connected = false;
		for (const session of this.open.values()) session.close();
	}

	private push(push: Push): void {
		switch (push.method) {
			case "features/changed":
				this.host.setState({ features: push.params.features });
				return;
			case "sessions/changed":
				this.lists.changed(push.params);
				for (const summary of push.params.upserts) this.open.get(summary.id)?.summary(summary);
				for (const id of push.params.removes) this.removed(id);
				return;
			case "approval/requested":
				this.approve({ type: "requested", approval: push.params.approval });
				return;
			case "approval/settled": {
				const { approvalId, ...settlement } = push.params;
				this.approve({ type: "settled", id: approvalId, settlement });
				return;
			}
			case "item/started":
			case "item/delta":
			case "item/completed":
			case "session/resync":
				this.open.get(push.params.sessionId)?.push(push as SessionPush);
				return;
			default:
				// Settings and background tasks have no surface here.
				return;
		}
	}

	private removed(id: string): void {
		this.open.get(id)?.gone();
		this.approve({ type: "session-removed", sessionId: id });
	}

	private approve(action: ApprovalsAction): void {
		this.approvals.setState(reduceApprovals(this.approvals.getState(), action), true);
	}

	// ---- open sessions ---------------------------------------------------------------------------

	/** Opens a session for somebody who looks at it, until `leave`. */
	look(id: string): OpenSession {
		const known = this.open.get(id);
		const session = known ?? new OpenSession(id, this.port, this.sessionEvents, this.schedule);
		// Re-inserting makes it the most recently used.
		this.open.delete(id);
		this.open.set(id, session);
		if (!known && this.connected) session.open();
		return session;
	}

	enter(id: string): () => void {
		this.looking.set(id, (this.looking.get(id) ?? 0) + 1);
		return () => {
			const left = (this.looking.get(id) ?? 1) - 1;
			if (left > 0) this.looking.set(id, left);
			else this.looking.delete(id);
			this.forgetUnused();
		};
	}

	private forgetUnused(): void {
		// A session with a message on its way stays until that has arrived.
		const unused = [...this.open.values()]
			.filter(({ id, outbox }) => !this.looking.has(id) && outbox.getState().length === 0)
			.map(({ id }) => id);
		for (const id of unused.slice(0, Math.max(0, unused.length - KEPT))) {
			this.open.delete(id);
			this.port.call("session/unsubscribe", { sessionId: id }).catch(() => undefined);
		}
	}

	private readonly sessionEvents: SessionEvents = {
		approvals: (sessionId, approvals) => this.approve({ type: "snapshot", sessionId, approvals }),
		settledCard: (item: ToolCallItem) => {
			const pending = item.approvalId && this.approvals.getState().pending.has(item.approvalId);
			if (item.approvalId && item.settlement && pending) {
				this.approve({ type: "settled", id: item.approvalId, settlement: item.settlement });
			}
		},
		reason: (error) => this.errors.message(error),
		isAway: (error) => this.errors.isAway(error),
		isMissing: (error) => this.errors.reason(error) === "not-found",
	};

	/** Creates a session named after its first message and sends that. Resolves with its id. */
	async start(text: string): Promise<string> {
		const name = nameFrom(text);
		const { session } = await this.port.call("session/create", name === "" ? {} : { name });
		this.lists.changed({ upserts: [session], removes: [] });
		this.look(session.id).send(text);
		return session.id;
	}

	/** Says that the owner has seen what is there (SP-UNREAD-07). */
	markSeen(sessionId: string): void {
		this.port.call("session/markSeen", { sessionId }).catch(() => undefined);
	}

	/** Runs a request whose failure a person should hear about. True when it succeeded. */
	async attempt(request: Promise<unknown>): Promise<boolean> {
		try {
			await request;
			return true;
		} catch (error) {
			this.toast(this.errors.message(error), "error");
			return false;
		}
	}

	rename = (sessionId: string, title: string) =>
		this.attempt(this.port.call("session/rename", { sessionId, title }));
	archive = (sessionId: string) => this.attempt(this.port.call("session/archive", { sessionId }));
	unarchive = (sessionId: string) =>
		this.attempt(this.port.call("session/unarchive", { sessionId }));
	remove = (sessionId: string) => this.attempt(this.port.call("session/delete", { sessionId }));
	/** Empties the session's plan (SP-TURN-17). */
	clearPlan = (sessionId: string) => this.attempt(this.port.call("plan/clear", { sessionId }));
	proceed = (sessionId: string) => this.attempt(this.port.call("turn/continue", { sessionId }));

	/** Stops the turn that runs; a turn that just ended is no error. */
	async stop(sessionId: string, turnId: string | undefined): Promise<void> {
		try {
			await this.port.call(
				"turn/abort",
				turnId === undefined ? { sessionId } : { sessionId, turnId },
			);
		} catch (error) {
			if (this.errors.reason(error) === "expected-turn-mismatch") return;
			this.toast(this.errors.message(error), "error");
		}
	}

	// ---- approvals -------------------------------------------------------------------------------

	/** Answers an approval with the hash it came with (SP-APPR-28). */
	async answer(id: string, decision: Decision, note = ""): Promise<void> {
		const pending = this.approvals.getState().pending.get(id);
		if (!pending || pending.answer === "sending" || pending.answer === "taken") return;
		const { approval } = pending;
		this.approve({ type: "answering", id });
		try {
			await this.port.call("approval/respond", {
				approvalId: id,
				decision,
				contentHash: approval.contentHash,
				...(note.trim() === "" ? {} : { note: note.trim() }),
			});
			this.approve({ type: "answered", id });
		} catch (error) {
			const reason = this.errors.reason(error);
			const gone = reason === "approval-settled" || reason === "not-found";
			const message = this.errors.message(error);
			this.approve({ type: "refused", id, message, gone });
			if (gone) this.toast(message, "plain");
			if (gone || reason === "hash-mismatch") void this.open.get(approval.sessionId)?.subscribe();
		}
	}

	/** A card waits for an approval that nobody told us about: the snapshot has it (SP-APPR-12). */
	seek(sessionId: string, approvalId: string): void {
		if (this.askedFor.has(approvalId)) return;
		this.askedFor.add(approvalId);
		void this.open.get(sessionId)?.subscribe();
	}

	// ---- toasts ----------------------------------------------------------------------------------

	toast(text: string, tone: Toast["tone"] = "plain"): void {
		const toast = { id: this.nextToast++, text, tone };
		this.toasts.setState([...this.toasts.getState().slice(-2), toast], true);
	}

	dismiss(id: number): void {
		this.toasts.setState(
			this.toasts.getState().filter((toast) => toast.id !== id),
			true,
		);
	}
}

const NAME_LENGTH = 60;

/** The first line of a message, short enough for a row. */
export function nameFrom(text: string): string {
	const line = text.trim().split("\n", 1)[0]?.replace(/\s+/g, " ").trim() ?? "";
	const letters = [...line];
	return letters.length > NAME_LENGTH
		? `${letters
				.slice(0, NAME_LENGTH - 1)
				.join("")
				.trimEnd()}…`
		: line;
}
