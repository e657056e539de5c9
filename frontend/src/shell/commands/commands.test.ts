import { describe, expect, test } from "vitest";
import { en } from "@/i18n/en";
import { localeOf, translate } from "@/i18n/i18n";
import { zhCN } from "@/i18n/zh-CN";
import { matches, shown } from "../shortcuts";
import { commands } from ".";

describe("the registry", () => {
	test("no shortcut and no id is taken twice", () => {
		const shortcuts = commands.flatMap((command) => command.shortcut ?? []);
		expect(new Set(shortcuts).size).toBe(shortcuts.length);
		expect(new Set(commands.map((command) => command.id)).size).toBe(commands.length);
	});

	test("shortcuts are what the keys of the machine say", () => {
		const press = (key: string, part: object = {}) => ({
			key,
			code: "",
			ctrlKey: false,
			metaKey: false,
			shiftKey: false,
			altKey: false,
			...part,
		});
		expect(matches("Mod+K", press("k", { ctrlKey: true }), false)).toBe(true);
		expect(matches("Mod+K", press("k", { metaKey: true }), true)).toBe(true);
		expect(matches("Mod+K", press("k", { ctrlKey: true }), true)).toBe(false);
		expect(matches("Mod+K", press("k", { ctrlKey: true, shiftKey: true }), false)).toBe(false);
		expect(matches("Mod+K", press("k"), false)).toBe(false);
		expect(matches("F2", press("F2"), false)).toBe(true);
		expect(shown("Mod+Shift+O", false)).toBe("Ctrl+Shift+O");
		expect(shown("Mod+Shift+O", true)).toBe("⌘⇧O");
	});
});

describe("the languages", () => {
	const texts = (message: string | { one?: string; other: string }) =>
		typeof message === "string" ? [message] : Object.values(message);
	const holes = (message: string | { one?: string; other: string }) =>
		[...new Set(texts(message).flatMap((text) => text.match(/\{\w+\}/g) ?? []))].sort();

	test.each(Object.keys(en) as (keyof typeof en)[])("%s says the same in both", (key) => {
		expect(holes(zhCN[key])).toEqual(holes(en[key]));
		for (const text of [...texts(en[key]), ...texts(zhCN[key])]) expect(text.trim()).not.toBe("");
	});

	test("plurals, numbers and times follow the language", () => {
		expect(translate("en", "inbox.label", { count: 1 })).toBe("1 approval waiting");
		expect(translate("en", "inbox.label", { count: 1200 })).toBe("1,200 approvals waiting");
		expect(translate("zh-CN", "inbox.label", { count: 2 })).toBe("2 项审批等待处理");
		const { duration, ago } = localeOf("en");
		expect([420, 9_940, 59_400, 60_000, 205_000, 7_500_000].map(duration)).toEqual([
			"0.4s",
			"9.9s",
			"59s",
			"1m",
			"3m 25s",
			"2h 5m",
		]);
		const now = new Date(2026, 10, 30, 12).getTime();
		expect(ago(now - 20_000, now)).toBe("just now");
		expect(ago(now - 120_000, now)).toBe("2 min. ago");
		expect(ago(now - 3_600_000 * 3, now)).toBe("09:00");
		expect(ago(now - 86_400_000, now)).toBe("yesterday");
	});
});
