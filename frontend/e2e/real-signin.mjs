// How a tab gets in, and what it says where it does not, in Chromium against the real server.
//   E2E_SERVER=…/aalis-server node e2e/real-signin.mjs
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { launch, options } from "./browser.mjs";
import { pictures, Server, Suite, until } from "./rig.mjs";

const suite = new Suite();
const test = suite.test.bind(suite);
let server = await Server.start();
const browser = await launch();
const id = (name) => `[data-testid="${name}"]`;
const HELP = id("signin-help");
const OPEN = `${id("connection")}[data-state="open"]`;

/** A browser of somebody who has never been here. */
async function profile(path) {
	const context = await browser.newContext({ locale: "en-GB" });
	const page = await context.newPage();
	page.setDefaultTimeout(10_000);
	if (path) await page.goto(path);
	return { context, page };
}

const link = (...session) => server.command("open", "--print", ...session);
const connected = (page) => page.waitForSelector(OPEN, { state: "attached" });
/** Our own name, at which a cookie counts. */
const home = async () => new URL(await link()).origin;
/** A conversation that a terminal began. */
const begun = async (words) => JSON.parse(await server.command("send", "--json", words)).sessionId;
const shown = (page) => page.waitForSelector(`${id("item")}[data-kind="agent-message"]`);
const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });

/** The help says all there is to do, and nothing turns or waits for ever. */
async function helps(page, problem = false) {
	await page.waitForSelector(HELP);
	const words = await page.locator(HELP).textContent();
	for (const way of ["tray icon", "Aalis window", "Ctrl+K", "aalis open"])
		assert.ok(words.includes(way), `no word of ${way}: ${words}`);
	assert.equal(await page.locator(`${HELP} [role="alert"]`).count(), problem ? 1 : 0);
	assert.equal(await page.locator(`${HELP} .spin`).count(), 0);
}

test("FAIL-H14 a client without a credential gets 401, and is told how to get one", async () => {
	for (const path of ["/session", "/auth", "/api/models/model"]) {
		const answer = await fetch(server.url + path);
		assert.equal(answer.status, 401, path);
		assert.match(answer.headers.get("www-authenticate"), /^Bearer/);
		assert.match((await answer.json()).error.message, /aalis open.*aalis token create/s);
	}
});

test("FAIL-H14 a tab that the program opens is signed in, and its link is gone from the address", async () => {
	const { context, page } = await profile(await link());
	await connected(page);
	assert.equal(new URL(page.url()).hash, "");
	assert.equal(await page.evaluate(() => history.length), 2, "about:blank and the page");
	await context.close();
});

test("FAIL-H14 a second profile and a link that was used are told every way to get in", async () => {
	const used = await link();
	const first = await profile(used);
	await connected(first.page);
	const second = await profile(await home());
	await helps(second.page);
	await picture(second.page, "signin-help");
	await second.page.goto(used);
	await helps(second.page, true);
	assert.match(
		await second.page.locator('[role="alert"]').textContent(),
		/used already or is too old/,
	);
	await picture(second.page, "signin-used");
	for (const code of ["never-issued", "%zz", ""]) {
		await second.page.goto(`${await home()}/signin#${code}`);
		await helps(second.page, true);
	}
	await first.context.close();
	await second.context.close();
});

test("an old link does no harm to a browser that is signed in", async () => {
	const used = await link();
	const { context, page } = await profile(used);
	await connected(page);
	await page.goto("about:blank");
	await page.goto(used);
	await connected(page);
	assert.equal(await page.locator(HELP).count(), 0);
	await context.close();
});

test("a link to a conversation waits for the sign-in, and then shows it", async () => {
	const session = await begun("about the harbour");
	const { context, page } = await profile(`${await home()}/#/s/${session}`);
	await helps(page);
	assert.match(await page.locator(HELP).textContent(), new RegExp(`aalis open ${session}`));
	const other = await context.newPage();
	await other.goto(await link());
	await connected(other);
	await page.bringToFront();
	await page.evaluate(() => window.dispatchEvent(new Event("focus")));
	await connected(page);
	await shown(page);
	assert.equal(new URL(page.url()).hash, `#/s/${session}`);
	await context.close();
});

