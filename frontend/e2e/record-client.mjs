// Records what this release's client sends, as a line of JSON each, with the ids of what it created, so
// that every later server is held to it (backend/clients_test.go). Run it once for a release:
//   E2E_SERVER=…/aalis-server node e2e/record-client.mjs ../backend/testdata/clients/VERSION.jsonl
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { WebSocket } from "ws";
import { Server, until } from "./rig.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const alias = { resolve: { alias: { "@": join(root, "src") } }, configFile: false, root };
const { module: test } = await runnerImport("./src/test/player.ts", alias);

const server = await Server.start();
const token = readFileSync(join(server.dataDir, "run", "owner.token"), "utf8").trim();
const lines = [];
const asked = new Map();
const client = test.player(
	"aalis-web",
	() =>
		new WebSocket(`${server.url.replace("http", "ws")}/session`, {
			headers: { Authorization: `Bearer ${token}` },
		}),
	(way, frame) => {
		const { id, method, params, result } = JSON.parse(frame);
		if (way === "sent") {
			const line = { method, params };
			asked.set(id, line);
			lines.push(line);
		} else if (asked.get(id)?.method === "session/create" && result) {
			asked.get(id).created = result.session.id;
		}
	},
);
const { app } = client;
await until("it is there", () => client.isOpen());
const quiet = (id) => until("quiet", () => client.unrest([id]).length === 0);
const answer = (decision) =>
	until("an approval", async () => {
		const [id] = app.approvals.getState().pending.keys();
		if (id === undefined) return false;
		await app.answer(id, decision, decision === "deny" ? "not now" : "");
		return true;
	});

const id = await app.start("hello");
await quiet(id);
const session = app.look(id);
session.send("plan: look; paint");
await quiet(id);
session.send("run: echo one");
await answer("approve");
await quiet(id);
session.send("write: boat.txt\nred");
await answer("deny");
await quiet(id);
session.send("slow: 50");
await until("it runs", () => session.store.getState().summary?.running);
session.send("and this");
const entry = await until(
	"it waits",
	() => session.store.getState().queue?.entries.find(({ ext }) => ext?.inputId)?.ext,
);
await client.link.call("ext/queue/edit", {
	sessionId: id,
	inputId: entry.inputId,
	content: "or that",
});
await app.takeBack(id, entry.inputId);
await app.stop(id, undefined);
await quiet(id);
const turn = session.store.getState().items.findLast((item) => item.kind === "turn");
await client.link.call("turn/rewind", {
	sessionId: id,
	turnId: turn.itemId,
	scope: "code-and-chat",
});
await app.compress(id);
await app.clearPlan(id);
session.send("/status");
await quiet(id);
await app.rename(id, "boats");
app.markSeen(id);
await client.link.call("session/config/get", { sessionId: id });
await client.link.call("session/config/layers", {});
await client.link.call("session/config/layer/get", { layer: { scope: "global" } });
await client.link.call("session/config/update", {
	sessionId: id,
	plugin: "aalis",
	key: "toolLimit",
	value: 9,
});
await client.link.call("session/config/overrides", { plugin: "aalis" });
await client.link.call("background/list", {});
await client.link.call("session/history", { sessionId: id, limit: 5 });
app.lists.search("boats");
await app.archive(id);
await app.unarchive(id);
await app.stopAll(id);
await app.remove(id);
client.stop();
writeFileSync(process.argv[2], `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
console.log(`${lines.length} requests, ${new Set(lines.map(({ method }) => method)).size} methods`);
await server.stop();
