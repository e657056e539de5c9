// Looks at the built interface without a backend.
//   node e2e/preview.mjs SCENE          serves one scene and prints its address
//   node e2e/preview.mjs --shots DIR    takes a picture of every state and checks each with axe
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { launch } from "./browser.mjs";
import { serve } from "./serve.mjs";

async function shots(dir) {
	mkdirSync(dir, { recursive: true });
	const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
	const browser = await launch();
	let problems = 0;
	const say = (text) => {
		problems++;
		console.log(text);
	};
	const looks = [
		{
			name: "light-en",
			colorScheme: "light",
			locale: "en-GB",
			viewport: { width: 1280, height: 800 },
		},
		{
			name: "dark-zh",
			colorScheme: "dark",
			locale: "zh-CN",
			viewport: { width: 1280, height: 800 },
		},
		{
			name: "light-zh-phone",
			colorScheme: "light",
			locale: "zh-CN",
			viewport: { width: 420, height: 800 },
		},
		{
			name: "dark-en-phone",
			colorScheme: "dark",
			locale: "en-GB",
			viewport: { width: 420, height: 800 },
		},
	];
	for (const look of looks) {
		if (process.env.LOOK && process.env.LOOK !== look.name) continue;
		for (const [state, steps] of Object.entries(states)) {
			if (process.env.STATE && !process.env.STATE.split(",").includes(state)) continue;
			const context = await browser.newContext({
				colorScheme: look.colorScheme,
				locale: look.locale,
				viewport: look.viewport,
				reducedMotion: "reduce",
				bypassCSP: false,
			});
			const page = await context.newPage();
			page.setDefaultTimeout(6_000);
			page.on("pageerror", (error) => say(`${state} ${look.name}: ${error}`));
			page.on("console", (message) => {
				const text = message.text();
				if (message.type() === "error" && !/401|WebSocket|ERR_/.test(text))
					say(`${state} ${look.name}: ${text}`);
			});
			host.hooks.signedIn = () => true;
			host.hooks.admit = () => true;
			try {
				await steps(page, look);
				await page.waitForTimeout(250);
				await page.screenshot({ path: join(dir, `${state}.${look.name}.png`) });
				// axe runs in a world of its own, where the page's policy does not bind it.
				const found = await runAxe(page, axe);
				for (const line of found) say(`${state} ${look.name}: ${line}`);
			} catch (error) {
				say(`${state} ${look.name}: ${error.message.split("\n").slice(0, 3).join(" ")}`);
				await page
					.screenshot({ path: join(dir, `${state}.${look.name}.png`) })
					.catch(() => undefined);
			}
			await context.close();
		}
	}
	await browser.close();
	console.log(problems === 0 ? "nothing to report" : `${problems} problems`);
	return problems === 0 ? 0 : 1;
}

async function runAxe(page, axe) {
	const session = await page.context().newCDPSession(page);
	const { frameTree } = await session.send("Page.getFrameTree");
	const { executionContextId } = await session.send("Page.createIsolatedWorld", {
		frameId: frameTree.frame.id,
		worldName: "axe",
	});
	const run = async (expression) => {
		const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
			expression,
			contextId: executionContextId,
			awaitPromise: true,
			returnByValue: true,
		});
		if (exceptionDetails)
			throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
		return result.value;
	};
	await run(`${axe};0`);
	// A menu stands outside the landmarks by nature: its trigger names it.
	return run(
		`axe.run(document,{runOnly:["wcag2a","wcag2aa","wcag21a","wcag21aa","best-practice"]}).then(r=>r.violations.flatMap(v=>v.nodes.filter(n=>v.id!=="region"||!document.querySelector(n.target[0])?.closest("[role=menu]")).map(n=>v.id+": "+n.target.join(" ")+" "+(n.any[0]?.message??n.failureSummary??"")+" "+n.html.slice(0,140))))`,
	);
}

async function open(page, name, path) {
	const scene = host.scenes[name](Date.now());
	scene.server.language = await page.evaluate(() => navigator.language);
	host.enliven(scene.server);
	host.use(scene.server);
	await page.goto(host.url + (path ?? scene.path));
	return scene.server;
}

