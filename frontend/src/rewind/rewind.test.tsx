import { fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, test } from "vitest";
import { FakeError, FakeServer } from "@/test/fake-server";
import { agent, tool, turn, user } from "@/test/items";
import { openShell, pause } from "@/test/render";

afterEach(() => {
	window.location.hash = "";
});

function withTurn(): FakeServer {
	const server = new FakeServer();
	server.features = { ...server.features, rewind: true };
	server.session({ id: "s", title: "A session" }, [
		user({ itemId: "u", turnId: "t", text: "Write it" }),
		turn({ itemId: "t", turnId: "t", outcome: "replied", endedAt: 1_700_000_000_900 }),
		tool({
			itemId: "c",
			turnId: "t",
			status: "completed",
			display: { kind: "file-change", path: "a.txt", removed: "", added: "one\n" },
		}),
		agent({ itemId: "a", turnId: "t", text: "Written." }),
	]);
	server.work.rewinds = {
		restored: ["workspace:/notes/old.md"],
		deleted: ["workspace:/a.txt"],
		errors: [{ uri: "workspace:/b.txt", reason: "It was changed since." }],
	};
	return server;
}

async function ask(server: FakeServer) {
	const shell = await openShell(server, "/s/s");
	fireEvent.click(screen.getByTestId("rewind"));
	return { ...shell, dialog: await screen.findByRole("alertdialog") };
}

async function rewound(server: FakeServer) {
	const { dialog } = await ask(server);
	fireEvent.click(within(dialog).getByTestId("rewind-go"));
	await pause();
	return dialog;
}

const requests = (server: FakeServer) => server.requestsOf("turn/rewind");

describe("the way to it", () => {
	test("SP-FEAT-10 SP-REWIND-06 it is offered on a turn that is over, while none runs and the service is there", async () => {
		const server = withTurn();
		await openShell(server, "/s/s");
		expect(screen.getAllByTestId("rewind")).toHaveLength(1);
		server.start("s", turn({ itemId: "n", turnId: "n", at: 1_700_000_001_000 }));
		await pause();
		expect(screen.queryByTestId("rewind")).toBeNull();
		server.complete(
			"s",
			turn({ itemId: "n", turnId: "n", at: 1_700_000_001_000, outcome: "aborted" }),
		);
		await pause();
		expect(screen.getAllByTestId("rewind")).toHaveLength(2);
		server.setFeatures({ rewind: false });
		await pause();
		expect(screen.queryByTestId("rewind")).toBeNull();
	});
});

describe("the question", () => {
	test("FAIL-C10 the focus is on Cancel, and neither Enter there nor Escape, once or twice, rewinds", async () => {
		const server = withTurn();
		const { dialog } = await ask(server);
		await pause();
		const cancel = within(dialog).getByRole("button", { name: "Cancel" });
		expect(document.activeElement).toBe(cancel);
		fireEvent.keyDown(cancel, { key: "Escape" });
		fireEvent.keyDown(document.body, { key: "Escape" });
		await pause();
		expect(screen.queryByRole("alertdialog")).toBeNull();
		fireEvent.click(screen.getByTestId("rewind"));
		await pause();
		fireEvent.click(within(screen.getByRole("alertdialog")).getByText("Cancel"));
		await pause();
		expect(screen.queryByRole("alertdialog")).toBeNull();
		expect(requests(server)).toEqual([]);
		expect(screen.queryByTestId("toast")).toBeNull();
	});

	test("FAIL-C10 a key that is held down on Rewind presses nothing", async () => {
		const { dialog } = await ask(withTurn());
		const go = within(dialog).getByTestId("rewind-go");
		expect(fireEvent.keyDown(go, { key: "Enter", repeat: true })).toBe(false);
		expect(fireEvent.keyDown(go, { key: "Enter" })).toBe(true);
	});

	test("FAIL-C5 it says what the turn changed, and what is not protected", async () => {
		const { dialog } = await ask(withTurn());
		expect(within(dialog).getByTestId("rewind-preview").textContent).toContain("a.txt");
		expect(dialog.textContent).toMatch(/\.git.*10 MiB.*background/);
	});

	test("the scope goes with the request", async () => {
		const server = withTurn();
		const { dialog } = await ask(server);
		fireEvent.click(within(dialog).getByRole("radio", { name: /Files and conversation/ }));
		fireEvent.click(within(dialog).getByTestId("rewind-go"));
		await pause();
		expect(requests(server)).toEqual([{ sessionId: "s", turnId: "t", scope: "code-and-chat" }]);
		expect(dialog.textContent).toContain("4 messages left the conversation");
		expect(within(screen.getByTestId("timeline")).queryByText("Write it")).toBeNull();
	});

	test("a refusal stands in the dialog, which stays", async () => {
		const server = withTurn();
		server.intercept = (method) => {
			if (method === "turn/rewind") throw new FakeError(-32000, "A turn runs.", "conflict");
			return undefined;
		};
		const dialog = await rewound(server);
		expect(within(dialog).getByRole("alert").textContent).toBe("A turn runs.");
		expect(within(dialog).getByTestId("rewind-go")).toBeDefined();
	});
});

describe("what came of it", () => {
	test("FAIL-C5 restored, deleted and skipped files are told, with the reason", async () => {
		const dialog = await rewound(withTurn());
		const list = (name: RegExp) => within(dialog).getByRole("region", { name }).textContent;
		expect(list(/as it was before/)).toContain("notes/old.md");
		expect(list(/was deleted/)).toContain("a.txt");
		expect(list(/skipped/)).toMatch(/b\.txt.*It was changed since\./);
		expect(dialog.textContent).toContain("/home/ann/aalis");
	});

	test("it is taken back from there", async () => {
		const server = withTurn();
		server.work.undoes = { restored: ["workspace:/a.txt"] };
		const dialog = await rewound(server);
		fireEvent.click(within(dialog).getByTestId("rewind-undo"));
		await pause();
		expect(server.requestsOf("ext/rewind/undo")).toHaveLength(1);
		expect(dialog.dataset.phase).toBe("undone");
		expect(dialog.textContent).toMatch(/there again as before the rewind:a\.txt/);
		expect(within(dialog).queryByTestId("rewind-undo")).toBeNull();
		fireEvent.click(within(dialog).getByRole("button", { name: "Close" }));
		await pause();
		expect(screen.queryByTestId("toast")).toBeNull();
	});

	test("once closed, it can be taken back from a toast, whose failure is told", async () => {
		const server = withTurn();
		const dialog = await rewound(server);
		fireEvent.click(within(dialog).getByRole("button", { name: "Close" }));
		await pause();
		expect(screen.queryByRole("alertdialog")).toBeNull();
		server.intercept = (method) => {
			if (method === "ext/rewind/undo") throw new FakeError(-32000, "Too late.", "not-found");
			return undefined;
		};
		fireEvent.click(screen.getByTestId("toast-action"));
		await pause();
		const again = screen.getByRole("alertdialog");
		expect(within(again).getByRole("alert").textContent).toBe("Too late.");
		expect(screen.queryByTestId("toast")).toBeNull();
	});

	test("where nothing was rewound there is nothing to take back", async () => {
		const server = withTurn();
		server.intercept = (method) =>
			method === "turn/rewind"
				? {
						ok: false,
						restored: [],
						deleted: [],
						errors: [{ uri: "", reason: "There is no such turn." }],
					}
				: undefined;
		const dialog = await rewound(server);
		expect(dialog.textContent).toContain("Nothing was rewound");
		expect(dialog.textContent).toContain("There is no such turn.");
		expect(within(dialog).queryByTestId("rewind-undo")).toBeNull();
	});
});
