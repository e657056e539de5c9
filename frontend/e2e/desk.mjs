import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { cleanEnv, newHome, Program, pictures, until } from "./rig.mjs";

export const freePort = () =>
	new Promise((resolve) => {
		const probe = createServer().listen(0, "127.0.0.1", () => {
			const { port } = probe.address();
			probe.close(() => resolve(port));
		});
	});

/** A bus without service folders: nothing of the machine's is started behind the test's back. */
const busConfig = (
	folder,
) => `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=${folder}</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`;

/** A desktop of its own: an X server, a window manager, a session bus and a home. */
export class Desk {
	static async start() {
		const desk = new Desk();
		desk.place = newHome();
		desk.programs = [];
		const { home } = desk.place;
		const x = desk.add(
			"Xvfb",
			["-displayfd", "3", "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
			{
				env: cleanEnv(home),
				stdio: ["ignore", "pipe", "pipe", "pipe"],
			},
		);
		let number = "";
		x.child.stdio[3].on("data", (data) => {
			number += data;
		});
		await until("a display", () => number.endsWith("\n"));
		const config = join(home, "bus.conf");
		writeFileSync(config, busConfig(join(home, "run")));
		const bus = desk.add(
			"dbus-daemon",
			[`--config-file=${config}`, "--nofork", "--nopidfile", "--print-address=1"],
			{
				env: cleanEnv(home),
			},
		);
		await until("a bus", () => bus.out.endsWith("\n"));
		// What the program would open in a browser is written down instead.
		const bin = join(home, "bin");
		mkdirSync(bin);
		desk.opened = join(home, "opened");
		writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\necho "$1" >>'${desk.opened}'\n`);
		chmodSync(join(bin, "xdg-open"), 0o755);
		desk.env = cleanEnv(home, {
			PATH: `${bin}:${process.env.PATH}`,
			DISPLAY: `:${number.trim()}`,
			DBUS_SESSION_BUS_ADDRESS: bus.out.trim(),
			NO_AT_BRIDGE: "1",
			GTK_A11Y: "none",
			LIBGL_ALWAYS_SOFTWARE: "1",
		});
		desk.dataDir = join(home, "data", "aalis");
		desk.add("openbox", [], { env: desk.env });
		await until("a window manager", async () =>
			(await desk.tool("wmctrl", "-m")).includes("Openbox"),
		);
		return desk;
	}

	add(command, args, options) {
		const program = new Program(command, args, options);
		this.programs.push(program);
		return program;
	}

	/** Runs a tool to its end and gives its output. */
	async tool(command, ...args) {
		const program = new Program(command, args, { env: this.env });
		program.child.stdin.end();
		const { code } = await program.ended;
		if (code !== 0) throw new Error(`${command} ${args.join(" ")}: ${code} ${program.err}`);
		return program.out.trim();
	}

	/** The process that draws an app's page: the youngest, where the app has started itself again. */
	async webProcess({ program }) {
		const parent = ["--newest", "--parent", String(program.child.pid)];
		return Number(await this.tool("pgrep", ...parent, "WebKitWebProces"));
	}

	/** Runs a command of the program to its end. */
	async command(...args) {
		return this.tool(process.env.E2E_SERVER, ...args);
	}

	/** Starts the app, ready to be driven. */
	async app(...args) {
		const port = await freePort();
		const program = this.add(process.env.E2E_APP, args, {
			env: {
				...this.env,
				LD_PRELOAD: process.env.E2E_SHIM,
				WEBKIT_INSPECTOR_SERVER: `127.0.0.1:${port}`,
			},
		});
		const app = new App(this, program, port);
		return app;
	}

	/** The windows there are, by title. */
	async windows() {
		const list = await this.tool("wmctrl", "-l").catch(() => "");
		return list
			.split("\n")
			.filter((line) => line !== "")
			.map((line) => ({ id: line.split(/\s+/)[0], title: line.split(/\s+/).slice(3).join(" ") }));
	}

	openedLinks() {
		return existsSync(this.opened) ? readFileSync(this.opened, "utf8").trim().split("\n") : [];
	}

	picture(name) {
		mkdirSync(pictures, { recursive: true });
		return this.tool("import", "-window", "root", join(pictures, `${name}.png`));
	}

	async stop() {
		for (const program of this.programs.toReversed()) await program.stop();
		this.place.remove();
	}
}

const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
export const ENTER = "\uE007";

/** The app under test, and its window's page through WebDriver. */
export class App {
	constructor(desk, program, port) {
		this.desk = desk;
		this.program = program;
		this.port = port;
	}

	async driven() {
		const port = await freePort();
		this.driver = this.desk.add(
			"WebKitWebDriver",
			[`--port=${port}`, `--target=127.0.0.1:${this.port}`],
			{ env: this.desk.env },
		);
		this.base = `http://127.0.0.1:${port}`;
		await until("the driver", () => this.ask("GET", "/status"));
		const { sessionId } = await until(
			"the page",
			() => {
				assert.equal(this.program.over, false, `the app ended: ${this.program.err}`);
				return this.ask("POST", "/session", { capabilities: { alwaysMatch: {} } });
			},
			20_000,
		);
		this.base += `/session/${sessionId}`;
		return this;
	}

	async ask(method, path, body) {
		const answer = await fetch(this.base + path, {
			method,
			headers: { "Content-Type": "application/json" },
			...(method === "POST" ? { body: JSON.stringify(body ?? {}) } : {}),
			signal: AbortSignal.timeout(15_000),
		});
		const { value } = await answer.json();
		if (!answer.ok) throw new Error(`${path}: ${value?.error} ${value?.message}`);
		return value ?? true;
	}

	js(script, ...args) {
		return this.ask("POST", "/execute/sync", { script, args });
	}

	find(css) {
		return until(`an element ${css}`, async () => {
			return (await this.ask("POST", "/element", { using: "css selector", value: css }))[ELEMENT];
		});
	}

	count(css) {
		return this.js("return document.querySelectorAll(arguments[0]).length", css);
	}

	text(css) {
		return this.js("return document.querySelector(arguments[0])?.textContent ?? ''", css);
	}

	/**
	 * Clicks as soon as that is possible: what has just come is measured and scrolled first, and a click
	 * on where it was a moment ago would hit something else. Where the driver refuses, nothing was
	 * clicked, and the next look may find the element drawn.
	 */
	async click(css) {
		let before;
		await until(`${css} to be clicked`, async () => {
			const place = await this.js(
				`const found = document.querySelector(arguments[0]);
				if (!found) return "";
				found.scrollIntoView({ block: "nearest" });
				const { x, y, width, height } = found.getBoundingClientRect();
				const hit = document.elementFromPoint(x + width / 2, y + height / 2);
				return found.contains(hit) ? [x, y, width, height].join() : "";`,
				css,
			);
			const still = place !== "" && place === before;
			before = place;
			if (still) return this.ask("POST", `/element/${await this.find(css)}/click`);
			await new Promise((resolve) => setTimeout(resolve, 60));
			return false;
		});
	}

	async type(css, text) {
		await this.ask("POST", `/element/${await this.find(css)}/value`, { text });
	}

	connected() {
		return this.find('[data-testid="connection"][data-state="open"]');
	}

	async begin(text) {
		await this.click('[data-testid="new-session"]');
		await this.type('[data-testid="composer"] textarea', text + ENTER);
		await until("the session", async () =>
			(await this.js("return location.hash")).startsWith("#/s/"),
		);
		return decodeURIComponent((await this.js("return location.hash")).slice(4));
	}

	/** Opens a session from the sidebar, wherever it stands there: what is unread stands above what is newer. */
	show(id) {
		return this.click(`[data-testid="session-row"] a[href="#/s/${encodeURIComponent(id)}"]`);
	}

	ended(outcome) {
		return this.find(`[data-testid="turn"][data-outcome="${outcome}"]`);
	}

	/** Closes the window as its frame's button does. */
	close() {
		return this.desk.tool("wmctrl", "-c", "Aalis");
	}
}
