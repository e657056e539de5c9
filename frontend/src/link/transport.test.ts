import { afterEach, describe, expect, test, vi } from "vitest";
import { stillTime } from "@/test/harness";
import { inWindow } from "./bridge";
import { tabTransport, windowTransport } from "./transport";

class FakeBridge {
	readonly sent: string[] = [];
	readonly listeners = new Map<string, (...data: unknown[]) => void>();
	opens = 0;

	install() {
		window.go = {
			app: {
				Bridge: {
					Open: async () => {
						this.opens++;
						expect([...this.listeners.keys()]).toContain("frame");
					},
					// Each call takes another time, as goroutines do.
					Send: async (frame: string) => {
						await new Promise((resolve) => setTimeout(resolve, 20 - 2 * this.sent.length));
						this.sent.push(frame);
					},
				},
			},
		};
		window.runtime = {
			EventsOn: (name, callback) => {
				this.listeners.set(name, callback);
				return () => this.listeners.delete(name);
			},
		};
	}
}

stillTime();
afterEach(() => {
	delete window.go;
	delete window.runtime;
});

describe("the window's transport", () => {
	test("frames keep their order although the calls do not", async () => {
		const bridge = new FakeBridge();
		bridge.install();
		expect(inWindow()).toBe(true);
		const channel = await windowTransport().open({
			onFrame: () => undefined,
			onClose: () => undefined,
		});
		const frames = ["1", "2", "3", "4", "5"];
		for (const frame of frames) channel.send(frame);
		await vi.advanceTimersByTimeAsync(200);
		expect(bridge.sent).toEqual(frames);
	});

	test("a disconnect tells its reason once, and nothing is heard after it", async () => {
		const bridge = new FakeBridge();
		bridge.install();
		const heard: string[] = [];
		await windowTransport().open({
			onFrame: (frame) => heard.push(frame),
			onClose: (reason) => heard.push(`closed: ${reason}`),
		});
		const { frame, disconnect } = Object.fromEntries(bridge.listeners);
		frame?.("a");
		disconnect?.("The service stops.");
		frame?.("b");
		disconnect?.("again");
		expect(heard).toEqual(["a", "closed: The service stops."]);
		expect(bridge.listeners.size).toBe(0);
	});
});

describe("a tab's transport", () => {
	class FakeSocket {
		static readonly made: FakeSocket[] = [];
		static readonly CONNECTING = 0;
		static readonly OPEN = 1;
		readyState = 0;
		closed = false;
		onopen?: () => void;
		onclose?: (event: { reason: string }) => void;
		constructor(
			readonly url: string,
			readonly protocols: string[],
		) {
			FakeSocket.made.push(this);
		}
		close() {
			this.closed = true;
		}
		send() {}
	}

	test("FAIL-A10 a socket that nobody answers is closed after 10 s", async () => {
		vi.stubGlobal("WebSocket", FakeSocket);
		const onClose = vi.fn();
		const opening = tabTransport(() => undefined).open({ onFrame: () => undefined, onClose });
		opening.catch(() => undefined);
		await vi.advanceTimersByTimeAsync(10_000);
		await expect(opening).rejects.toThrow();
		expect(onClose).toHaveBeenCalledOnce();
		expect(FakeSocket.made.at(-1)?.closed).toBe(true);
	});

	test("the bearer travels as a subprotocol, never in the address", () => {
		vi.stubGlobal("WebSocket", FakeSocket);
		void tabTransport(() => "secret")
			.open({ onFrame: () => undefined, onClose: () => undefined })
			.catch(() => undefined);
		const socket = FakeSocket.made.at(-1);
		expect(socket?.protocols).toEqual(["aalis.bearer.secret"]);
		expect(socket?.url).toMatch(/^ws:\/\/[^/]+\/session$/);
	});
});
