import { createStore } from "zustand/vanilla";
import type { BackgroundChanged, BackgroundTask } from "@/contract/session.gen";
import {
	appendOutput,
	type BackgroundAction,
	noOutput,
	noTasks,
	reduceBackground,
	type TaskOutput,
} from "./background";
import type { Port } from "./port";

interface Errors {
	message(error: unknown): string;
	isAway(error: unknown): boolean;
	reason(error: unknown): string | undefined;
}

/** Whether the list of tasks is open, and which task of it. It outlives the session in front. */
export interface TaskPanel {
	readonly open: boolean;
	readonly taskId?: string;
}

/** Keeps the background tasks right over connections, and reads what they print. */
export class BackgroundTasks {
	readonly store = createStore(() => noTasks);
	readonly panel = createStore<TaskPanel>(() => ({ open: false }));
	private connected = false;

	constructor(
		private readonly port: Port,
		private readonly errors: Errors,
	) {}

	private do(action: BackgroundAction): void {
		this.store.setState(reduceBackground(this.store.getState(), action), true);
	}

	/** Watches first, then reads: nothing can fall in between. */
	opened(): void {
		this.connected = true;
		void this.port.call("background/watch", {}).catch(() => undefined);
		void this.read();
	}

	closed(): void {
		this.connected = false;
		this.do({ type: "disconnected" });
	}

	private async read(): Promise<void> {
		this.do({ type: "reading" });
		try {
			const { tasks } = await this.port.call("background/list", {});
			this.do({ type: "list", tasks });
		} catch (error) {
			// A connection that ended says nothing about the registry.
			this.do({ type: "unread", absent: this.errors.reason(error) === "unsupported" });
		}
	}

	changed(change: BackgroundChanged): void {
		this.do({ type: "changed", ...change });
		// Spec SP-BG-16: the registry has come up since; it may hold more than was pushed.
		if (this.store.getState().phase !== "ready" && !this.store.getState().told) void this.read();
	}

	/** Asks a task to stop. That it has stopped is told by its push alone (SP-BG-14). */
	async stop(taskId: string): Promise<void> {
		if (this.store.getState().stopping.has(taskId)) return;
		this.do({ type: "stopping", id: taskId, asked: true });
		try {
			await this.port.call("background/stop", { taskId });
		} finally {
			this.do({ type: "stopping", id: taskId, asked: false });
		}
	}

	show(taskId?: string): void {
		this.panel.setState({ open: true, ...(taskId === undefined ? {} : { taskId }) }, true);
	}

	hide(): void {
		this.panel.setState({ open: false }, true);
	}

	/** Follows a task's output until the returned function is called. */
	follow(taskId: string, onOutput: (output: TaskOutput) => void): () => void {
		let output = noOutput;
		let stopped = false;
		let busy = false;
		let again = false;
		/** A reading failed for want of a connection. */
		let missed = false;
		const read = async () => {
			again = busy;
			missed = !this.connected;
			if (again || missed) return;
			busy = true;
			do {
				again = false;
				const after = output.end;
				try {
					const piece = await this.port.call("background/output", {
						taskId,
						...(after === 0 ? {} : { after }),
					});
					output = appendOutput(output, after, piece);
				} catch (error) {
					missed = this.errors.isAway(error);
					if (!missed) output = { ...output, phase: "failed", error: this.errors.message(error) };
				}
				if (!stopped) onOutput(output);
			} while (again && !stopped && this.connected);
			busy = false;
		};
		const seen = (task: BackgroundTask | undefined) => `${task?.status} ${task?.lastOutputAt}`;
		const of = () => this.store.getState().tasks.get(taskId);
		let last = seen(of());
		const off = this.store.subscribe(() => {
			const now = seen(of());
			if (now === last && !missed) return;
			last = now;
			if (of()) void read();
		});
		void read();
		return () => {
			stopped = true;
			off();
		};
	}
}
