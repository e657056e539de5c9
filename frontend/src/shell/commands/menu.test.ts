import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from ".";

test("every entry of the window's own menu is a command of the registry", () => {
	const menu = readFileSync(join(import.meta.dirname, "../../../../app/desktop_menu.go"), "utf8");
	const ids = [...menu.matchAll(/command\(\w+, "[^"]+", "([^"]+)"/g)].map(([, id]) => id);
	expect(ids.length).toBeGreaterThan(5);
	expect(commands.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
});
