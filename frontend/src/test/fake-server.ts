import type {
	Approval,
	ApprovalSettlement,
	Features,
	QueueItem,
	RoomGroup,
	SessionItem,
	SessionSummary,
	UsageItem,
} from "@/contract/session.gen";
import type { Offered } from "@/state/settings";
import { FakeSettings } from "./fake-settings";
import { FakeWork } from "./fake-work";

/**
 * A session server in memory that speaks whole frames, for tests and for looking at the interface. It
 * follows the rules a client depends on (order of answer and pushes, seq, epoch, paging, presence) and
 * none of the others. Nothing in it runs by itself: tests push what happens.
 */
export class FakeServer {
	epoch = "epoch-1";
	seq = 100;
	appName = "Aalis";
	/** The host's language; a server that says none leaves it to the browser. */
	language: string | undefined;
	features: Features = { send: true, rewind: false, compress: false, settings: false };
	readonly sessions = new Map<string, FakeSession>();
	readonly settings = new FakeSettings(this);
	readonly work = new FakeWork(this);
	/** Every request for options, as the host's own address or binding gets them. */
	readonly optionRequests: { service: string; dependency: string | undefined }[] = [];
	/** The display names of adapter instances, by id. */
	readonly labels = new Map<string, string>();
	readonly approvals = new Map<string, Approval>();
	readonly connections = new Set<FakeConnection>();
	/** Every request of every connection, in order. */
	readonly requests: { method: string; params: Record<string, unknown> }[] = [];
	/** Items in a page of history. */
	pageSize = 40;
	/** Takes a request over: returns its result, throws a FakeError, or returns undefined to pass. */
	intercept?: (method: string, params: Record<string, unknown>) => object | undefined;
	/** Called after a message was taken. */
	onSend?: (sessionId: string, content: string) => void;
	/** Answers that are held back until `release`. */
	private held: (() => void)[] | undefined;
	private nextId = 1;

	connect(send: (frame: string) => void, disconnect: (reason: string) => void = () => undefined) {
		const connection = new FakeConnection(this, send, disconnect);
		this.connections.add(connection);
		return connection;
	}

	session(
		summary: Partial<SessionSummary> & { id: string },
		items: SessionItem[] = [],
	): FakeSession {
		const session: FakeSession = { summary: summaryOf(summary), items, fixed: {} };
		this.sessions.set(summary.id, session);
		return session;
	}

	id(prefix: string): string {
		return `${prefix}-${this.nextId++}`;
	}

	hold(): void {
		this.held ??= [];
	}

	release(): void {
		const held = this.held ?? [];
		this.held = undefined;
		for (const answer of held) answer();
	}

	whenReleased(answer: () => void): void {
		if (this.held) this.held.push(answer);
		else answer();
	}

	/** What the host offers for a source; throws for one that nobody has. */
	options(service: string, dependency: string | undefined): Offered {
		this.optionRequests.push({ service, dependency });
		const source = this.settings.sources.get(service);
		if (!source) throw new Error(`no source ${service}`);
		return { options: source(dependency), problems: this.settings.problems };
	}

	/** The host is set to another language. */
	speak(language: string): void {
		this.language = language;
		for (const connection of this.connections)
			connection.push("session/config/changed", { ext: { language } });
	}

	/** Services come and go. */
	setFeatures(part: Partial<Features>): void {
		this.features = { ...this.features, ...part };
		for (const connection of this.connections)
			connection.push("features/changed", { features: this.features });
	}

	requestsOf(method: string): Record<string, unknown>[] {
		return this.requests.filter((request) => request.method === method).map((r) => r.params);
	}

	// ---- what happens ----------------------------------------------------------------------------

	private toSubscribers(sessionId: string, method: string, params: object): void {
		const seq = ++this.seq;
		for (const connection of this.connections) {
			if (connection.subscribed.has(sessionId)) {
				connection.push(method, { sessionId, epoch: this.epoch, seq, ...params });
			}
		}
	}

	private keep(sessionId: string, item: SessionItem): void {
		const session = this.need(sessionId);
		if (item.kind === "plan" || item.kind === "usage" || item.kind === "queue") {
			session.fixed[item.kind] = item as never;
			return;
		}
		const at = session.items.findIndex((other) => other.itemId === item.itemId);
		if (at < 0) session.items.push(item);
		else session.items[at] = item;
	}

