// Drives the desktop window, the program as it is shipped, on a desktop of its own.
//   E2E_SERVER=…/aalis-server E2E_APP=…/aalis E2E_SHIM=…/window-shim.so node e2e/real-window.mjs
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./browser.mjs";
import { Desk, ENTER } from "./desk.mjs";
import { Program, Suite, until } from "./rig.mjs";
import { Tab } from "./tab.mjs";

const suite = new Suite();
const test = suite.test.bind(suite);
const desk = await Desk.start();
const browser = await launch();
const workspace = (name) => join(desk.dataDir, "workspace", name);
/** One white pixel, and a tenth of a second of silence. */
const DOT =
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
const TONE = Buffer.concat([
	Buffer.from(
		"524946466406000057415645666d74201000000001000100401f0000803e0000020010006461746140060000",
		"hex",
	),
	Buffer.alloc(1600),
]).toString("base64");
let app;
/** The session whose turn the question about closing is about. */
let stopped;

/** Starts the app and waits until its page is connected. */
async function open() {
	const began = performance.now();
	app = await desk.app();
	await app.driven();
	await app.connected();
	return performance.now() - began;
}

async function ends(within = 3_000) {
	// What does not end shows itself: a picture, and where its goroutines stand.
	const timer = setTimeout(async () => {
		await desk.picture("did-not-end").catch(() => undefined);
		app.program.child.kill("SIGQUIT");
	}, within);
	const end = await app.program.ended;
	clearTimeout(timer);
	return end;
}

/** The dialogs that are shown: windows beside the app's own. */
const questions = async () => (await desk.windows()).length - 1;

async function answer(key) {
	const before = (await desk.windows()).map(({ id }) => id);
	assert.ok(before.length > 1, "no question is shown");
	await desk.tool("xdotool", "key", "--clearmodifiers", key);
	await until("the question to go", async () =>
		(await desk.windows()).every(({ id }) => id !== before.at(-1)),
	);
}

test("the window opens and its page speaks through the bindings", async () => {
	console.log(`      connected after ${Math.round(await open())} ms`);
	assert.equal(await app.js("return location.origin"), "wails://wails");
	assert.deepEqual(
		(await desk.windows()).map(({ title }) => title),
		["Aalis"],
	);
	const reached = await app.js(
		"return fetch(arguments[0]).then(() => 'reached', () => 'refused')",
		JSON.parse(readFileSync(join(desk.dataDir, "run/server.json"), "utf8")).url,
	);
	assert.equal(reached, "refused");
	await desk.picture("window-start");
});

test("a message gets an answer that streams", async () => {
	await app.begin("slow: 12");
	await app.find('[data-testid="item"][data-kind="agent-message"][data-status="streaming"]');
	await app.ended("replied");
	await desk.picture("window-answered");
});

test("a command asks first and runs after Approve", async () => {
	await app.begin("run: echo from the window && touch by-window");
	await app.find('[data-testid="approval-card"]');
	assert.equal(existsSync(workspace("by-window")), false);
	await desk.picture("window-approval");
	await app.click('[data-testid="approve"]');
	await app.ended("replied");
	assert.equal(existsSync(workspace("by-window")), true);
	assert.equal(await app.count('[data-testid="inbox-count"]'), 0);
});

test("a picture that is dropped is seen, a sound has a player, and a file is saved where a dialog says", async () => {
	await app.js(
		`
		const bytes = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
		const data = new DataTransfer();
		data.items.add(new File([bytes(arguments[0])], "dot.png", { type: "image/png" }));
		data.items.add(new File([bytes(arguments[1])], "tone.wav", { type: "audio/wav" }));
		data.items.add(new File(["the words"], "notes.txt"));
		document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
	`,
		DOT,
		TONE,
	);
	await until("three files", async () => (await app.count('[data-testid="draft-file"]')) === 3);
	await app.click('[data-testid="send"]');
	const attached = (kind) => `[data-testid="attachment"][data-kind="${kind}"]`;
	await app.find(attached("image"));
	await until("the picture", () =>
		app.js("return document.querySelector(arguments[0]).naturalWidth > 0", attached("image")),
	);
	await until("the sound", () =>
		app.js("return document.querySelector(arguments[0]).duration > 0.05", attached("audio")),
	);
	await desk.picture("window-attachments");
	await app.click(attached("file"));
	await until("the question where", async () => (await questions()) === 1);
	await desk.picture("window-save");
	const kept = join(desk.dataDir, "kept.txt");
	await desk.tool("xdotool", "key", "--clearmodifiers", "ctrl+a");
	await desk.tool("xdotool", "type", kept);
	await desk.tool("xdotool", "key", "--clearmodifiers", "Return");
	await until("the file", () => existsSync(kept) && readFileSync(kept, "utf8") === "the words");
	await until("the dialog to go", async () => (await questions()) === 0);
});

test("after a reload the page is connected again and shows the same", async () => {
	const hash = await app.js("return location.hash");
	await app.ask("POST", "/refresh");
	await app.connected();
	await app.ended("replied");
	assert.equal(await app.js("return location.hash"), hash);
	await app.type('[data-testid="composer"] textarea', `after the reload${ENTER}`);
	await until(
		"the answer",
		async () => (await app.count('[data-testid="turn"][data-outcome="replied"]')) === 2,
	);
});

