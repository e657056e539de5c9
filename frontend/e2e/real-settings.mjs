// Settings and waiting messages in Chromium against the real server.
//   E2E_SERVER=…/aalis-server node e2e/real-settings.mjs
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./browser.mjs";
import { Server, Suite, until } from "./rig.mjs";
import { Tab } from "./tab.mjs";

const suite = new Suite();
const test = suite.test.bind(suite);
const server = await Server.start();
const browser = await launch();
const tab = await Tab.open(browser, server);
const { page } = tab;
const config = join(server.dataDir, "config.yaml");

const document = () => (existsSync(config) ? readFileSync(config, "utf8") : "");

const setting = (key) => page.locator(`[data-testid="setting"][data-setting$="/${key}"]`);
const from = (key) => setting(key).locator('[data-testid="setting-from"]');
const quick = (label) => tab.at("quick-setting").filter({ hasText: new RegExp(`^${label}`) });
const reads = (locator, what) =>
	until(`${what}`, async () => what.test((await locator.textContent()) ?? ""));

async function closeSettings() {
	if ((await tab.at("settings").count()) > 0) await tab.at("settings-close").click();
	await tab.at("settings").waitFor({ state: "detached" });
}
async function openSettings() {
	await closeSettings();
	await tab.at("session-settings").click();
	await tab.at("setting").first().waitFor();
}
/** What is advanced is folded, by who declared it. */
async function unfold() {
	const head = tab.at("settings-plugin").first();
	await head.waitFor();
	if ((await head.getAttribute("aria-expanded")) === "false") await head.click();
	await setting("toolLimit").waitFor();
}
const goLayer = (name) => tab.at("layer").filter({ hasText: name }).click();

test("SP-CONF-32 SP-CONF-34 the quick switch has the model and the thinking, with the choices of the host", async () => {
	await tab.begin("hello");
	await tab.ended("replied");
	await tab.at("quick-settings").waitFor();
	await quick("Model").click();
	await page.getByRole("option").first().waitFor();
	const models = await page.getByRole("option").allTextContents();
	assert.ok(models.length > 0, "no model is offered");
	await tab.picture("settings-quick");
	await page.getByRole("option").first().click();
	await until("the model is set here", async () => {
		await openSettings();
		return /Set here/.test((await from("model").textContent()) ?? "");
	});
	await tab.picture("settings-session");
});

test("SP-CONF-46 SP-CONF-47 a number is saved, survives a reload, and is reset", async () => {
	await openSettings();
	await unfold();
	await tab.picture("settings-advanced");
	const row = setting("toolLimit");
	const box = row.getByRole("spinbutton");
	const before = await box.inputValue();
	await box.fill("7");
	await box.press("Enter");
	await reads(row, /Set here/);
	await page.reload();
	await tab.connected();
	await openSettings();
	await unfold();
	assert.equal(await box.inputValue(), "7");
	await row.getByRole("button", { name: /Reset/ }).click();
	await reads(row, /Default/);
	assert.equal(await box.inputValue(), before);
	await box.fill("100000");
	assert.match(await row.textContent(), /at most/);
	assert.ok(await row.getByRole("button", { name: "Save" }).isDisabled());
	await box.press("Escape");
	assert.equal(await tab.at("settings").count(), 1, "Escape closed the window instead of the edit");
});

test("SP-CONF-69 an edit under way outlives a change of the document by hand, which is shown at once", async () => {
	await openSettings();
	await setting("persona").getByRole("textbox").fill("half a thou");
	await goLayer("Everywhere");
	await page.waitForSelector('[data-testid="settings-page"][aria-label="Everywhere"]');
	const language = setting("language");
	await language.waitFor();
	const now = document();
	writeFileSync(config, `${now}\nlanguage: zh-CN\n`);
	await reads(language, /中文/);
	await reads(tab.at("settings-page"), /^全局/);
	await tab.picture("settings-by-hand");
	writeFileSync(config, now);
	await reads(tab.at("settings-page"), /^Everywhere/);
	await tab.at("layer").first().click();
	assert.equal(await setting("persona").getByRole("textbox").inputValue(), "half a thou");
	await setting("persona").getByRole("button", { name: "Discard" }).click();
});

test("SP-CONF-67 what a session sets is counted on the page of all", async () => {
	await openSettings();
	await setting("persona").getByRole("textbox").fill("A pirate.");
	await setting("persona").getByRole("button", { name: "Save" }).click();
	await reads(from("persona"), /Set here/);
	await goLayer("Everywhere");
	const count = setting("persona").locator('[data-testid="set-elsewhere"]');
	await reads(count, /Set in 1 more place/);
	await tab.picture("settings-everywhere");
	await count.click();
	await page.getByRole("button", { name: /A pirate/ }).click();
	await reads(from("persona"), /Set here/);
});

test("SP-CONF-58 a document that cannot be written is told, and stays told", async () => {
	const now = document();
	writeFileSync(config, `${now}\nbroken: [\n`);
	await openSettings();
	await goLayer("Everywhere");
	await setting("persona").getByRole("textbox").fill("Somebody else.");
	await setting("persona").getByRole("button", { name: "Save" }).click();
	await tab.at("unsaved").waitFor();
	await tab.picture("settings-unsaved");
	await tab.at("settings-close").click();
	await tab.at("unsaved").waitFor();
	writeFileSync(config, now);
});

test("FAIL-A18 a waiting message is changed, and another taken back", async () => {
	await closeSettings();
	await tab.begin("slow: 60");
	await tab.items("agent-message", "streaming").waitFor();
	await tab.write("first thought");
	await tab.write("second thought");
	const entries = tab.at("queue-entry");
	await until("both wait", async () => (await entries.count()) === 2);
	await entries.nth(0).locator('[data-testid="queue-change"]').click();
	await tab.at("queue-field").fill("first thought, changed");
	await tab.picture("queue-change");
	await tab.at("queue-field").press("Enter");
	await reads(entries.nth(0), /^first thought, changed/);
	await entries.nth(1).locator('[data-testid="queue-take-back"]').click();
	await until("one waits", async () => (await entries.count()) === 1);
	assert.equal(await page.locator("#composer").inputValue(), "second thought");
	await until(
		"the changed words are taken up",
		async () =>
			(await tab.items("user-message").filter({ hasText: "first thought, changed" }).count()) === 1,
		30_000,
	);
	assert.equal(await tab.items("user-message").filter({ hasText: "second thought" }).count(), 0);
});

test("nothing went wrong in the page", () => {
	assert.deepEqual(tab.problems, []);
});

await suite.run({
	onFailure: (name) => tab.picture(`failed-${name}`),
	after: async () => {
		await browser.close();
		await server.stop();
	},
});
