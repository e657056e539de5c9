import { join } from "node:path";
import { pictures } from "./rig.mjs";

const id = (name) => `[data-testid="${name}"]`;

/** A tab that is signed in on a server, and what a person does in it. */
export class Tab {
	static async open(
		browser,
		server,
		{ viewport = { width: 1280, height: 800 }, path = "", ...rest } = {},
	) {
		const context = await browser.newContext({ viewport, locale: "en-GB", ...rest });
		const tab = new Tab();
		tab.server = server;
		tab.context = context;
		tab.page = await context.newPage();
		tab.page.setDefaultTimeout(10_000);
		tab.problems = [];
		tab.page.on("pageerror", (error) => tab.problems.push(`${error}`));
		tab.page.on("console", (message) => {
			if (message.type() === "error") tab.problems.push(message.text());
		});
		await tab.page.goto(await server.command("open", "--print", ...(path ? [path] : [])));
		await tab.connected();
		return tab;
	}

	connected() {
		return this.page.waitForSelector(`${id("connection")}[data-state="open"]`, {
			state: "attached",
		});
	}

	at(name) {
		return this.page.locator(id(name));
	}

	/** Begins a conversation; it comes into being with its first message. */
	async begin(text) {
		await this.at("new-session").click();
		await this.write(text);
		await this.page.waitForURL(/#\/s\/./);
		return this.session();
	}

	session() {
		return decodeURIComponent(new URL(this.page.url()).hash.replace(/^#\/s\//, ""));
	}

	async write(text) {
		const box = this.at("composer").locator("textarea");
		await box.fill(text);
		await this.at("send").click();
	}

	items(kind, status) {
		const state = status ? `[data-status="${status}"]` : "";
		return this.page.locator(`${id("item")}[data-kind="${kind}"]${state}`);
	}

	row(sessionId) {
		return this.page.locator(`${id("session-row")}[data-session-id="${sessionId}"]`);
	}

	/** Chooses an entry of a session's menu in the sidebar. */
	async choose(sessionId, entry) {
		await this.row(sessionId).hover();
		await this.row(sessionId).locator(id("row-menu")).click();
		await this.page.getByRole("menuitem", { name: entry }).click();
	}

	ended(outcome) {
		return this.page.waitForSelector(`${id("turn")}[data-outcome="${outcome}"]`, {
			state: "attached",
		});
	}

	picture(name) {
		return this.page.screenshot({ path: join(pictures, `${name}.png`) });
	}

	close() {
		return this.context.close();
	}
}
