import { act, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PlanItem, SessionItem } from "@/contract/session.gen";
import { FakeError, FakeServer } from "@/test/fake-server";
import { agent, approvalOf, tool, turn, user } from "@/test/items";
import { openShell, pause } from "@/test/render";

let visibility = "visible";

beforeEach(() => {
	visibility = "visible";
	vi.spyOn(document, "visibilityState", "get").mockImplementation(
		() => visibility as DocumentVisibilityState,
	);
});
afterEach(() => {
	window.location.hash = "";
});

function show(state: "visible" | "hidden") {
	visibility = state;
	act(() => {
		document.dispatchEvent(new Event("visibilitychange"));
	});
}

const row = (id: string) =>
	document.querySelector(`[data-testid="session-row"][data-session-id="${id}"]`) as HTMLElement;

function withSession(items: SessionItem[] = [], more: object = {}): FakeServer {
	const server = new FakeServer();
	server.session({ id: "s", title: "A session", ...more }, items);
	return server;
}

describe("rooms", () => {
	test("a room is opened by its address, whatever stands in that", async () => {
		const id = "local:10001:group:小 tea";
		const server = new FakeServer();
		server.session({ id, kind: "room", section: "rooms" }, [
			agent({ itemId: "a", text: "Hello." }),
		]);
		await openShell(server, `/s/${encodeURIComponent(id)}`);
		expect(screen.getByText("Hello.")).toBeDefined();
	});
});

describe("links in what she writes", () => {
	test("SEC-12 are opened by the one opener", async () => {
		const open = vi.spyOn(window, "open").mockReturnValue(null);
		await openShell(
			withSession([agent({ itemId: "a", text: "[go](https://example.org/)" })]),
			"/s/s",
		);
		fireEvent.click(screen.getByText("go"));
		expect(open).toHaveBeenCalledWith("https://example.org/", "_blank", "noopener,noreferrer");
		expect(window.location.hash).toBe("#/s/s");
	});
});

describe("the name of the assistant", () => {
	test("SP-INIT-12 names the tab and speaks her replies", async () => {
		const server = withSession([agent({ itemId: "a", text: "Hello." })]);
		server.appName = "Mira";
		const { transport } = await openShell(server, "/s/s");
		expect(document.title).toBe("Mira");
		expect(screen.getByRole("article", { name: "Mira wrote" })).toBeDefined();
		server.appName = "Nora";
		transport.cut();
		await pause(500);
		expect(document.title).toBe("Nora");
	});

	test("the tab says how many approvals wait", async () => {
		const server = withSession();
		const { link } = await openShell(server, "/s/s");
		await link.call("presence/update", { active: true });
		server.request(approvalOf({ id: "p", sessionId: "other", tool: "exec" }));
		await pause();
		expect(document.title).toBe("(1) Aalis");
		expect(screen.getByTestId("inbox-count").textContent).toBe("1");
		expect(screen.getByRole("alert").textContent).toBe("exec is waiting for your approval");
	});
});

