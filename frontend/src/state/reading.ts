import { createStore } from "zustand/vanilla";

/** What was read of the server. `value` stays while it is read again, and when that fails. */
export interface Read<T> {
	readonly phase: "loading" | "ready" | "failed";
	readonly value?: T;
	readonly error?: string;
}

export interface ReadErrors {
	message(error: unknown): string;
	isAway(error: unknown): boolean;
}

/**
 * One answer of the server, kept right while somebody watches it. Asked for again while a request is
 * under way, it is read once more behind that; an answer older than what `put` brought is dropped.
 */
export class Reading<T> {
	readonly store = createStore<Read<T>>(() => ({ phase: "loading" }));
	private watchers = 0;
	private turn = 0;
	private busy = false;
	private again = false;

	constructor(
		private readonly fetch: () => Promise<T>,
		private readonly errors: ReadErrors,
		/** Whether there is anybody to ask. */
		private readonly able: () => boolean,
		private readonly arrived: (value: T) => void = () => undefined,
	) {}

	get watched(): boolean {
		return this.watchers > 0;
	}

	watch(): () => void {
		if (this.watchers++ === 0) void this.reload();
		return () => {
			this.watchers--;
		};
	}

	/** Takes what another answer brought along. */
	put(value: T): void {
		this.turn++;
		this.ready(value);
	}

	async reload(): Promise<void> {
		if (!this.able()) return;
		if (this.busy) {
			this.again = true;
			return;
		}
		this.busy = true;
		do {
			this.again = false;
			await this.once();
		} while (this.again && this.able());
		this.busy = false;
	}

	private async once(): Promise<void> {
		const turn = ++this.turn;
		const { value } = this.store.getState();
		if (value === undefined) this.store.setState({ phase: "loading" }, true);
		try {
			const next = await this.fetch();
			if (turn === this.turn) this.ready(next);
		} catch (error) {
			// Without a connection the next one asks again.
			if (turn !== this.turn || this.errors.isAway(error)) return;
			this.store.setState({ phase: "failed", error: this.errors.message(error) });
		}
	}

	private ready(value: T): void {
		this.store.setState({ phase: "ready", value }, true);
		this.arrived(value);
	}
}
