import { fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, test } from "vitest";
import { FakeServer, roomOf } from "@/test/fake-server";
import { openShell, pause } from "@/test/render";

afterEach(() => {
	window.location.hash = "";
});

const places = () => screen.queryByRole("list", { name: "Background and rooms" });
const place = (name: RegExp) => screen.getByRole("button", { name });
const rows = () => screen.queryAllByTestId("session-row").map((row) => row.textContent ?? "");

async function openPlace(name: RegExp) {
	fireEvent.click(place(name));
	await pause();
}

describe("rooms", () => {
	function withRooms(count: number): FakeServer {
		const server = new FakeServer();
		server.labels.set("bot", "企鹅 (second)");
		server.session({ id: "mine", title: "My own" });
		for (let n = 0; n < count; n++) {
			server.session(
				roomOf({ id: `r${n}`, title: `Room ${n}`, updatedAt: n, account: `1000${n % 2}` }),
			);
		}
		return server;
	}

	test("SP-GROUP-09 SP-GROUP-12 SP-SUM-11 a group opens under its label, each row with kind and account", async () => {
		const server = withRooms(3);
		await openShell(server);
		expect(rows()).toHaveLength(1);
		await openPlace(/企鹅 \(second\)/);
		expect(screen.getByRole("heading", { name: "企鹅 (second)" })).toBeDefined();
		expect(screen.getByTestId("room-count").textContent).toBe("3 rooms");
		expect(rows()).toHaveLength(3);
		for (const [at, text] of rows().entries()) {
			expect(text).toContain(`group · 1000${(2 - at) % 2} · `);
		}
		expect(screen.queryByTestId("room-filter")).toBeNull();
	});

	test("SP-GROUP-12 with one account, none is shown", async () => {
		const server = withRooms(1);
		await openShell(server);
		await openPlace(/企鹅/);
		expect(rows()[0]).toContain("group · ");
		expect(rows()[0]).not.toContain("10000");
	});

	test("SP-LIST-27 a large group is filtered and sorted in place", async () => {
		const server = withRooms(9);
		await openShell(server);
		await openPlace(/企鹅/);
		fireEvent.change(screen.getByTestId("room-filter"), { target: { value: "10001" } });
		await pause();
		expect(screen.getByTestId("room-count").textContent).toBe("4 of 9");
		expect(rows().map((text) => text.slice(0, 6))).toEqual([
			"Room 7",
			"Room 5",
			"Room 3",
			"Room 1",
		]);
		fireEvent.click(screen.getByRole("button", { name: "Sort: Latest activity" }));
		fireEvent.click(await screen.findByRole("menuitem", { name: /^Name/ }));
		await pause();
		expect(rows()[0]).toContain("Room 1");
		fireEvent.click(screen.getByRole("button", { name: "Clear filter" }));
		await pause();
		expect(rows()).toHaveLength(9);
	});

	test("what waits in a group shows on its line; the line leads in and back out", async () => {
		const server = withRooms(2);
		await openShell(server);
		server.change("r0", { attention: true });
		await pause();
		const line = place(/企鹅.*1 room needs you/);
		fireEvent.click(line);
		await pause();
		expect(line.getAttribute("aria-pressed")).toBe("true");
		fireEvent.click(screen.getByTestId("view-back"));
		await pause();
		expect(document.activeElement).toBe(line);
		expect(screen.getByTestId("search")).toBeDefined();
		expect(rows()[0]).toContain("My own");
	});

	test("without rooms and background work there are no such lines", async () => {
		const server = withRooms(0);
		await openShell(server);
		expect(places()).toBeNull();
	});
});

describe("what runs in the background", () => {
	test("SP-LIST-32 one line says how many, opens them, and goes with the last", async () => {
		const server = new FakeServer();
		server.session({ id: "idle", title: "Idle" });
		server.session({ id: "busy", title: "Busy", background: 2, updatedAt: 1_800_000_000_000 });
		server.session({ id: "away", title: "Put away", background: 1, archived: true });
		await openShell(server);
		expect(place(/In the background/).textContent).toContain("2");
		await openPlace(/In the background/);
		expect(rows()[0]).toMatch(/^Busy2 in background · [^·]+$/);
		expect(rows()[1]).toContain("Put away1 in background · ");
		expect(rows()).toHaveLength(2);
		server.change("busy", { background: 0 });
		server.change("away", { background: 0 });
		await pause();
		expect(rows()).toEqual([]);
		expect(screen.getByText("Nothing runs in the background any more")).toBeDefined();
		expect(places()).toBeNull();
		fireEvent.click(screen.getByTestId("view-back"));
		await pause();
		expect(rows()).toHaveLength(2);
	});
});

describe("the way back to searching", () => {
	test("the search key leaves a group for the box", async () => {
		const server = new FakeServer();
		server.session(roomOf({ id: "r", title: "Room" }));
		await openShell(server);
		await openPlace(/bot/);
		expect(screen.queryByTestId("search")).toBeNull();
		fireEvent.keyDown(window, { key: "F", code: "KeyF", ctrlKey: true, shiftKey: true });
		await pause();
		expect(document.activeElement).toBe(screen.getByTestId("search"));
		fireEvent.change(screen.getByTestId("search"), { target: { value: "room" } });
		await pause(200);
		expect(within(screen.getByTestId("session-row")).getByText(/bot · group/)).toBeDefined();
	});
});
