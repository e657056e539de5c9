import type {
	BackgroundTask,
	PlaceInfo,
	SessionItem,
	TurnRewindResult,
} from "@/contract/session.gen";
import { FakeError, type FakeServer } from "./fake-server";

/** What runs beside turns, what turns changed, and the folders it happens in, of a fake server. */
export class FakeWork {
	/** The tasks there are; absent while there is no task registry. */
	tasks: Map<string, BackgroundTask> | undefined;
	/** What tasks have printed so far. */
	readonly printed = new Map<string, string>();
	/** How much of an output is kept. */
	kept = 65_536;
	/** The folders, the default workspace first; absent on a server without them. */
	places: PlaceInfo[] | undefined;
	/** What a rewind does to files. */
	rewinds: Partial<TurnRewindResult> = {};
	/** What taking a rewind back does to files. */
	undoes: Partial<TurnRewindResult> = {};
	private readonly undo = new Map<string, SessionItem[]>();

	constructor(private readonly server: FakeServer) {}

	/** Answers a request of its own; undefined for those of others. */
	handle(method: string, params: Record<string, unknown>): object | undefined {
		const id = String(params.sessionId ?? "");
		switch (method) {
			case "background/list":
				return { tasks: [...this.registry().values()] };
			case "background/output":
				return this.output(String(params.taskId), Number(params.after ?? 0));
			case "background/stop":
				this.stop(this.task(String(params.taskId)));
				return {};
			case "background/stopAll":
				this.server.need(id);
				for (const task of this.tasks?.values() ?? []) if (task.sessionId === id) this.stop(task);
				return {};
			case "turn/rewind":
				return this.rewind(id, String(params.turnId), params.scope === "code-and-chat");
			case "ext/rewind/undo":
				return this.takeBack(id, String(params.undoId));
			case "ext/places/list":
			case "ext/places/add":
			case "ext/places/remove":
				return this.place(method, params);
			default:
				return undefined;
		}
	}

	// ---- background ------------------------------------------------------------------------------

	private registry(): Map<string, BackgroundTask> {
		if (!this.tasks) throw new FakeError(-32000, "There is no task registry.", "unsupported");
		return this.tasks;
	}

	private task(id: string): BackgroundTask {
		const task = this.registry().get(id);
		if (!task) throw new FakeError(-32000, "There is no such task.", "not-found");
		return task;
	}

	/** A task begins, changes or ends. */
	change(task: BackgroundTask): void {
		this.tasks ??= new Map();
		this.tasks.set(task.id, task);
		this.push([task], []);
	}

	/** A task prints. */
	print(id: string, text: string): void {
		const all = (this.printed.get(id) ?? "") + text;
		this.printed.set(id, all);
		const lastLine = all.trimEnd().split("\n").at(-1) ?? "";
		this.change({ ...this.task(id), lastLine, lastOutputAt: Date.now() });
	}

	forget(id: string): void {
		this.tasks?.delete(id);
		this.push([], [id]);
	}

	private push(upserts: BackgroundTask[], removes: string[]): void {
		for (const connection of this.server.connections) {
			if (connection.watchingTasks) connection.push("background/changed", { upserts, removes });
		}
	}

	private stop(task: BackgroundTask): void {
		if (task.status !== "running") return;
		setTimeout(() => this.change({ ...task, status: "stopped", endedAt: Date.now() }), 0);
	}

	private output(id: string, after: number): object {
		this.task(id);
		const all = this.printed.get(id) ?? "";
		const start = Math.max(0, all.length - this.kept);
		const text = all.slice(Math.max(start, after));
		return { text, end: all.length, truncated: after < start };
	}

	// ---- rewinding -------------------------------------------------------------------------------

	private rewind(id: string, turnId: string, chat: boolean): object {
		const session = this.server.need(id);
		const undoId = this.server.id("undo");
		const before = session.items;
		const left = before.filter((item) => item.turnId !== turnId && item.itemId !== turnId);
		this.undo.set(undoId, before);
		if (chat) setTimeout(() => this.server.resync(id, left), 0);
		return {
			ok: (this.rewinds.errors ?? []).length === 0,
			restored: [],
			deleted: [],
			errors: [],
			...(chat ? { deletedMessages: before.length - left.length, chatDeleted: true } : {}),
			ext: { undoId, root: "/home/ann/aalis" },
			...this.rewinds,
		};
	}

	private takeBack(id: string, undoId: string): object {
		const items = this.undo.get(undoId);
		if (!items) throw new FakeError(-32000, "There is no rewind to take back.", "not-found");
		this.undo.delete(undoId);
		setTimeout(() => this.server.resync(id, items), 0);
		return { ok: true, restored: [], deleted: [], errors: [], ...this.undoes };
	}

	// ---- places ----------------------------------------------------------------------------------

	private place(method: string, params: Record<string, unknown>): object {
		const { places } = this;
		if (!places) throw new FakeError(-32601, "no such method");
		if (method === "ext/places/list") return { places };
		if (method === "ext/places/remove") {
			this.places = places.filter(({ key }) => key !== params.key);
			return {};
		}
		const root = String(params.path);
		if (!root.startsWith("/")) {
			throw new FakeError(-32602, `${root} is no absolute path.`);
		}
		const name = root.split("/").at(-1) ?? root;
		const place = { key: `workspace:${name}`, name, root, sessions: 0 };
		this.places = [...places, place];
		return { place };
	}
}
