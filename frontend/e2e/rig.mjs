import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where pictures go, of failures and of what is worth looking at. */
export const pictures = process.env.E2E_SHOTS ?? join(import.meta.dirname, "../test-results");

/** Asks until `look` gives something true; an error counts as not yet, and is told in the end. */
export async function until(what, look, within = 10_000) {
	const end = Date.now() + within;
	let last;
	for (;;) {
		try {
			const seen = await look();
			if (seen) return seen;
			last = undefined;
		} catch (error) {
			last = error;
		}
		if (Date.now() > end) throw new Error(`timed out: ${what}${last ? ` (${last.message})` : ""}`);
		await new Promise((resolve) => setTimeout(resolve, 25));
	}
}

/** Every process that was started and has not ended. */
const alive = new Set();

/** A process under test: its output is kept, and its end is awaited. */
export class Program {
	constructor(command, args, options = {}) {
		alive.add(this);
		this.out = "";
		this.err = "";
		this.child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], ...options });
		// Who ends before reading what it is told (EPIPE) is judged by its exit code.
		this.child.stdin?.on("error", (error) => {
			this.err += error.message;
		});
		this.child.stdout?.on("data", (data) => {
			this.out += data;
		});
		this.child.stderr?.on("data", (data) => {
			this.err += data;
		});
		this.ended = new Promise((resolve) => {
			this.child.on("error", (error) => {
				this.err += error.message;
				resolve({ code: 127 });
			});
			this.child.on("close", (code, signal) => resolve({ code, signal }));
		});
		this.over = false;
		void this.ended.then(() => {
			this.over = true;
			alive.delete(this);
		});
	}

	/** Ends it as a person would and says how long that took. */
	async stop(signal = "SIGTERM", within = 5_000) {
		const began = performance.now();
		if (!this.over) this.child.kill(signal);
		const timer = setTimeout(() => this.child.kill("SIGKILL"), within);
		const end = await this.ended;
		clearTimeout(timer);
		return { ...end, ms: performance.now() - began };
	}
}

/** The environment of everything under test: nothing of whoever runs it but the way to programs. */
export const cleanEnv = (home, extra = {}) => ({
	PATH: process.env.PATH,
	HOME: home,
	LANG: "C.UTF-8",
	LC_ALL: "en_GB.UTF-8",
	XDG_RUNTIME_DIR: join(home, "run"),
	XDG_CONFIG_HOME: join(home, "config"),
	XDG_DATA_HOME: join(home, "data"),
	...extra,
});

export function newHome() {
	const home = mkdtempSync(join(tmpdir(), "aalis-e2e-"));
	mkdirSync(join(home, "run"), { mode: 0o700 });
	return { home, remove: () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }) };
}

/** `aalis serve` on a data folder of its own, and the commands that speak to it. */
export class Server {
	static async start({
		binary = process.env.E2E_SERVER,
		args = [],
		env = {},
		home = newHome(),
		cwd,
	} = {}) {
		const server = new Server();
		server.binary = binary;
		server.place = home;
		server.dataDir = join(home.home, "data", "aalis");
		server.env = cleanEnv(home.home, env);
		const ready = join(home.home, "ready.json");
		rmSync(ready, { force: true });
		const began = performance.now();
		server.program = new Program(binary, ["serve", "--ready-file", ready, ...args], {
			env: server.env,
			cwd,
		});
		await until("the server's ready file", () => {
			if (server.program.over) throw new Error(server.program.err);
			return statSync(ready).size > 0;
		});
		server.readyMs = performance.now() - began;
		Object.assign(server, JSON.parse(readFileSync(ready, "utf8")));
		return server;
	}

	/** Runs one command to its end. */
	async run(args, { input = "" } = {}) {
		const program = new Program(this.binary, args, { env: this.env });
		program.child.stdin.end(input);
		const { code } = await program.ended;
		return { code, out: program.out, err: program.err };
	}

	/** The same, where anything but success is a failure. */
	async command(...args) {
		const { code, out, err } = await this.run(args);
		assert.equal(code, 0, `aalis ${args.join(" ")}: ${err}`);
		return out.trim();
	}

	/** Runs one command on a terminal, to be typed at. */
	terminal(...args) {
		const quoted = [this.binary, ...args]
			.map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
			.join(" ");
		return new Program("script", ["--quiet", "--return", "--command", quoted, "/dev/null"], {
			env: { ...this.env, TERM: "dumb" },
		});
	}

	async stop() {
		const end = await this.program.stop();
		this.place.remove();
		return end;
	}
}

/** The tests of one file: each has a name, in order, and all are run whatever fails. */
export class Suite {
	tests = [];

	test(name, run) {
		this.tests.push({ name, run });
	}

	/** Runs the tests and then what clears up, `after`, which is told of and fails nothing. */
	async run({ onFailure = async () => undefined, after = async () => undefined } = {}) {
		mkdirSync(pictures, { recursive: true });
		const only = process.env.E2E_ONLY;
		const failed = [];
		let passed = 0;
		let current = "no test";
		// What nobody awaited counts for the test it came up in, and does not end the others.
		process.on("uncaughtException", (error) => {
			const drivers = /playwright-core/.test(error?.stack) && !/\/e2e\//.test(error.stack);
			console.log(
				`${drivers ? "the driver said" : "FAIL"}  in ${current}: ${error?.stack ?? error}`,
			);
			if (!drivers) failed.push(`${current}, uncaught`);
		});
		for (const { name, run } of this.tests) {
			if (only && !name.includes(only)) continue;
			current = name;
			const began = performance.now();
			const took = () => `${Math.round(performance.now() - began)} ms`;
			try {
				await run();
				passed++;
				console.log(`ok    ${name} (${took()})`);
			} catch (error) {
				failed.push(name);
				console.log(`FAIL  ${name} (${took()})\n${error.stack}`);
				await onFailure(name.replace(/[^\w-]+/g, "_").slice(0, 60)).catch((e) =>
					console.log(`no picture: ${e.message}`),
				);
			}
		}
		current = "clearing up";
		await after().catch((error) => console.log(`clearing up: ${error.stack}`));
		console.log(`${passed} passed, ${failed.length} failed`);
		process.exitCode = failed.length === 0 ? 0 : 1;
		// What a failed test left running must not keep the run from ending. Without such this never fires.
		setTimeout(() => {
			for (const program of alive) program.child.kill("SIGKILL");
		}, 10_000).unref();
	}
}
