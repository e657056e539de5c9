// Drives the interface in Chromium against the real server.
//   E2E_SERVER=…/aalis-server node e2e/real-tab.mjs
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { launch } from "./browser.mjs";
import { Server, Suite, until } from "./rig.mjs";
import { Tab } from "./tab.mjs";

const suite = new Suite();
const test = suite.test.bind(suite);
const server = await Server.start();
const browser = await launch();
const tab = await Tab.open(browser, server);
console.log(`server ready after ${Math.round(server.readyMs)} ms, Chromium ${browser.version()}`);

test("a tab that nobody let in says how to get in", async () => {
	const context = await browser.newContext();
	const page = await context.newPage();
	await page.goto(server.url);
	await page.waitForSelector('[data-testid="signin-help"]');
	const used = await server.command("open", "--print");
	await page.goto(used);
	await page.waitForSelector('[data-testid="connection"][data-state="open"]', {
		state: "attached",
	});
	assert.equal(
		new URL(page.url()).hash.includes(new URL(used).hash.slice(1)),
		false,
		"the code stays in the address",
	);
	const again = await browser.newContext();
	const other = await again.newPage();
	await other.goto(used);
	await other.waitForSelector('[data-testid="signin-help"]');
	await context.close();
	await again.close();
});

test("SEC-06 a sign-in lasts over a reload under our own name, and only in memory elsewhere", async () => {
	await tab.page.reload();
	await tab.connected();
	assert.match(new URL(tab.page.url()).hostname, /^aalis-[0-9a-f]{8}\.localhost$/);
	const context = await browser.newContext();
	const page = await context.newPage();
	await page.goto(await server.command("open", "--print", "--host", "127.0.0.1"));
	await page.waitForSelector('[data-testid="connection"][data-state="open"]', {
		state: "attached",
	});
	assert.deepEqual(await context.cookies(), []);
	await page.reload();
	await page.waitForSelector('[data-testid="signin-help"]');
	await context.close();
});

test("a message gets an answer that streams", async () => {
	const id = await tab.begin("slow: 12");
	const streaming = tab.items("agent-message", "streaming");
	await streaming.waitFor();
	const early = (await streaming.textContent()).length;
	await until(
		"the text grows",
		async () => (await tab.items("agent-message").first().textContent()).length > early,
	);
	await tab.picture("tab-streaming");
	await tab.ended("replied");
	assert.equal(await tab.items("agent-message", "streaming").count(), 0);
	await tab.row(id).waitFor();
	assert.equal(await tab.items("user-message").count(), 1);
	await tab.picture("tab-answered");
});

test("a command asks first, runs after Approve, and shows output and exit code", async () => {
	const mark = join(server.dataDir, "workspace", "approved");
	const id = await tab.begin("run: echo one && echo two >&2 && touch approved && exit 3");
	const card = tab.items("tool-call").locator('[data-testid="approval-card"]');
	await card.waitFor();
	assert.match(await card.textContent(), /echo one && echo two/);
	assert.equal(existsSync(mark), false, "it ran before the answer");
	assert.equal(await tab.at("inbox-count").textContent(), "1");
	assert.equal(await tab.row(id).locator('[data-mark="attention"]').count(), 1);
	await tab.picture("tab-approval");
	await card.locator('[data-testid="approve"]').click();
	await tab.ended("replied");
	assert.equal(existsSync(mark), true);
	assert.equal(await tab.at("inbox-count").count(), 0);
	const call = tab.items("tool-call");
	if (!/one/.test(await call.textContent())) await call.getByRole("button").first().click();
	await until("output and exit code", async () =>
		/one[\s\S]*two[\s\S]*3|3[\s\S]*one[\s\S]*two/.test(await call.textContent()),
	);
	await tab.picture("tab-command");
});

test("a denied command does not run", async () => {
	await tab.begin("run: touch denied");
	await tab.at("approval-card").first().waitFor();
	await tab.at("deny").first().click();
	await tab.items("tool-call", "denied").waitFor();
	await tab.ended("replied");
	assert.equal(existsSync(join(server.dataDir, "workspace", "denied")), false);
	await tab.picture("tab-denied");
});

