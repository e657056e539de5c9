import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, test } from "vitest";
import { FakeError, FakeServer } from "@/test/fake-server";
import type { FakeField } from "@/test/fake-settings";
import { openShell, pause } from "@/test/render";

afterEach(() => {
	window.location.hash = "";
});

const limited = (value: unknown) =>
	typeof value === "number" && value <= 100 ? undefined : "The limit must be at most 100.";

const FIELDS: FakeField[] = [
	{
		plugin: "chat",
		key: "model",
		type: "llm-ref",
		label: "Model",
		session: { prominence: "composer", order: 1 },
		actual: () => ({ value: "local/small", label: "the first (now: local/small)" }),
	},
	{
		plugin: "chat",
		key: "thinking",
		type: "select",
		label: "Thinking",
		dynamicOptions: "llm-thinking",
		session: { prominence: "composer", order: 2, dependsOn: "model" },
	},
	{
		plugin: "chat",
		key: "limit",
		type: "number",
		label: "Limit",
		default: 40,
		max: 100,
		session: { prominence: "common", order: 3 },
		refuse: limited,
	},
	{
		plugin: "chat",
		key: "memory",
		type: "boolean",
		label: "Memory",
		default: true,
		session: { prominence: "common", order: 4 },
	},
	{ plugin: "zeta", key: "note", type: "string", label: "Zeta note", session: {} },
	{ plugin: "alpha", key: "words", type: "list", label: "Words", session: {} },
];

function withSettings(): FakeServer {
	const server = new FakeServer();
	server.features = { ...server.features, settings: true };
	const place = { key: "default", kind: "workspace" as const, name: "Default" };
	server.session({ id: "s", title: "My session", place });
	server.session({ id: "bare", title: "Without a place" });
	const { settings } = server;
	settings.fields = FIELDS;
	settings.layers = [
		{ layer: { scope: "global" } },
		{ layer: { scope: "platform", platform: "webui" } },
		{ layer: { scope: "place", key: "default" }, label: "Default workspace" },
		{
			layer: { scope: "place", key: "window:1" },
			label: "Group Garden",
			platform: "onebot",
			type: "group",
		},
	];
	settings.sources.set("llm", () => [
		{ value: "local/small", label: "local/small" },
		{ value: "cloud/large", label: "cloud/large" },
	]);
	settings.sources.set("llm-thinking", (model) =>
		model === "cloud/large"
			? [{ value: "high", label: "Long" }]
			: [{ value: "low", label: "Short" }],
	);
	return server;
}

const setting = (label: string) => {
	const found = screen
		.getAllByTestId("setting")
		.find((row) => within(row).queryAllByText(label).length > 0);
	if (!found) throw new Error(`no setting ${label}`);
	return found;
};
const from = (label: string) => within(setting(label)).getByTestId("setting-from").textContent;
const quick = (label: RegExp) => screen.getByRole("button", { name: label });
const options = () => screen.queryAllByRole("option").map((option) => option.textContent);

async function openSettings(server: FakeServer, path = "/s/s") {
	const parts = await openShell(server, path);
	fireEvent.click(screen.getByRole("button", { name: "Settings of this conversation" }));
	await pause(50);
	return parts;
}

async function click(element: HTMLElement) {
	fireEvent.click(element);
	await pause(50);
}

const layer = (name: string) => screen.getByRole("button", { name });

describe("what offers settings", () => {
	test("SP-FEAT-10 every entry follows features.settings live", async () => {
		const server = withSettings();
		await openShell(server, "/s/s");
		const entries = () => screen.queryAllByRole("button", { name: /settings/i }).length;
		expect(entries()).toBe(1);
		expect(screen.getByTestId("quick-settings")).toBeDefined();
		act(() => server.setFeatures({ settings: false }));
		await pause();
		expect(entries()).toBe(0);
		expect(screen.queryByTestId("quick-settings")).toBeNull();
		fireEvent.keyDown(window, { key: ",", ctrlKey: true });
		fireEvent.keyDown(window, { key: "k", ctrlKey: true });
		await pause(50);
		expect(screen.queryByTestId("settings")).toBeNull();
		expect(screen.queryByRole("option", { name: /settings/i })).toBeNull();
		act(() => server.setFeatures({ settings: true }));
		await pause();
		expect(screen.queryAllByRole("option", { name: /settings/i })).toHaveLength(2);
	});

	test("SP-FEAT-10 open settings go with their service, and do not come back by themselves", async () => {
		const server = withSettings();
		await openSettings(server);
		expect(screen.getByTestId("settings")).toBeDefined();
		act(() => server.setFeatures({ settings: false }));
		await pause(50);
		expect(screen.queryByTestId("settings")).toBeNull();
		act(() => server.setFeatures({ settings: true }));
		await pause(50);
		expect(screen.queryByTestId("settings")).toBeNull();
	});
});

