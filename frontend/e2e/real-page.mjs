// What the desktop window and its page say to each other: zoom, the question before the end, lines,
// links, and where a person is sent. The program as it is shipped, on a desktop without a tray.
//   E2E_SERVER=…/aalis-server E2E_APP=…/aalis E2E_SHIM=…/window-shim.so E2E_FILES=…/files-window node e2e/real-page.mjs
import assert from "node:assert/strict";
import {
	chmodSync,
	copyFileSync,
	existsSync,
	readFileSync,
	renameSync,
	writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Desk } from "./desk.mjs";
import { click, drag, key, pixelOf, windowBox } from "./pointer.mjs";
import { Suite, until } from "./rig.mjs";

const suite = new Suite();
const only = suite.test.bind(suite);
/** A test of an app that runs, whatever became of it in the one before. */
const test = (name, run) =>
	only(name, async () => {
		if (!app || app.program.over) await open();
		await run();
	});
const desk = await Desk.start();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const id = (name) => `[data-testid="${name}"]`;
let app;

async function open(...args) {
	app = await desk.app(...args);
	await app.driven();
	await app.connected();
}

/** Waits for the program's own end. */
async function ends(within = 10_000) {
	const timer = setTimeout(() => app.program.child.kill("SIGKILL"), within);
	const { code } = await app.program.ended;
	clearTimeout(timer);
	assert.equal(code, 0, app.program.err);
	assert.doesNotMatch(app.program.err, /panic|DATA RACE/);
}

/** A second start, which hands its link to the first and ends. */
async function goes(link) {
	const second = desk.add(process.env.E2E_APP, [link], { env: desk.env });
	assert.equal((await second.ended).code, 0, second.err);
}

const hash = () => app.js("return location.hash");
const begun = async (words) => JSON.parse(await desk.command("send", "--json", words)).sessionId;
const working = () => app.find(`${id("item")}[data-kind="agent-message"][data-status="streaming"]`);
const gone = (name) => until(`${name} to go`, async () => (await app.count(id(name))) === 0);

const INNER = "return [innerWidth, innerHeight]";

/** Zooms by keys until the page is as wide as it is at that size. */
async function zoomed(size, ...keys) {
	if (keys.length > 0) await key(desk, ...keys);
	const [{ id: win }] = await desk.windows();
	const { width } = await windowBox(desk, win);
	await until(`${size}`, async () => {
		const [inner] = await app.js(INNER);
		return Math.abs(inner * size - width) <= size;
	});
}

test("aalis://session/ID shows that conversation, and says so where there is none", async () => {
	const session = await begun("about the harbour");
	await goes(`aalis://session/${session}`);
	await until("the session", async () => (await hash()) === `#/s/${session}`);
	await app.ended("replied");
	await goes("aalis://session/nobody");
	await app.find(id("session-gone"));
	await desk.picture("page-no-such-session");
	await goes("aalis://new");
	await until("an empty message box", async () => (await hash()) === "#/new");
	await until("the focus", () => app.js("return document.activeElement.tagName === 'TEXTAREA'"));
});