test("a file that she writes is shown as a change before it is written", async () => {
	await tab.begin("write: notes/hello.txt\nfirst line\nsecond line");
	const card = tab.at("approval-card").first();
	await card.waitFor();
	assert.match(await card.textContent(), /notes\/hello\.txt[\s\S]*first line/);
	await tab.picture("tab-change");
	await tab.at("approve").first().click();
	await tab.ended("replied");
	assert.equal(
		readFileSync(join(server.dataDir, "workspace/notes/hello.txt"), "utf8"),
		"first line\nsecond line\n",
	);
});

test("the inbox answers for another session", async () => {
	const id = await tab.begin("run: touch by-inbox");
	await tab.at("approval-card").first().waitFor();
	await tab.at("new-session").click();
	await tab.at("inbox").click();
	const entry = tab.page.locator(`[data-approval-id]`).first();
	await entry.waitFor();
	await tab.picture("tab-inbox");
	await entry.locator('[data-testid="approve"]').click();
	await until("the file", () => existsSync(join(server.dataDir, "workspace/by-inbox")));
	await until("an empty inbox", async () => (await tab.at("inbox-count").count()) === 0);
	await tab.page.keyboard.press("Escape");
	await tab.row(id).locator("a").click();
	await tab.ended("replied");
});

/** Begins a conversation whose one call is approved, and waits for its end. */
async function approved(text) {
	const id = await tab.begin(text);
	await tab.at("approval-card").first().waitFor();
	await tab.at("approve").first().click();
	await tab.ended("replied");
	return id;
}

test("SP-BG-14 a background task is followed, stopped, and told by its card", async () => {
	await approved("background: echo begun; sleep 300; echo never");
	const mark = tab.at("task-mark").first();
	await mark.waitFor();
	assert.equal(await mark.getAttribute("data-status"), "running");
	await until("the badge", async () => (await tab.at("background-count").textContent()) === "1");
	await tab.at("task-open").click();
	const task = tab.at("task").first();
	await until("its output", async () =>
		/begun/.test(await task.locator('[data-testid="task-output"]').textContent()),
	);
	await tab.picture("tab-background");
	await task.locator('[data-testid="task-stop"]').click();
	await until(
		"that it stopped",
		async () => (await task.getAttribute("data-status")) === "stopped",
	);
	await until("the card", async () => (await mark.getAttribute("data-status")) === "stopped");
	const printed = await task.locator('[data-testid="task-output"]').textContent();
	assert.match(printed, /begun/);
	assert.doesNotMatch(printed, /never/);
	await tab.picture("tab-background-stopped");
	await tab.page.keyboard.press("Escape");
	await until("no badge", async () => (await tab.at("background").count()) === 0);
});

test("SP-BG-29 all background work of a session is stopped from its menu", async () => {
	await approved("background: sleep 300");
	await tab.at("task-mark").first().waitFor();
	await tab.at("session-menu").click();
	await tab.page.getByRole("menuitem", { name: /Stop the background work/ }).click();
	await until(
		"that it stopped",
		async () => (await tab.at("task-mark").first().getAttribute("data-status")) === "stopped",
	);
});

