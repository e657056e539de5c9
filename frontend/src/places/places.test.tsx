import { act, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, test } from "vitest";
import { FakeServer } from "@/test/fake-server";
import { openShell, pause } from "@/test/render";

afterEach(() => {
	window.location.hash = "";
});

const home = {
	key: "workspace:default",
	name: "Default workspace",
	root: "/home/ann",
	sessions: 3,
};
const photos = { key: "workspace:photos", name: "photos", root: "/srv/photos", sessions: 1 };

function withPlaces(...places: (typeof home & { missing?: boolean })[]): FakeServer {
	const server = new FakeServer();
	server.work.places = places;
	return server;
}

const press = (key: string) =>
	fireEvent.keyDown(document.body, { key, ctrlKey: true, code: `Key${key.toUpperCase()}` });

async function openList(server: FakeServer) {
	const shell = await openShell(server, "/new");
	press("k");
	const box = await screen.findByRole("combobox");
	fireEvent.change(box, { target: { value: "folder" } });
	fireEvent.keyDown(box, { key: "Enter" });
	return { ...shell, dialog: await screen.findByTestId("places") };
}

describe("starting", () => {
	test("there is nothing to choose while there is only the default", async () => {
		await openShell(withPlaces(home), "/new");
		expect(screen.queryByTestId("place")).toBeNull();
	});

	test("the place is chosen beside the box, and the session begins there; a missing one cannot be", async () => {
		const server = withPlaces(home, photos, {
			...photos,
			key: "workspace:x",
			name: "x",
			missing: true,
		});
		await openShell(server, "/new");
		expect(screen.getByTestId("place").textContent).toBe("Default workspace");
		fireEvent.click(screen.getByTestId("place"));
		const gone = await screen.findByRole("menuitem", { name: /x \(not there now\)/ });
		expect(gone.getAttribute("aria-disabled")).toBe("true");
		fireEvent.click(screen.getByRole("menuitem", { name: "photos" }));
		await pause();
		expect(screen.getByTestId("place").textContent).toBe("photos");
		const box = screen.getByRole("textbox", { name: "Message" });
		fireEvent.change(box, { target: { value: "Sort them" } });
		fireEvent.click(screen.getByTestId("send"));
		await pause();
		expect(server.requestsOf("session/create")).toEqual([{ ext: { place: "workspace:photos" } }]);
	});
});

describe("a session", () => {
	test("says where it works when that is not the default", async () => {
		const server = withPlaces(home, photos);
		const at = (key: string, name: string) => ({ key, name, kind: "workspace" as const });
		server.session({ id: "p", place: at(photos.key, "photos") });
		server.session({ id: "h", place: at(home.key, "Default workspace") });
		await openShell(server, "/s/p");
		const place = screen.getByTestId("session-place");
		expect(place.textContent).toContain("photos");
		expect(place.title).toBe("/srv/photos");
		act(() => {
			window.location.hash = "/s/h";
		});
		await pause();
		expect(screen.getByTestId("session-title").textContent).toBe("h");
		expect(screen.queryByTestId("session-place")).toBeNull();
	});
});

describe("the list", () => {
	test("a folder is added by its path; a refusal stands beside it and leaves what was typed", async () => {
		const server = withPlaces(home);
		const { dialog } = await openList(server);
		const path = within(dialog).getByTestId("place-path") as HTMLInputElement;
		fireEvent.change(path, { target: { value: "photos" } });
		fireEvent.click(within(dialog).getByTestId("place-add"));
		await pause();
		expect(within(dialog).getByRole("alert").textContent).toBe("photos is no absolute path.");
		expect(path.value).toBe("photos");
		fireEvent.change(path, { target: { value: " /srv/photos " } });
		fireEvent.click(within(dialog).getByTestId("place-add"));
		await pause();
		expect(server.requestsOf("ext/places/add").at(-1)).toEqual({ path: "/srv/photos" });
		expect(dialog.textContent).toContain("/srv/photos");
		expect(within(dialog).queryByRole("alert")).toBeNull();
		expect(path.value).toBe("");
	});

	test("one is removed only after a word that says nothing in it is touched; the default cannot be", async () => {
		const server = withPlaces(home, photos);
		const { dialog } = await openList(server);
		const remove = within(dialog).getAllByTestId("place-remove");
		expect(remove.map((button) => button.getAttribute("aria-label"))).toEqual([
			"Remove “photos” from the list",
		]);
		fireEvent.click(remove[0] as HTMLElement);
		const sure = await screen.findByRole("alertdialog");
		expect(sure.textContent).toContain("Nothing in the folder is touched");
		fireEvent.click(within(sure).getByRole("button", { name: "Cancel" }));
		await pause();
		expect(server.requestsOf("ext/places/remove")).toEqual([]);
		fireEvent.click(remove[0] as HTMLElement);
		const again = await screen.findByRole("alertdialog");
		fireEvent.click(within(again).getByRole("button", { name: "Remove" }));
		await pause();
		expect(server.requestsOf("ext/places/remove")).toEqual([{ key: "workspace:photos" }]);
		expect(dialog.textContent).not.toContain("photos");
	});

	test("where the server has no folders there is no such command", async () => {
		await openShell(new FakeServer(), "/new");
		press("k");
		const box = await screen.findByRole("combobox");
		fireEvent.change(box, { target: { value: "folder" } });
		expect(screen.queryByRole("option")).toBeNull();
	});
});
