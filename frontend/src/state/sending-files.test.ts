import { describe, expect, test, vi } from "vitest";
import { FakeError, FakeServer } from "@/test/fake-server";
import { client } from "@/test/harness";
import { pause } from "@/test/render";

const file = (name: string, words = name) => new File([words], name);

async function open() {
	const server = new FakeServer();
	server.session({ id: "s" }, []);
	const parts = client(server);
	parts.link.start();
	const session = parts.app.look("s");
	await pause();
	return { server, session, ...parts };
}

const sent = (server: FakeServer) =>
	server.requestsOf("turn/send").map((params) => {
		const { content, attachments } = params as {
			content: string;
			attachments?: { name: string; data: string }[];
		};
		return `${content}:${(attachments ?? []).map(({ name }) => name).join()}`;
	});

describe("sending files", () => {
	test("messages leave in the order they were written, also behind one whose files are read", async () => {
		const { server, session } = await open();
		session.send("one", [file("a"), file("b")]);
		session.send("two");
		session.send("three", [file("c")]);
		session.send("four");
		await vi.waitFor(() => expect(sent(server)).toEqual(["one:a,b", "two:", "three:c", "four:"]));
	});

	test("a failed message keeps its files and takes them along when it is sent again", async () => {
		const { server, session } = await open();
		let refuse = true;
		server.intercept = (method) => {
			if (method === "turn/send" && refuse) throw new FakeError(-32602, "The file a is empty.");
			return undefined;
		};
		session.send("", [file("a")]);
		await vi.waitFor(() => expect(session.outbox.getState()[0]?.state).toBe("failed"));
		const [entry] = session.outbox.getState();
		refuse = false;
		expect(entry?.files).toEqual(["a"]);
		session.retry(entry?.clientId ?? "");
		await vi.waitFor(() => expect(sent(server)).toEqual([":a", ":a"]));
	});

	test("a file that cannot be read fails its message with its name, and none behind it", async () => {
		const { server, session } = await open();
		const gone = file("gone");
		vi.spyOn(FileReader.prototype, "readAsDataURL").mockImplementationOnce(function (
			this: FileReader,
		) {
			queueMicrotask(() => this.onerror?.(new ProgressEvent("error") as ProgressEvent<FileReader>));
		});
		session.send("one", [gone]);
		session.send("two");
		await vi.waitFor(() => expect(sent(server)).toEqual(["two:"]));
		expect(session.outbox.getState()[0]).toMatchObject({
			state: "failed",
			message: "gone cannot be read any more; attach it again.",
		});
	});

	test("after a reload the files are lost, which is said, and the message is not sent without them", async () => {
		localStorage.setItem(
			"aalis.outbox.s",
			JSON.stringify([{ clientId: "c", text: "look", files: ["a.png"], at: 1, state: "sending" }]),
		);
		const { server, session } = await open();
		expect(session.outbox.getState()[0]).toMatchObject({
			state: "failed",
			lost: true,
			files: ["a.png"],
		});
		session.retry("c");
		await pause();
		expect(sent(server)).toEqual([]);
	});

	test("what waits can be taken back with its files, what has entered a turn cannot", async () => {
		const { server, session } = await open();
		server.intercept = (method) => (method === "turn/send" ? {} : undefined);
		session.send("look", [file("a")]);
		await vi.waitFor(() => expect(sent(server)).toHaveLength(1));
		const id = (server.requestsOf("turn/send")[0] as { ext: { clientId: string } }).ext.clientId;
		expect(session.reclaim(id).map(({ name }) => name)).toEqual(["a"]);
		expect(session.reclaim(id)).toEqual([]);
		delete server.intercept;
		session.send("look", [file("b")]);
		await vi.waitFor(() => expect(session.store.getState().items).toHaveLength(1));
		const other = (server.requestsOf("turn/send")[1] as { ext: { clientId: string } }).ext.clientId;
		expect(session.reclaim(other)).toEqual([]);
	});
});
