/**
 * What the desktop window offers its page beside frames: calls of Go by window.go.app.Bridge, events by
 * window.runtime. A window older than this page may lack any of the calls.
 */
export interface Bridge {
	Open(): Promise<void>;
	Send(frame: string): Promise<void>;
	/** The text that GET /api/models/:service answers; "" for no dependency. */
	Options?(service: string, dependency: string): Promise<string>;
	/** Asks where to keep a file and writes it there; false when the person thought better of it. */
	Save?(address: string, name: string): Promise<boolean>;
	/** The page has drawn. */
	Painted?(): Promise<void>;
	/** Whether the window has the focus and can be seen. */
	Front?(front: boolean): Promise<void>;
	/** Opens an address outside; rejects with a sentence. */
	OpenLink?(url: string): Promise<void>;
	/** Opens a signed-in tab of the system's browser. */
	OpenTab?(): Promise<void>;
	/** Answers a question of the window. */
	Decide?(question: string, choice: string): Promise<void>;
	/** The zoom that is in force, 0 where the window cannot zoom, and where to go first. */
	Hello?(): Promise<unknown>;
	/** Shows the page larger or smaller, and remembers it. */
	Zoom?(factor: number): Promise<void>;
	Quit?(): Promise<void>;
	Restart?(): Promise<void>;
}

export interface WailsRuntime {
	EventsOn(name: string, callback: (...data: unknown[]) => void): () => void;
	WindowSetTitle?(title: string): void;
}

declare global {
	interface Window {
		go?: { app?: { Bridge?: Bridge } };
		runtime?: WailsRuntime;
	}
}

/** True inside the desktop window, where frames travel through bindings instead of a socket. */
export const inWindow = (): boolean => typeof window.go?.app?.Bridge?.Send === "function";

/** The calls that say something and get no answer but that they arrived. */
type Told = "Painted" | "Front" | "OpenTab" | "Decide" | "Zoom" | "Quit" | "Restart";

/**
 * The window behind the page, for who keeps its state. Calls of one name arrive in order: each runs in
 * a goroutine of its own, so the next waits for the one before.
 */
export function desktopPort() {
	const bridge = () => window.go?.app?.Bridge;
	const tails = new Map<Told, Promise<unknown>>();
	return {
		on: (name: string, handler: (payload: unknown) => void): (() => void) =>
			window.runtime?.EventsOn(name, (payload) => handler(payload)) ?? (() => undefined),
		offers: (name: Told): boolean => typeof bridge()?.[name] === "function",
		/** Does nothing in a window that lacks the call. */
		tell(name: Told, ...args: readonly (string | number | boolean)[]): Promise<void> {
			const call = bridge()?.[name] as ((...args: unknown[]) => Promise<void>) | undefined;
			if (!call) return Promise.resolve();
			const before = tails.get(name) ?? Promise.resolve();
			const told = before.then(() => call(...args));
			tails.set(
				name,
				told.catch(() => undefined),
			);
			return told;
		},
		hello: async (): Promise<unknown> => bridge()?.Hello?.(),
		title: (title: string): void => window.runtime?.WindowSetTitle?.(title),
	};
}