test("the window and two tabs see one turn; what one answers leaves the others", async () => {
	const id = await app.begin("run: touch by-the-second-tab");
	await app.find('[data-testid="approval-card"]');
	const tabs = [
		await Tab.open(browser, desk, { path: id }),
		await Tab.open(browser, desk, { path: id }),
	];
	for (const tab of tabs) {
		await tab.page.mouse.move(300, 300);
		await tab.at("approval-card").first().waitFor();
		await tab.at("inbox-count").waitFor();
	}
	await desk.picture("window-and-tabs");
	await tabs[1].at("approve").first().click();
	await app.ended("replied");
	assert.equal(existsSync(workspace("by-the-second-tab")), true);
	await until(
		"the window's card to go",
		async () =>
			(await app.count('[data-testid="approval-card"], [data-testid="inbox-count"]')) === 0,
	);
	await until(
		"the first tab's card to go",
		async () =>
			(await tabs[0].at("approval-card").count()) + (await tabs[0].at("inbox-count").count()) === 0,
	);
	await app.type('[data-testid="composer"] textarea', `run: touch denied-in-the-window${ENTER}`);
	for (const tab of tabs) await tab.at("approval-card").first().waitFor();
	await app.click('[data-testid="deny"]');
	for (const tab of tabs) {
		await tab.items("tool-call", "denied").waitFor();
		await until(
			"its card to go",
			async () =>
				(await tab.at("approval-card").count()) + (await tab.at("inbox-count").count()) === 0,
		);
		assert.deepEqual(tab.problems, []);
		await tab.close();
	}
	assert.equal(existsSync(workspace("denied-in-the-window")), false);
});

test("a second start raises the window and ends", async () => {
	const [{ id }] = await desk.windows();
	await desk.tool("xdotool", "windowminimize", id);
	const viewable = async () => (await desk.tool("xwininfo", "-id", id)).includes("IsViewable");
	await until("the window to be away", async () => !(await viewable()));
	const second = desk.add(process.env.E2E_APP, [], { env: desk.env });
	assert.equal((await second.ended).code, 0, second.err);
	assert.match(second.err, /raised/);
	await until("the window to be back", viewable);
	assert.equal((await desk.windows()).length, 1);
});

test("closing the window while nothing runs ends the program", async () => {
	await until(
		"both turns to have ended",
		async () => (await app.count('[data-testid="turn"][data-outcome="replied"]')) === 2,
	);
	await app.close();
	assert.equal((await ends()).code, 0, app.program.err);
	assert.equal(existsSync(join(desk.dataDir, "run/server.json")), false);
	assert.doesNotMatch(app.program.err, /panic|DATA RACE/);
});

const asked = '[data-testid="leave-question"]';

test("where a page shows no question, the toolkit's own dialogs ask; two noes change nothing", async () => {
	await open();
	stopped = await app.begin("slow: 400");
	await app.find('[data-testid="item"][data-kind="agent-message"][data-status="streaming"]');
	const page = await desk.webProcess(app);
	process.kill(page, "SIGSTOP");
	await app.close();
	await until("the question", async () => (await questions()) === 1, 20_000);
	await desk.picture("window-close-question");
	await answer("alt+n");
	await until("the second question", async () => (await questions()) === 1);
	await desk.picture("window-close-question-2");
	await answer("alt+n");
	process.kill(page, "SIGCONT");
	assert.equal(app.program.over, false);
	assert.equal(await app.count('[data-testid="turn"]'), 0, "the turn ended");
	await until("the question to go", async () => (await app.count(asked)) === 0);
});

test("a yes to the second of them stops the turn and closes", async () => {
	const page = await desk.webProcess(app);
	process.kill(page, "SIGSTOP");
	await app.close();
	await until("the question", async () => (await questions()) === 1, 20_000);
	await answer("alt+n");
	await until("the second question", async () => (await questions()) === 1);
	await desk.tool("xdotool", "key", "--clearmodifiers", "alt+y");
	// It holds the program's output, whose end is waited for.
	process.kill(page, "SIGCONT");
	assert.equal((await ends()).code, 0, app.program.err);
	await open();
	await app.show(stopped);
	await app.ended("aborted");
});

test("SIGTERM does not ask, not even while the question is shown", async () => {
	await app.begin("slow: 300");
	await app.find('[data-testid="item"][data-kind="agent-message"][data-status="streaming"]');
	const plain = await app.program.stop("SIGTERM");
	assert.deepEqual([plain.code, plain.ms < 2_500], [0, true], `${plain.ms} ms ${app.program.err}`);
	await open();
	await app.begin("slow: 300");
	await app.find('[data-testid="item"][data-kind="agent-message"][data-status="streaming"]');
	await app.close();
	await app.find(asked);
	const end = await app.program.stop("SIGTERM");
	assert.deepEqual([end.code, end.ms < 2_500], [0, true], `${end.ms} ms ${app.program.err}`);
});

test("where a server runs on the folder, a start opens a tab on it", async () => {
	const server = desk.add(process.env.E2E_SERVER, ["serve"], { env: desk.env });
	await until("the server", () => server.out.includes("running at"));
	const second = desk.add(process.env.E2E_APP, [], { env: desk.env });
	assert.equal((await second.ended).code, 0, second.err);
	await until("the link", () => desk.openedLinks().some((link) => /\/signin#/.test(link)));
	assert.equal((await server.stop()).code, 0);
});

test("without a display it says so and ends", async () => {
	const { DISPLAY: _, ...env } = desk.env;
	const blind = new Program(process.env.E2E_APP, [], { env });
	assert.equal((await blind.ended).code, 1);
	assert.match(blind.err, /there is no display/);
	assert.doesNotMatch(blind.err, /panic|goroutine/);
	assert.equal(existsSync(join(desk.dataDir, "run/server.json")), false);
});

await suite.run({
	onFailure: (name) => desk.picture(`failed-${name}`),
	after: async () => {
		await browser.close();
		await desk.stop();
	},
});