	start(sessionId: string, item: SessionItem): void {
		this.keep(sessionId, item);
		this.toSubscribers(sessionId, "item/started", { item });
	}

	complete(sessionId: string, item: SessionItem): void {
		this.keep(sessionId, item);
		this.toSubscribers(sessionId, "item/completed", { item });
	}

	delta(sessionId: string, itemId: string, text: string): void {
		const item = this.need(sessionId).items.find((other) => other.itemId === itemId);
		if (item?.kind === "tool-call")
			this.keep(sessionId, { ...item, output: (item.output ?? "") + text });
		else if (item && "text" in item)
			this.keep(sessionId, { ...item, text: item.text + text } as SessionItem);
		this.toSubscribers(sessionId, "item/delta", { itemId, text });
	}

	resync(sessionId: string, items: SessionItem[]): void {
		this.need(sessionId).items = items;
		this.toSubscribers(sessionId, "session/resync", {});
	}

	change(id: string, part: Partial<SessionSummary>): void {
		const session = this.need(id);
		session.summary = { ...session.summary, ...part } as SessionSummary;
		this.toWatchers([session.summary], []);
	}

	toWatchers(upserts: SessionSummary[], removes: string[]): void {
		for (const connection of this.connections) {
			if (connection.watching)
				connection.push("sessions/changed", { upserts, removes, groups: groups(this) });
		}
	}

	request(approval: Approval): void {
		this.approvals.set(approval.id, approval);
		for (const connection of this.connections) {
			if (connection.present) connection.push("approval/requested", { approval });
		}
	}

	settle(id: string, settlement: ApprovalSettlement): void {
		const approval = this.approvals.get(id);
		this.approvals.delete(id);
		for (const connection of this.connections) {
			connection.push("approval/settled", { approvalId: id, ...settlement });
		}
		const card =
			approval &&
			this.sessions.get(approval.sessionId)?.items.find((i) => i.itemId === approval.callId);
		if (approval && card?.kind === "tool-call") {
			this.start(approval.sessionId, {
				...card,
				settlement,
				status: settlement.state === "approved" ? "running" : "denied",
			});
		}
	}

	/** A new start of the service: everybody is disconnected, numbers begin anew. */
	restart(): void {
		this.epoch = `epoch-${Number(this.epoch.split("-")[1]) + 1}`;
		this.seq = 0;
		for (const connection of [...this.connections]) connection.drop("");
	}

	need(id: string): FakeSession {
		const session = this.sessions.get(id);
		if (!session) throw new FakeError(-32000, "There is no such session.", "not-found");
		return session;
	}
}

export interface FakeSession {
	summary: SessionSummary;
	items: SessionItem[];
	fixed: { plan?: SessionItem; usage?: UsageItem; queue?: QueueItem };
}

export class FakeError extends Error {
	constructor(
		readonly code: number,
		message: string,
		readonly reason?: string,
	) {
		super(message);
	}
}

export class FakeConnection {
	readonly subscribed = new Set<string>();
	watching = false;
	watchingTasks = false;
	present = false;
	private shaken = false;
	private gone = false;

	constructor(
		private readonly server: FakeServer,
		private readonly send: (frame: string) => void,
		private readonly disconnect: (reason: string) => void,
	) {}

	push(method: string, params: object): void {
		if (!this.gone) this.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
	}

	close(): void {
		this.gone = true;
		this.server.connections.delete(this);
	}

	drop(reason: string): void {
		this.close();
		this.disconnect(reason);
	}

	receive(text: string): void {
		const frame = JSON.parse(text) as {
			id: number;
			method: string;
			params?: Record<string, unknown>;
		};
		const params = frame.params ?? {};
		this.server.requests.push({ method: frame.method, params });
		const answer = (body: object) =>
			this.server.whenReleased(() => {
				if (!this.gone) this.send(JSON.stringify({ jsonrpc: "2.0", id: frame.id, ...body }));
			});
		try {
			answer({
				result: this.server.intercept?.(frame.method, params) ?? this.handle(frame.method, params),
			});
		} catch (error) {
			if (!(error instanceof FakeError)) throw error;
			const data = error.reason === undefined ? {} : { data: { code: error.reason } };
			answer({ error: { code: error.code, message: error.message, ...data } });
		}
	}

