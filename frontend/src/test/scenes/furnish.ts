import type { SessionItem } from "@/contract/session.gen";
import { FakeServer, roomOf } from "../fake-server";
import { agent, user } from "../items";
import { conversation } from "./conversation";
import { DAY, HOUR, MINUTE, type Scene, said } from "./story";

/** A server with the sessions of somebody who has used her for a while. */
export function furnished(now: number): FakeServer {
	const server = new FakeServer();
	const place = { key: "workspace:default", kind: "workspace" as const, name: "Default" };
	server.session(
		{ id: "main", title: "How the core package works", updatedAt: now - MINUTE, place },
		conversation(now),
	);
	beside(server, now);
	const add = (
		id: string,
		title: string,
		ago: number,
		more: object = {},
		items: SessionItem[] = [],
	) => server.session({ id, title, updatedAt: now - ago, ...more }, items);
	add("wait", "Clean up the build folder", 2 * MINUTE, { attention: true, running: true });
	add("fail", "Weekly report", HOUR, { error: true, reason: "The model's server answered 503" });
	add("news", "Recipe for a rainy Sunday with what is in the fridge", 2 * HOUR, { unread: true });
	add("runs", "整理照片", 3 * HOUR, { running: true });
	add("back", "Index the archive", DAY, { background: 3, childCount: 2 });
	for (let n = 0; n < 60; n++) add(`old-${n}`, `Conversation number ${60 - n}`, (2 + n) * DAY);
	add("arch-1", "Moving house", 90 * DAY, { archived: true });
	add("arch-2", "Tax return", 200 * DAY, { archived: true });
	const under = {
		parentId: "back",
		kind: "task",
		ancestors: [{ id: "back", title: "Index the archive" }],
	};
	add("child", "Search the mail for invoices", DAY, under, [
		user({
			itemId: "cu",
			at: now - DAY,
			text: "Find every invoice of this year.",
			speaker: { platform: "aalis", source: "subtask", owner: false, nickname: "Aalis" },
		}),
		agent({ itemId: "ca", at: now - DAY + 1_000, text: "Found 31 of them." }),
	]);
	return server;
}

/** The main session's plan and usage. */
function beside(server: FakeServer, now: number): void {
	const { fixed } = server.need("main");
	fixed.usage = {
		kind: "usage",
		itemId: "usage",
		at: now,
		used: 48_320,
		contextWindow: 128_000,
		usageRatio: 48_320 / 128_000,
		compressAt: 0.75,
		ext: { estimated: false },
		parts: [
			{
				label: "Instructions",
				tokens: 2_140,
				injectors: { "persona/base": 1_800, "persona/mood": 140, "time/now": 200 },
			},
			{ label: "Tools", tokens: 6_020 },
			{ label: "Conversation", tokens: 40_160 },
		],
	};
	fixed.plan = {
		kind: "plan",
		itemId: "plan",
		at: now,
		items: [
			{ id: 1, title: "Read the core package", status: "completed" },
			{ id: 2, title: "Tidy up the README", status: "in-progress" },
			{ id: 3, title: "Add a crash test", status: "not-started" },
		],
	};
}

const NAMES = [
	"Garden club",
	"读书会",
	"Climbing, Thursdays",
	"Ann",
	"家里人",
	"Board games",
	"Street repair committee of the old town, northern half",
	"Jo",
	"摄影群",
	"Choir",
	"Release watch",
	"Running 10 km",
];

/** Rooms of three adapters beside the owner's sessions: many with two accounts, few with one, some without an instance. */
export function rooms(now: number): Scene {
	const server = furnished(now);
	server.labels.set("bot", "OneBot");
	server.labels.set("mail", "Mail (second)");
	for (let n = 0; n < 40; n++) {
		const name = NAMES[n % NAMES.length] ?? "";
		const alone = n % 4 === 3;
		server.session(
			roomOf({
				id: `onebot:${1000 + (n % 2)}:${alone ? "private" : "group"}:${20_000 + n}`,
				title: n < NAMES.length ? name : `${name} ${n}`,
				updatedAt: now - n * n * 7 * MINUTE,
				account: `${1000 + (n % 2)}`,
				chat: { type: alone ? "private" : "group", multiParty: !alone },
				attention: n === 5 || n === 30,
				running: n === 1,
				error: n === 8,
				background: n === 4 ? 2 : 0,
				...(n === 8 ? { reason: "The model's server answered 503" } : {}),
				...(n % 3 === 0 ? { lastReplyAt: now - n * DAY } : {}),
			}),
			n === 0 ? [said("ru1", now - HOUR, "Who brings the seeds?", "Jo")] : [],
		);
	}
	for (const [n, title] of ["Invoices", "Newsletter", "Ann Miller"].entries()) {
		server.session(
			roomOf({
				id: `mail:${n}`,
				title,
				platform: "mail",
				instance: "mail",
				account: "ann@example.org",
				chat: { type: "thread", multiParty: false },
				updatedAt: now - n * DAY,
			}),
		);
	}
	const { instance: _, ...loose } = roomOf({
		id: "loose",
		title: "From before",
		updatedAt: now - 9 * DAY,
	});
	server.session(loose);
	return { server, path: "/#/s/onebot:1000:group:20000" };
}
