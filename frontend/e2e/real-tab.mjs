// Drives the interface in Chromium against the real server.
//   E2E_SERVER=…/aalis-server node e2e/real-tab.mjs
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
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
	await tab.at("archived").click();
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

test("nothing was reported on the page's console", () => {
	assert.deepEqual(tab.problems, []);
});

await suite.run((name) => tab.picture(`failed-${name}`));
await browser.close();
await server.stop();
