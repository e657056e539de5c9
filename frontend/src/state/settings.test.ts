import { describe, expect, test } from "vitest";
import type { SettingRow } from "@/contract/session.gen";
import { FakeError, FakeServer } from "@/test/fake-server";
import { soon, started, stillTime } from "@/test/harness";
import { editKey, placeKey, reconcileEdits, type SettingsPlace, same } from "./edits";
import { Reading } from "./reading";

stillTime();

const GLOBAL: SettingsPlace = { layer: { scope: "global" } };
const SESSION: SettingsPlace = { session: "s" };

function withSettings(): FakeServer {
	const server = new FakeServer();
	server.features = { ...server.features, settings: true };
	server.session({ id: "s" });
	server.settings.fields = [
		{ plugin: "p", key: "note", type: "string", label: "Note", session: {} },
		{
			plugin: "p",
			key: "count",
			type: "number",
			session: {},
			refuse: (value) => (typeof value === "number" ? undefined : "This has to be a number."),
		},
	];
	return server;
}

/** A client that watches the settings of a place. */
async function watching(server: FakeServer, place: SettingsPlace = SESSION) {
	const parts = await started(server);
	const { settings } = parts.app;
	const page = settings.page(place);
	const leave = page.watch();
	await soon();
	const row = (key: string): SettingRow => {
		const found = page.store.getState().value?.items.find((item) => item.key === key);
		if (!found) throw new Error(`no row ${key}`);
		return found;
	};
	const edit = (key: string) => settings.edits.getState().get(editKey(place, row(key)));
	return { ...parts, settings, page, leave, row, edit, place };
}

const reads = (server: FakeServer) => server.requestsOf("session/config/get").length;

describe("reading", () => {
	test("SP-CONF-69 what is watched is read again on session/config/changed, and nothing else", async () => {
		const server = withSettings();
		const { settings, leave } = await watching(server);
		const off = settings.layers.watch();
		const other = settings.page(GLOBAL).watch();
		other();
		await soon();
		server.settings.changed();
		await soon();
		expect(reads(server)).toBe(2);
		expect(server.requestsOf("session/config/layers")).toHaveLength(2);
		expect(server.requestsOf("session/config/layer/get")).toHaveLength(1);
		leave();
		off();
		server.settings.changed();
		await soon();
		expect(reads(server)).toBe(2);
	});

	test("many changes while one answer is under way are one more read", async () => {
		const server = withSettings();
		await watching(server);
		server.hold();
		for (let n = 0; n < 5; n++) server.settings.changed();
		await soon();
		expect(reads(server)).toBe(2);
		server.release();
		await soon();
		expect(reads(server)).toBe(3);
	});

	test("SP-CONF-69 a new connection reads it again, and what was shown stays meanwhile", async () => {
		const server = withSettings();
		const { transport, page } = await watching(server);
		server.settings.set({ scope: "global" }, "p", "note", "from elsewhere");
		transport.cut();
		await soon();
		expect(page.store.getState()).toMatchObject({ phase: "ready", value: { items: [{}, {}] } });
		await soon(500);
		expect(page.store.getState().value?.items[0]?.effective).toBe("from elsewhere");
	});

	test("SP-FEAT-10 nothing is asked while there is no settings service; it is once there is", async () => {
		const server = withSettings();
		server.features = { ...server.features, settings: false };
		const parts = await started(server);
		parts.app.settings.page(SESSION).watch();
		server.settings.changed();
		await soon();
		expect(reads(server)).toBe(0);
		server.setFeatures({ settings: true });
		await soon();
		expect(reads(server)).toBe(1);
		expect(parts.app.settings.page(SESSION).store.getState().phase).toBe("ready");
	});

	test("what cannot be read says why, keeps what was there, and is read again when asked", async () => {
		const server = withSettings();
		const { page } = await watching(server);
		server.intercept = () => {
			throw new FakeError(-32603, "The disk is full.");
		};
		server.settings.changed();
		await soon();
		expect(page.store.getState()).toMatchObject({
			phase: "failed",
			error: "The disk is full.",
			value: { items: [{}, {}] },
		});
		server.intercept = () => undefined;
		await page.reload();
		expect(page.store.getState()).toMatchObject({ phase: "ready" });
		expect(page.store.getState().error).toBeUndefined();
	});

	test("an answer from before a write does not undo what the write brought", async () => {
		let answer = (_: string) => undefined as unknown;
		const errors = { message: String, isAway: () => false };
		const reading = new Reading(
			() => new Promise<string>((resolve) => (answer = resolve)),
			errors,
			() => true,
		);
		const done = reading.reload();
		reading.put("new");
		answer("old");
		await done;
		expect(reading.store.getState()).toEqual({ phase: "ready", value: "new" });
	});
});

