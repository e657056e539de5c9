// A person's mouse and keys on a desktop under test, through the X server.
import { until } from "./rig.mjs";

/** Where a window stands, and how large it is, without its frame. */
export async function windowBox(desk, id) {
	const facts = await desk.tool("xwininfo", "-id", id);
	const number = (name) => Number(new RegExp(`${name}: +(-?\\d+)`).exec(facts)[1]);
	return {
		x: number("Absolute upper-left X"),
		y: number("Absolute upper-left Y"),
		width: number("Width"),
		height: number("Height"),
	};
}

/** The pixel of the screen in the middle of an element of the app's page, whatever its zoom. */
export async function pixelOf(app, css) {
	const [{ id }] = (await app.desk.windows()).filter(({ title }) => title.endsWith("Aalis"));
	const win = await windowBox(app.desk, id);
	let before;
	return until(`${css} to stand still`, async () => {
		const [x, y, width, height] = await app.js(
			`const found = [...document.querySelectorAll(arguments[0])].at(-1);
			const box = found.getBoundingClientRect();
			return [box.x + box.width / 2, box.y + box.height / 2, innerWidth, innerHeight];`,
			css,
		);
		const zoom = win.width / width;
		// The menu stands above the page.
		const at = [win.x + x * zoom, win.y + win.height - height * zoom + y * zoom].map(Math.round);
		const still = before === at.join();
		before = at.join();
		return still && at;
	});
}

const mouse = (desk, ...args) => desk.tool("xdotool", ...args.map(String));

/** Clicks the middle of the last such element, with keys held down, if any. */
export async function click(app, css, { button = 1, keys = [] } = {}) {
	// What has just come may move on while the hand does.
	await until(`the pointer to be on ${css}`, async () => {
		await mouse(app.desk, "mousemove", ...(await pixelOf(app, css)));
		return app.js(
			"return [...document.querySelectorAll(arguments[0])].at(-1).matches(':hover')",
			css,
		);
	});
	for (const key of keys) await mouse(app.desk, "keydown", key);
	await mouse(app.desk, "click", button);
	for (const key of keys) await mouse(app.desk, "keyup", key);
}

/** Drags from one pixel of the screen to another, as a hand does. */
export async function drag(desk, [x, y], [toX, toY]) {
	await mouse(desk, "mousemove", x, y, "mousedown", 1);
	const steps = 12;
	for (let n = 1; n <= steps; n++) {
		const at = (from, to) => Math.round(from + ((to - from) * n) / steps);
		await mouse(desk, "mousemove", at(x, toX), at(y, toY), "sleep", 0.03);
	}
	await mouse(desk, "sleep", 0.3, "mouseup", 1);
}

export const key = (desk, ...keys) => desk.tool("xdotool", "key", "--clearmodifiers", ...keys);