	private handle(method: string, params: Record<string, unknown>): object {
		const { server } = this;
		if (method === "initialize") {
			this.shaken = true;
			return {
				protocolVersion: "0.2.0",
				experimental: true,
				server: { name: "fake" },
				identity: { platform: "webui", userId: "console" },
				surface: "webui",
				features: server.features,
				appName: server.appName,
				...(server.language === undefined ? {} : { ext: { language: server.language } }),
			};
		}
		if (!this.shaken) throw new FakeError(-32600, "initialize first");
		const id = String(params.sessionId ?? "");
		switch (method) {
			case "sessions/watch":
				this.watching = true;
				return {};
			case "background/watch":
				this.watchingTasks = true;
				return {};
			case "sessions/list":
				return list(server, params);
			case "session/create": {
				const { summary } = server.session({
					id: server.id("s"),
					title: typeof params.name === "string" ? params.name : "",
					updatedAt: Date.now(),
				});
				setTimeout(() => server.toWatchers([summary], []), 0);
				return { session: summary };
			}
			case "session/rename":
				server.need(id);
				setTimeout(() => server.change(id, { title: String(params.title) }), 0);
				return {};
			case "session/archive":
			case "session/unarchive":
				server.need(id);
				setTimeout(() => server.change(id, { archived: method === "session/archive" }), 0);
				return {};
			case "session/delete":
				server.need(id);
				server.sessions.delete(id);
				setTimeout(() => server.toWatchers([], [id]), 0);
				return {};
			case "session/markSeen":
				server.need(id);
				setTimeout(() => server.sessions.has(id) && server.change(id, { unread: false }), 0);
				return {};
			case "session/subscribe": {
				const snapshot = this.snapshot(id);
				this.subscribed.add(id);
				return snapshot;
			}
			case "session/unsubscribe":
				this.subscribed.delete(id);
				return {};
			case "session/history":
				return page(server, id, String(params.before));
			case "plan/clear":
				server.need(id);
				setTimeout(
					() => server.complete(id, { kind: "plan", itemId: "plan", at: Date.now(), items: [] }),
					0,
				);
				return {};
			case "turn/send":
				return this.take(id, params);
			case "presence/update":
				this.present = params.active === true;
				if (this.present) {
					for (const approval of server.approvals.values())
						this.push("approval/requested", { approval });
				}
				return {};
			case "approval/respond":
				return this.respond(params);
			case "ext/queue/edit":
			case "ext/queue/remove":
				return this.queued(method === "ext/queue/edit", id, params);
			default:
				return method.startsWith("session/config/")
					? server.settings.handle(method, params)
					: (server.work.handle(method, params) ?? {});
		}
	}

	private snapshot(id: string): object {
		const { server } = this;
		const session = server.need(id);
		const { items, before } = page(server, id);
		return {
			epoch: server.epoch,
			seq: server.seq,
			session: session.summary,
			items: [...items, ...Object.values(session.fixed)],
			approvals: [...server.approvals.values()].filter((approval) => approval.sessionId === id),
			...(before === undefined ? {} : { before }),
		};
	}

	private take(id: string, params: Record<string, unknown>): object {
		const { server } = this;
		const session = server.need(id);
		const clientId = (params.ext as { clientId?: string } | undefined)?.clientId;
		const known = session.items.some(
			(item) => item.kind === "user-message" && item.ext?.clientId === clientId,
		);
		if (clientId !== undefined && known) return {};
		const content = String(params.content);
		const item: SessionItem = {
			kind: "user-message",
			itemId: server.id("u"),
			at: Date.now(),
			text: content,
			speaker: { platform: "webui", userId: "console", owner: true },
			entry: "opened",
			...(clientId === undefined ? {} : { ext: { clientId } }),
		};
		setTimeout(() => {
			server.complete(id, item);
			// A session without a name is named after its first message.
			if (session.summary.title === "") server.change(id, { title: content.slice(0, 20) });
			server.onSend?.(id, content);
		}, 0);
		return {};
	}

	private queued(edit: boolean, id: string, params: Record<string, unknown>): object {
		const { server } = this;
		const queue = server.need(id).fixed.queue;
		const entry = queue?.entries.find(({ ext }) => ext?.inputId === params.inputId);
		if (!queue || !entry) throw new FakeError(-32000, "That message waits no longer.", "conflict");
		if (edit && !entry.speaker.owner)
			throw new FakeError(-32000, "Only your own words can be changed.", "conflict");
		const text = String(params.content).trim();
		const entries = edit
			? queue.entries.map((other) => (other === entry ? { ...entry, text } : other))
			: queue.entries.filter((other) => other !== entry);
		setTimeout(() => server.complete(id, { ...queue, entries }), 0);
		return {};
	}