describe("settings of a session", () => {
	test("SP-CONF-02 SP-CONF-33 rows come as the server gives them, what is advanced by plugin", async () => {
		await openSettings(withSettings());
		const labels = screen.getAllByTestId("setting").map((row) => row.dataset.setting);
		expect(labels).toEqual([
			"chat/model",
			"chat/thinking",
			"chat/limit",
			"chat/memory",
			"zeta/note",
			"alpha/words",
		]);
		const plugins = screen.getAllByTestId("settings-plugin").map((head) => head.textContent);
		expect(plugins).toEqual(["zeta1 setting", "alpha1 setting"]);
	});

	test("SP-CONF-11 SP-CONF-13 SP-CONF-16 each says what counts and where that comes from", async () => {
		const server = withSettings();
		server.settings.order = server.settings.order.map((each) =>
			each.name === "platform" ? { ...each, label: "平台层" } : each,
		);
		server.settings.set({ scope: "platform", platform: "webui" }, "chat", "memory", false);
		await openSettings(server);
		expect(setting("Model").textContent).toContain("the first (now: local/small)");
		expect(from("Model")).toBe("No layer sets this");
		expect(from("Limit")).toBe("Default");
		expect(from("Memory")).toBe("From: 平台层 · webui");
	});

	test("a gesture is written at once, typing when it is saved; null resets", async () => {
		const server = withSettings();
		await openSettings(server);
		await click(within(setting("Memory")).getByRole("switch"));
		expect(server.settings.get({ scope: "session", id: "s" }, "chat", "memory")).toBe(false);
		expect(from("Memory")).toBe("Set here");
		const box = within(setting("Limit")).getByRole("spinbutton");
		fireEvent.change(box, { target: { value: "60" } });
		await pause();
		expect(server.settings.get({ scope: "session", id: "s" }, "chat", "limit")).toBeUndefined();
		fireEvent.keyDown(box, { key: "Enter", keyCode: 13 });
		await pause();
		expect(server.settings.get({ scope: "session", id: "s" }, "chat", "limit")).toBe(60);
		await click(within(setting("Limit")).getByRole("button", { name: /Reset/ }));
		expect(server.requestsOf("session/config/update").at(-1)).toMatchObject({ value: null });
		expect(from("Limit")).toBe("Default");
		expect((box as HTMLInputElement).value).toBe("40");
	});

	test("what the field does not take is said before, what the server refuses after; neither loses a word", async () => {
		const server = withSettings();
		server.settings.fields = FIELDS.map(({ max: _, ...field }) => field);
		await openSettings(server);
		const row = within(setting("Limit"));
		const box = row.getByRole("spinbutton") as HTMLInputElement;
		fireEvent.change(box, { target: { value: "many" } });
		expect(row.getByText("This has to be a number.")).toBeDefined();
		expect(box.getAttribute("aria-invalid")).toBe("true");
		expect((row.getByRole("button", { name: "Save" }) as HTMLButtonElement).disabled).toBe(true);
		fireEvent.change(box, { target: { value: "900" } });
		await click(row.getByRole("button", { name: "Save" }));
		expect(row.getByRole("alert").textContent).toBe("The limit must be at most 100.");
		expect(box.value).toBe("900");
		fireEvent.keyDown(box, { key: "Escape", keyCode: 27 });
		await pause();
		expect(box.value).toBe("40");
		expect(screen.getByTestId("settings")).toBeDefined();
	});

	test("SP-CONF-69 what is being typed stays when everything is read again, and when the window is closed", async () => {
		const server = withSettings();
		await openSettings(server);
		const box = () => within(setting("Limit")).getByRole("spinbutton") as HTMLInputElement;
		fireEvent.change(box(), { target: { value: "7" } });
		server.settings.set({ scope: "session", id: "s" }, "chat", "limit", 50);
		act(() => server.settings.changed());
		await pause();
		expect(box().value).toBe("7");
		expect(setting("Limit").textContent).toContain("Changed elsewhere meanwhile: 50");
		await click(screen.getByTestId("settings-close"));
		await click(screen.getByRole("button", { name: "Settings of this conversation" }));
		expect(box().value).toBe("7");
		await click(within(setting("Limit")).getByRole("button", { name: "Discard" }));
		expect(box().value).toBe("50");
	});

	test("SP-SUM-19 SP-SUM-20 another layer is opened at the same setting; a place only where there is one", async () => {
		const server = withSettings();
		const places = async () => {
			await click(within(setting("Limit")).getByRole("button", { name: /Change at/ }));
			return screen.getAllByRole("menuitem").map((item) => item.textContent);
		};
		const { unmount } = await openSettings(server, "/s/bare");
		expect(await places()).toEqual(["Everywhere", "Platform · webui"]);
		unmount();
		await openSettings(server);
		expect(await places()).toEqual(["Everywhere", "Platform · webui", "Place · Default workspace"]);
		await click(screen.getByRole("menuitem", { name: "Place · Default workspace" }));
		await pause(80);
		expect(screen.getByRole("region", { name: "Default workspace" })).toBeDefined();
		const box = within(setting("Limit")).getByRole("spinbutton");
		await waitFor(() => expect(document.activeElement).toBe(box));
		fireEvent.change(box, { target: { value: "9" } });
		fireEvent.keyDown(box, { key: "Enter", keyCode: 13 });
		await pause();
		expect(server.settings.get({ scope: "place", key: "default" }, "chat", "limit")).toBe(9);
	});

	test("every type can be changed", async () => {
		const server = withSettings();
		server.settings.fields = [
			{ plugin: "p", key: "text", type: "textarea", label: "Text", session: {} },
			{
				plugin: "p",
				key: "many",
				type: "multiselect",
				label: "Many",
				options: [
					{ label: "One", value: 1 },
					{ label: "Two", value: 2 },
				],
				session: {},
			},
			{ plugin: "p", key: "list", type: "list", label: "List", default: ["a"], session: {} },
			{ plugin: "p", key: "map", type: "map", label: "Map", session: {} },
			{ plugin: "p", key: "odd", type: "colour", label: "Odd", default: { r: 1 }, session: {} },
		];
		await openShell(server, "/s/s");
		fireEvent.click(screen.getByRole("button", { name: "Settings of this conversation" }));
		await pause(50);
		const save = (label: string) =>
			click(within(setting(label)).getByRole("button", { name: "Save" }));
		const type = (box: HTMLElement, value: string) => fireEvent.change(box, { target: { value } });
		const text = within(setting("Text")).getByRole("textbox");
		type(text, "two\nlines");
		fireEvent.keyDown(text, { key: "Enter", keyCode: 13 });
		expect(server.requestsOf("session/config/update")).toEqual([]);
		fireEvent.keyDown(text, { key: "Enter", keyCode: 13, ctrlKey: true });
		await pause();
		fireEvent.click(within(setting("Many")).getByRole("checkbox", { name: "Two" }));
		await save("Many");
		fireEvent.click(within(setting("List")).getByRole("button", { name: "Add" }));
		type(within(setting("List")).getByRole("textbox", { name: "List, entry 2" }), "b");
		await save("List");
		fireEvent.click(within(setting("Map")).getByRole("button", { name: "Add" }));
		type(within(setting("Map")).getByRole("textbox", { name: "Map, name 1" }), "k");
		type(within(setting("Map")).getByRole("textbox", { name: "Map, value 1" }), "v");
		await save("Map");
		type(within(setting("Odd")).getByRole("textbox"), '{"r":2}');
		await save("Odd");
		const written = server.requestsOf("session/config/update");
		expect(written.map(({ key, value }) => [key, value])).toEqual([
			["text", "two\nlines"],
			["many", [2]],
			["list", ["a", "b"]],
			["map", { k: "v" }],
			["odd", { r: 2 }],
		]);
	});
});

