import { createStore } from "zustand/vanilla";
import type {
	Decision,
	Features,
	HostExt,
	InitializeResult,
	ToolCallItem,
} from "@/contract/session.gen";
import { type ApprovalsAction, emptyApprovals, reduceApprovals } from "./approvals";
import { BackgroundTasks } from "./background-tasks";
import { DraftFiles } from "./draft-files";
import { SessionLists } from "./lists";
import { OpenSession, type Schedule, type SessionEvents } from "./open-session";
import { Places, placeToSay } from "./places";
import type { Port, Push } from "./port";
import { Rewinds } from "./rewind";
import { type RuleScope, remember } from "./rules";
import type { SessionPush } from "./session";
import { type OptionsPort, SettingsStore } from "./settings";

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
	/** What can be done about it. */
	readonly action?: { readonly label: string; run(): void };
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
	readonly settings: SettingsStore;
	readonly rewinds: Rewinds;
	readonly background: BackgroundTasks;
	readonly places: Places;
	readonly draftFiles = new DraftFiles();
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
		options: OptionsPort,
		private readonly schedule?: Schedule,
	) {
		this.lists = new SessionLists(port);
		this.settings = new SettingsStore(port, errors, options);
		this.rewinds = new Rewinds(port, (error) => errors.message(error));
		this.background = new BackgroundTasks(port, errors);
		this.places = new Places(port, (error) => errors.isAway(error));
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
		this.settings.opened(init.features.settings);
		this.background.opened();
		this.places.opened();
		for (const session of this.open.values()) session.open();
	}

	/** The host may speak another language from now on. */
	private hear(ext: HostExt | undefined): void {
		const { init } = this.host.getState();
		if (ext && init) this.host.setState({ init: { ...init, ext } });
	}

	private closed(): void {
		this.connected = false;
		this.settings.closed();
		this.background.closed();
		for (const session of this.open.values()) session.close();
	}

	private push(push: Push): void {
		switch (push.method) {
			case "features/changed":
				this.host.setState({ features: push.params.features });
				this.settings.service(push.params.features.settings);
				return;
			case "session/config/changed":
				this.hear(push.params.ext);
				this.settings.changed();
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
			case "background/changed":
				this.background.changed(push.params);
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
		// A session with a message on its way, or half a change, stays until that has arrived.
		const unused = [...this.open.values()]
			.filter((session) => !this.looking.has(session.id) && !session.unfinished)
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

	/**
	 * Creates a session at the chosen place and sends its first message; the server names it. Resolves
	 * with its id.
	 */
	async start(text: string, files: readonly File[] = []): Promise<string> {
		const place = placeToSay(this.places.store.getState());
		const params = place === undefined ? {} : { ext: { place } };
		const { session } = await this.port.call("session/create", params).catch((error: unknown) => {
			// The folder may have been taken off the list by somebody else.
			if (place !== undefined) void this.places.read();
			throw error;
		});
		this.lists.changed({ upserts: [session], removes: [] });
		this.look(session.id).send(text, files);
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
			this.failed(error);
			return false;
		}
	}

	/** Tells a person what went wrong. */
	failed(error: unknown): void {
		this.toast(this.errors.message(error), "error");
	}

	rename = (sessionId: string, title: string) =>
		this.attempt(this.port.call("session/rename", { sessionId, title }));
	archive = (sessionId: string) => this.attempt(this.port.call("session/archive", { sessionId }));
	unarchive = (sessionId: string) =>
		this.attempt(this.port.call("session/unarchive", { sessionId }));
	remove = (sessionId: string) => this.attempt(this.port.call("session/delete", { sessionId }));
	/** Shortens what she reads of a session; a failure is told in the timeline, too (SP-COMP-05). */
	compress = (sessionId: string) => this.attempt(this.port.call("session/compress", { sessionId }));
	/** Empties the session's plan (SP-TURN-17). */
	clearPlan = (sessionId: string) => this.attempt(this.port.call("plan/clear", { sessionId }));
	proceed = (sessionId: string) => this.attempt(this.port.call("turn/continue", { sessionId }));

	stopTask = (taskId: string) => this.attempt(this.background.stop(taskId));
	/** Stops everything below a session, and its background tasks; not its own turn (SP-BG-30, -31). */
	stopAll = (sessionId: string) =>
		this.attempt(this.port.call("background/stopAll", { sessionId }));

	/** Files of a session's place, or of the one that is chosen for the next, to be named in a message. */
	async findFiles(sessionId: string | undefined, query: string): Promise<readonly string[]> {
		const place = sessionId === undefined ? placeToSay(this.places.store.getState()) : undefined;
		const { files } = await this.port.call("ext/places/files", {
			query,
			...(sessionId === undefined ? {} : { sessionId }),
			...(place === undefined ? {} : { place }),
		});
		return files;
	}

	/** Adds a folder. Resolves with why not, in the server's words, or nothing. */
	async addPlace(path: string): Promise<string | undefined> {
		try {
			await this.places.add(path);
			return undefined;
		} catch (error) {
			return this.errors.message(error);
		}
	}

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

	/** Gives a waiting message the words that were typed for it. */
	async changeQueued(session: OpenSession, inputId: string): Promise<void> {
		const edit = session.queueEdits.getState().open.get(inputId);
		if (!edit || edit.saving) return;
		const content = edit.draft.trim();
		if (content === edit.original.trim()) return session.editQueue({ type: "leave", inputId });
		session.editQueue({ type: "saving", inputId });
		try {
			await this.port.call("ext/queue/edit", { sessionId: session.id, inputId, content });
			session.editQueue({ type: "saved", inputId });
		} catch (error) {
			const reason = this.errors.reason(error);
			const left = reason === "conflict" || reason === "not-found";
			session.editQueue({ type: "refused", inputId, left });
			this.toast(this.errors.message(error), "error");
		}
	}

	/** Takes a waiting message out of the queue. True when it will enter no turn. */
	takeBack = (sessionId: string, inputId: string) =>
		this.attempt(this.port.call("ext/queue/remove", { sessionId, inputId }));

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

	/**
	 * Lets such calls run without asking from now on, and approves this one. When the rule cannot be
	 * stored nothing is answered, and the sentence that says why is given.
	 */
	async approveAlways(id: string, rule: string, scope: RuleScope): Promise<string | undefined> {
		const sessionId = this.approvals.getState().pending.get(id)?.approval.sessionId;
		if (sessionId === undefined) return undefined;
		try {
			const unsaved = await remember(this.port, sessionId, rule, scope);
			if (unsaved !== undefined) this.toast(unsaved, "error");
		} catch (error) {
			return this.errors.message(error);
		}
		await this.answer(id, "approve");
		return undefined;
	}

	/** A card waits for an approval that nobody told us about: the snapshot has it (SP-APPR-12). */
	seek(sessionId: string, approvalId: string): void {
		if (this.askedFor.has(approvalId)) return;
		this.askedFor.add(approvalId);
		void this.open.get(sessionId)?.subscribe();
	}

	// ---- toasts ----------------------------------------------------------------------------------

	toast(text: string, tone: Toast["tone"] = "plain", action?: Toast["action"]): void {
		const toast = { id: this.nextToast++, text, tone, ...(action ? { action } : {}) };
		this.toasts.setState([...this.toasts.getState().slice(-2), toast], true);
	}

	dismiss(id: number): void {
		this.toasts.setState(
			this.toasts.getState().filter((toast) => toast.id !== id),
			true,
		);
	}
}
