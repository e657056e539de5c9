import { describe, expect, test } from "vitest";
import type { PlaceInfo } from "@/contract/session.gen";
import { FakeError, FakeServer } from "@/test/fake-server";
import { soon, started, stillTime } from "@/test/harness";
import { choosable, chosenPlace, isOther, placeToSay } from "./places";

stillTime();

const placeOf = (key: string, part: Partial<PlaceInfo> = {}): PlaceInfo => ({
	key,
	name: key,
	root: `/home/ann/${key}`,
	sessions: 0,
	...part,
});
const home = placeOf("workspace:default");
const photos = placeOf("workspace:photos");

describe("where a new conversation begins", () => {
	test("there is nothing to choose without an answer, or with the default alone", () => {
		for (const places of [undefined, [], [home]]) {
			expect(choosable({ places, last: undefined })).toEqual([]);
			expect(chosenPlace({ places, last: home.key })).toBeUndefined();
			expect(placeToSay({ places, last: home.key })).toBeUndefined();
		}
	});

	test("it is where the last one did, as long as that folder is there", () => {
		const places = [home, photos];
		expect(chosenPlace({ places, last: undefined })).toBe(home);
		expect(chosenPlace({ places, last: photos.key })).toBe(photos);
		expect(chosenPlace({ places, last: "workspace:removed" })).toBe(home);
		const missing = [home, { ...photos, missing: true }];
		expect(chosenPlace({ places: missing, last: photos.key })).toBe(home);
	});

	test("the default is not said", () => {
		const places = [home, photos];
		expect(placeToSay({ places, last: undefined })).toBeUndefined();
		expect(placeToSay({ places, last: home.key })).toBeUndefined();
		expect(placeToSay({ places, last: photos.key })).toBe(photos.key);
	});

	test("a folder other than the default is told, a chat window is not", () => {
		expect(isOther({ key: "workspace:photos", kind: "workspace" })).toBe(true);
		expect(isOther({ key: "workspace:default", kind: "workspace" })).toBe(false);
		expect(isOther({ key: "window:1", kind: "window" })).toBe(false);
		expect(isOther(undefined)).toBe(false);
	});
});

describe("over a connection", () => {
	function withPlaces(...places: PlaceInfo[]): FakeServer {
		const server = new FakeServer();
		server.work.places = places;
		return server;
	}

	test("a session is created at the chosen place, which the browser remembers", async () => {
		const server = withPlaces(home, photos);
		const first = await started(server);
		await first.app.start("at home");
		first.app.places.choose(photos.key);
		await first.app.start("there");
		const again = await started(server);
		await again.app.start("there again");
		expect(server.requestsOf("session/create")).toEqual([
			{},
			{ ext: { place: photos.key } },
			{ ext: { place: photos.key } },
		]);
	});

	test("a folder that was added is chosen; why one was not is told in the server's words", async () => {
		const server = withPlaces(home);
		const { app } = await started(server);
		expect(await app.addPlace("photos")).toBe("photos is no absolute path.");
		expect(app.places.store.getState().places).toHaveLength(1);
		expect(await app.addPlace("/srv/photos")).toBeUndefined();
		expect(chosenPlace(app.places.store.getState())?.root).toBe("/srv/photos");
	});

	test("one that somebody else removed is found to be gone by trying", async () => {
		const server = withPlaces(home, photos);
		const { app } = await started(server);
		app.places.choose(photos.key);
		server.work.places = [home];
		server.intercept = (method) => {
			if (method === "session/create") throw new FakeError(-32000, "No such place.", "not-found");
			return undefined;
		};
		await expect(app.start("there")).rejects.toThrow("No such place.");
		await soon();
		expect(placeToSay(app.places.store.getState())).toBeUndefined();
	});

	test("a server without folders offers none; a connection that is away takes none away", async () => {
		const without = await started(new FakeServer());
		expect(without.app.places.store.getState().places).toBeUndefined();
		const { app, transport } = await started(withPlaces(home, photos));
		transport.wire = "down";
		transport.cut();
		void app.places.read();
		await soon(200);
		expect(choosable(app.places.store.getState())).toHaveLength(2);
	});
});