describe("changing", () => {
	test("SP-CONF-46 SP-CONF-47 a value is written at its place, null takes it away", async () => {
		const server = withSettings();
		const { settings, row } = await watching(server);
		expect(await settings.save(SESSION, row("note"), "here")).toBe(true);
		expect(row("note")).toMatchObject({ value: "here", source: "session" });
		await settings.save(SESSION, row("note"), null);
		expect(row("note").value).toBeUndefined();
		const layer = { scope: "global" as const };
		await settings.save({ layer }, row("note"), "all");
		expect(server.requestsOf("session/config/layer/update")).toEqual([
			{ layer, plugin: "p", key: "note", value: "all" },
		]);
	});

	test("SP-CONF-69 an edit under way outlives reading again, reconnecting and leaving the place", async () => {
		const server = withSettings();
		const { settings, transport, row, edit, leave } = await watching(server);
		settings.type(SESSION, row("note"), "half a sent");
		server.settings.set({ scope: "session", id: "s" }, "p", "note", "of another window");
		server.settings.changed();
		await soon();
		expect(row("note").value).toBe("of another window");
		expect(edit("note")).toMatchObject({ draft: "half a sent", phase: "open" });
		transport.cut();
		await soon(500);
		leave();
		expect(edit("note")).toMatchObject({ draft: "half a sent", phase: "open" });
	});

	test("a refused value stays with the reason until it is mended or let go", async () => {
		const server = withSettings();
		const { settings, row, edit } = await watching(server);
		settings.type(SESSION, row("count"), "many");
		expect(await settings.save(SESSION, row("count"), "many")).toBe(false);
		expect(edit("count")).toMatchObject({
			draft: "many",
			phase: "refused",
			message: "This has to be a number.",
		});
		settings.type(SESSION, row("count"), "3");
		expect(edit("count")?.phase).toBe("open");
		settings.drop(SESSION, row("count"));
		expect(edit("count")).toBeUndefined();
	});

	test("what is typed while a value is on its way is a change of its own", async () => {
		const server = withSettings();
		const { settings, row, edit } = await watching(server);
		settings.type(SESSION, row("note"), "one");
		server.hold();
		const saving = settings.save(SESSION, row("note"), "one");
		settings.type(SESSION, row("note"), "one and two");
		await soon();
		server.release();
		await saving;
		expect(row("note").value).toBe("one");
		expect(edit("note")).toMatchObject({ draft: "one and two", phase: "open" });
	});

	test("a write whose answer was lost is done when it turns out to be there", async () => {
		const server = withSettings();
		const { settings, transport, row, edit } = await watching(server);
		settings.type(SESSION, row("note"), "sent");
		server.hold();
		const saving = settings.save(SESSION, row("note"), "sent");
		await soon();
		transport.cut();
		await soon(0);
		expect(await saving).toBe(false);
		expect(edit("note")).toMatchObject({ phase: "refused", draft: "sent" });
		server.release();
		await soon(500);
		expect(row("note").value).toBe("sent");
		expect(edit("note")).toBeUndefined();
	});

	test("a write that did not get through is not taken for done", () => {
		const row = { plugin: "p", key: "k", field: { type: "string", session: {} } } as SettingRow;
		const place = placeKey(SESSION);
		const edit = { place, row, draft: "x", phase: "refused" as const, sent: "x" };
		const edits = new Map([["e", edit]]);
		expect(reconcileEdits(edits, place, [{ ...row, value: "y" }])).toBe(edits);
		expect(reconcileEdits(edits, placeKey(GLOBAL), [{ ...row, value: "x" }])).toBe(edits);
		expect(reconcileEdits(edits, place, [{ ...row, value: "x" }]).size).toBe(0);
	});

	test("two quick changes arrive in the order they were made", async () => {
		const server = withSettings();
		const { settings, row } = await watching(server);
		server.hold();
		const both = [
			settings.save(SESSION, row("note"), "first"),
			settings.save(SESSION, row("note"), "second"),
		];
		await soon();
		// The second leaves when the first has been answered.
		expect(server.requestsOf("session/config/update").map(({ value }) => value)).toEqual(["first"]);
		server.release();
		await Promise.all(both);
		expect(row("note").value).toBe("second");
	});

	test("SP-CONF-58 unsaved stays until a change is on disk; a record that was written says nothing of that", async () => {
		const server = withSettings();
		server.settings.unsaved = "config.yaml may not be written.";
		const { settings, row } = await watching(server, GLOBAL);
		const told = () => settings.unsaved.getState().text;
		expect(await settings.save(GLOBAL, row("note"), "a")).toBe(true);
		expect(row("note").effective).toBe("a");
		expect(told()).toBe("config.yaml may not be written.");
		await settings.save(SESSION, row("note"), "b");
		await soon(60_000);
		expect(told()).toBe("config.yaml may not be written.");
		server.settings.unsaved = undefined;
		await settings.save(GLOBAL, row("note"), "c");
		expect(told()).toBeUndefined();
	});
});

describe("places and values", () => {
	test("SP-CONF-17 places are told apart by all that makes them, and by nothing else", () => {
		const keys = [
			SESSION,
			GLOBAL,
			{ layer: { scope: "platform" as const, platform: "s" } },
			{ layer: { scope: "platformType" as const, platform: "a", type: "b c" } },
			{ layer: { scope: "platformType" as const, platform: "a b", type: "c" } },
			{ layer: { scope: "place" as const, key: "s" } },
		].map(placeKey);
		expect(new Set(keys).size).toBe(keys.length);
		const layer = { scope: "global" as const, more: 1 };
		expect(placeKey({ layer })).toBe(placeKey(GLOBAL));
	});

	test("values are the same whatever the order of their keys", () => {
		expect(same({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toBe(true);
		expect(same([1, 2], [2, 1])).toBe(false);
		expect(same([], {})).toBe(false);
		expect(same({ a: undefined }, { b: undefined })).toBe(false);
		expect(same("1", 1)).toBe(false);
	});
});