test("FAIL-C5 a turn is rewound, its files and messages, and the rewind is taken back", async () => {
	const workspace = join(server.dataDir, "workspace");
	const id = await approved("write: rewound.txt\nas she wrote it");
	const file = join(workspace, "rewound.txt");
	assert.equal(readFileSync(file, "utf8"), "as she wrote it\n");
	await tab.at("rewind").last().click();
	const dialog = tab.at("rewind-dialog");
	await dialog.waitFor();
	assert.match(await tab.at("rewind-preview").textContent(), /rewound\.txt/);
	assert.equal(
		await tab.page.evaluate(() => document.activeElement?.textContent),
		"Cancel",
		"the safe answer has not the focus",
	);
	await tab.picture("tab-rewind");
	await dialog.getByRole("radio", { name: /Files and conversation/ }).click();
	await tab.at("rewind-go").click();
	await until("the result", async () => (await dialog.getAttribute("data-phase")) === "done");
	assert.match(await dialog.textContent(), /deleted:rewound\.txt/);
	assert.equal(existsSync(file), false);
	await until("no message", async () => (await tab.items("user-message").count()) === 0);
	await tab.picture("tab-rewound");
	await dialog.getByRole("button", { name: "Close" }).click();
	await tab.at("toast-action").click();
	await until("the undoing", async () => (await dialog.getAttribute("data-phase")) === "undone");
	assert.match(await dialog.textContent(), /rewound\.txt/);
	assert.equal(readFileSync(file, "utf8"), "as she wrote it\n");
	await until("the message", async () => (await tab.items("user-message").count()) === 1);
	await tab.picture("tab-rewind-undone");
	await dialog.getByRole("button", { name: "Close" }).click();
	assert.equal(tab.session(), id);
});

test("FAIL-C5 a file that was changed since is skipped, and why is told", async () => {
	await approved("write: mine.txt\nhers");
	const file = join(server.dataDir, "workspace", "mine.txt");
	writeFileSync(file, "mine now\n");
	await tab.at("rewind").last().click();
	await tab.at("rewind-go").click();
	const dialog = tab.at("rewind-dialog");
	await until("the result", async () => (await dialog.getAttribute("data-phase")) === "done");
	assert.match(await dialog.textContent(), /1 file was skipped:mine\.txt.*changed since/);
	assert.equal(readFileSync(file, "utf8"), "mine now\n");
	assert.equal(await tab.items("user-message").count(), 1);
	await tab.picture("tab-rewind-skipped");
	await dialog.getByRole("button", { name: "Close" }).click();
});

test("a folder is added, a conversation works in it, and it is removed without being touched", async () => {
	const folder = join(server.place.home, "photos");
	mkdirSync(folder);
	await tab.at("preferences").click();
	await tab.page.getByRole("menuitem", { name: /Add folder/ }).click();
	await tab.at("place-path").fill("no/where");
	await tab.at("place-add").click();
	await until("why not", async () =>
		/no\/where/.test(await tab.at("places").getByRole("alert").textContent()),
	);
	await tab.at("place-path").fill(folder);
	await tab.at("place-add").click();
	await until("the folder", async () => (await tab.at("places").textContent()).includes(folder));
	await tab.picture("tab-places");
	await tab.page.keyboard.press("Escape");
	await tab.at("new-session").click();
	assert.equal(await tab.at("place").textContent(), "photos");
	await approved("write: here.txt\nin the folder");
	assert.equal(readFileSync(join(folder, "here.txt"), "utf8"), "in the folder\n");
	assert.match(await tab.at("session-place").textContent(), /photos/);
	await tab.picture("tab-place");
	await tab.at("preferences").click();
	await tab.page.getByRole("menuitem", { name: /Add folder/ }).click();
	await tab.at("place-remove").click();
	await tab.page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
	await until("it left", async () => (await tab.at("place-remove").count()) === 0);
	await tab.page.keyboard.press("Escape");
	assert.equal(existsSync(join(folder, "here.txt")), true);
	await tab.at("new-session").click();
	assert.equal(await tab.at("place").count(), 0);
});

