import { describe, expect, test } from "vitest";
import { initialsOf, nameOf } from "./speaker";

describe("speakers", () => {
	test.each([
		["Ann", "A"],
		["ann of tea", "AT"],
		["Ann Lee (7)", "A7"],
		["小明", "小"],
		["王 小明", "王"],
		["🦊 fox", "🦊F"],
		["  ", "?"],
		["…", "?"],
	])("%s is shortened to %s", (name, initials) => {
		expect(initialsOf(name)).toBe(initials);
	});

	test("somebody without a nickname goes by the id, else by the platform", () => {
		expect(nameOf({ platform: "onebot", owner: false })).toBe("onebot");
		expect(nameOf({ platform: "onebot", userId: "7", nickname: "", owner: false })).toBe("7");
		expect(nameOf({ platform: "onebot", userId: "7", nickname: "Ann", owner: false })).toBe("Ann");
	});
});