test("at every zoom the end of a conversation, its menus and its look are right", async () => {
	const words = Array.from({ length: 30 }, (_, n) => `line ${n} about the harbour`).join("\n\n");
	const session = await begun(words);
	for (let n = 0; n < 3; n++) await desk.command("send", "--wait", "--session", session, words);
	await goes(`aalis://session/${session}`);
	await until("all turns", async () => (await app.count(`${id("turn")}`)) >= 1);
	const sizes = [
		[0.8, "ctrl+minus", "ctrl+minus"],
		[1.5, "ctrl+0", "ctrl+plus", "ctrl+equal", "ctrl+KP_Add"],
		[2, "ctrl+plus", "ctrl+plus"],
	];
	for (const [size, ...keys] of sizes) {
		await zoomed(size, ...keys);
		await until("the end of the conversation", () =>
			app.js(
				`const pane = document.querySelector('${id("timeline")}');
				return pane.scrollHeight - pane.scrollTop - pane.clientHeight < 2;`,
			),
		);
		await click(app, id("session-menu"));
		await app.find('[role="menu"]');
		const apart = await until("the menu to stand still", async () => {
			const look = () =>
				app.js(
					`const button = document.querySelector('${id("session-menu")}').getBoundingClientRect();
					const menu = document.querySelector('[role="menu"]').getBoundingClientRect();
					return [menu.top - button.bottom, menu.left, innerWidth - menu.right, innerHeight - menu.bottom].map(Math.round);`,
				);
			const [one, two] = [await look(), await look()];
			return one.join() === two.join() && one;
		});
		const [below, left, right, bottom] = apart;
		assert.ok(below >= 0 && below < 16, `${size}: the menu is ${below} below its button`);
		assert.ok(
			left >= 0 && right >= 0 && bottom >= 0,
			`${size}: the menu leaves the page: ${apart}`,
		);
		await desk.picture(`page-zoom-${size * 100}`);
		await key(desk, "Escape");
		await until("no menu", async () => (await app.count('[role="menu"]')) === 0);
		// The tip of what the pointer is on stands outside the landmarks by nature.
		await desk.tool("xdotool", "mousemove", "700", "450");
		await until("no tip", async () => (await app.count("[data-base-ui-portal] *")) === 0);
		await app.js(axe);
		const found = await app.js(
			"return axe.run().then((all) => all.violations.map((v) => [v.id, v.nodes[0].html.slice(0, 120)]))",
		);
		assert.deepEqual(found, [], `axe at ${size}`);
	}
	// There is no room for two columns any more.
	await app.find(id("back"));
});

test("an item that the page is sent to stands before the reader", async () => {
	const pane = `document.querySelector('${id("timeline")}')`;
	const shown = await hash();
	await app.js(`${pane}.scrollTop = ${pane}.scrollHeight / 2`);
	const item = await until("an item in the middle", () =>
		app.js(`return document.querySelector('${id("item")}')?.dataset.itemId`),
	);
	await goes("aalis://new");
	await until("another place", async () => (await hash()) === "#/new");
	await app.js(
		"window.wails.EventsNotify(JSON.stringify({ name: 'go', data: [{ session: arguments[0], item: arguments[1] }] }))",
		decodeURIComponent(shown.slice(4)),
		item,
	);
	await until("the item in the middle of the pane", () =>
		app.js(
			`const box = document.querySelector('[data-item-id="' + arguments[0] + '"]').getBoundingClientRect();
			const around = ${pane}.getBoundingClientRect();
			return Math.abs(box.top + box.bottom - around.top - around.bottom) < 8;`,
			item,
		),
	);
	assert.equal(await hash(), shown);
});

test("the zoom is there again at the next start, and goes back to its own size", async () => {
	await key(desk, "ctrl+q");
	await ends();
	assert.equal(JSON.parse(readFileSync(join(desk.dataDir, "window.json"), "utf8")).zoom, 2);
	await open();
	await zoomed(2);
	await zoomed(1, "ctrl+0");
});

test("a link is opened outside once, however it is clicked, and the page stays", async () => {
	const session = await begun("[the harbour](https://example.invalid/harbour)");
	await goes(`aalis://session/${session}`);
	const link = 'a[href="https://example.invalid/harbour"]';
	await app.find(link);
	await app.ended("replied");
	const at = await app.js("return location.href");
	await app.js("window.stayed = true");
	const ways = [{}, { keys: ["ctrl"] }, { keys: ["shift"] }, { button: 2 }];
	for (const [n, how] of ways.entries()) {
		await click(app, link, how);
		await until("the system's browser", () => desk.openedLinks().length === n + 1);
	}
	assert.deepEqual([...new Set(desk.openedLinks())], ["https://example.invalid/harbour"]);
	await app.js(
		`window.open("https://example.invalid/scripted");
		for (const href of ["file:///etc/passwd", "javascript:document.title='x'", "/elsewhere"]) {
			const link = document.createElement("a");
			link.href = href;
			document.body.append(link);
			link.click();
			link.remove();
		}
		const form = document.createElement("form");
		form.action = "https://example.invalid/form";
		document.body.append(form);
		form.requestSubmit();
		form.remove();`,
	);
	await drag(desk, await pixelOf(app, link), await pixelOf(app, id("session-title")));
	await app.js("document.activeElement.blur()");
	await key(desk, "BackSpace", "alt+Right");
	// Answered after all of it: a load that had begun would have taken the page away by now.
	await zoomed(1.1, "ctrl+plus");
	await zoomed(1, "ctrl+0");
	assert.equal(await app.js("return window.stayed"), true);
	assert.equal(await app.js("return location.href"), at);
	assert.equal((await desk.windows()).length, 1);
	assert.equal(desk.openedLinks().length, ways.length);
});

