import { afterEach, describe, expect, test, vi } from "vitest";
import { bearer, forgetBearer, isSignedIn, signIn } from "./auth";

const at = (pathname: string, hash: string, search = "") =>
	({ pathname, hash, search }) as Location;

const answering = (status: number, body: object = {}) =>
	vi.fn(async () => new Response(JSON.stringify(body), { status }));

afterEach(() => {
	forgetBearer();
	window.history.replaceState(null, "", "/");
});

describe("signing in", () => {
	test("SEC-06 the code is posted from the fragment and gone from the address", async () => {
		const fetch = answering(200, { mode: "cookie" });
		vi.stubGlobal("fetch", fetch);
		window.history.replaceState(null, "", "/signin#CODE-1");
		const entries = window.history.length;
		expect(await signIn(at("/signin", "#CODE-1"))).toBe("signed-in");
		expect(fetch).toHaveBeenCalledWith(
			"/signin",
			expect.objectContaining({ method: "POST", body: '{"code":"CODE-1"}' }),
		);
		expect(window.location.href).not.toContain("CODE-1");
		expect(window.history.length).toBe(entries);
		expect(bearer()).toBeUndefined();
	});

	test("a bearer is kept in memory only", async () => {
		vi.stubGlobal("fetch", answering(200, { mode: "bearer", token: "secret" }));
		expect(await signIn(at("/signin", "#C"))).toBe("signed-in");
		expect(bearer()).toBe("secret");
		expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain("secret");
	});

	test.each([
		[401, "refused"],
		[410, "refused"],
		[503, "unreachable"],
	])("status %i is %s", async (status, result) => {
		vi.stubGlobal("fetch", answering(status));
		expect(await signIn(at("/signin", "#C"))).toBe(result);
	});

	test("no code, no request", async () => {
		const fetch = answering(200);
		vi.stubGlobal("fetch", fetch);
		expect(await signIn(at("/signin", ""))).toBe("refused");
		expect(fetch).not.toHaveBeenCalled();
	});

	test("a session named in the address is opened", async () => {
		vi.stubGlobal("fetch", answering(200, { mode: "cookie" }));
		await signIn(at("/signin", "#C", "?session=s%201"));
		expect(window.location.hash).toBe("#/s/s%201");
	});

	test("the door is asked before the socket is opened", async () => {
		vi.stubGlobal("fetch", answering(401));
		expect(await isSignedIn()).toBe(false);
		vi.stubGlobal("fetch", answering(200, { signedIn: true }));
		expect(await isSignedIn()).toBe(true);
		vi.stubGlobal("fetch", answering(500));
		await expect(isSignedIn()).rejects.toThrow("500");
	});
});