describe("settings of a layer", () => {
	test("SP-CONF-25 the list has every layer, windows with their platform, and leads to its rows", async () => {
		const server = withSettings();
		await openShell(server, "/");
		fireEvent.keyDown(window, { key: ",", ctrlKey: true });
		await pause(50);
		expect(screen.getAllByTestId("layer").map((line) => line.textContent)).toEqual([
			"Everywhere",
			"webui",
			"Default workspace",
			"onebot · Group Garden",
		]);
		await click(layer("onebot · Group Garden"));
		expect(server.requestsOf("session/config/layer/get").at(-1)).toEqual({
			layer: { scope: "place", key: "window:1" },
		});
		expect(layer("onebot · Group Garden").getAttribute("aria-current")).toBe("page");
	});

	test("SP-CONF-07 a value that does not count is shown with the reason and what counts instead", async () => {
		const server = withSettings();
		server.settings.set({ scope: "global" }, "chat", "limit", 700);
		await openSettings(server);
		await click(layer("Everywhere"));
		const row = setting("Limit");
		expect((within(row).getByRole("spinbutton") as HTMLInputElement).value).toBe("700");
		expect(row.textContent).toContain("not in effect: 700. This has to be at most 100.");
		expect(from("Limit")).toBe("In effect: 40 (Default)");
	});

	test("SP-CONF-58 that a change is not saved stays in sight, in the window and after it", async () => {
		const server = withSettings();
		server.settings.unsaved = "config.yaml may not be written.";
		await openSettings(server);
		await click(layer("Everywhere"));
		await click(within(setting("Memory")).getByRole("switch"));
		expect(within(screen.getByTestId("settings")).getByTestId("unsaved").textContent).toContain(
			"config.yaml may not be written.",
		);
		expect(from("Memory")).toBe("Set here");
		await click(screen.getByTestId("settings-close"));
		expect(screen.getByTestId("unsaved").textContent).toContain("config.yaml may not be written.");
		await click(screen.getByRole("button", { name: "I have seen this" }));
		expect(screen.queryByTestId("unsaved")).toBeNull();
	});

	test("SP-CONF-67 where else a setting is set is counted, and each is a step away", async () => {
		const server = withSettings();
		server.settings.set({ scope: "place", key: "window:1" }, "chat", "limit", 5);
		server.settings.set({ scope: "session", id: "bare" }, "chat", "limit", 6);
		await openSettings(server);
		expect(screen.queryByTestId("set-elsewhere")).toBeNull();
		await click(layer("Everywhere"));
		expect(
			server
				.requestsOf("session/config/overrides")
				.map(({ plugin }) => plugin)
				.sort(),
		).toEqual(["alpha", "chat", "zeta"]);
		const count = within(setting("Limit")).getByTestId("set-elsewhere");
		expect(count.textContent).toBe("Set in 2 more places");
		expect(screen.getAllByTestId("set-elsewhere")).toHaveLength(1);
		await click(count);
		await click(screen.getByRole("button", { name: /Without a place/ }));
		await pause(50);
		expect(screen.getByRole("region", { name: "Without a place" })).toBeDefined();
		expect(from("Limit")).toBe("Set here");
	});

	test("SP-CONF-69 the list of layers is read again with the rows", async () => {
		const server = withSettings();
		await openSettings(server);
		server.settings.layers = server.settings.layers.slice(0, 2);
		act(() => server.settings.changed());
		await pause();
		expect(screen.getAllByTestId("layer")).toHaveLength(3);
	});

	test("rows that could not be read say why and are asked for again", async () => {
		const server = withSettings();
		await openSettings(server);
		server.intercept = (method) => {
			if (method === "session/config/layer/get") throw new FakeError(-32603, "The disk is full.");
			return undefined;
		};
		await click(layer("webui"));
		expect(screen.getByTestId("settings-page").textContent).toContain("The disk is full.");
		server.intercept = () => undefined;
		await click(screen.getByRole("button", { name: "Try again" }));
		expect(setting("Limit")).toBeDefined();
	});

	test("where nothing can be set, that is said", async () => {
		const server = withSettings();
		server.settings.fields = [];
		await openSettings(server);
		expect(screen.getByText("Nothing can be set here")).toBeDefined();
	});
});

