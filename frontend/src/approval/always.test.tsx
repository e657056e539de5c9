import { fireEvent, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { FakeServer } from "@/test/fake-server";
import { approvalOf, tool } from "@/test/items";
import { openTimeline, pause } from "@/test/render";

async function waiting(command: string) {
	const server = new FakeServer();
	server.setFeatures({ settings: true });
	const approval = approvalOf({
		id: "a",
		sessionId: "s",
		callId: "c",
		tool: "run_command",
		facts: { command, params: { command } },
	});
	server.approvals.set("a", approval);
	await openTimeline(
		[tool({ itemId: "c", tool: "run_command", args: { command }, approvalId: "a" })],
		{ server },
	);
	await pause(30);
	return server;
}

test("FAIL-B18 the exact rule is shown before it is stored, and a person chooses between exact and prefix", async () => {
	const server = await waiting("git status src");
	fireEvent.click(screen.getByTestId("always"));
	expect(screen.getByTestId("always-rule").textContent).toBe("exact: git status src");
	fireEvent.click(
		screen.getByLabelText("This and further plain words", { selector: "[type=radio]" }),
	);
	expect(screen.getByTestId("always-rule").textContent).toBe("prefix: git status");
	fireEvent.change(screen.getByRole("textbox", { name: "This and further plain words" }), {
		target: { value: "git  status src" },
	});
	expect(screen.getByTestId("always-rule").textContent).toBe("prefix: git status src");
	expect(server.requestsOf("approval/respond")).toEqual([]);
});

test("FAIL-B18 what cannot be seen in a command is seen in its rule, and it has no prefix", async () => {
	await waiting("echo a\u202e; rm b");
	fireEvent.click(screen.getByTestId("always"));
	expect(screen.getByTestId("always-rule").textContent).toContain("⟦U+202E⟧");
	expect(screen.queryByText("This and further plain words")).toBeNull();
});

test("a card names the rule that decided", async () => {
	await openTimeline([
		tool({
			itemId: "d",
			tool: "run_command",
			status: "denied",
			ext: { rule: { verdict: "deny", text: "prefix: rm" } },
		}),
	]);
	expect(screen.getByTestId("rule").textContent).toBe("Not run because of the ruleprefix: rm");
});
