import { type FakeServer, roomOf } from "../fake-server";
import type { FakeField, FakeSettings } from "../fake-settings";
import { furnished, rooms } from "./furnish";
import type { Scene } from "./story";

const MODELS = [
	["local/qwen3:8b", "on this computer, 8 B"],
	["local/gemma3:27b", "on this computer, 27 B"],
	["cloud/large-2", "128k context"],
	["cloud/small-2", "cheap and quick"],
	["cloud/reasoner", "thinks before it answers"],
] as const;

/** What each model can be asked to think. */
const THINKING: Record<string, string[]> = {
	"cloud/reasoner": ["low", "medium", "high"],
	"local/qwen3:8b": ["off", "on"],
};

const between = (min: number, max: number) => (value: unknown) =>
	typeof value === "number" && value >= min && value <= max
		? undefined
		: `This has to be a number between ${min} and ${max}.`;

function fieldsOf(): FakeField[] {
	const chat = (
		key: string,
		type: string,
		part: Partial<FakeField> & { session: FakeField["session"] & object },
	): FakeField => ({ plugin: "chat", key, type, ...part });
	return [
		chat("model", "llm-ref", {
			label: "Model",
			description: "Which model answers.",
			dynamicOptions: "llm",
			session: { prominence: "composer", order: 1, unset: "follows the service's preference" },
			actual: () => ({
				value: "local/qwen3:8b",
				label: "follows the service's preference (now: qwen3:8b)",
			}),
		}),
		chat("thinking", "select", {
			label: "Thinking",
			description: "How long she thinks before she answers.",
			dynamicOptions: "llm-thinking",
			default: "auto",
			options: [{ label: "Automatic", value: "auto" }],
			session: { prominence: "composer", order: 2, dependsOn: "model" },
		}),
		chat("persona", "textarea", {
			label: "Persona",
			description: "Who she is in this conversation. Stands before everything else she is told.",
			session: { prominence: "common", order: 1 },
		}),
		chat("maxToolCalls", "number", {
			label: "Tool calls in one turn",
			description: "After so many she stops and asks whether to go on.",
			default: 40,
			min: 1,
			max: 500,
			integer: true,
			session: { prominence: "common", order: 2 },
			refuse: between(1, 500),
		}),
		chat("memory", "boolean", {
			label: "Remember this conversation",
			default: true,
			session: { prominence: "common", order: 3 },
		}),
		chat("tools", "multiselect", {
			label: "Tools she may use",
			description: "Groups of tools; none chosen means all of them.",
			dynamicOptions: "toolGroups",
			session: { prominence: "common", order: 4 },
		}),
		chat("note", "string", {
			label: "Standing note",
			description: "One line that goes with every message.",
			pattern: "^[^\\n]*$",
			session: { prominence: "advanced" },
		}),
		{
			plugin: "room-triggers",
			key: "words",
			type: "list",
			label: "Words that call her",
			default: ["Aalis"],
			session: { appliesTo: ["room"] },
		},
		{
			plugin: "room-triggers",
			key: "headers",
			type: "map",
			label: "Names of people",
			description: "What to call whom.",
			session: { appliesTo: ["room"] },
		},
		{
			plugin: "compression",
			key: "line",
			type: "number",
			label: "Compress at",
			description: "The share of the context that may be used before it is shortened.",
			default: 0.75,
			min: 0.2,
			max: 0.95,
			step: 0.05,
			session: {},
			refuse: between(0.2, 0.95),
		},
	];
}

function furnish(settings: FakeSettings): void {
	settings.fields = fieldsOf();
	settings.sources.set("llm", () =>
		MODELS.map(([value, description]) => ({ value, label: value, description })),
	);
	settings.sources.set("llm-thinking", (model) =>
		(THINKING[model ?? ""] ?? []).map((value) => ({ value, label: value })),
	);
	settings.sources.set("toolGroups", () => [
		{ value: "files", label: "Files", description: "read, write and search in the workspace" },
		{ value: "shell", label: "Shell", description: "run commands, after approval" },
		{ value: "mail", label: "Mail" },
	]);
	settings.layers = [
		{ layer: { scope: "global" } },
		{ layer: { scope: "platform", platform: "webui" } },
		{ layer: { scope: "platform", platform: "onebot" } },
		{ layer: { scope: "platformType", platform: "onebot", type: "group" }, label: "Groups" },
		{ layer: { scope: "place", key: "workspace:default" }, label: "Default workspace" },
		{ layer: { scope: "place", key: "workspace:photos" }, label: "Workspace “photos”" },
		...["Garden club", "读书会", "Climbing, Thursdays"].map((name, n) => ({
			layer: { scope: "place" as const, key: `window:${n}` },
			label: `Group ${name}`,
			platform: "onebot",
			type: "group",
		})),
	];
	settings.set({ scope: "platform", platform: "webui" }, "chat", "memory", false);
	settings.set({ scope: "place", key: "workspace:default" }, "chat", "tools", ["files", "shell"]);
	settings.set({ scope: "session", id: "main" }, "chat", "model", "cloud/reasoner");
	settings.set({ scope: "session", id: "child" }, "chat", "model", "cloud/small-2");
	settings.set({ scope: "session", id: "news" }, "chat", "maxToolCalls", 12);
	settings.set({ scope: "place", key: "window:1" }, "chat", "maxToolCalls", 5);
	// A hand in the document wrote nonsense.
	settings.set({ scope: "global" }, "compression", "line", 7.5);
}

function withSettings(server: FakeServer): FakeServer {
	server.features = { ...server.features, settings: true };
	furnish(server.settings);
	return server;
}

export const settings = (now: number): Scene => ({
	server: withSettings(furnished(now)),
	path: "/#/s/main",
});

/** Rooms, with more places and rows than fit anywhere. */
export function manySettings(now: number): Scene {
	const { server } = rooms(now);
	withSettings(server);
	const { settings } = server;
	for (let n = 0; n < 190; n++) {
		settings.fields.push({
			plugin: `plugin-${String(n % 12).padStart(2, "0")}`,
			key: `key${n}`,
			type: ["string", "number", "boolean", "select"][n % 4] ?? "string",
			label: `Setting number ${n}`,
			...(n % 4 === 3 ? { options: [{ label: "One", value: 1 }] } : {}),
			session: {},
		});
	}
	for (let n = 0; n < 1_500; n++) {
		settings.layers.push({
			layer: { scope: "place", key: `window:more-${n}` },
			label: `Group number ${n}`,
			platform: "onebot",
			type: "group",
		});
	}
	server.session(
		roomOf({
			id: "placed",
			title: "Garden club",
			updatedAt: now,
			place: { key: "window:0", kind: "window", name: "Garden club" },
		}),
	);
	return { server, path: "/#/s/placed" };
}