test("files dragged from another program are attached, sent, and read to the last byte", async () => {
	const bytes = "the harbour ".repeat(40_000);
	const files = [join(desk.place.home, "harbour words.txt"), join(desk.place.home, "nothing.txt")];
	writeFileSync(files[0], bytes);
	writeFileSync(files[1], "");
	const source = desk.add(process.env.E2E_FILES, files, { env: desk.env });
	await goes("aalis://new");
	await until("an empty message box", async () => (await hash()) === "#/new");
	const from = await until("the other window", async () => {
		const other = (await desk.windows()).find(({ title }) => title === "Some files");
		const { x, y, width, height } = await windowBox(desk, other.id);
		return [x + width / 2, y + height / 2].map(Math.round);
	});
	const over = await pixelOf(app, "h1");
	const at = await app.js("return location.href");
	await drag(desk, from, over);
	await until("the file", async () => (await app.count(id("draft-file"))) === 1);
	assert.match(await app.text(id("draft-files")), /harbour words\.txt/);
	assert.match(await app.text(id("file-refused")), /nothing\.txt is empty/);
	await desk.picture("page-dropped");
	assert.equal(await app.js("return location.href"), at);
	await source.stop();
	await app.click(id("send"));
	await app.ended("replied");
	const sent = await app.js(
		`const link = document.querySelector('[data-testid="attachment"]');
		return fetch(link.getAttribute("href")).then((answer) => answer.text());`,
	);
	assert.ok(sent === bytes, `${sent.length} of ${bytes.length}`);
});

test("a picture in the clipboard is pasted", async () => {
	const picture = join(desk.place.home, "dot.png");
	await desk.tool("convert", "-size", "30x20", "xc:red", picture);
	const owner = desk.add(
		"xclip",
		["-quiet", "-selection", "clipboard", "-t", "image/png", "-i", picture],
		{ env: desk.env },
	);
	await goes("aalis://new");
	await until("the focus", () => app.js("return document.activeElement.tagName === 'TEXTAREA'"));
	await key(desk, "ctrl+v");
	await until("the picture", async () => (await app.count(id("draft-file"))) === 1);
	await desk.picture("page-pasted");
	await owner.stop();
	await app.click(`${id("draft-file")} button`);
});

test("the question before the end: Escape, Enter and Cancel change nothing", async () => {
	const session = await begun("slow: 400");
	await goes(`aalis://session/${session}`);
	await working();
	for (const no of ["Escape", "Return"]) {
		await app.close();
		await app.find(id("leave-question"));
		await until("the focus", () =>
			app.js(`return document.activeElement === document.querySelector('${id("leave-cancel")}')`),
		);
		if (no === "Escape") await desk.picture("page-question");
		await key(desk, no);
		await gone("leave-question");
	}
	await key(desk, "ctrl+q");
	await app.click(id("leave-cancel"));
	await gone("leave-question");
	assert.equal(app.program.over, false);
	await working();
});

test("a question that is open is shown again after a reload", async () => {
	await key(desk, "ctrl+q");
	await app.find(id("leave-question"));
	await app.ask("POST", "/refresh");
	await app.connected();
	await app.find(id("leave-question"));
	await key(desk, "Escape");
	await gone("leave-question");
});