describe("the quick switch", () => {
	test("SP-CONF-32 the composer rows stand beside the message box, and nothing else does", async () => {
		await openShell(withSettings(), "/s/s");
		const pills = within(screen.getByTestId("quick-settings")).getAllByTestId("quick-setting");
		expect(pills.map((pill) => pill.textContent)).toEqual(["Modelsmall", "ThinkingNot set"]);
	});

	test("SP-CONF-35 SP-CONF-34 a model is chosen from the list its source has", async () => {
		const server = withSettings();
		await openShell(server, "/s/s");
		await click(quick(/^Model/));
		expect(options()).toEqual(["smalllocal", "largecloud"]);
		await click(screen.getByRole("option", { name: /large/ }));
		expect(server.settings.get({ scope: "session", id: "s" }, "chat", "model")).toBe("cloud/large");
		expect(quick(/^Model/).textContent).toBe("Modellarge");
	});

	test("SP-CONF-36 what a choice depends on is passed along, and asked for again when that changes", async () => {
		const server = withSettings();
		await openShell(server, "/s/s");
		const asked = () =>
			server.optionRequests
				.filter(({ service }) => service === "llm-thinking")
				.map(({ dependency }) => dependency);
		await click(quick(/^Thinking/));
		expect(options()).toEqual(["Short"]);
		expect(asked()).toEqual(["local/small"]);
		server.settings.set({ scope: "global" }, "chat", "model", "cloud/large");
		act(() => server.settings.changed());
		await pause(50);
		expect(asked().at(-1)).toBe("cloud/large");
		expect(options()).toEqual(["Long"]);
	});

	test("SP-CONF-69 it follows what is changed elsewhere", async () => {
		const server = withSettings();
		await openShell(server, "/s/s");
		server.settings.set({ scope: "session", id: "s" }, "chat", "model", "cloud/large");
		act(() => server.settings.changed());
		await pause();
		expect(quick(/^Model/).textContent).toBe("Modellarge");
	});

	test("a refusal is told, and what is in use is shown again", async () => {
		const server = withSettings();
		await openShell(server, "/s/s");
		server.intercept = (method) => {
			if (method === "session/config/update")
				throw new FakeError(-32602, "There is no such model.");
			return undefined;
		};
		await click(quick(/^Model/));
		await click(screen.getByRole("option", { name: /large/ }));
		expect(screen.getByTestId("toast").textContent).toContain("There is no such model.");
		expect(quick(/^Model/).textContent).toBe("Modelsmall");
	});

	test("choices that could not be had say so and are asked for again; what is missing is named", async () => {
		const server = withSettings();
		const source = server.settings.sources.get("llm");
		server.settings.sources.delete("llm");
		await openShell(server, "/s/s");
		await click(quick(/^Model/));
		expect(screen.getByText("The choices could not be loaded")).toBeDefined();
		if (source) server.settings.sources.set("llm", source);
		server.settings.problems = ["cloud does not answer."];
		await click(screen.getByRole("button", { name: "Try again" }));
		expect(screen.getByText("cloud does not answer.")).toBeDefined();
		expect(options()).toHaveLength(2);
	});

	test("a list is walked with the keys", async () => {
		const server = withSettings();
		await openShell(server, "/s/s");
		await click(quick(/^Model/));
		const box = screen.getByRole("combobox", { name: "Model" });
		fireEvent.keyDown(box, { key: "ArrowDown" });
		expect(screen.getByRole("option", { selected: true }).textContent).toBe("largecloud");
		fireEvent.keyDown(box, { key: "Enter" });
		await pause(50);
		expect(server.settings.get({ scope: "session", id: "s" }, "chat", "model")).toBe("cloud/large");
		expect(screen.queryByRole("listbox")).toBeNull();
	});
});
