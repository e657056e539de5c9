// The reference client of /v1 at a real server, over a line that is cut at random, between frames and
// inside them, while she writes: nothing is lost and nothing doubled.
//   E2E_SERVER=…/aalis-server [CUTS=1000] node e2e/v1-client.mjs [SEED]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { Server, Suite } from "./rig.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { module: v1 } = await runnerImport("./src/clients/v1/index.ts", { configFile: false, root });
const CUTS = Number(process.env.CUTS ?? 1000);
const LONGEST = 60_000;
const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 2 ** 32));

/** The same numbers for the same seed (mulberry32). */
function dice(from) {
	let a = from >>> 0;
	return () => {
		a = (a + 0x6d2b79f5) >>> 0;
		let t = Math.imul(a ^ (a >>> 15), 1 | a);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}

/** A line to the server that ends after a random number of bytes of what the server says. */
async function rope(url, random) {
	const to = new URL(url);
	const line = { cuts: 0, whole: false };
	const open = new Set();
	const proxy = createServer((near) => {
		const far = connect(Number(to.port), to.hostname);
		const end = () => {
			near.destroy();
			far.destroy();
			open.delete(end);
		};
		open.add(end);
		// The head of an answer is some 300 bytes: some lines end before a single event.
		let left = 200 + Math.floor(random() * 900);
		// The server answers to its own address only. A request of ours is one piece, its head in front.
		near.on("data", (data) =>
			far.write(data.toString("latin1").replace(/^host: .*$/im, `host: ${to.host}`), "latin1"),
		);
		far.on("data", (data) => {
			if (line.whole || data.length < left) {
				left -= data.length;
				near.write(data);
				return;
			}
			line.cuts++;
			near.write(data.subarray(0, left), end);
		});
		for (const side of [near, far]) side.on("error", end).on("close", end);
	});
	await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
	line.url = `http://127.0.0.1:${proxy.address().port}`;
	line.close = () => {
		proxy.close();
		for (const end of [...open]) end();
	};
	return line;
}

/** Every event of a session up to the end of its nth run. */
async function until(events, runs) {
	const got = [];
	for await (const event of events) {
		got.push(event);
		if (event.type === "run.state" && event.data.state === "idle" && --runs === 0) return got;
	}
	throw new Error("the stream has ended");
}

async function conversation(server) {
	const token = readFileSync(join(server.dataDir, "run", "owner.token"), "utf8").trim();
	const client = new v1.Client({ url: server.url, token });
	assert.equal((await client.me()).protocol.prefix, v1.PROTOCOL_PREFIX);
	const { session } = await client.createSession({ title: "one" });
	const accepted = await client.send(session.id, "hello", "k");
	assert.deepEqual(await client.send(session.id, "hello", "k"), accepted);
	const events = await until(client.events(session.id), 1);
	const said = events.filter((e) => e.type === "message.delta").map((e) => e.data.text);
	const { messages, lastSeq } = await client.session(session.id);
	assert.equal(messages.at(-1).text, said.join(""));
	assert.equal(lastSeq, events.at(-1).seq);
	assert.equal((await client.cancel(session.id)).state, "idle");
	assert.ok(Array.isArray((await client.capabilities()).capabilities));
	await assert.rejects(client.session("none"), (e) => e.status === 404 && !e.retryable);
}

async function cut(server) {
	const token = readFileSync(join(server.dataDir, "run", "owner.token"), "utf8").trim();
	const direct = new v1.Client({ url: server.url, token });
	const { session } = await direct.createSession();
	const line = await rope(server.url, dice(seed));
	const bad = new v1.Client({ url: line.url, token });
	const stop = new AbortController();
	let asked = 0;
	const writer = (async () => {
		const end = Date.now() + LONGEST;
		while (line.cuts < CUTS && Date.now() < end) {
			const own = new AbortController();
			const since = (await direct.session(session.id)).lastSeq;
			await direct.send(
				session.id,
				`hello ${asked}\nthink: of boats${asked % 4 ? "" : "\nslow: 3"}`,
			);
			asked++;
			await until(direct.events(session.id, { since, signal: own.signal }), 1);
		}
		line.whole = true;
	})();
	const got = [];
	let idle = 0;
	let wanted = Number.POSITIVE_INFINITY;
	void writer.then(() => {
		wanted = asked;
		if (idle >= wanted) stop.abort();
	});
	try {
		const events = bad.events(session.id, { firstWait: 1, longestWait: 4, signal: stop.signal });
		for await (const event of events) {
			got.push(event);
			if (event.type === "run.state" && event.data.state === "idle") idle++;
			if (idle >= wanted) break;
		}
		await writer;
	} finally {
		line.close();
	}
	const want = await until(direct.events(session.id), asked);
	console.log(`      seed ${seed}: ${line.cuts} cuts, ${asked} runs, ${want.length} events`);
	assert.deepEqual(got, want);
	assert.ok(line.cuts >= CUTS / 4, `only ${line.cuts} cuts`);
}

const suite = new Suite();
for (const [name, run] of [
	["V1-029 V1-075 V1-076 V1-155 the reference client says something and reads on", conversation],
	[`V1-103 V1-104 V1-105 cut at random, nothing is lost or doubled (seed ${seed})`, cut],
])
	suite.test(name, async () => {
		const server = await Server.start();
		try {
			await run(server);
		} finally {
			await server.stop();
		}
	});
await suite.run();
