// Builds the packages of this system, installs the Debian ones, starts and uses the program as a person's
// desktop would, and removes it again. It needs to be root, or sudo without a password.
//   E2E_SHIM=…/window-shim.so node e2e/real-package.mjs
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { App, Desk, freePort } from "./desk.mjs";
import { newHome, Server, Suite, until } from "./rig.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
const OUT = join(ROOT, "build/bin/packages");
const NAMES = ["aalis", "aalis-server"];
const MENU = "/usr/share/applications/aalis.desktop";
const LINKS = "x-scheme-handler/aalis";

/** Runs a tool to its end and gives its output; anything but success is a failure. */
function run(command, args, { env = {}, cwd = ROOT } = {}) {
	const { status, stdout, stderr, error } = spawnSync(command, args, {
		env: { ...process.env, ...env },
		cwd,
		encoding: "utf8",
		maxBuffer: 64 << 20,
	});
	assert.equal(status, 0, `${command} ${args.join(" ")}: ${error ?? stderr}${stdout}`);
	return stdout.trim();
}

const lines = (text) => text.split("\n").filter((line) => line !== "");

const known = () => NAMES.filter((name) => spawnSync("dpkg-query", ["-s", name]).status === 0);

/** The words before a command that make it root's, or why nothing can be installed here. */
function root() {
	for (const tool of ["dpkg-query", "apt-get"])
		if (spawnSync(tool, ["--version"]).error) return { why: `there is no ${tool} here` };
	if (known().length > 0)
		return { why: `${known()} is installed here, and a person's own is left alone` };
	if (process.getuid() === 0) return { as: [] };
	if (spawnSync("sudo", ["-n", "true"]).status === 0) return { as: ["sudo", "-n"] };
	return { why: "installing needs root, or sudo without a password" };
}

const { as, why } = root();
let touched = false;

