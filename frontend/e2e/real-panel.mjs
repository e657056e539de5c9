// Drives the tray and the notifications as they are shipped, with Xfce's panel and notification daemon,
// by mouse.
//   E2E_SERVER=…/aalis-server E2E_APP=…/aalis E2E_SHIM=…/window-shim.so node e2e/real-panel.mjs
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Desk } from "./desk.mjs";
import { Panel } from "./panel.mjs";
import { Suite, until } from "./rig.mjs";

const suite = new Suite();
const test = suite.test.bind(suite);
const desk = await Desk.start();
const panel = await Panel.start(desk);
const workspace = (name) => join(desk.dataDir, "workspace", name);
const windows = async () =>
	(await desk.windows()).filter(({ title }) => title.endsWith("Aalis")).length;
const looks = new Map();
let app;
let first;

/** Keeps how the icon looks in a state; no two states look the same. */
async function look(state) {
	const hash = await until(`the icon ${state}`, async () => {
		const now = await panel.icon();
		return ![...looks.values()].includes(now) && now;
	});
	await panel.icon(`tray-${state}`);
	looks.set(state, hash);
}

const looksLike = (state) =>
	until(`the icon ${state} again`, async () => (await panel.icon()) === looks.get(state));

const cards = () => app.count('[data-testid="approval-card"]');

test("hidden at the start, the icon is in the panel and a click on it shows the window", async () => {
	const bare = await panel.icon();
	looks.set("none", bare);
	app = await desk.app("--hidden");
	await look("idle");
	assert.equal(await windows(), 0);
	await panel.mouse(12, 16, 1);
	await app.driven();
	await app.connected();
	assert.equal(await windows(), 1);
});

test("the icon tells that she works", async () => {
	await app.begin("slow: 40");
	await look("working");
	await app.ended("replied");
	await looksLike("idle");
});

test("an approval is in the menu and is approved there", async () => {
	first = await app.begin("run: touch approved_in_the_tray");
	await app.find('[data-testid="approval-card"]');
	await panel.notification();
	await look("waiting");
	await desk.picture("panel-notification");
	await panel.answer(1, 0, true, "panel-menu");
	await app.ended("replied");
	assert.equal(existsSync(workspace("approved_in_the_tray")), true);
	await until("FAIL-B11 the card to go", async () => (await cards()) === 0);
	await until(
		"FAIL-B11 the notification to go",
		async () => (await panel.notifications()).length === 0,
	);
	await looksLike("idle");
});

test("a notification's button denies", async () => {
	await app.begin("run: touch denied_by_notification");
	await app.find('[data-testid="approval-card"]');
	await panel.press(await panel.notification(), 1);
	await app.find('[data-testid="item"][data-kind="tool-call"][data-status="denied"]');
	assert.equal(existsSync(workspace("denied_by_notification")), false);
	await until("the notification to go", async () => (await panel.notifications()).length === 0);
	await looksLike("idle");
});

test("FAIL-B5 dismissing a notification decides nothing, and the request stays in the menu", async () => {
	for (const button of [1, 2, 3]) {
		await app.begin(`run: touch dismissed_${button}`);
		await app.find('[data-testid="approval-card"]');
		await panel.dismiss(await panel.notification(), button);
		assert.equal(await cards(), 1);
		await panel.answer(1, 0, false);
		await app.find('[data-testid="item"][data-kind="tool-call"][data-status="denied"]');
		assert.equal(existsSync(workspace(`dismissed_${button}`)), false);
	}
});

test("a notification's Open opens its session in the window", async () => {
	const asking = await app.begin("run: touch opened_by_notification");
	await app.find('[data-testid="approval-card"]');
	await app.show(first);
	await until("another session", async () => (await cards()) === 0);
	const note = await panel.notification();
	await app.close();
	await until("the window to hide", async () => (await windows()) === 0);
	const told = await until("word of where it went", async () => {
		const now = await panel.notifications();
		return now.length === 2 && now.find(({ id }) => id !== note.id);
	});
	await panel.dismiss(told);
	await panel.press(note, 2);
	await until("the window", async () => (await windows()) === 1);
	await until("its session", async () =>
		decodeURIComponent(await app.js("return location.hash")).includes(asking),
	);
	assert.equal(await cards(), 1, "opening decided");
	await app.click('[data-testid="deny"]');
	await app.find('[data-testid="item"][data-kind="tool-call"][data-status="denied"]');
	await until("the notification to go", async () => (await panel.notifications()).length === 0);
});

test("FAIL-H4 a panel that is killed and started again has the icon again, and answers", async () => {
	await app.begin("run: touch after_the_panel");
	await app.find('[data-testid="approval-card"]');
	await panel.program.stop("SIGKILL");
	await until("no icon", async () => (await panel.icon()) !== looks.get("waiting"));
	await panel.begin();
	await looksLike("waiting");
	await panel.answer(1, 0, true, "panel-restarted");
	await until("the file", () => existsSync(workspace("after_the_panel")));
	await looksLike("idle");
});

test("three requests are listed, the newest first, and each is answered as it says", async () => {
	for (const name of ["one", "two", "three"]) {
		await app.begin(`run: touch many_${name}`);
		await app.find('[data-testid="approval-card"]');
	}
	await until("three notifications", async () => (await panel.notifications()).length === 3);
	await panel.answer(3, 1, false, "panel-three");
	await panel.answer(2, 0, true);
	await until("the oldest", () => existsSync(workspace("many_one")));
	await panel.answer(1, 0, true);
	await until("the newest", () => existsSync(workspace("many_three")));
	await until("nothing waits", async () => (await panel.notifications()).length === 0);
	assert.equal(existsSync(workspace("many_two")), false);
	await looksLike("idle");
});

test("the icon tells that something failed, until the owner looks", async () => {
	await app.close();
	await until("the window to hide", async () => (await windows()) === 0);
	await desk.command("send", "fail: on purpose").catch(() => "it tells that it failed");
	await look("failed");
	await panel.mouse(12, 16, 1);
	await until("the window", async () => (await windows()) === 1);
	await looksLike("idle");
});

test("FAIL-G3 Quit in the menu ends the program and takes the icon away", async () => {
	await panel.choose(3);
	const timer = setTimeout(() => app.program.child.kill("SIGKILL"), 5_000);
	const { code } = await app.program.ended;
	clearTimeout(timer);
	assert.equal(code, 0, app.program.err);
	assert.doesNotMatch(app.program.err, /panic|DATA RACE/);
	await looksLike("none");
});

await suite.run({
	onFailure: (name) => desk.picture(`failed-${name}`),
	after: () => desk.stop(),
});
