import { describe, expect, test } from "vitest";
import { DraftFiles, encodeFile, LARGEST_FILE, MOST_FILES, takeUp } from "./draft-files";

/** A file that says it is large without being so. */
function fileOf(name: string, size = 3): File {
	const file = new File(["abc"], name, { type: "text/plain" });
	Object.defineProperty(file, "size", { value: size });
	return file;
}

const drafts = (...files: File[]) => files.map((file, id) => ({ id, file }));

describe("what is taken up", () => {
	test("only what the server would take, each refusal with its reason", () => {
		const { list, refused } = takeUp(
			[],
			drafts(fileOf("ok"), fileOf("empty", 0), fileOf("large", LARGEST_FILE + 1)),
		);
		expect(list.map(({ file }) => file.name)).toEqual(["ok"]);
		expect(refused).toEqual([
			{ why: "empty", name: "empty", size: 0 },
			{ why: "large", name: "large", size: LARGEST_FILE + 1 },
		]);
	});

	test("not more than twenty, and not more than fifty MiB together", () => {
		const many = drafts(...Array.from({ length: MOST_FILES + 2 }, (_, n) => fileOf(`${n}`)));
		const twenty = takeUp(many.slice(0, 5), many.slice(5));
		expect(twenty.list).toHaveLength(MOST_FILES);
		expect(twenty.refused.map(({ why }) => why)).toEqual(["many", "many"]);
		const big = drafts(...["a", "b", "c", "d"].map((name) => fileOf(name, LARGEST_FILE)));
		const fifty = takeUp(big.slice(0, 2), big.slice(2));
		expect(fifty.list).toHaveLength(2);
		expect(fifty.refused.map(({ why }) => why)).toEqual(["together", "together"]);
	});
});

describe("drafts", () => {
	test("each place has its own; what is taken is gone, a refusal goes with the next change", () => {
		const files = new DraftFiles();
		files.add("a", [fileOf("one"), fileOf("nothing", 0)]);
		files.add("b", [fileOf("other")]);
		expect(files.at("a").refused).toHaveLength(1);
		files.add("a", [fileOf("two")]);
		expect(files.at("a").refused).toEqual([]);
		const first = files.at("a").files[0];
		files.remove("a", first?.id ?? -1);
		expect(files.take("a").map(({ name }) => name)).toEqual(["two"]);
		expect(files.at("a").files).toEqual([]);
		expect(files.take("b").map(({ name }) => name)).toEqual(["other"]);
		expect(files.store.getState().size).toBe(0);
	});

	test("SP-TURN-05 SP-TURN-06 a file is sent as a data URL and its name, nothing else", async () => {
		const sent = await encodeFile(new File(["abc"], "a.ts", { type: "video/mp2t" }));
		expect(Object.keys(sent).sort()).toEqual(["data", "name"]);
		expect(sent.name).toBe("a.ts");
		expect(sent.data).toMatch(/^data:[^,]*;base64,YWJj$/);
	});
});
