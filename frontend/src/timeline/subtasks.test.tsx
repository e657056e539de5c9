import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { FakeServer } from "@/test/fake-server";
import { notice, tool, user } from "@/test/items";
import { openTimeline, pause } from "@/test/render";

const made = tool({
	itemId: "c",
	tool: "create_subtask",
	args: { task: "look" },
	status: "completed",
	result: '{"subtaskId":"child","name":"Look around","status":"running","message":"x"}',
});

const state = () => screen.getByTestId("subtask-mark").dataset.state;

test("a card leads to its sub-task and shows how it stands, as it goes on", async () => {
	const server = new FakeServer();
	server.session({ id: "child", parentId: "s", title: "Look around", running: true });
	await openTimeline([made], { server });
	await pause();
	expect(server.requestsOf("sessions/list").some(({ parentId }) => parentId === "s")).toBe(true);
	const link = screen.getByRole("link", { name: "Look around" });
	expect(link.getAttribute("href")).toBe("#/s/child");
	expect(state()).toBe("running");
	server.change("child", { attention: true });
	await pause();
	expect(state()).toBe("waiting");
	server.change("child", {
		attention: false,
		running: false,
		title: "Looked",
		lastTurn: { outcome: "replied", endedAt: 1 },
		tokens: { input: 30, output: 12 },
	});
	await pause();
	expect(state()).toBe("completed");
	expect(screen.getByTestId("subtask").textContent).toContain("42 tokens");
	expect(screen.getByRole("link", { name: "Looked" })).toBeDefined();
});

test("one that is unknown stands as the card was told", async () => {
	await openTimeline([made]);
	await pause();
	expect(state()).toBe("running");
	expect(screen.getByText("Look around")).toBeDefined();
});

test("the end of a sub-task leads to it, and its parent's words say whose they are", async () => {
	await openTimeline([
		user({
			itemId: "u",
			text: "look",
			speaker: { platform: "webui", userId: "parent:p", source: "subtask", owner: false },
		}),
		notice({
			itemId: "n",
			topic: "subtask",
			text: "The sub-task is done.",
			facts: {
				subtaskId: "child",
				name: "Look \u202earound",
				status: "failed",
				durationMs: 65_000,
			},
		}),
	]);
	const end = screen.getByTestId("subtask-end");
	expect(end.getAttribute("href")).toBe("#/s/child");
	expect(end.textContent).toContain("failed");
	expect(end.textContent).toContain("⟦U+202E⟧");
	expect(screen.getByText("From the conversation above")).toBeDefined();
	expect(document.body.textContent).not.toContain("via subtask");
});
