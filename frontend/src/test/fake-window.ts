import type { DesktopCall, DesktopPort } from "@/state/desktop";

/** A desktop window without Go behind it: what the page tells it is kept, and it says what a test says. */
export class FakeWindow implements DesktopPort {
	readonly told: (string | number | boolean)[][] = [];
	readonly titles: string[] = [];
	/** What it answers to the page's first word. */
	greeting: unknown = { zoom: 1 };
	/** The calls that it does not know. */
	readonly lacks = new Set<DesktopCall>();
	/** What it answers to a call; rejects by throwing. */
	answer: (call: DesktopCall) => Promise<void> | void = () => undefined;
	private readonly listeners = new Map<string, Set<(payload: unknown) => void>>();

	on(name: string, handler: (payload: unknown) => void): () => void {
		const all = this.listeners.get(name) ?? new Set();
		this.listeners.set(name, all.add(handler));
		return () => all.delete(handler);
	}

	say(name: string, payload?: unknown): void {
		for (const handler of this.listeners.get(name) ?? []) handler(payload);
	}

	offers = (name: DesktopCall): boolean => !this.lacks.has(name);

	async tell(name: DesktopCall, ...args: readonly (string | number | boolean)[]): Promise<void> {
		this.told.push([name, ...args]);
		await this.answer(name);
	}

	/** The arguments of every call of a name. */
	calls = (name: DesktopCall) =>
		this.told.filter(([what]) => what === name).map((call) => call.slice(1));

	hello = async (): Promise<unknown> => this.greeting;
	/** The files that have been dropped on it, by id. */
	readonly files = new Map<string, Blob>();
	dropped = async (id: string): Promise<Blob> => {
		const file = this.files.get(id);
		if (!file) throw new Error("there is no such file");
		return file;
	};

	title = (title: string): void => void this.titles.push(title);
}