test("finish first waits, can be taken back, and then ends by itself", async () => {
	await app.close();
	await app.click(id("leave-finish"));
	await app.find(id("finishing"));
	await desk.picture("page-finishing");
	await app.click(id("finishing-cancel"));
	await gone("finishing");
	await working();
	const running = decodeURIComponent((await hash()).slice(4));
	await app.click(id("stop"));
	await app.ended("aborted");
	const last = await begun("slow: 60");
	assert.notEqual(last, running);
	await until("a turn", async () => {
		await app.close();
		return (await app.count(id("leave-question"))) === 1;
	});
	await app.click(id("leave-finish"));
	await ends(20_000);
	await open();
	await goes(`aalis://session/${last}`);
	await app.ended("replied");
});

test("stop and quit marks what was stopped", async () => {
	const session = await begun("slow: 400");
	await goes(`aalis://session/${session}`);
	await working();
	await key(desk, "ctrl+q");
	await app.find(id("leave-stop"));
	// The driver would lose the page while it waits for the click's end.
	await click(app, id("leave-stop"));
	await ends();
	await open(`aalis://session/${session}`);
	await until("where it was asked to go", async () => (await hash()) === `#/s/${session}`);
	await app.ended("aborted");
	await key(desk, "ctrl+q");
	await ends();
});

test("the window is where it was, and as large, at the next start", async () => {
	const [{ id: win }] = await desk.windows();
	await desk.tool("wmctrl", "-i", "-r", win, "-e", "0,150,120,900,600");
	const before = await until("the new place", async () => {
		const box = await windowBox(desk, win);
		return box.width === 900 && box;
	});
	await key(desk, "ctrl+q");
	await ends();
	await open();
	const [{ id: again }] = await desk.windows();
	await until("the same place", async () => {
		const now = await windowBox(desk, again);
		return Object.keys(before).every((side) => Math.abs(now[side] - before[side]) <= 2);
	});
});

test("FAIL-H3 a page that draws nothing is noticed, and the program starts again with the safe renderer", async () => {
	const page = await desk.webProcess(app);
	process.kill(page, "SIGSTOP");
	await goes("aalis://");
	await until("the question", async () => (await desk.windows()).length === 2, 20_000);
	await desk.picture("page-blank");
	await key(desk, "alt+y");
	process.kill(page, "SIGCONT");
	const kept = () => JSON.parse(readFileSync(join(desk.dataDir, "window.json"), "utf8"));
	await until("the choice", () => kept().safe === true);
	await until("the new start", async () => {
		const now = await desk.webProcess(app);
		return now > 0 && now !== page && (await desk.windows()).length === 1;
	});
	const { code } = await app.program.stop();
	assert.equal(code, 0, app.program.err);
});

only(
	"a newer file of the program is told of, put aside, and told of again at the next load",
	async () => {
		const shipped = process.env.E2E_APP;
		const own = join(desk.place.home, "aalis");
		copyFileSync(shipped, own);
		process.env.E2E_APP = own;
		await open();
		const newer = `${own}.new`;
		writeFileSync(newer, `#!/bin/sh\necho '{"version":"9.9.9","commit":"x"}'\n`);
		chmodSync(newer, 0o755);
		renameSync(newer, own);
		await app.js("window.dispatchEvent(new Event('blur'))");
		await app.js("window.dispatchEvent(new Event('focus'))");
		await until("the line", async () => /9\.9\.9/.test(await app.text(id("update"))), 20_000);
		await desk.picture("page-update");
		await app.click(`${id("update")} button[aria-label]`);
		await gone("update");
		await app.ask("POST", "/refresh");
		await app.connected();
		await app.find(id("update"));
		await key(desk, "ctrl+q");
		await ends();
		process.env.E2E_APP = shipped;
		assert.equal(existsSync(join(desk.dataDir, "run/server.json")), false);
	},
);

await suite.run({
	onFailure: (name) => desk.picture(`failed-${name}`),
	after: () => desk.stop(),
});
