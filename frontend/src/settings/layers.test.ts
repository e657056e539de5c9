import { describe, expect, test } from "vitest";
import type { ConfigLayersResult } from "@/contract/session.gen";
import { summaryOf } from "@/test/fake-server";
import { elsewhere, layerLines, layersOfSession, precedence } from "./layers";

const layers: ConfigLayersResult = {
	order: [
		{ name: "global", label: "Everywhere" },
		{ name: "platform", label: "Platform" },
		{ name: "platformType", label: "Kind" },
		{ name: "place", label: "Place" },
		{ name: "session", label: "Session" },
	],
	layers: [
		{ layer: { scope: "global" } },
		{ layer: { scope: "platform", platform: "onebot" } },
		{ layer: { scope: "platform", platform: "webui" } },
		{ layer: { scope: "platformType", platform: "onebot", type: "group" }, label: "群" },
		{ layer: { scope: "platformType", platform: "onebot", type: "private" } },
		{ layer: { scope: "place", key: "default" }, label: "Default workspace" },
		{
			layer: { scope: "place", key: "w1" },
			label: "群 Garden",
			platform: "onebot",
			type: "group",
		},
		{ layer: { scope: "place", key: "w2" } },
	],
};
const names = (lines: { name: string }[]) => lines.map(({ name }) => name);

test("SP-CONF-16 SP-CONF-25 layers are called by the server's labels, windows with their platform", () => {
	expect(layerLines(layers).map(({ group, name }) => [group, name])).toEqual([
		["Everywhere", "Everywhere"],
		["Platform", "onebot"],
		["Platform", "webui"],
		["Kind", "onebot · 群"],
		["Kind", "onebot · private"],
		["Place", "Default workspace"],
		["Place", "onebot · 群 Garden"],
		["Place", "w2"],
	]);
	expect(precedence(layers.order)).toBe("Everywhere → Platform → Kind → Place → Session");
	expect(names(layerLines(layers, "GARDEN"))).toEqual(["onebot · 群 Garden"]);
});

describe("where else a setting of a session can be changed", () => {
	test("SP-SUM-19 the layer of its place goes by the place's key", () => {
		const place = { key: "default", kind: "workspace" as const, name: "anything" };
		const lines = layersOfSession(summaryOf({ id: "s", place }), "webui", layers);
		expect(names(lines)).toEqual(["Everywhere", "webui", "Default workspace"]);
		expect(lines.at(-1)?.place).toEqual({ layer: { scope: "place", key: "default" } });
	});

	test("SP-SUM-20 a session without a place is offered none", () => {
		const lines = layersOfSession(summaryOf({ id: "s" }), "webui", layers);
		expect(names(lines)).toEqual(["Everywhere", "webui"]);
		expect(names(layersOfSession(undefined, undefined, layers))).toEqual(["Everywhere"]);
	});

	test("a room has the kind of its chat window too", () => {
		const room = summaryOf({
			id: "r",
			kind: "room",
			section: "rooms",
			chat: { type: "group", multiParty: true },
			place: { key: "w1", kind: "window", name: "Garden" },
		});
		expect(names(layersOfSession(room, "onebot", layers))).toEqual([
			"Everywhere",
			"onebot",
			"onebot · 群",
			"onebot · 群 Garden",
		]);
	});
});

test("SP-CONF-67 the other places of one setting, without the one that is looked at", () => {
	const overrides = [
		{
			key: "k",
			entries: [
				{ target: { layer: { scope: "place" as const, key: "w1" } }, value: 1 },
				{ target: { layer: { scope: "place" as const, key: "lost" }, label: "gone" }, value: 2 },
				{ target: { session: { id: "s", title: "" } }, value: 3 },
				{
					target: { session: { id: "c", title: "Child", parent: { id: "s", title: "Root" } } },
					value: 4,
				},
			],
		},
		{ key: "other", entries: [{ target: { session: { id: "x", title: "X" } }, value: 9 }] },
	];
	const at = (place: Parameters<typeof elsewhere>[2]) =>
		elsewhere(overrides, "k", place, layers, "Untitled").map(({ name, value }) => [name, value]);
	expect(at({ layer: { scope: "global" } })).toEqual([
		["onebot · 群 Garden", 1],
		["gone", 2],
		["Untitled", 3],
		["Root › Child", 4],
	]);
	expect(at({ layer: { scope: "place", key: "w1" } })).toHaveLength(3);
	expect(at({ session: "s" })).toHaveLength(3);
	expect(elsewhere(overrides, "none", { session: "s" }, layers, "")).toEqual([]);
});
