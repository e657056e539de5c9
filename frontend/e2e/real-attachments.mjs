// Files with messages in Chromium against the real server.
//   E2E_SERVER=…/aalis-server node e2e/real-attachments.mjs
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { launch } from "./browser.mjs";
import { Server, Suite, until } from "./rig.mjs";
import { Tab } from "./tab.mjs";

const suite = new Suite();
const test = suite.test.bind(suite);
const server = await Server.start();
const browser = await launch();
const tab = await Tab.open(browser, server);
const { page } = tab;

/** A PNG of one colour, 120 by 80. */
function png() {
	const crc = (bytes) => {
		let sum = 0xffffffff;
		for (const byte of bytes) {
			sum ^= byte;
			for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
		}
		return (sum ^ 0xffffffff) >>> 0;
	};
	const chunk = (name, data) => {
		const body = Buffer.concat([Buffer.from(name), data]);
		const out = Buffer.alloc(8 + body.length);
		out.writeUInt32BE(data.length, 0);
		body.copy(out, 4);
		out.writeUInt32BE(crc(body), 4 + body.length);
		return out;
	};
	const head = Buffer.from([0, 0, 0, 120, 0, 0, 0, 80, 8, 2, 0, 0, 0]);
	const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(360, 0x8a)]);
	const pixels = deflateSync(Buffer.concat(Array(80).fill(row)));
	return Buffer.concat([
		Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
		chunk("IHDR", head),
		chunk("IDAT", pixels),
		chunk("IEND", Buffer.alloc(0)),
	]);
}

/** A tone of a tenth of a second. */
function wav() {
	const samples = Buffer.alloc(1600);
	for (let at = 0; at < 800; at++) samples.writeInt16LE(8000 * Math.sin(at / 3), at * 2);
	const head = Buffer.alloc(44);
	head.write("RIFF");
	head.writeUInt32LE(36 + samples.length, 4);
	head.write("WAVEfmt ", 8);
	head.writeUInt32LE(16, 16);
	head.writeUInt16LE(1, 20);
	head.writeUInt16LE(1, 22);
	head.writeUInt32LE(8000, 24);
	head.writeUInt32LE(16000, 28);
	head.writeUInt16LE(2, 32);
	head.writeUInt16LE(16, 34);
	head.write("data", 36);
	head.writeUInt32LE(samples.length, 40);
	return Buffer.concat([head, samples]);
}

const file = (name, mimeType, buffer) => ({ name, mimeType, buffer });
const picture = file("holiday.png", "image/png", png());
const note = file("notes 漂亮.txt", "text/html", randomBytes(3000));

const attach = (...files) => tab.at("attach-input").setInputFiles(files);
const message = (at = -1) => tab.items("user-message").nth(at);
const shown = (kind) => message().locator(`[data-testid="attachment"][data-kind="${kind}"]`);
const kept = () => {
	const all = readdirSync(join(server.dataDir, "attachments"), {
		recursive: true,
		withFileTypes: true,
	});
	return all.filter((entry) => entry.isFile()).length;
};

/** What an address answers to the page itself. */
const ask = (address) =>
	page.evaluate(async (at) => {
		const response = await fetch(at);
		return { status: response.status, type: response.headers.get("content-type") };
	}, address);

async function drop(name, how) {
	const data = await page.evaluateHandle(
		([bytes, fileName]) => {
			const transfer = new DataTransfer();
			transfer.items.add(new File([new Uint8Array(bytes)], fileName, { type: "image/png" }));
			return transfer;
		},
		[[...png()], name],
	);
	if (how === "paste") {
		await tab
			.at("composer")
			.locator("textarea")
			.evaluate((box, transfer) => {
				box.dispatchEvent(
					new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }),
				);
			}, data);
		return;
	}
	await page.evaluate((transfer) => {
		const event = (kind) =>
			new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true });
		document.body.dispatchEvent(event("dragover"));
		document.body.dispatchEvent(event("drop"));
	}, data);
}

let first;