/** Opens a scene as in the desktop window: frames go through bindings, and `say` is what Go emits. */
async function openWindow(page, name) {
	await page.addInitScript(() => {
		const listeners = new Map();
		const tell = (event, payload) => {
			for (const heard of listeners.get(event) ?? []) heard(payload);
		};
		let socket;
		const open = () =>
			new Promise((resolve) => {
				socket = new WebSocket(`ws://${location.host}/session`);
				socket.onmessage = ({ data }) => tell("frame", data);
				socket.onopen = () => resolve();
			});
		const nothing = async () => undefined;
		const calls = new Map([
			["Open", open],
			["Send", async (frame) => socket.send(frame)],
			["Hello", async () => ({ zoom: 1 })],
		]);
		for (const call of [
			"Painted",
			"Front",
			"OpenLink",
			"OpenTab",
			"Decide",
			"Zoom",
			"Quit",
			"Restart",
		])
			calls.set(call, nothing);
		window.go = { app: { Bridge: Object.fromEntries(calls) } };
		window.runtime = {
			EventsOn: (event, heard) => {
				const all = listeners.get(event) ?? new Set();
				listeners.set(event, all.add(heard));
				return () => all.delete(heard);
			},
		};
		window.say = tell;
	});
	await open(page, name);
	await ready(page);
	return (event, payload) => page.evaluate(([e, p]) => window.say(e, p), [event, payload]);
}

async function openGroup(page, look, label) {
	await open(page, "rooms", look.viewport.width < 900 ? "/" : undefined);
	await page.click(`[data-place]:has-text("${label}")`);
	await page.waitForSelector('[data-testid="session-row"]');
}

const ready = (page) => page.waitForSelector('[data-testid="timeline"][data-phase="live"]');

/** Opens the settings of the conversation in front. */
async function openSettings(page, name) {
	const server = await open(page, name);
	await ready(page);
	await page.waitForSelector('[data-testid="quick-setting"]');
	await page.click('[data-testid="session-menu"]');
	await page.click('[role="menuitem"]:has(.lucide-sliders-horizontal)');
	await page.waitForSelector('[data-testid="settings"]');
	await page.waitForTimeout(200);
	return server;
}

async function goLayer(page, look, name, there = '[data-testid="setting"]') {
	if (look.viewport.width < 900) {
		await page.click('[data-testid="layer-choice"]');
		await page.click(`[role="option"]:has-text("${name}")`);
	} else await page.click(`[data-testid="layer"]:has-text("${name}")`);
	await page.waitForSelector(there);
	await page.waitForTimeout(150);
}

/** Asks about the latest turn but one with changes in it. */
async function openRewind(page) {
	const server = await open(page, "rewind");
	await ready(page);
	await page.waitForTimeout(500);
	await page.evaluate(() => {
		const pane = document.querySelector('[data-testid="timeline"]');
		pane.scrollTop = pane.scrollHeight * 0.72;
	});
	await page.waitForTimeout(400);
	await page.click('[data-testid="rewind"] >> nth=0');
	await page.waitForSelector('[data-testid="rewind-dialog"]');
	return server;
}

async function rewound(page) {
	await openRewind(page);
	await page.click('[data-testid="rewind-go"]');
	await page.waitForSelector('[data-testid="rewind-dialog"][data-phase="done"]');
	await page.waitForTimeout(150);
}

