import { afterEach, describe, expect, test, vi } from "vitest";
import { forgetBearer, signIn } from "./auth";
import { fetchFile, needsFetch, saveFile, savesByItself } from "./files";

/** Signs in where the server gives a bearer. */
async function withBearer(): Promise<void> {
	vi.stubGlobal("fetch", async () => Response.json({ token: "secret" }));
	await signIn(new URL("http://x/signin#code") as unknown as Location);
}

afterEach(forgetBearer);

describe("files of a tab with a bearer", () => {
	test("are fetched with it, because an element could not show it", async () => {
		expect([needsFetch(), savesByItself()]).toEqual([false, false]);
		await withBearer();
		expect([needsFetch(), savesByItself()]).toEqual([true, true]);
		const asked = vi.fn(async () => new Response("bytes"));
		vi.stubGlobal("fetch", asked);
		expect(await (await fetchFile("/api/session-media?n=0")).text()).toBe("bytes");
		expect(asked).toHaveBeenCalledWith("/api/session-media?n=0", {
			headers: { Authorization: "Bearer secret" },
		});
	});

	test("a file that is gone is an error, and nothing is saved", async () => {
		await withBearer();
		vi.stubGlobal("fetch", async () => new Response("", { status: 404 }));
		await expect(saveFile("/api/session-file?handle=x", "a")).rejects.toThrow("file: 404");
	});
});