test("a conversation begins with files only; the picture is seen, the sound plays, the page stays clean", async () => {
	await tab.at("new-session").click();
	await attach(picture, file("tone.wav", "audio/wav", wav()), note);
	assert.equal(await tab.at("draft-file").count(), 3);
	await until("the thumbnail", () =>
		tab
			.at("draft-file")
			.first()
			.locator("img")
			.evaluate((img) => img.naturalWidth > 0),
	);
	await tab.picture("attachments-composer");
	await tab.at("send").click();
	await page.waitForURL(/#\/s\/./);
	first = tab.session();
	await tab.ended("replied");
	await until("the picture", () => shown("image").evaluate((img) => img.naturalWidth === 120));
	await until("the sound", () => shown("audio").evaluate((audio) => audio.duration > 0.05));
	assert.equal(await tab.at("draft-file").count(), 0);
	assert.match(await tab.row(first).textContent(), /holiday\.png/);
	await tab.picture("attachments-timeline");
	assert.deepEqual(tab.problems, []);
});

test("SP-FILE-02 SP-FILE-04 a file is kept with its own bytes and name", async () => {
	const [download] = await Promise.all([page.waitForEvent("download"), shown("file").click()]);
	assert.equal(download.suggestedFilename(), note.name);
	assert.deepEqual(readFileSync(await download.path()), note.buffer);
	const answer = await ask(await shown("file").getAttribute("href"));
	assert.deepEqual(answer, { status: 200, type: "application/octet-stream" });
});

test("a click makes the picture large; Escape gives the focus back", async () => {
	const small = message().getByRole("button", { name: "Enlarge holiday.png" });
	await small.click();
	const large = tab.at("lightbox").locator("img");
	await until("the large picture", () => large.evaluate((img) => img.naturalWidth === 120));
	await tab.picture("attachments-large");
	await page.keyboard.press("Escape");
	await tab.at("lightbox").waitFor({ state: "detached" });
	await until("the focus is back", () =>
		small.evaluate((button) => button === document.activeElement),
	);
});

test("SP-FILE-05 SP-FILE-10 another session has none of them, and no storage address is served", async () => {
	const href = await shown("file").getAttribute("href");
	const src = await shown("image").getAttribute("src");
	const other = await tab.begin("another conversation");
	for (const address of [href, src]) {
		assert.equal((await ask(address)).status, 200);
		const swapped = new URL(address, "http://x");
		swapped.searchParams.set("sessionId", other);
		assert.equal((await ask(swapped.pathname + swapped.search)).status, 404);
	}
	assert.equal((await ask(`/api/session-file?sessionId=${first}&uri=attachments:/00`)).status, 400);
	const bare = await fetch(`${server.url}${href}`);
	assert.equal(bare.status, 401);
});

test("SP-TURN-07 a picture that calls itself text is one, and markup that calls itself a picture is a file", async () => {
	await attach(
		file("odd.txt", "text/plain", png()),
		file(
			"evil.png",
			"image/png",
			Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>"),
		),
	);
	await tab.write("look at these");
	await until("the picture", () => shown("image").evaluate((img) => img.naturalWidth === 120));
	assert.match(await shown("file").textContent(), /evil\.png/);
});

test("what is too large or empty is told before anything is sent, and a paste and a drop are taken", async () => {
	const chosen = {
		"film.mp4": Buffer.alloc(21 * 2 ** 20),
		"nothing.txt": "",
		"holiday.png": picture.buffer,
	};
	const paths = Object.entries(chosen).map(([name, bytes]) => {
		const path = join(server.place.home, name);
		writeFileSync(path, bytes);
		return path;
	});
	await tab.at("attach-input").setInputFiles(paths);
	const told = await tab.at("file-refused").allTextContents();
	assert.match(
		told.join(),
		/film\.mp4 has 21 MiB; at most 20 MiB are taken\..*nothing\.txt is empty\./,
	);
	assert.equal(await tab.at("draft-file").count(), 1);
	await tab.picture("attachments-refused");
	await drop("dropped.png", "drop");
	await drop("pasted.png", "paste");
	await until("three files", async () => (await tab.at("draft-file").count()) === 3);
	assert.equal(await tab.at("file-refused").count(), 0);
	await page.getByRole("button", { name: "Remove holiday.png" }).click();
	assert.deepEqual(
		(await tab.at("draft-file").allTextContents()).map((text) => /^[a-z.]+/.exec(text)[0]),
		["dropped.png", "pasted.png"],
	);
});

test("drafts keep their files while the person is elsewhere", async () => {
	await tab.row(first).click();
	await until("the first conversation", () => tab.session() === first);
	assert.equal(await tab.at("draft-file").count(), 0);
	await page.goBack();
	await until("the files are there again", async () => (await tab.at("draft-file").count()) === 2);
});

test("SP-TURN-06 what a client sends around the box is refused with words", async () => {
	const answer = await page.evaluate(
		([sessionId, attachments]) =>
			new Promise((resolve) => {
				const socket = new WebSocket(`ws://${location.host}/session`);
				const say = (id, method, params) =>
					socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
				socket.onopen = () =>
					say(1, "initialize", { protocolVersion: "0.2.0", client: { name: "t", version: "1" } });
				socket.onmessage = ({ data }) => {
					const frame = JSON.parse(data);
					if (frame.id === 1) say(2, "turn/send", { sessionId, content: "x", attachments });
					if (frame.id === 2) resolve(frame.error);
				};
			}),
		[first, Array(21).fill({ name: "a", data: "data:;base64,QQ==" })],
	);
	assert.equal(answer.code, -32602);
	assert.match(answer.message, /attachments may have at most 20 entries; this one has 21/);
});

test("SP-FILE-06 after a restart the old address is refused and the page has new ones", async () => {
	await tab.row(first).click();
	await until("the first conversation", () => tab.session() === first);
	const before = await shown("file").getAttribute("href");
	await server.program.stop();
	const listen = ["--listen", `127.0.0.1:${new URL(server.url).port}`];
	server.program = (await Server.start({ home: server.place, args: listen })).program;
	await until("another address", async () => (await shown("file").getAttribute("href")) !== before);
	assert.equal((await ask(before)).status, 404);
	assert.equal((await ask(await shown("file").getAttribute("href"))).status, 200);
});

test("SP-SESS-14 with its last conversation a file leaves the disk", async () => {
	assert.ok(kept() >= 3);
	const rows = tab.at("session-row");
	for (let left = await rows.count(); left > 0; left--) {
		await tab.choose(await rows.first().getAttribute("data-session-id"), "Delete");
		await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
		await until("one conversation less", async () => (await rows.count()) === left - 1);
	}
	await until("nothing is kept", () => kept() === 0);
});

await suite.run({
	onFailure: (name) => tab.picture(`attachments-failed-${name}`),
	after: async () => {
		await browser.close();
		await server.stop();
	},
});
