import type { StoreApi } from "zustand/vanilla";
import { createStore } from "zustand/vanilla";
import {
	type Choice,
	type DesktopAction,
	readDropped,
	readEvent,
	readHello,
} from "./desktop-events";
import { type DesktopState, initialDesktop, reduceDesktop } from "./desktop-reducer";
import type { OfferedFile } from "./draft-files";

/** What the stores need of the window. The bridge fills it; tests fill it with plain functions. */
export interface DesktopPort {
	on(name: string, handler: (payload: unknown) => void): () => void;
	/** Whether this window knows the call. */
	offers(name: DesktopCall): boolean;
	/** Calls of one name arrive in order; one that the window does not know does nothing. */
	tell(name: DesktopCall, ...args: readonly (string | number | boolean)[]): Promise<void>;
	hello(): Promise<unknown>;
	/** The bytes of a file that was dropped on the window. */
	dropped(id: string): Promise<Blob>;
	title(title: string): void;
}
export type DesktopCall = "Painted" | "Front" | "OpenTab" | "Decide" | "Zoom" | "Quit" | "Restart";

const EVENTS = [
	"go",
	"question",
	"question-over",
	"finishing",
	"update",
	"command",
	"safe",
] as const;

/**
 * The desktop window as its page knows it: what it asks, what it wishes, how large it shows the page.
 * It listens from the first moment, so that nothing said before the page is up is lost.
 */
export class Desktop {
	readonly store: StoreApi<DesktopState> = createStore(() => initialDesktop);

	constructor(
		private readonly port: DesktopPort,
		/** Told what went wrong with something a person asked for. */
		private readonly failed: (error: unknown) => void,
	) {}

	listen(): () => void {
		const off = EVENTS.map((name) =>
			this.port.on(name, (payload) => {
				const action = readEvent(name, payload);
				if (action) this.do(action);
			}),
		);
		return () => {
			for (const one of off) one();
		};
	}

	/** Says that the page can go where it is sent; what waits for that is told now. */
	async hello(): Promise<void> {
		try {
			this.do(readHello(await this.port.hello()));
		} catch (error) {
			this.failed(error);
		}
	}

	do(action: DesktopAction): void {
		this.store.setState(reduceDesktop(this.store.getState(), action), true);
	}

	offers = (name: DesktopCall): boolean => this.port.offers(name);

	/** The question has been drawn, so that the window need not ask by other means. */
	seen(question: string): void {
		this.port.tell("Decide", question, "seen").catch(() => undefined);
	}

	async answer(question: string, choice: Choice): Promise<void> {
		this.do({ type: "answering", id: question, choice });
		try {
			await this.port.tell("Decide", question, choice);
			this.do({ type: "question-over", id: question });
		} catch (error) {
			this.do({ type: "unanswered", id: question });
			this.failed(error);
		}
	}

	/** Goes on after all, where the end of the work was waited for. */
	goOn = (): Promise<void> => this.attempt(this.port.tell("Decide", "", "cancel"));
	quit = (): Promise<void> => this.attempt(this.port.tell("Quit"));
	restart = (): Promise<void> => this.attempt(this.port.tell("Restart"));
	openTab = (): Promise<void> => this.attempt(this.port.tell("OpenTab"));

	zoom(factor: number): Promise<void> {
		this.do({ type: "zoom", factor });
		return this.attempt(this.port.tell("Zoom", factor));
	}

	front(front: boolean): void {
		this.port.tell("Front", front).catch(() => undefined);
	}

	painted(): void {
		this.port.tell("Painted").catch(() => undefined);
	}

	/** Calls when the window wishes to know whether the page still draws. */
	onPaint = (handler: () => void): (() => void) => this.port.on("paint", handler);

	/** Calls with the files of a drop that the page itself is shown nothing of. */
	onDropped = (handler: (offers: readonly OfferedFile[]) => void): (() => void) =>
		this.port.on("dropped", (payload) => {
			const offers = readDropped(payload).map(({ id, name, size }) => ({
				name,
				size,
				read: async () => new File([await this.port.dropped(id)], name),
			}));
			if (offers.length > 0) handler(offers);
		});

	title = (title: string): void => this.port.title(title);

	private async attempt(told: Promise<void>): Promise<void> {
		try {
			await told;
		} catch (error) {
			this.failed(error);
		}
	}
}
