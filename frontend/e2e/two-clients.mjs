// Two clients of our own at one server, without pages: random requests of both, lines that are cut and
// come back. In the end both show what a third one sees that has just come. Every seed is a run of its
// own; one that fails says how to play it again.
//   E2E_SERVER=…/aalis-server node e2e/two-clients.mjs [SEED…]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { WebSocket } from "ws";
import { Server, Suite, until } from "./rig.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const alias = { resolve: { alias: { "@": join(root, "src") } }, configFile: false, root };
const { module: test } = await runnerImport("./src/test/player.ts", alias);
const STEPS = Number(process.env.STEPS ?? 120);

const suite = new Suite();

/** The same numbers for the same seed (mulberry32). */
function dice(seed) {
	let a = seed >>> 0;
	return () => {
		a = (a + 0x6d2b79f5) >>> 0;
		let t = Math.imul(a ^ (a >>> 15), 1 | a);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}

const lines = [
	"hello",
	"slow: 2",
	"think: about boats",
	"plan: look; paint; sail",
	"plan: rest",
	"run: echo one",
	"write: boat.txt\nred",
	"fail: no wind",
	"run: echo one\nrun: exit 3",
	"/status",
	"/help",
];

async function play(seed) {
	const server = await Server.start();
	try {
		await together(server, seed);
	} finally {
		await server.stop();
	}
}

async function together(server, seed) {
	const token = readFileSync(join(server.dataDir, "run", "owner.token"), "utf8").trim();
	const connect = () =>
		new WebSocket(`${server.url.replace("http", "ws")}/session`, {
			headers: { Authorization: `Bearer ${token}` },
		});
	const random = dice(seed);
	const one = (list) => list[Math.floor(random() * list.length)];
	const both = ["a", "b"].map((name) => test.player(name, connect));
	await until("both are there", () => both.every((client) => client.isOpen()));
	const ids = [];
	const doing = [];
	// A request may fail because its line was cut or somebody else was first; what counts is the end.
	const let_ = (promise) => doing.push(Promise.resolve(promise).catch(() => undefined));
	const create = async (client) => {
		const { session } = await client.link.call("session/create", { name: `of ${seed}` });
		ids.push(session.id);
		for (const other of both) other.app.look(session.id);
	};
	await create(both[0]);
	await create(both[1]);

	const deeds = {
		send: [10, (c, id) => c.app.look(id).send(one(lines))],
		answer: [
			8,
			(c) => {
				const waiting = [...c.app.approvals.getState().pending.keys()];
				if (waiting.length > 0) let_(c.app.answer(one(waiting), one(["approve", "deny"])));
			},
		],
		stop: [2, (c, id) => let_(c.app.stop(id, undefined))],
		rename: [1, (c, id) => let_(c.app.rename(id, `boat ${Math.floor(random() * 100)}`))],
		archive: [1, (c, id) => let_(one([c.app.archive, c.app.unarchive])(id))],
		compress: [1, (c, id) => let_(c.app.compress(id))],
		clearPlan: [1, (c, id) => let_(c.app.clearPlan(id))],
		takeBack: [
			1,
			(c, id) => {
				const entry = c.app.look(id).store.getState().queue?.entries[0]?.ext;
				if (entry) let_(c.app.takeBack(id, entry.inputId));
			},
		],
		edit: [
			1,
			(c, id) => {
				const entry = c.app.look(id).store.getState().queue?.entries[0]?.ext;
				if (!entry) return;
				let_(
					c.link.call("ext/queue/edit", {
						sessionId: id,
						inputId: entry.inputId,
						content: "hello instead",
					}),
				);
			},
		],
		rewind: [
			1,
			(c, id) => {
				const turns = c.app
					.look(id)
					.store.getState()
					.items.filter((item) => item.kind === "turn" && item.outcome);
				const turn = turns.at(-1);
				if (!turn) return;
				let_(
					c.link.call("turn/rewind", {
						sessionId: id,
						turnId: turn.turnId ?? turn.itemId,
						scope: one(["code", "code-and-chat"]),
					}),
				);
			},
		],
		clear: [0.5, (c, id) => c.app.look(id).send("/clear")],
		create: [0.5, (c) => let_(create(c))],
		remove: [
			0.3,
			(c, id) => {
				if (ids.length > 2) let_(c.app.remove(id));
			},
		],
		cut: [3, (c) => c.cut()],
		pause: [6, () => new Promise((resolve) => setTimeout(resolve, random() * 150))],
	};
	const bag = Object.entries(deeds).flatMap(([name, [weight]]) => Array(weight * 10).fill(name));
	for (let n = 0; n < STEPS; n++) await deeds[one(bag)][1](one(both), one(ids));
	await Promise.all(doing);

	// Whatever still asks is answered, by whoever is there.
	await until(
		"it is quiet",
		async () => {
			for (const client of both) {
				for (const id of client.app.approvals.getState().pending.keys())
					await client.app.answer(id, "approve");
			}
			for (const client of both) {
				assert.ok(client.isOpen(), "the line is down");
				assert.deepEqual(client.unrest(ids), []);
			}
			return true;
		},
		60_000,
	);
	const fresh = test.player("fresh", connect);
	await until("the third is there", () => fresh.isOpen());
	for (const id of ids) fresh.app.look(id);
	await until("it has read all", () => fresh.unrest(ids).length === 0);
	const [a, b] = both;
	// Words that were said last may still be on their way to the lists.
	await until("the lists agree", () => {
		for (const client of [a, b]) {
			const mine = new Set(ids);
			// The archive is read only when it is opened.
			const of = (list) => list.filter(({ id, archived }) => mine.has(id) && !archived);
			assert.deepEqual(of(client.list()), of(fresh.list()));
		}
		return true;
	});
	for (const id of ids) {
		for (const client of [a, b]) {
			await until(
				`the same picture of ${id}`,
				() => {
					assert.deepEqual(client.picture(id), fresh.picture(id));
					return true;
				},
				3_000,
			);
		}
	}
	assert.deepEqual([...a.app.approvals.getState().pending.keys()], []);
	for (const client of [a, b, fresh]) client.stop();
}

const seeds = process.argv.slice(2).map(Number);
for (const seed of seeds.length > 0 ? seeds : [1, 2, 3]) {
	suite.test(
		`SP-SUB-17 FAIL-A1 two clients end in the same picture, whatever happened (seed ${seed})`,
		() => play(seed),
	);
}
await suite.run();