describe("what the server has", () => {
	const plan: PlanItem = {
		kind: "plan",
		itemId: "plan",
		at: 1,
		items: [{ id: 1, title: "Look", status: "in-progress" }],
	};

	test("SP-FEAT-09 plan and usage are shown when there is such an item, and only then", async () => {
		const server = withSession();
		await openShell(server, "/s/s");
		expect(screen.queryByTestId("usage")).toBeNull();
		expect(screen.queryByText("Plan")).toBeNull();
		server.complete("s", plan);
		server.complete("s", {
			kind: "usage",
			itemId: "usage",
			at: 1,
			used: 64,
			contextWindow: 128,
			usageRatio: 0.5,
			parts: [],
		});
		await pause();
		expect(screen.getByText("Plan")).toBeDefined();
		expect(screen.getByTestId("usage")).toBeDefined();
	});

	test("SP-TURN-17 the plan is emptied from where it is shown, and goes with its entries", async () => {
		const server = withSession();
		server.need("s").fixed.plan = plan;
		await openShell(server, "/s/s");
		expect(screen.queryByRole("button", { name: "Clear plan" })).toBeNull();
		fireEvent.click(screen.getByRole("button", { name: /Plan/ }));
		fireEvent.click(screen.getByRole("button", { name: "Clear plan" }));
		await pause();
		expect(server.requestsOf("plan/clear")).toEqual([{ sessionId: "s" }]);
		expect(screen.queryByText("Plan")).toBeNull();
	});

	test("SP-TURN-18 a plan that cannot be emptied stays, and the reason is told", async () => {
		const server = withSession();
		server.need("s").fixed.plan = plan;
		server.intercept = (method) => {
			if (method !== "plan/clear") return undefined;
			throw new FakeError(-32000, "There is no to-do service.", "unsupported");
		};
		await openShell(server, "/s/s");
		fireEvent.click(screen.getByRole("button", { name: /Plan/ }));
		fireEvent.click(screen.getByRole("button", { name: "Clear plan" }));
		await pause();
		expect(screen.getByText("There is no to-do service.")).toBeDefined();
		expect(screen.getByText("Look")).toBeDefined();
	});

	test("the message box follows features.send as it changes, and nothing is offered that is not there", async () => {
		const server = withSession([turn({ itemId: "t", outcome: "replied" })]);
		await openShell(server, "/s/s");
		const box = screen.getByRole("textbox", { name: "Message" }) as HTMLTextAreaElement;
		expect(box.disabled).toBe(false);
		const push = (send: boolean) => {
			for (const connection of server.connections) {
				connection.push("features/changed", { features: { ...server.features, send } });
			}
		};
		push(false);
		await pause();
		expect(box.disabled).toBe(true);
		push(true);
		await pause();
		expect(box.disabled).toBe(false);
		expect(document.body.textContent).not.toMatch(/rewind|compress/i);
	});

	test("SP-USAGE-02 SP-USAGE-06 the header has the percentage, and the parts as they were given", async () => {
		const server = withSession();
		server.need("s").fixed.usage = {
			kind: "usage",
			itemId: "usage",
			at: 1,
			used: 6_000,
			contextWindow: 8_000,
			usageRatio: 0.75,
			parts: [
				{ label: "Zebra", tokens: 5_000 },
				{ label: "Anything", tokens: 1_000, injectors: { "p/a": 600, "p/b": 400 } },
			],
		};
		await openShell(server, "/s/s");
		const ring = screen.getByTestId("usage");
		expect(ring.textContent).toBe("75%");
		fireEvent.click(ring);
		await pause();
		const cells = within(screen.getByRole("table"))
			.getAllByRole("cell")
			.map((cell) => cell.textContent);
		expect(cells).toEqual(["Zebra", "5,000", "Anything", "1,000", "p", "1,000"]);
	});

	test("SP-ITEM-06 the queue stands above the box and not in the timeline", async () => {
		const server = withSession();
		server.need("s").fixed.queue = {
			kind: "queue",
			itemId: "queue",
			at: 1,
			entries: [{ speaker: { platform: "webui", owner: true }, text: "later", attachments: 0 }],
		};
		await openShell(server, "/s/s");
		expect(within(screen.getByTestId("composer")).getByText("later")).toBeDefined();
		expect(within(screen.getByTestId("timeline")).queryByText("later")).toBeNull();
	});
});

describe("the list", () => {
	test("SP-TREE-07 the badge shows background, not the session's own turn", async () => {
		const server = new FakeServer();
		server.session({ id: "busy", background: 3 });
		server.session({ id: "own", running: true });
		await openShell(server);
		expect(row("busy").querySelector("[data-mark]")?.textContent).toContain("3");
		expect(row("own").querySelector("[data-mark]")?.getAttribute("data-mark")).toBe("running");
	});

	test("rename in place, archive, and delete only after a word", async () => {
		const server = withSession();
		await openShell(server);
		fireEvent.doubleClick(within(row("s")).getByRole("link"));
		const box = await screen.findByTestId("rename");
		fireEvent.change(box, { target: { value: "Better" } });
		fireEvent.keyDown(box, { key: "Enter" });
		await pause();
		expect(within(row("s")).getByText("Better")).toBeDefined();

		fireEvent.click(within(row("s")).getByTestId("row-menu"));
		fireEvent.click(await screen.findByRole("menuitem", { name: "Delete…" }));
		const dialog = await screen.findByRole("alertdialog");
		expect(dialog.textContent).toContain("Better");
		fireEvent.click(within(dialog).getByRole("button", { name: "Cancel" }));
		await pause();
		expect(server.requestsOf("session/delete")).toEqual([]);

		fireEvent.click(within(row("s")).getByTestId("row-menu"));
		fireEvent.click(await screen.findByRole("menuitem", { name: "Archive" }));
		await pause();
		expect(row("s")).toBeNull();
		fireEvent.click(screen.getByTestId("archived"));
		await pause();
		expect(row("s")).not.toBeNull();
	});

	test("searching narrows the list, and clearing brings it back", async () => {
		const server = new FakeServer();
		server.session({ id: "1", title: "Apple" });
		server.session({ id: "2", title: "Pear" });
		await openShell(server);
		fireEvent.change(screen.getByTestId("search"), { target: { value: "app" } });
		await pause(200);
		expect(screen.getAllByTestId("session-row")).toHaveLength(1);
		fireEvent.click(screen.getByRole("button", { name: "Clear search" }));
		await pause(200);
		expect(screen.getAllByTestId("session-row")).toHaveLength(2);
	});
});