test("an at-sign names a file of the place", async () => {
	writeFileSync(join(server.dataDir, "workspace", "harbour map.txt"), "the way in\n");
	await tab.at("new-session").click();
	const box = tab.at("composer").locator("textarea");
	await box.pressSequentially("read: @harb");
	await tab.page.getByRole("option", { name: "harbour map.txt" }).waitFor();
	await tab.picture("tab-mention");
	await box.press("Enter");
	assert.equal(await box.inputValue(), 'read: @"harbour map.txt" ');
	await box.press("Enter");
	await tab.page.waitForURL(/#\/s\/./);
	await tab.ended("replied");
	assert.match(await tab.items("tool-call").textContent(), /harbour map\.txt/);
	assert.match(await tab.items("agent-message").last().textContent(), /the way in/);
});

test("a session is named by the server, after its first words", async () => {
	const id = await tab.begin("Look at the quince tree in the garden");
	await tab.ended("replied");
	await until("a title", async () => /quince/i.test(await tab.row(id).textContent()));
});

test("SP-NOTICE-11 SP-COMP-02 what is said to the program is answered by it, and a conversation is shortened", async () => {
	const id = await tab.begin("the first of many");
	await tab.ended("replied");
	const box = tab.at("composer").locator("textarea");
	await box.fill("/st");
	await tab.at("suggestions").waitFor();
	await tab.picture("tab-slash");
	await box.press("Enter");
	assert.equal(await box.inputValue(), "/status");
	await box.press("Enter");
	const status = tab.items("notice").filter({ hasText: "Context:" });
	await status.waitFor();
	await tab.picture("tab-status");
	assert.equal(await tab.at("turn").count(), 1, "a command began a turn");
	// Twenty messages stay, so there must be more.
	for (let n = 0; n < 11; n++) {
		const words = `message ${n} ${"about the harbour ".repeat(12)}`;
		await server.command("send", "--wait", "--session", id, words);
	}
	await until("all of it", async () => (await tab.at("turn").count()) > 1);
	await tab.at("session-menu").click();
	await tab.page.getByRole("menuitem", { name: "Shorten what she reads" }).click();
	await tab.at("compressed").waitFor();
	assert.match(await tab.at("compressed").textContent(), /tokens became/);
	await tab.picture("tab-compressed");
	await tab.page.reload();
	await tab.connected();
	await tab.at("compressed").waitFor();
	await tab.write("/clear");
	await until("an empty conversation", async () => (await tab.items("user-message").count()) === 0);
	await tab.items("notice").filter({ hasText: "empty now" }).waitFor();
	await tab.picture("tab-cleared");
});

test("Stop ends a turn", async () => {
	await tab.begin("slow: 500");
	await tab.items("agent-message", "streaming").waitFor();
	await tab.at("stop").click();
	await tab.ended("aborted");
	await tab.picture("tab-stopped");
});

test("an error says why", async () => {
	await tab.begin("fail: the moon is in the way");
	await tab.ended("error");
	assert.match(await tab.at("turn").last().textContent(), /the moon is in the way/);
	await tab.picture("tab-error");
});

test("rename, archive, search, delete", async () => {
	const id = await tab.begin("to be renamed");
	await tab.ended("replied");
	await tab.choose(id, "Rename");
	await tab.row(id).locator('[data-testid="rename"]').fill("Quokka holiday");
	await tab.page.keyboard.press("Enter");
	await until("the new title", async () => /Quokka holiday/.test(await tab.row(id).textContent()));
	await until(
		"the title above",
		async () => (await tab.at("session-title").textContent()) === "Quokka holiday",
	);
	await tab.at("search").fill("quokka");
	await until("one hit", async () => (await tab.at("session-row").count()) === 1);
	await tab.picture("tab-search");
	await tab.at("search").fill("nothing is called this");
	await until("no hit", async () => (await tab.at("session-row").count()) === 0);
	await tab.at("search").fill("");
	await tab.row(id).waitFor();
	await tab.choose(id, "Archive");
	await until("it left the list", async () => (await tab.row(id).count()) === 0);
	// The heading moves up into the row's place; a click may meet it on its way.
	await until("the archive is open", async () => {
		const heading = tab.at("archived");
		if ((await heading.getAttribute("aria-expanded")) === "true") return true;
		await heading.click();
		return false;
	});
	await tab.row(id).waitFor();
	await tab.picture("tab-archived");
	await tab.choose(id, "Delete");
	await tab.page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
	await until("it is gone", async () => (await tab.row(id).count()) === 0);
	const gone = await server.run(["send", "--session", id, "anybody there"]);
	assert.equal(gone.code, 1, gone.out);
});

test("two tabs see one turn; what one answers leaves the other", async () => {
	const id = await tab.begin("run: touch from-two-tabs");
	await tab.at("approval-card").first().waitFor();
	const second = await Tab.open(browser, server, { path: id });
	assert.equal(second.session(), id, "aalis open SESSION shows another");
	await second.page.mouse.move(200, 200);
	await second.at("approval-card").first().waitFor();
	await until("both inboxes", async () => (await second.at("inbox-count").count()) === 1);
	await second.at("approve").first().click();
	await until("the card is gone", async () => (await tab.at("approval-card").count()) === 0);
	await until("the inbox is empty", async () => (await tab.at("inbox-count").count()) === 0);
	await tab.ended("replied");
	await second.ended("replied");
	await second.write("and now together");
	await until("the other's message", async () => (await tab.items("user-message").count()) === 2);
	assert.deepEqual(second.problems, []);
	await second.close();
});

test("a server that ends is noticed, and one that comes back is found", async () => {
	const port = new URL(server.url).port;
	const home = server.place;
	const id = await tab.begin("before the break");
	await tab.ended("replied");
	const end = await server.program.stop();
	assert.equal(end.code, 0);
	assert.ok(end.ms < 2_000, `the end took ${end.ms} ms`);
	await tab.page.waitForSelector('[data-testid="connection"][data-state="away"]', {
		state: "attached",
	});
	await tab.picture("tab-away");
	const back = await Server.start({ home, args: ["--listen", `127.0.0.1:${port}`] });
	server.program = back.program;
	await tab.page.waitForSelector('[data-testid="connection"][data-state="open"]', {
		state: "attached",
		timeout: 20_000,
	});
	await tab.row(id).waitFor();
	assert.equal(await tab.items("agent-message").count(), 1);
	await tab.write("after the break");
	await until("the second answer", async () => (await tab.items("agent-message").count()) === 2);
	tab.problems = tab.problems.filter(
		(line) => !/WebSocket|ERR_CONNECTION|Failed to load/.test(line),
	);
});

test("axe finds nothing to say about a session", async () => {
	// A tip under the pointer stands outside the landmarks by nature.
	await tab.page.mouse.move(640, 300);
	await until(
		"no tip",
		async () => (await tab.page.locator("[data-base-ui-portal] *").count()) === 0,
	);
	const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
	// In a world of its own, where the page's policy does not bind it.
	const cdp = await tab.context.newCDPSession(tab.page);
	const { frameTree } = await cdp.send("Page.getFrameTree");
	const { executionContextId } = await cdp.send("Page.createIsolatedWorld", {
		frameId: frameTree.frame.id,
	});
	const run = async (expression) => {
		const world = { contextId: executionContextId, awaitPromise: true, returnByValue: true };
		return (await cdp.send("Runtime.evaluate", { expression, ...world })).result.value;
	};
	await run(axe);
	const found = await run(
		"axe.run().then((all) => all.violations.map((v) => [v.id, v.nodes[0].html.slice(0, 120)]))",
	);
	assert.deepEqual(found, []);
});

test("a narrow and a dark tab", async () => {
	const narrow = await Tab.open(browser, server, {
		viewport: { width: 420, height: 800 },
		colorScheme: "dark",
	});
	await narrow.picture("tab-narrow-dark");
	await narrow.close();
});

test("the page itself is never scrolled, whatever lies below a pane's edge", async () => {
	const far = await tab.page.evaluate(() => {
		const marks = [...document.querySelectorAll(".sr-only")];
		for (const mark of marks) mark.scrollIntoView({ block: "end" });
		const { scrollTop, scrollHeight, clientHeight } = document.documentElement;
		return { marks: marks.length, scrollTop, hidden: scrollHeight - clientHeight };
	});
	assert.ok(far.marks > 0);
	assert.deepEqual([far.scrollTop, far.hidden], [0, 0]);
});

test("nothing was reported on the page's console", () => {
	assert.deepEqual(tab.problems, []);
});

await suite.run({
	onFailure: (name) => tab.picture(`failed-${name}`),
	after: async () => {
		await browser.close();
		await server.stop();
	},
});
