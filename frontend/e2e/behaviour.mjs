// What only a real browser can show, on the built interface over a fake server: nothing moves under a
// reader, the end is followed, a lost connection is repaired in place, a stream costs little.
//   node e2e/behaviour.mjs
import assert from "node:assert/strict";
import { launch } from "./browser.mjs";
import { serve } from "./serve.mjs";

const host = await serve();
const browser = await launch();
const timeline = '[data-testid="timeline"]';

async function open(name) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
	page.setDefaultTimeout(8_000);
	page.on("pageerror", (error) => {
		throw error;
	});
	const { server, path } = host.scenes[name](Date.now());
	host.use(server);
	await page.goto(host.url + path);
	await page.waitForSelector(`${timeline}[data-phase="live"]`);
	await page.waitForTimeout(400);
	return { page, server };
}

const gapAtEnd = (page) =>
	page.$eval(timeline, (pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight);
const top = (page, id) =>
	page.$eval(`[data-item-id="${id}"]`, (item) => Math.round(item.getBoundingClientRect().top));
const firstVisible = (page) =>
	page.$$eval('[data-testid="item"]', (items) => {
		const edge = items[0].closest('[data-testid="timeline"]').getBoundingClientRect().top;
		return items.find((item) => item.getBoundingClientRect().top >= edge)?.dataset.itemId;
	});
/** The row that the upper edge of the pane cuts. */
const atEdge = (page) =>
	page.$$eval('[data-testid="item"]', (items) => {
		const edge = items[0].closest('[data-testid="timeline"]').getBoundingClientRect().top;
		return items.find((item) => item.getBoundingClientRect().bottom > edge)?.dataset.itemId;
	});
async function wheelUp(page, pixels, times = 1) {
	await page.mouse.move(700, 400);
	for (let n = 0; n < times; n++) {
		await page.mouse.wheel(0, -pixels);
		await page.waitForTimeout(60);
	}
}
const reply = (text) => ({ kind: "agent-message", itemId: "z", at: Date.now(), text });

/** Opens a scene whose parser of Markdown arrives when `arrive` is called. */
async function openBefore(name) {
	let arrive;
	const arrived = new Promise((resolve) => {
		arrive = resolve;
	});
	host.hooks.before = (path) => (path.includes("/rich-") ? arrived : undefined);
	const { page } = await open(name);
	assert.ok((await page.$$("[data-plain]")).length > 0, "the text was not plain");
	return {
		page,
		async arrive() {
			arrive();
			await page.waitForSelector("[data-plain]", { state: "detached" });
			await page.waitForTimeout(400);
			assert.ok((await page.$$(`${timeline} table`)).length > 0, "no table was drawn");
		},
	};
}

const tests = {
	"text is there before its form, and the end is kept when that comes": async () => {
		const { page, arrive } = await openBefore("rich");
		assert.ok((await gapAtEnd(page)) < 2);
		await arrive();
		assert.ok((await gapAtEnd(page)) < 4, `gap ${await gapAtEnd(page)}`);
		await page.close();
	},

	"the row a reader is at stays where it is when the form of the text comes": async () => {
		const { page, arrive } = await openBefore("rich");
		await wheelUp(page, 370, 9);
		await page.waitForTimeout(400);
		const id = await atEdge(page);
		const before = await top(page, id);
		await arrive();
		const moved = (await top(page, id)) - before;
		assert.ok(Math.abs(moved) <= 2, `moved by ${moved}`);
		await page.close();
	},

	"a parser that could not be had is fetched again": async () => {
		let refused = 0;
		host.hooks.before = async (path) => {
			if (path.includes("/rich-") && refused++ === 0) throw new Error("not now");
		};
		const { page } = await open("rich");
		assert.equal(refused, 1);
		await page.waitForSelector(`${timeline} table`);
		await page.close();
	},

	"the owner's list is where it was left, after a look into a group of rooms": async () => {
		const { page } = await open("rooms");
		const pane = 'nav [data-testid="session-row"]';
		const scrolled = () => page.$eval(pane, (row) => row.closest(".overflow-y-auto").scrollTop);
		await page.mouse.move(140, 300);
		await page.mouse.wheel(0, 700);
		await page.waitForTimeout(200);
		const before = await scrolled();
		assert.ok(before > 600);
		await page.click('[data-place]:has-text("OneBot")');
		await page.waitForSelector('[data-testid="room-filter"]:enabled');
		await page.waitForTimeout(100);
		assert.equal(await scrolled(), 0);
		const drawn = await page.$$eval(pane, (rows) => rows.length);
		assert.ok(drawn < 40, `${drawn} rows drawn`);
		await page.click('[data-testid="view-back"]');
		await page.waitForTimeout(200);
		assert.equal(await scrolled(), before);
		await page.close();
	},

	"a session opens at its end": async () => {
		const { page } = await open("long");
		assert.ok((await gapAtEnd(page)) < 2);
		assert.equal(await page.$('[data-testid="jump-latest"]'), null);
		await page.close();
	},

	"the end is followed while a reply streams": async () => {
		const { page, server } = await open("long");
		server.start("long", reply(""));
		for (let n = 0; n < 60; n++) {
			server.delta("long", "z", `line ${n} of a reply\n\n`);
			await page.waitForTimeout(15);
			if (n % 20 === 19) {
				await page.waitForTimeout(80);
				assert.ok((await gapAtEnd(page)) < 4, `gap ${await gapAtEnd(page)} after ${n}`);
			}
		}
		await page.close();
	},

	"nothing moves under a reader, whatever comes at the end": async () => {
		const { page, server } = await open("long");
		await wheelUp(page, 300, 4);
		await page.waitForTimeout(300);
		const id = await firstVisible(page);
		const before = await top(page, id);
		server.start("long", reply(""));
		for (let n = 0; n < 30; n++) server.delta("long", "z", `line ${n}\n\n`);
		server.complete("long", { ...reply("short"), itemId: "y" });
		await page.waitForTimeout(400);
		assert.equal(await top(page, id), before);
		assert.match(await page.textContent('[data-testid="jump-latest"]'), /2 new/);
		await page.click('[data-testid="jump-latest"]');
		await page.waitForTimeout(300);
		assert.ok((await gapAtEnd(page)) < 4);
		await page.close();
	},

	"older history comes in without a jump": async () => {
		const { page, server } = await open("long");
		for (let pages = 1; pages <= 3; pages++) {
			server.hold();
			const asked = server.requestsOf("session/history").length;
			for (let n = 0; n < 60 && server.requestsOf("session/history").length === asked; n++) {
				await wheelUp(page, 900);
			}
			assert.equal(server.requestsOf("session/history").length, asked + 1);
			await page.waitForTimeout(400);
			const id = await firstVisible(page);
			const before = await top(page, id);
			const height = await page.$eval(timeline, (pane) => pane.scrollHeight);
			server.release();
			await page.waitForTimeout(500);
			assert.ok((await page.$eval(timeline, (pane) => pane.scrollHeight)) > height + 1_000);
			const after = await top(page, id);
			assert.ok(Math.abs(after - before) <= 2, `moved by ${after - before} on page ${pages}`);
		}
		await page.close();
	},

	"a lost connection is repaired under a reader, in place": async () => {
		const { page } = await open("long");
		for (let n = 0; n < 30; n++) await wheelUp(page, 900);
		await page.waitForTimeout(400);
		const id = await firstVisible(page);
		const before = await top(page, id);
		host.dropAll();
		await page.waitForSelector('[data-testid="connection"]:not([data-state="open"])', {
			state: "attached",
		});
		await page.waitForSelector('[data-testid="connection"][data-state="open"]', {
			state: "attached",
		});
		await page.waitForSelector(`${timeline}[data-phase="live"]`);
		await page.waitForTimeout(500);
		const after = await top(page, id);
		assert.ok(Math.abs(after - before) <= 4, `moved by ${after - before}`);
		await page.close();
	},

	"200 pieces a second keep the main thread free": async () => {
		const { page, server } = await open("long");
		const session = await page.context().newCDPSession(page);
		// Time on the processor, so that a busy machine does not count.
		await session.send("Performance.enable", { timeDomain: "threadTicks" });
		const busy = async () => {
			const { metrics } = await session.send("Performance.getMetrics");
			const of = (name) => metrics.find((metric) => metric.name === name).value;
			return { task: of("TaskDuration"), at: performance.now() / 1000 };
		};
		server.start("long", reply(""));
		const start = await busy();
		const began = Date.now();
		for (let n = 0; n < 800; n++) {
			server.delta(
				"long",
				"z",
				n % 40 === 39 ? "\n\nA new paragraph with **weight** and `code`. " : "token ",
			);
			const ahead = began + n * 5 - Date.now();
			if (ahead > 0) await new Promise((resolve) => setTimeout(resolve, ahead));
		}
		const end = await busy();
		const share = (end.task - start.task) / (end.at - start.at);
		console.log(`   main thread busy ${Math.round(share * 100)} % at 200 pieces a second`);
		await page.close();
	},

	"a long session is scrolled through with a bounded page": async () => {
		const { page } = await open("long");
		for (let n = 0; n < 60; n++) await wheelUp(page, 2_000);
		await page.waitForTimeout(200);
		const drawn = await page.$$eval('[data-testid="item"]', (items) => items.length);
		assert.ok(drawn < 60, `${drawn} items drawn`);
		await page.close();
	},
};

let failed = 0;
for (const [name, run] of Object.entries(tests)) {
	try {
		await run();
		console.log(`ok ${name}`);
	} catch (error) {
		failed++;
		console.log(`FAILED ${name}: ${error.message}`);
	}
}
await browser.close();
await host.close();
console.log(failed === 0 ? "all good" : `${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