describe("being in a session", () => {
	test("SP-TREE-16 the path leads back level by level", async () => {
		const server = withSession([], {
			parentId: "p",
			ancestors: [
				{ id: "root", title: "Root" },
				{ id: "p", title: "Parent" },
			],
		});
		await openShell(server, "/s/s");
		const path = screen.getByTestId("path");
		expect(path.textContent).toBe("Root›Parent›");
		expect(
			within(path)
				.getAllByRole("link")
				.map((link) => link.getAttribute("href")),
		).toEqual(["#/s/root", "#/s/p"]);
		expect(screen.getByTestId("session-title").textContent).toBe("A session");
	});

	test("SP-UNREAD-07 it is marked seen on opening and on seeing a new reply, not while hidden", async () => {
		const server = withSession([], { unread: true, lastReplyAt: 1 });
		await openShell(server, "/s/s");
		expect(server.requestsOf("session/markSeen")).toEqual([{ sessionId: "s" }]);
		act(() => server.change("s", { unread: true, lastReplyAt: 2 }));
		await pause();
		expect(server.requestsOf("session/markSeen")).toHaveLength(2);
		show("hidden");
		act(() => server.change("s", { unread: true, lastReplyAt: 3 }));
		await pause();
		expect(server.requestsOf("session/markSeen")).toHaveLength(2);
		show("visible");
		await pause();
		expect(server.requestsOf("session/markSeen")).toHaveLength(3);
	});

	test("stop names the turn that runs", async () => {
		const server = withSession([turn({ itemId: "t", turnId: "t-7" })], { running: true });
		await openShell(server, "/s/s");
		fireEvent.click(screen.getByTestId("stop"));
		await pause();
		expect(server.requestsOf("turn/abort")).toEqual([{ sessionId: "s", turnId: "t-7" }]);
	});

	test("a session that is deleted elsewhere says so", async () => {
		const server = withSession();
		await openShell(server, "/s/s");
		server.sessions.delete("s");
		act(() => server.toWatchers([], ["s"]));
		await pause();
		expect(screen.getByTestId("session-gone")).toBeDefined();
	});

	test("away, everything stays readable and says that there is no connection", async () => {
		const server = withSession([user({ itemId: "u", text: "Still here" })]);
		const { transport } = await openShell(server, "/s/s");
		transport.wire = "down";
		act(() => transport.cut());
		await pause(50);
		expect(screen.getByTestId("connection").dataset.state).toBe("away");
		expect(screen.getByText("Still here")).toBeDefined();
		transport.wire = "up";
		await pause(900);
		expect(screen.getByTestId("connection").dataset.state).toBe("open");
	});
});

describe("starting", () => {
	test("FAIL-A14 looking around creates nothing; the first message creates one session and lands in it", async () => {
		const server = new FakeServer();
		await openShell(server);
		fireEvent.click(screen.getByTestId("new-session"));
		await pause();
		expect(server.requestsOf("session/create")).toEqual([]);
		const box = screen.getByRole("textbox", { name: "Message" });
		fireEvent.change(box, { target: { value: "Good morning" } });
		const send = screen.getByTestId("send");
		fireEvent.click(send);
		fireEvent.click(send);
		await pause(60);
		expect(server.requestsOf("session/create")).toEqual([{}]);
		expect(server.requestsOf("turn/send")).toHaveLength(1);
		expect(within(screen.getByTestId("timeline")).getByText("Good morning")).toBeDefined();
		expect(screen.getAllByTestId("session-row")).toHaveLength(1);
		expect(screen.getByTestId("session-row").textContent).toContain("Good morning");
	});
});

describe("approvals over all sessions", () => {
	test("FAIL-B5 the inbox holds what waits anywhere, and answers it there", async () => {
		const server = withSession();
		server.session({ id: "o", title: "Elsewhere" }, [tool({ itemId: "c", approvalId: "p" })]);
		const { link } = await openShell(server, "/s/s");
		await link.call("presence/update", { active: true });
		server.request(
			approvalOf({ id: "p", sessionId: "o", callId: "c", facts: { command: "make", params: {} } }),
		);
		await pause();
		fireEvent.click(screen.getByTestId("inbox"));
		await pause();
		const card = screen.getByTestId("approval-card");
		expect(card.dataset.approvalId).toBe("p");
		expect(within(card).getByText("Elsewhere")).toBeDefined();
		fireEvent.click(within(card).getByTestId("approve"));
		await pause();
		expect(screen.queryByTestId("inbox-count")).toBeNull();
		expect(screen.queryByTestId("approval-card")).toBeNull();
	});

	test("FAIL-B1 one from five levels down shows the way to it", async () => {
		const server = withSession();
		const { link } = await openShell(server, "/s/s");
		await link.call("presence/update", { active: true });
		const chain = ["one", "two", "three", "four", "five"].map((title) => ({ id: title, title }));
		server.request(approvalOf({ id: "p", sessionId: "five", chain }));
		await pause();
		fireEvent.click(screen.getByTestId("inbox"));
		await pause();
		expect(screen.getByTestId("approval-card").textContent).toContain(
			"one › two › three › four › five",
		);
	});
});