	private respond(params: Record<string, unknown>): object {
		const approval = this.server.approvals.get(String(params.approvalId));
		if (!approval) throw new FakeError(-32000, "This was settled already.", "approval-settled");
		if (approval.contentHash !== params.contentHash) {
			throw new FakeError(-32000, "What you saw is not what waits.", "hash-mismatch");
		}
		const settlement: ApprovalSettlement = {
			state: params.decision === "approve" ? "approved" : "denied",
			source: "answer",
			at: Date.now(),
			by: { platform: "webui", userId: "console", owner: true },
		};
		setTimeout(() => this.server.settle(approval.id, settlement), 0);
		return {};
	}
}

function list(server: FakeServer, params: Record<string, unknown>): object {
	const query = String(params.query ?? "").toLowerCase();
	const { section, parentId, instance, platform } = params;
	const rank = (s: SessionSummary) => {
		if (s.section === "rooms") return 5;
		return s.attention ? 0 : s.error ? 1 : s.unread ? 2 : s.running ? 3 : 4;
	};
	const all = [...server.sessions.values()]
		.map((session) => session.summary)
		.filter((s) => s.parentId === parentId && (section === undefined || s.section === section))
		.filter((s) => instance === undefined || s.instance === instance)
		.filter((s) => platform === undefined || (s.platform === platform && !s.instance))
		.filter((s) =>
			params.background === true ? s.background > 0 : s.archived === (params.archived === true),
		)
		.filter((s) => s.title.toLowerCase().includes(query) || s.id.includes(query))
		.sort((a, b) => rank(a) - rank(b) || b.updatedAt - a.updatedAt);
	const from =
		params.cursor === undefined ? 0 : Number(String(params.cursor).slice("cursor:".length));
	const to = from + Number(params.limit ?? 50);
	return {
		sessions: all.slice(from, to),
		groups: groups(server),
		...(to < all.length ? { nextCursor: `cursor:${to}` } : {}),
	};
}

function groups(server: FakeServer): RoomGroup[] {
	const rooms = new Map<string, SessionSummary[]>();
	for (const { summary } of server.sessions.values()) {
		if (summary.section !== "rooms" || summary.archived || summary.parentId) continue;
		const key = `${summary.platform} ${summary.instance ?? "\uffff"}`;
		rooms.set(key, [...(rooms.get(key) ?? []), summary]);
	}
	return [...rooms.keys()].sort().map((key) => {
		const group = rooms.get(key) ?? [];
		const { platform = "", instance } = group[0] ?? {};
		return {
			platform,
			...(instance === undefined ? {} : { instance }),
			label: server.labels.get(instance ?? platform) ?? instance ?? platform,
			rooms: group.length,
			accounts: new Set(group.flatMap(({ account }) => account ?? [])).size,
			attention: group.filter(({ attention }) => attention).length,
		};
	});
}

function page(
	server: FakeServer,
	id: string,
	before?: string,
): { items: SessionItem[]; before?: string } {
	const { items } = server.need(id);
	const end =
		before === undefined ? items.length : items.findIndex((item) => item.itemId === before);
	if (end < 0) throw new FakeError(-32000, "That place in the history is gone.", "not-found");
	const start = Math.max(0, end - server.pageSize);
	const first = items[start];
	return {
		items: items.slice(start, end),
		...(start > 0 && first ? { before: first.itemId } : {}),
	};
}

/** A room of the adapter instance `bot`, unless said otherwise. */
export const roomOf = (part: Partial<SessionSummary> & { id: string }) => ({
	kind: "room" as const,
	section: "rooms" as const,
	platform: "onebot",
	instance: "bot",
	account: "10001",
	chat: { type: "group", multiParty: true },
	...part,
});

export const summaryOf = (part: Partial<SessionSummary> & { id: string }): SessionSummary => ({
	title: part.id,
	childCount: 0,
	kind: "owner",
	section: "owner",
	createdAt: 1_700_000_000_000,
	updatedAt: 1_700_000_000_000,
	running: false,
	error: false,
	unread: false,
	attention: false,
	archived: false,
	background: 0,
	...part,
});
