import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { WebSocketServer } from "ws";

const root = fileURLToPath(new URL("..", import.meta.url));
const types = {
	".html": "text/html; charset=utf-8",
	".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
};

/** As strict as the real server's, so that a violation shows here first. */
const POLICY =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/**
 * Serves the built interface over a fake session server. `hooks.signedIn` and `hooks.admit` decide
 * what the door says, `hooks.before` when files arrive; `use` changes the server behind it.
 */
export async function serve() {
	const alias = { resolve: { alias: { "@": join(root, "src") } }, configFile: false, root };
	const { module: scenes } = await runnerImport("./src/test/scenes/index.ts", alias);
	const hooks = {
		signedIn: () => true,
		admit: () => true,
		code: "CODE",
		/** A file is sent once this has resolved. */
		before: async (_path) => {},
	};
	let fake = scenes.scenes.first(Date.now()).server;
	const http = createServer(async (request, response) => {
		const url = new URL(request.url, "http://localhost");
		const json = (status, body) => {
			response.writeHead(status, { "Content-Type": "application/json" });
			response.end(JSON.stringify(body));
		};
		if (url.pathname === "/auth")
			return json(hooks.signedIn() ? 200 : 401, { signedIn: hooks.signedIn() });
		if (url.pathname === "/signin" && request.method === "POST") {
			let body = "";
			for await (const part of request) body += part;
			const good = JSON.parse(body).code === hooks.code;
			if (good) hooks.signedIn = () => true;
			return json(good ? 200 : 401, good ? { mode: "cookie" } : { error: "used" });
		}
		if (url.pathname.startsWith("/api/models/")) {
			try {
				const dependency = url.searchParams.get("dependency") ?? undefined;
				const service = decodeURIComponent(url.pathname.slice("/api/models/".length));
				const { options: details, problems } = fake.options(service, dependency);
				return json(200, { models: details.map(({ value }) => value), details, problems });
			} catch {
				return json(404, { error: "no such source" });
			}
		}
		const path = url.pathname === "/" || url.pathname === "/signin" ? "/index.html" : url.pathname;
		try {
			const body = await readFile(join(root, "dist", normalize(path)));
			await hooks.before(path);
			response.writeHead(200, {
				"Content-Type": types[extname(path)] ?? "application/octet-stream",
				"Content-Security-Policy": POLICY,
				"X-Content-Type-Options": "nosniff",
			});
			response.end(body);
		} catch {
			response.writeHead(404).end();
		}
	});
	const sockets = new WebSocketServer({ noServer: true });
	http.on("upgrade", (request, socket, head) => {
		if (!hooks.admit()) return socket.destroy();
		sockets.handleUpgrade(request, socket, head, (ws) => {
			const connection = fake.connect(
				(frame) => ws.send(frame),
				(reason) => ws.close(1000, reason),
			);
			ws.on("message", (data) => connection.receive(String(data)));
			ws.on("close", () => connection.close());
		});
	});
	await new Promise((resolve) => http.listen(Number(process.env.PORT ?? 0), "127.0.0.1", resolve));
	return {
		url: `http://127.0.0.1:${http.address().port}`,
		hooks,
		scenes: scenes.scenes,
		enliven: scenes.enliven,
		/** What a scene's server throws to refuse a request. */
		Refusal: scenes.FakeError,
		use: (server) => {
			fake = server;
		},
		dropAll: () => {
			for (const ws of sockets.clients) ws.terminate();
		},
		close: () => {
			for (const ws of sockets.clients) ws.terminate();
			http.closeAllConnections();
			return new Promise((resolve) => http.close(resolve));
		},
	};
}