test("the button of the help tries again", async () => {
	const session = await begun("about the lighthouse");
	const { context, page } = await profile(`${await home()}/#/s/${session}`);
	await helps(page);
	await page.getByRole("button", { name: "Try again" }).click();
	await helps(page);
	const other = await context.newPage();
	await other.goto(await link());
	await connected(other);
	await other.close();
	await page.getByRole("button", { name: "Try again" }).click();
	await shown(page);
	await context.close();
});

test("?session=ID shows that conversation, with a link and without", async () => {
	const session = await begun("about the ferry");
	const { context, page } = await profile(await link(session));
	await shown(page);
	assert.equal(new URL(page.url()).search, "");
	await page.goto(`${await home()}/?session=${session}`);
	await shown(page);
	assert.equal(new URL(page.url()).hash, `#/s/${session}`);
	await page.goto(`${await home()}/?session=nobody`);
	await page.waitForSelector(id("session-gone"));
	await picture(page, "signin-no-such-session");
	await context.close();
});

test("a sign-out elsewhere shows the help at the next look, and a new link lets it in", async () => {
	const { context, page } = await profile(await link());
	await connected(page);
	const status = await page.evaluate(async () => {
		const answer = await fetch("/signout", { method: "POST" });
		return answer.status;
	});
	assert.equal(status, 200);
	await helps(page);
	await page.reload();
	await helps(page);
	await page.goto(await link());
	await connected(page);
	await context.close();
});

test("FAIL-H14 after a restart the cookie is still good, at another port, too, and after the browser's own", async () => {
	const folder = mkdtempSync(join(tmpdir(), "aalis-profile-"));
	const start = () => chromium.launchPersistentContext(folder, { ...options, locale: "en-GB" });
	let real = await start();
	let page = real.pages()[0] ?? (await real.newPage());
	await page.goto(await link());
	await connected(page);
	const before = server;
	await before.program.stop();
	await page.waitForSelector(`${id("connection")}[data-state="away"]`, { state: "attached" });
	const port = new URL(before.url).port;
	server = await Server.start({
		home: before.place,
		args: ["--listen", `127.0.0.1:${port}`],
	});
	await page.waitForSelector(OPEN, { state: "attached", timeout: 20_000 });
	await real.close();
	await server.program.stop();
	server = await Server.start({ home: before.place });
	real = await start();
	page = real.pages()[0] ?? (await real.newPage());
	await page.goto(await home());
	await connected(page);
	await real.close();
	rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

test("a server that stops while a link is opened is said not to answer", async () => {
	const { context, page } = await profile();
	const address = await link();
	// The page comes, and nobody takes its code any more.
	await page.route("**/signin", (route) =>
		route.request().method() === "POST" ? route.abort() : route.continue(),
	);
	await page.goto(address);
	await helps(page, true);
	assert.match(await page.locator('[role="alert"]').textContent(), /did not answer/);
	await context.close();
});

test("a link with Ctrl, with the middle button, dropped, or in a form never leaves the page", async () => {
	const session = await begun("[the harbour](https://example.invalid/harbour)");
	const { context, page } = await profile(await link(session));
	await context.route("https://example.invalid/**", (route) =>
		route.fulfill({ body: "outside", contentType: "text/plain" }),
	);
	const outside = page.locator('a[href="https://example.invalid/harbour"]').last();
	await outside.waitFor();
	const at = page.url();
	for (const how of [{}, { modifiers: ["Control"] }, { button: "middle" }]) {
		const [opened] = await Promise.all([context.waitForEvent("page"), outside.click(how)]);
		await opened.waitForLoadState();
		assert.equal(opened.url(), "https://example.invalid/harbour");
		assert.equal(await opened.evaluate(() => window.opener), null);
		await opened.close();
	}
	await outside.dragTo(page.locator(id("session-title")));
	await page.evaluate(() => {
		const form = document.createElement("form");
		form.action = "/gone";
		document.body.append(form);
		form.requestSubmit();
		form.remove();
	});
	await page.locator("body").press("Backspace");
	await page.locator("body").press("Alt+ArrowRight");
	assert.equal(page.url(), at);
	assert.equal(context.pages().length, 1);
	// Words are dropped where words are written.
	await outside.dragTo(page.locator("#composer"));
	await until("the address", async () =>
		(await page.locator("#composer").inputValue()).includes("example.invalid"),
	);
	assert.equal(page.url(), at);
	await context.close();
});

await suite.run({
	after: async () => {
		await browser.close();
		await server.stop();
	},
});
