import { afterEach, describe, expect, test, vi } from "vitest";
import { stillTime } from "@/test/harness";
import { type Bridge, desktopPort, inWindow } from "./bridge";

stillTime();
afterEach(() => {
	delete window.go;
	delete window.runtime;
});

function install(calls: Partial<Bridge>) {
	const Bridge = { Open: vi.fn(), Send: vi.fn(), ...calls };
	window.go = { app: { Bridge } };
}

describe("the window's bridge", () => {
	test("calls of one name arrive in order although each takes another time", async () => {
		const heard: boolean[] = [];
		let time = 30;
		const slow = async (front: boolean) => {
			time -= 10;
			await new Promise((resolve) => setTimeout(resolve, time));
			heard.push(front);
		};
		install({ Front: slow });
		const port = desktopPort();
		for (const front of [true, true, false]) void port.tell("Front", front);
		await vi.advanceTimersByTimeAsync(100);
		expect(heard).toEqual([true, true, false]);
	});

	test("one that fails tells why, and does not hold up the next", async () => {
		const Decide = vi.fn(async (_id: string, choice: string) => {
			if (choice === "seen") throw "this question is over";
		});
		install({ Decide });
		const port = desktopPort();
		await expect(port.tell("Decide", "q", "seen")).rejects.toBe("this question is over");
		await port.tell("Decide", "q", "stop");
		expect(Decide).toHaveBeenCalledTimes(2);
	});

	test("an older window lacks calls, which then do nothing", async () => {
		install({});
		const port = desktopPort();
		expect(inWindow()).toBe(true);
		expect(port.offers("Zoom")).toBe(false);
		await port.tell("Zoom", 2);
		expect(await port.hello()).toBeUndefined();
		port.title("(1) Aalis");
		expect(port.on("go", () => undefined)()).toBeUndefined();
	});

	test("an event comes with its payload until nobody listens", () => {
		const listeners = new Map<string, (...data: unknown[]) => void>();
		window.runtime = {
			EventsOn: (name, callback) => {
				listeners.set(name, callback);
				return () => listeners.delete(name);
			},
		};
		const heard: unknown[] = [];
		const off = desktopPort().on("safe", (payload) => heard.push(payload));
		listeners.get("safe")?.({ on: true }, "more");
		expect(heard).toEqual([{ on: true }]);
		off();
		expect(listeners.size).toBe(0);
	});
});