const states = {
	first: async (page) => {
		await open(page, "first");
		await page.waitForSelector("h1");
	},
	start: async (page) => {
		await open(page, "start");
		await page.waitForSelector("h1");
	},
	list: async (page) => {
		await open(page, "list");
		await page.waitForSelector('[data-testid="session-row"],h1');
	},
	conversation: async (page) => {
		await open(page, "conversation");
		await ready(page);
		await page.waitForTimeout(700);
	},
	"conversation-up": async (page) => {
		await open(page, "conversation");
		await ready(page);
		await page.waitForTimeout(500);
		await page.mouse.move(600, 400);
		for (let n = 0; n < 5; n++) {
			await page.mouse.wheel(0, -500);
			await page.waitForTimeout(120);
		}
		await page.waitForTimeout(400);
	},
	usage: async (page) => {
		await open(page, "conversation");
		await ready(page);
		await page.click('[data-testid="usage"]');
	},
	menu: async (page) => {
		await open(page, "conversation");
		await ready(page);
		await page.click('[data-testid="session-menu"]');
	},
	rename: async (page) => {
		await open(page, "conversation");
		await ready(page);
		await page.keyboard.press("F2");
		await page.waitForSelector('[data-testid="rename"]');
	},
	delete: async (page) => {
		await open(page, "conversation");
		await ready(page);
		await page.click('[data-testid="session-menu"]');
		await page.click('[role="menuitem"]:last-of-type');
		await page.waitForSelector('[role="alertdialog"]');
	},
	palette: async (page) => {
		await open(page, "conversation");
		await ready(page);
		await page.keyboard.press("Control+k");
		await page.waitForSelector('[data-testid="palette"]');
		await page.keyboard.type("co");
	},
	waiting: async (page) => {
		await open(page, "waiting");
		await ready(page);
		await page.mouse.move(300, 300);
		await page.mouse.move(310, 300);
		await page.waitForSelector('[data-testid="approve"]');
	},
	inbox: async (page) => {
		await open(page, "waiting");
		await ready(page);
		await page.mouse.move(300, 300);
		await page.mouse.move(310, 300);
		await page.waitForSelector('[data-testid="inbox-count"]');
		await page.click('[data-testid="inbox"]');
	},
	streaming: async (page) => {
		const server = await open(page, "streaming");
		await ready(page);
		server.start("runs", {
			kind: "agent-message",
			itemId: "ra",
			turnId: "turn-1",
			at: Date.now(),
			text: "",
		});
		server.delta(
			"runs",
			"ra",
			"已经整理好 **三月** 的照片，接下来是四月：\n\n```python\nfor path in sorted(",
		);
	},
	child: async (page) => {
		await open(page, "child");
		await ready(page);
	},
	gone: async (page) => {
		await open(page, "gone");
		await page.waitForSelector('[data-testid="session-gone"]');
	},
	off: async (page) => {
		await open(page, "off");
		await ready(page);
	},
	rooms: async (page, look) => {
		await openGroup(page, look, "OneBot");
	},
	"rooms-filter": async (page, look) => {
		await openGroup(page, look, "OneBot");
		await page.fill('[data-testid="room-filter"]', "1001 g");
		await page.waitForTimeout(300);
	},
	"rooms-sort": async (page, look) => {
		await openGroup(page, look, "OneBot");
		await page.click('[data-testid="room-sort"]');
	},
	"rooms-none": async (page, look) => {
		await openGroup(page, look, "OneBot");
		await page.fill('[data-testid="room-filter"]', "zebra");
		await page.waitForTimeout(300);
	},
	"rooms-few": async (page, look) => {
		await openGroup(page, look, "Mail");
	},
	running: async (page, look) => {
		await open(page, "rooms", look.viewport.width < 900 ? "/" : undefined);
		await page.click('[data-place="running"]');
		await page.waitForSelector('[data-testid="session-row"]');
	},
	plan: async (page) => {
		await open(page, "conversation");
		await ready(page);
		await page.click('section[aria-label="Plan"] button, section[aria-label="计划"] button');
	},
	search: async (page, look) => {
		await open(page, look.viewport.width < 900 ? "list" : "conversation");
		await page.fill('[data-testid="search"]', "o");
		await page.waitForTimeout(500);
	},
	nothing: async (page, look) => {
		await open(page, look.viewport.width < 900 ? "list" : "conversation");
		await page.fill('[data-testid="search"]', "zebra");
		await page.waitForTimeout(500);
	},
	away: async (page) => {
		await open(page, "conversation");
		await ready(page);
		host.hooks.admit = () => false;
		host.dropAll();
		await page.waitForSelector('[data-testid="connection"][data-state="away"]');
		await page.waitForTimeout(3_500);
		await page.fill("#composer", "Are you there?");
		await page.keyboard.press("Enter");
		await page.waitForSelector('[data-testid="unsent"]');
	},
	unsent: async (page) => {
		await open(page, "conversation");
		await ready(page);
		await page.evaluate(() =>
			localStorage.setItem(
				"aalis.outbox.main",
				JSON.stringify([{ clientId: "c", text: "Left over from before", at: 1 }]),
			),
		);
		await page.reload();
		await page.waitForSelector('[data-testid="unsent"]');
	},
	signin: async (page) => {
		host.hooks.signedIn = () => false;
		await open(page, "first");
		await page.waitForSelector('[data-testid="signin-help"]');
	},
	"signin-refused": async (page) => {
		host.hooks.signedIn = () => false;
		await open(page, "first", "/signin#OLD");
		await page.waitForSelector('[data-testid="signin-help"] [role="alert"]');
	},
	queue: async (page) => {
		await open(page, "streaming");
		await ready(page);
		await page.click('[data-testid="queue-entry"]:first-child [data-testid="queue-change"]');
		await page.waitForSelector('[data-testid="queue-field"]');
	},
	quick: async (page) => {
		await open(page, "settings");
		await ready(page);
		await page.click('[data-testid="quick-setting"]:first-child');
		await page.waitForSelector('[role="option"]');
	},
	settings: async (page) => {
		await openSettings(page, "settings");
	},
	"settings-edit": async (page) => {
		const server = await openSettings(page, "settings");
		server.intercept = (method) => {
			if (method !== "session/config/update") return undefined;
			throw new host.Refusal(
				-32603,
				"The session's record could not be written: the disk is full.",
			);
		};
		await page.click('[data-setting="chat/memory"] [role="switch"]');
		await page.waitForSelector('[data-setting="chat/memory"] [role="alert"]');
		await page.fill('[data-setting="chat/maxToolCalls"] input', "900");
		await page.click('[data-setting="chat/thinking"] [data-testid="choice"]');
		await page.waitForSelector('[role="option"]');
	},
	"settings-move": async (page) => {
		await openSettings(page, "settings");
		await page.click('[data-setting="chat/tools"] button[aria-haspopup="menu"]');
		await page.waitForSelector('[role="menuitem"]');
	},
	"settings-global": async (page, look) => {
		const server = await openSettings(page, "settings");
		server.settings.unsaved =
			"config.yaml was changed by hand and does not parse; nothing was written.";
		await goLayer(page, look, "Everywhere");
		await page.click('[data-setting="chat/memory"] [role="switch"]');
		await page.waitForSelector('[data-testid="unsaved"]');
		await page.click('[data-testid="settings-plugin"]:has-text("room-triggers") >> nth=0');
		await page.$eval('[data-setting="compression/line"]', (row) => row.scrollIntoView());
	},
	"settings-elsewhere": async (page, look) => {
		await openSettings(page, "settings");
		await goLayer(page, look, "Everywhere");
		await page.click('[data-setting="chat/maxToolCalls"] [data-testid="set-elsewhere"]');
		await page.waitForTimeout(200);
	},
	"settings-many": async (page, look) => {
		await openSettings(page, "manySettings");
		if (look.viewport.width >= 900)
			await page.fill('[data-testid="settings"] nav input', "number 14");
	},
	"settings-lists": async (page, look) => {
		await openSettings(page, "manySettings");
		await page.fill('[data-testid="settings-find"]', "room-triggers");
		for (const key of ["words", "headers"]) {
			await page.click(
				`[data-setting="room-triggers/${key}"] button:has-text("${look.locale === "zh-CN" ? "添加" : "Add"}")`,
			);
		}
	},
	"settings-loading": async (page, look) => {
		const server = await openSettings(page, "settings");
		server.hold();
		await goLayer(page, look, "webui", '[data-testid="settings-loading"]');
	},
	"settings-failed": async (page, look) => {
		const server = await openSettings(page, "settings");
		server.intercept = (method) => {
			if (method === "session/config/layer/get")
				throw new host.Refusal(-32603, "The disk is full.");
			return undefined;
		};
		await goLayer(page, look, "webui", '[data-testid="settings-page"] [role="alert"]');
	},
	"settings-empty": async (page, look) => {
		const server = await openSettings(page, "settings");
		server.settings.fields = [];
		await goLayer(page, look, "webui", '[data-testid="settings-rows"]');
	},
	background: async (page) => {
		await open(page, "background");
		await ready(page);
		await page.click('[data-testid="background"]');
		await page.waitForSelector('[data-testid="task"]');
	},
	"background-output": async (page) => {
		await open(page, "background");
		await ready(page);
		await page.click('[data-testid="task-open"] >> nth=0');
		await page.waitForSelector('[data-testid="task-output"]');
	},
	"background-cards": async (page) => {
		await open(page, "background");
		await ready(page);
	},
	"background-empty": async (page, look) => {
		const server = await open(page, "background", look.viewport.width < 900 ? "/" : undefined);
		await page.waitForSelector('[data-testid="background"]');
		await page.click('[data-testid="background"]');
		for (const id of [...server.work.tasks.keys()]) server.work.forget(id);
		await page.waitForTimeout(100);
	},
	rewind: async (page) => {
		await openRewind(page);
	},
	"rewind-done": async (page) => {
		await rewound(page);
	},
	"rewind-undone": async (page) => {
		await rewound(page);
		await page.click('[data-testid="rewind-undo"]');
		await page.waitForSelector('[data-testid="rewind-dialog"][data-phase="undone"]');
	},
	"rewind-refused": async (page) => {
		const server = await openRewind(page);
		server.intercept = (method) => {
			if (method === "turn/rewind") throw new host.Refusal(-32000, "A turn runs in it.");
			return undefined;
		};
		await page.click('[data-testid="rewind-go"]');
		await page.waitForSelector('[data-testid="rewind-dialog"] [role="alert"]');
	},
	"rewind-toast": async (page) => {
		await rewound(page);
		await page.keyboard.press("Escape");
		await page.waitForSelector('[data-testid="toast-action"]');
		// The tip of the button that has the focus again stands outside the landmarks.
		await page.evaluate(() => document.activeElement.blur());
	},
	place: async (page) => {
		await open(page, "places");
		await page.click('[data-testid="place"]');
		await page.waitForSelector('[role="menuitem"]');
	},
	places: async (page) => {
		await open(page, "places");
		await page.click('[data-testid="place"]');
		await page.click('[role="menuitem"]:last-of-type');
		await page.fill('[data-testid="place-path"]', "photos");
		await page.click('[data-testid="place-add"]');
		await page.waitForSelector('[data-testid="places"] [role="alert"]');
	},
	"places-remove": async (page) => {
		await open(page, "places");
		await page.click('[data-testid="place"]');
		await page.click('[role="menuitem"]:last-of-type');
		await page.click('[data-testid="place-remove"] >> nth=0');
		await page.waitForSelector('[role="alertdialog"]');
	},
	"places-session": async (page) => {
		await open(page, "places", "/#/s/news");
		await ready(page);
		await page.waitForSelector('[data-testid="session-place"]');
	},
	"leave-question": async (page) => {
		const say = await openWindow(page, "streaming");
		await say("question", { id: "q", kind: "quit", turns: 2, tasks: 1, waiting: 3 });
		await page.waitForSelector('[data-testid="leave-question"]');
	},
	"window-lines": async (page) => {
		const say = await openWindow(page, "streaming");
		await say("update", { version: "0.2.0", busy: true });
		await say("safe", { on: true });
		await page.waitForSelector('[data-testid="update"]');
	},
	finishing: async (page) => {
		const say = await openWindow(page, "streaming");
		await say("finishing", { kind: "quit", on: true });
		await page.waitForSelector('[data-testid="finishing"]');
	},
	long: async (page) => {
		await open(page, "long");
		await ready(page);
		await page.waitForTimeout(400);
	},
};

const host = await serve();
const [first, second] = process.argv.slice(2);

if (first !== "--shots") {
	const scene = host.scenes[first ?? "conversation"];
	if (!scene) {
		console.error(`no scene ${first}; there are: ${Object.keys(host.scenes).join(", ")}`);
		process.exit(1);
	}
	const { server, path } = scene(Date.now());
	host.enliven(server);
	host.use(server);
	console.log(`${host.url}${path}`);
} else {
	process.exitCode = await shots(second ?? "shots");
	await host.close();
}
