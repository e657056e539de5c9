import { act, screen } from "@testing-library/react";
import { afterEach, describe, expect, test, vi } from "vitest";
import { chooseLanguage, hearHostLanguage, languageStore } from "@/i18n/i18n";
import { FakeServer } from "@/test/fake-server";
import { openShell, pause } from "@/test/render";

afterEach(() => {
	window.location.hash = "";
	chooseLanguage("host");
	hearHostLanguage(undefined);
});

function hostIn(language: string | undefined): FakeServer {
	const server = new FakeServer();
	server.language = language;
	return server;
}

const spoken = () => screen.getByRole("navigation").getAttribute("aria-label");

/** The language in which a page opened now begins, before it has a connection. */
async function atReload(): Promise<string> {
	vi.resetModules();
	const fresh = await import("@/i18n/i18n");
	return fresh.languageStore.getState().language;
}

describe("the language of the interface", () => {
	test("is the host's, whatever the browser's", async () => {
		vi.spyOn(navigator, "languages", "get").mockReturnValue(["en-GB"]);
		const { transport } = await openShell(hostIn("zh-CN"));
		expect(spoken()).toBe("会话");
		transport.cut();
		await pause(500);
		expect(spoken()).toBe("会话");
	});

	test("changes with the host's at the next handshake", async () => {
		const server = hostIn("zh-CN");
		const { transport } = await openShell(server);
		server.language = "en";
		transport.cut();
		await pause(500);
		expect(spoken()).toBe("Conversations");
	});

	test("is the browser's before the first handshake, and with a host that says none we speak", async () => {
		vi.spyOn(navigator, "languages", "get").mockReturnValue(["fr", "zh-TW", "en"]);
		expect(await atReload()).toBe("zh-CN");
		act(() => chooseLanguage("host"));
		await openShell(hostIn(undefined));
		expect(spoken()).toBe("会话");
	});

	test("is the owner's choice, once there is one, and the host's again when that is taken back", async () => {
		const { transport } = await openShell(hostIn("zh-CN"));
		act(() => chooseLanguage("en"));
		expect(spoken()).toBe("Conversations");
		transport.cut();
		await pause(500);
		expect(spoken()).toBe("Conversations");
		expect(await atReload()).toBe("en");
		act(() => chooseLanguage("host"));
		expect(spoken()).toBe("会话");
	});

	test("changes with the push that says so, without a new connection", async () => {
		const { server } = await openShell(hostIn("en"));
		expect(spoken()).toBe("Conversations");
		act(() => server.speak("zh-CN"));
		await pause(50);
		expect(spoken()).toBe("会话");
	});

	test("is the last host's from the first moment of the next page", async () => {
		await openShell(hostIn("zh-CN"));
		expect(languageStore.getState()).toMatchObject({ choice: "host", language: "zh-CN" });
		expect(await atReload()).toBe("zh-CN");
		hearHostLanguage(undefined);
		expect(await atReload()).toBe("en");
	});
});
