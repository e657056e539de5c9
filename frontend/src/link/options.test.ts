import { afterEach, describe, expect, test, vi } from "vitest";
import { LinkError } from "./errors";
import { tabOptions, windowOptions } from "./options";

const answering = (status: number, body: unknown) =>
	vi.fn(async (_address: string, _init?: RequestInit) =>
		Promise.resolve(new Response(JSON.stringify(body), { status })),
	);

afterEach(() => {
	delete window.go;
});

describe("options in a tab", () => {
	test("SP-CONF-34 SP-CONF-36 the source is in the path, what it depends on in the query", async () => {
		const fetch = answering(200, { models: [] });
		vi.stubGlobal("fetch", fetch);
		await tabOptions(() => undefined)("llm-thinking", "local/qwen3:8b & more");
		await tabOptions(() => undefined)("a/b", undefined);
		expect(fetch.mock.calls.map(([address]) => address)).toEqual([
			"/api/models/llm-thinking?dependency=local%2Fqwen3%3A8b%20%26%20more",
			"/api/models/a%2Fb",
		]);
		expect(fetch.mock.calls[0]?.[1]?.headers).toEqual({});
	});

	test("the bearer travels in a header, never in the address", async () => {
		const fetch = answering(200, { models: [] });
		vi.stubGlobal("fetch", fetch);
		await tabOptions(() => "secret")("llm", undefined);
		expect(fetch.mock.calls[0]?.[0]).not.toContain("secret");
		expect(fetch.mock.calls[0]?.[1]?.headers).toEqual({ Authorization: "Bearer secret" });
	});

	test("labels and descriptions stand by their value; a value without is its own label", async () => {
		vi.stubGlobal(
			"fetch",
			answering(200, {
				models: ["a", "b"],
				details: [
					{ value: "b", label: "Bee", description: "it hums" },
					{ value: "z", label: "not offered" },
				],
				problems: ["cloud does not answer"],
			}),
		);
		expect(await tabOptions(() => undefined)("llm", undefined)).toEqual({
			options: [
				{ value: "a", label: "a" },
				{ value: "b", label: "Bee", description: "it hums" },
			],
			problems: ["cloud does not answer"],
		});
	});

	test("a refusal, nonsense and silence are errors, never an empty list", async () => {
		const ask = tabOptions(() => undefined);
		vi.stubGlobal("fetch", answering(403, { code: "forbidden" }));
		await expect(ask("llm", undefined)).rejects.toBeInstanceOf(LinkError);
		vi.stubGlobal("fetch", answering(200, { models: "all" }));
		await expect(ask("llm", undefined)).rejects.toMatchObject({ kind: "unreadable" });
		vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
		await expect(ask("llm", undefined)).rejects.toMatchObject({ kind: "lost" });
	});
});

describe("options in the window", () => {
	test("SP-CONF-34 the binding is asked, with nothing where nothing is depended on", async () => {
		const Options = vi.fn(async () => '{"models":["a"],"details":[{"value":"a","label":"A"}]}');
		const Bridge = { Open: vi.fn(), Send: vi.fn(), Options };
		window.go = { app: { Bridge } };
		expect((await windowOptions("llm", undefined)).options).toEqual([{ value: "a", label: "A" }]);
		await windowOptions("llm-thinking", "a/b");
		expect(Options.mock.calls).toEqual([
			["llm", ""],
			["llm-thinking", "a/b"],
		]);
	});
});
