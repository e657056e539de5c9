import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pictures, until } from "./rig.mjs";

/** One panel at the top, with nothing on it but the icons of programs: the first is at its left end. */
const CONFIG = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
<property name="configver" type="int" value="2"/>
<property name="panels" type="array"><value type="int" value="1"/>
<property name="panel-1" type="empty">
<property name="position" type="string" value="p=6;x=0;y=0"/>
<property name="length" type="uint" value="100"/>
<property name="position-locked" type="bool" value="true"/>
<property name="size" type="uint" value="32"/>
<property name="plugin-ids" type="array"><value type="int" value="1"/></property>
</property></property>
<property name="plugins" type="empty"><property name="plugin-1" type="string" value="systray"/></property>
</channel>`;

/** Where distributions keep what the bus would start. */
const helper = (path) => {
	const below = readdirSync("/usr/lib").map((name) => join("/usr/lib", name));
	const found = ["/usr/lib", "/usr/libexec", "/usr/lib64", ...below]
		.map((folder) => join(folder, "xfce4", path))
		.find((file) => existsSync(file));
	assert.ok(found, `${path} of Xfce is missing`);
	return found;
};

/** Where the icon is. */
const ICON = { x: 12, y: 16 };
/** Away from everything that reacts to the pointer. */
const NOWHERE = { x: 640, y: 860 };

/** Xfce's panel and its notification daemon on a desk, used with a mouse. */
export class Panel {
	static async start(desk) {
		const panel = new Panel();
		panel.desk = desk;
		const folder = join(desk.env.XDG_CONFIG_HOME, "xfce4/xfconf/xfce-perchannel-xml");
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, "xfce4-panel.xml"), CONFIG);
		// Nothing is started by this bus, so the settings are there before who reads them.
		desk.add(helper("xfconf/xfconfd"), [], { env: desk.env });
		await panel.owned("org.xfce.Xfconf");
		desk.add(helper("notifyd/xfce4-notifyd"), [], { env: desk.env });
		await panel.owned("org.freedesktop.Notifications");
		panel.bus = desk.add(
			"stdbuf",
			["-oL", "dbus-monitor", "--session", "type='method_call',interface='com.canonical.dbusmenu'"],
			{ env: desk.env },
		);
		await until("the monitor", () => panel.bus.out.includes("NameLost"));
		await panel.begin();
		return panel;
	}

	owned(name) {
		return until(`somebody who is ${name}`, async () =>
			(
				await this.desk.tool(
					"dbus-send",
					"--session",
					"--print-reply=literal",
					"--dest=org.freedesktop.DBus",
					"/",
					"org.freedesktop.DBus.NameHasOwner",
					`string:${name}`,
				)
			).includes("true"),
		);
	}

	async begin() {
		this.program = this.desk.add("xfce4-panel", ["--disable-wm-check"], { env: this.desk.env });
		await this.owned("org.kde.StatusNotifierWatcher");
	}

	async mouse(x, y, button) {
		await this.desk.tool("xdotool", "mousemove", `${Math.round(x)}`, `${Math.round(y)}`);
		if (button) await this.desk.tool("xdotool", "click", `${button}`);
	}

	away() {
		return this.mouse(NOWHERE.x, NOWHERE.y);
	}

	/** The windows of a kind that are shown: { id, x, y, width, height }. */
	async shown(kind) {
		const list = await this.desk.tool("xwininfo", "-root", "-children");
		const found = [];
		for (const line of list.split("\n")) {
			const at = line.match(/^\s+(0x\w+) .*\("(\S+)" .* (\d+)x(\d+)\+(-?\d+)\+(-?\d+)\s/);
			if (!at || at[2] !== kind) continue;
			const [width, height, x, y] = at.slice(3).map(Number);
			if (width < 40) continue;
			const state = await this.desk.tool("xwininfo", "-id", at[1]).catch(() => "");
			if (state.includes("IsViewable")) found.push({ id: at[1], x, y, width, height });
		}
		return found;
	}

	/** The icon as it is drawn now, and a hash of that. */
	async icon(name) {
		await this.away();
		const crop = ["-window", "root", "-crop", "26x32+0+0", "+repage"];
		const hash = await this.desk.tool("import", ...crop, "-format", "%#", "info:-");
		if (name) {
			mkdirSync(pictures, { recursive: true });
			const file = join(pictures, `${name}.png`);
			await this.desk.tool("import", ...crop, "-filter", "point", "-resize", "800%", file);
		}
		return hash;
	}

	/** The menus that are open: the icon's own first. */
	async menus() {
		return (await this.shown("wrapper-2.0")).sort((a, b) => a.x - b.x);
	}

	async open() {
		await this.away();
		let opened;
		await until("the menu", async () => {
			[opened] = await this.menus();
			if (!opened) await this.mouse(ICON.x, ICON.y, 3);
			await new Promise((resolve) => setTimeout(resolve, 200));
			[opened] = await this.menus();
			return opened;
		});
		return opened;
	}

	async close() {
		await until("the menu to go", async () => {
			if ((await this.menus()).length === 0) return true;
			await this.desk.tool("xdotool", "key", "Escape");
			await new Promise((resolve) => setTimeout(resolve, 100));
			return false;
		});
	}

	/** How high a row is; the menu as it is now has `requests` requests, and none of them is "more". */
	row(menu, requests, update = false) {
		// Four fixed rows, one with words, and a rule that is about a third of a row.
		return (menu.height - 12) / (5 + requests + (update ? 1 : 0));
	}

	/** Clicks a fixed row: 0 shows, 1 opens a tab, 2 begins a session, 3 quits. */
	async choose(index, requests = 0) {
		await this.open();
		const menu = await this.settled("the menu", 0);
		const row = this.row(menu, requests);
		await this.mouse(menu.x + 40, menu.y + 4 + row * (index + 0.5), 1);
	}

	/** How often the panel has told the program of a click in its menu. */
	clicks() {
		return this.bus.out.split('string "clicked"').length - 1;
	}

	/** A menu once it stands still: it is placed and sized in steps. */
	async settled(what, index, enough = () => true) {
		let before;
		return until(what, async () => {
			const menu = (await this.menus())[index];
			const place = JSON.stringify(menu);
			const still = menu && enough(menu) && place === before;
			before = place;
			return still && menu;
		});
	}

	/**
	 * Answers a request; 0 is the lowest of those in the menu. GTK may close a menu that has just opened
	 * without taking a click: then the panel tells the program nothing, and a person clicks again.
	 */
	async answer(requests, fromBelow, approve, picture) {
		for (let attempt = 0; attempt < 3; attempt++) {
			const before = this.clicks();
			await this.tryAnswer(requests, fromBelow, approve, picture);
			const told = await until("the click", () => this.clicks() > before, 1_000).catch(() => false);
			if (told) return;
			console.log("      the panel took no click");
		}
		assert.fail("the panel takes no click");
	}

	async tryAnswer(requests, fromBelow, approve, picture) {
		await this.open();
		const menu = await this.settled("the menu", 0);
		const row = this.row(menu, requests);
		const y = menu.y + menu.height - 4 - row * (fromBelow + 0.5);
		await this.mouse(menu.x + 38, y - 2);
		await this.mouse(menu.x + 40, y);
		const answers = await this.settled("the answers", 1, ({ height }) => height > row * 1.5);
		if (picture) await this.desk.picture(picture);
		// Along the row, as a hand goes: across it the pointer would leave the submenu.
		await this.mouse(answers.x + 20, y);
		await this.mouse(answers.x + 30, answers.y + answers.height * (approve ? 0.3 : 0.7));
		await new Promise((resolve) => setTimeout(resolve, 100));
		await this.desk.tool("xdotool", "click", "1");
		await until("the menu to go", async () => (await this.menus()).length === 0);
	}

	/** The notifications that are shown, from the top. */
	async notifications() {
		return (await this.shown("xfce4-notifyd")).sort((a, b) => a.y - b.y);
	}

	/** The one notification that is shown. */
	async notification() {
		const list = await until("a notification", async () => {
			const now = await this.notifications();
			return now.length > 0 && now;
		});
		assert.equal(list.length, 1);
		return list[0];
	}

	/** Presses a button of three: 0 approves, 1 denies, 2 opens. They stand at the right, equally wide. */
	async press(note, index) {
		const fromRight = 57 + (2 - index) * 92;
		await this.mouse(note.x + note.width - fromRight, note.y + note.height - 31, 1);
	}

	/**
	 * Dismisses a notification: that is what Xfce makes of a click on it, whatever the button. One that is
	 * still moving to its place may miss a click.
	 */
	async dismiss(note, button = 1) {
		await until("the notification to go", async () => {
			const now = (await this.notifications()).find(({ id }) => id === note.id);
			if (!now) return true;
			await this.mouse(now.x + now.width - 60, now.y + 26, button);
			await new Promise((resolve) => setTimeout(resolve, 300));
			return false;
		});
	}
}