/** Changes what is installed; it waits for others that do. */
function apt(...args) {
	const [command, ...rest] = [...as, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
	return run(command, [...rest, "-qq", "-y", "-o", "DPkg::Lock::Timeout=120", ...args]);
}

function remove() {
	if (touched && known().length > 0) apt("purge", ...known());
	touched = false;
}

/** Builds everything, and gives the sums. */
function build(umask, env) {
	run("bash", ["-c", `umask ${umask} && exec build/package.sh deb rpm tar`], { env });
	return readFileSync(join(OUT, "SHA256SUMS"), "utf8");
}

function made(name, rest) {
	const pattern = new RegExp(`^${name}[_-]\\d.*${rest}$`);
	const found = readdirSync(OUT).filter((file) => pattern.test(file));
	assert.equal(found.length, 1, `${pattern} among ${readdirSync(OUT)}`);
	return join(OUT, found[0]);
}

const contents = (name) => lines(run("dpkg-deb", ["--contents", made(name, "\\.deb")]));
const field = (name, of) => run("dpkg-deb", ["--field", made(name, "\\.deb"), of]);

/** The files that a package puts on the system, without its folders. */
const files = (name) =>
	contents(name)
		.filter((line) => line.startsWith("-"))
		.map((line) => line.slice(line.indexOf(" ./") + 2))
		.sort();

/** Small images of systems leave manual pages and documents out of every package. */
function left(file) {
	const rules = "cat /etc/dpkg/dpkg.cfg /etc/dpkg/dpkg.cfg.d/* 2>/dev/null || true";
	const folder = /\/usr\/share\/(man|doc)\//.exec(file)?.[1];
	return folder && run("sh", ["-c", rules]).includes(`path-exclude=/usr/share/${folder}`);
}

/** Everything of our name where packages write. */
const named = () =>
	lines(run("find", ["/usr", "/etc", "/opt", "/var/lib", "-xdev", "-name", "*aalis*"])).sort();

/** What an action of the menu's entry runs; it holds no quotes and no field codes. */
function action(name) {
	const [, group] = readFileSync(MENU, "utf8").split(`[Desktop Action ${name}]`);
	return /^Exec=(.+)$/m.exec(group)[1];
}

const suite = new Suite();
const test = suite.test.bind(suite);
const before = named();
let desk;
let app;
let installed = [];

/** What the program on the desk says of itself. */
const running = () => JSON.parse(readFileSync(join(desk.dataDir, "run/server.json"), "utf8"));

/** Ends the program, which is nobody's child: who launches programs of a desktop does not stay. */
async function end() {
	const { pid } = running();
	process.kill(pid, "SIGTERM");
	await until("the program's end", () => !existsSync(`/proc/${pid}`));
}

/** Puts the machine back as it was. */
async function clear() {
	if (desk && existsSync(join(desk.dataDir, "run/server.json"))) await end();
	remove();
	await desk?.stop();
}

for (const signal of ["SIGINT", "SIGTERM"])
	process.on(signal, () => void clear().finally(() => process.exit(1)));

test("the same commit gives the same bytes, whoever builds it", () => {
	const first = build("022", {});
	assert.equal(lines(first).length, 6, first);
	run("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: OUT });
	assert.equal(build("077", { TZ: "Asia/Tokyo", LC_ALL: "C", GOMAXPROCS: "1" }), first);
});

test("a package says what it is and what it needs, and holds only files of root's", () => {
	assert.match(field("aalis", "Depends"), /libc6 \(>= 2\.\d+\), libgtk-3-0 .*libwebkit2gtk-4\.1-0/);
	assert.match(field("aalis-server", "Depends"), /^libc6 \(>= 2\.\d+\)$/);
	for (const name of NAMES) {
		const version = field(name, "Version");
		assert.match(version, /^\d+\.\d+\.\d+([~+]git\d{14}\.[0-9a-f]{12}(\.changed)?)?$/);
		const [release] = version.split(/[~+]/);
		const order = version === release ? "eq" : version.includes("~") ? "lt" : "gt";
		run("dpkg", ["--compare-versions", version, order, release]);
		for (const line of contents(name))
			assert.match(line, /^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--) root\/root /);
		// No scripts: nothing is run as root, and nothing could touch a home.
		const control = `dpkg-deb --ctrl-tarfile '${made(name, "\\.deb")}' | tar --list`;
		assert.deepEqual(
			lines(run("sh", ["-c", control])).map((file) => file.replace("./", "")),
			["control", "md5sums"],
		);
	}
});

test("installing puts everything in its place", () => {
	const install = [
		"install",
		"--no-install-recommends",
		...NAMES.map((name) => made(name, "\\.deb")),
	];
	// What is needed to build it is enough to run it; more would stay on the machine.
	const plan = lines(apt("--simulate", ...install));
	assert.deepEqual(
		plan.filter((line) => line.startsWith("Inst ")).map((line) => line.split(" ")[1]),
		NAMES,
	);
	touched = true;
	apt(...install);
	installed = NAMES.flatMap(files);
	for (const file of installed)
		if (!left(file)) assert.ok(existsSync(file), `${file} is not there`);
	run("desktop-file-validate", [MENU]);
	const commit = run("git", ["rev-parse", "--short=12", "HEAD"]);
	for (const name of NAMES) {
		const said = JSON.parse(run(`/usr/bin/${name}`, ["version", "--json"]));
		assert.deepEqual([said.commit, said.window], [commit, name === "aalis"]);
		assert.equal(field(name, "Version").split(/[~+]/)[0], said.version);
		const page = `/usr/share/man/man1/${name}.1.gz`;
		if (left(page)) continue;
		assert.equal(run("man", ["-w", name]), page);
		assert.equal(run("man", ["-w", "-L", "zh_CN", name]), page.replace("man/", "man/zh_CN/"));
		assert.match(
			run("man", [name], { env: { LC_ALL: "C.UTF-8" } }),
			new RegExp(`${name} serve\\n`),
		);
	}
});

test("the entry of the menu opens the window, and a message gets its answer", async () => {
	desk = await Desk.start();
	const port = await freePort();
	const launcher = desk.add("gio", ["launch", MENU], {
		stdio: "ignore", // what it launches inherits them, and would keep them open
		env: {
			...desk.env,
			LD_PRELOAD: process.env.E2E_SHIM,
			WEBKIT_INSPECTOR_SERVER: `127.0.0.1:${port}`,
		},
	});
	assert.equal((await launcher.ended).code, 0);
	app = new App(desk, { over: false, err: "" }, port);
	await app.driven();
	await app.connected();
	assert.equal(readlinkSync(`/proc/${running().pid}/exe`), "/usr/bin/aalis");
	const [{ id }] = await desk.windows();
	const group = /^StartupWMClass=(.+)$/m.exec(readFileSync(MENU, "utf8"))[1];
	// As desktops compare them when they look for the entry of a window: "aalis", "Aalis".
	const classes = (await desk.tool("xprop", "-id", id, "WM_CLASS")).toLowerCase();
	assert.ok(classes.includes(`"${group}"`), classes);
	await app.begin("hello from the menu");
	await app.ended("replied");
	await desk.picture("package-window");
	const said = await desk.tool("aalis-server", "send", "--wait", "hello from a script");
	assert.match(said, /hello from a script/);
});

test("a second start from the menu raises the window of the first", async () => {
	const first = running().pid;
	await desk.tool("gio", "launch", MENU);
	assert.match(await desk.tool("aalis", "doctor"), /^ok {2}running instance/m);
	assert.equal(running().pid, first);
	assert.equal((await desk.windows()).length, 1);
});

test("links of the program are the program's to open", async () => {
	assert.equal(await desk.tool("xdg-mime", "query", "default", LINKS), "aalis.desktop");
	const { pid } = running();
	const shown = () => app.js("return location.hash");
	const session = await shown();
	await app.click('[data-testid="new-session"]');
	await until("another page", async () => (await shown()) !== session);
	// The desk's own xdg-open writes down what it is given; the system's does what a browser's would.
	await desk.tool("/usr/bin/xdg-open", `aalis://session/${session.replace("#/s/", "")}`);
	await until("the session of the link", async () => (await shown()) === session);
	await desk.tool("sh", "-c", action("new-session"));
	await until("a new session", async () => (await shown()) !== session);
	assert.equal(running().pid, pid);
	assert.equal((await desk.windows()).length, 1);
});

test("removing it leaves nothing of it but a person's data", async () => {
	await end();
	remove();
	for (const file of installed) assert.equal(existsSync(file), false, `${file} is left`);
	assert.deepEqual(named(), before);
	for (const cache of ["applications/mimeinfo.cache", "icons/hicolor/icon-theme.cache"]) {
		const file = join("/usr/share", cache);
		if (existsSync(file)) assert.equal(readFileSync(file).includes("aalis"), false, file);
	}
	assert.equal(await desk.tool("xdg-mime", "query", "default", LINKS), "");
	assert.ok(statSync(join(desk.dataDir, "aalis.db")).size > 0);
});

test("the archives hold the same files and run where they are unpacked", async () => {
	for (const name of NAMES) {
		const home = newHome();
		run("tar", ["--extract", "--file", made(name, "\\.tar\\.gz"), "--directory", home.home]);
		const place = join(
			home.home,
			readdirSync(home.home).find((entry) => entry.startsWith(name)),
		);
		const held = lines(run("find", ["-type", "f"], { cwd: place })).sort();
		const same = files(name).map((file) => file.replace("/usr", "."));
		assert.deepEqual(held, ["./INSTALL", "./LICENSE", ...same].sort());
		const server = await Server.start({ binary: join(place, "bin", name), home });
		assert.match(await server.command("send", "--wait", "hello from an archive"), /an archive/);
		await server.stop();
	}
});

test("the .rpm packages hold the same files and need the same libraries", () => {
	if (spawnSync("rpm", ["--version"]).error) return console.log("      not looked at: no rpm here");
	for (const name of NAMES) {
		const rpm = made(name, "\\.rpm");
		const held = lines(run("rpm", ["-qp", "--qf", "[%{FILEMODES:perms} %{FILENAMES}\\n]", rpm]));
		const same = held.filter((line) => line.startsWith("-")).map((line) => line.split(" ")[1]);
		assert.deepEqual(same.sort(), files(name));
		const libc = /libc6 \(>= (.*?)\)/.exec(field(name, "Depends"))[1];
		const needs = lines(run("rpm", ["-qp", "--requires", rpm])).sort();
		assert.deepEqual(
			needs.filter((line) => !line.startsWith("rpmlib(")),
			[`libc.so.6(GLIBC_${libc})(64bit)`].concat(
				name === "aalis" ? ["libgtk-3.so.0()(64bit)", "libwebkit2gtk-4.1.so.0()(64bit)"] : [],
			),
		);
	}
});

if (why) {
	console.log(`skipped: ${why}`);
	console.log("0 passed, 0 failed");
} else
	await suite.run({
		onFailure: async (name) => desk?.picture(`fail-${name}`),
		after: clear,
	});
