import type { SessionItem } from "@/contract/session.gen";
import { taskOf } from "../items";
import { furnished } from "./furnish";
import { DAY, HOUR, MINUTE, type Scene, Story } from "./story";

const PRINTED = `\u001b[1mvite\u001b[0m v8.3.4 building for production...
transforming...
\u001b[32m✓\u001b[0m 412 modules transformed.
rendering chunks (1/7)...
rendering chunks (2/7)...
`;

/** Tasks in the background, in every state, of three sessions; the conversation in front moved two there. */
export function background(now: number): Scene {
	const server = furnished(now);
	const command = (line: string) => ({
		display: { kind: "command" as const, command: line, cwd: "/home/ann/aalis" },
	});
	const { work } = server;
	const add = (part: Parameters<typeof taskOf>[0]) =>
		work.change(taskOf({ label: "run_command", sessionId: "main", ...part }));
	add({
		id: "watch",
		startedAt: now - 754_000,
		lastLine: "rendering chunks (2/7)...",
		lastOutputAt: now - 400,
		...command("npm run build -- --watch --mode production"),
	});
	add({
		id: "index",
		sessionId: "back",
		label: "index_archive",
		startedAt: now - 96 * MINUTE,
		lastLine: "48,112 of 120,004 letters\u200b",
	});
	add({
		id: "test",
		status: "failed",
		exitCode: 2,
		startedAt: now - 2 * HOUR,
		endedAt: now - 2 * HOUR + 83_000,
		lastLine: "make: *** [Makefile:12: test] Error 2",
		...command("make test"),
	});
	add({
		id: "done",
		status: "completed",
		startedAt: now - 3 * HOUR,
		endedAt: now - 3 * HOUR + 4_200,
		lastLine: "done",
		...command("sleep 4 && echo done"),
	});
	add({
		id: "stop",
		sessionId: "runs",
		status: "stopped",
		startedAt: now - 4 * HOUR,
		endedAt: now - 4 * HOUR + 40_000,
		...command("python3 -m http.server"),
	});
	add({
		id: "old",
		sessionId: "fail",
		status: "aborted",
		startedAt: now - DAY,
		endedAt: now - DAY + HOUR,
		reason: "Aalis was restarted while it ran.",
	});
	work.printed.set("watch", PRINTED.repeat(30));
	work.kept = 2_000;
	server.change("main", { background: 1 });
	const moved: SessionItem[] = new Story()
		.ask(now - 13 * MINUTE, "Build it, and keep building while I edit. Run the tests too.", {
			outcome: "replied",
			took: MINUTE,
		})
		.run(1_000, "npm run build -- --watch --mode production", {
			status: "completed",
			taskId: "watch",
			durationMs: 1_500,
		})
		.run(2_000, "make test", { status: "completed", taskId: "test", durationMs: 1_200 })
		.run(3_000, "make lint", { status: "completed", taskId: "forgotten", durationMs: 9_000 })
		.reply(MINUTE, "The build goes on in the background. The tests fail in `store`.").items;
	server.need("main").items = moved;
	return { server, path: "/#/s/main" };
}

/** A conversation whose turns can be rewound. */
export function rewind(now: number): Scene {
	const server = furnished(now);
	server.features = { ...server.features, rewind: true };
	server.work.rewinds = {
		ok: false,
		restored: ["workspace:/README.md", "workspace:/backend/core/loop.go"],
		deleted: ["workspace:/build/out/a-file-with-a-rather-long-name-that-has-to-break.txt"],
		errors: [
			{
				uri: "workspace:/docs/guide.md",
				reason: "It was changed since; it is left as it is now.",
			},
			{
				uri: "workspace:/media/film.mp4",
				reason: "What stood there could not be kept (files over 10 MiB are not).",
			},
		],
	};
	server.work.undoes = {
		restored: ["workspace:/README.md", "workspace:/backend/core/loop.go"],
	};
	return { server, path: "/#/s/main" };
}

/** Somebody with three folders, of which one is not there. */
export function places(now: number): Scene {
	const server = furnished(now);
	server.work.places = [
		{ key: "workspace:default", name: "Default workspace", root: "/home/ann/Aalis", sessions: 66 },
		{ key: "workspace:photos", name: "photos", root: "/home/ann/Pictures/photos", sessions: 2 },
		{
			key: "workspace:a very long name of a folder on a stick",
			name: "a very long name of a folder on a stick",
			root: "/media/ann/USB-STICK-64/projects/a very long name of a folder on a stick",
			sessions: 1,
			missing: true,
		},
	];
	server.change("news", {
		place: { key: "workspace:photos", kind: "workspace", name: "photos" },
	});
	return { server, path: "/#/new" };
}
