import { render, screen } from "@testing-library/react";
import { afterEach, describe, expect, test, vi } from "vitest";
import { countChanges, diffPatch, diffTexts } from "./diff/diff";
import { openOutside, outward } from "./opener";
import { Untrusted } from "./untrusted";

afterEach(() => {
	delete (window as { go?: unknown }).go;
});

describe("the opener", () => {
	test.each([
		"javascript:alert(1)",
		"JAVASCRIPT:alert(1)",
		" file:///etc/passwd",
		"\\\\host\\share",
		"//host/share",
		"smb://host/share",
		"vscode://file/x",
		"data:text/html,x",
		"/api/session-file?x",
		"",
	])("SEC-12 %j is not opened", async (href) => {
		const open = vi.spyOn(window, "open").mockReturnValue(null);
		expect(outward(href)).toBeUndefined();
		await openOutside(href);
		expect(open).not.toHaveBeenCalled();
	});

	test.each(["https://example.org/a", "http://example.org/", "mailto:a@example.org"])(
		"SEC-12 %s is",
		async (href) => {
			const open = vi.spyOn(window, "open").mockReturnValue(null);
			expect(outward(href)).toBe(href);
			await openOutside(href);
			expect(open).toHaveBeenCalledWith(href, "_blank", "noopener,noreferrer");
		},
	);

	test("SEC-12 in the desktop window the system's browser gets it, by the same rule", async () => {
		const OpenLink = vi.fn(async () => undefined);
		(window as { go?: unknown }).go = { app: { Bridge: { OpenLink } } };
		await openOutside("https://example.org/");
		await openOutside("file:///etc/passwd");
		expect(OpenLink.mock.calls).toEqual([["https://example.org/"]]);
	});
});

describe("differences", () => {
	const drawn = (lines: ReturnType<typeof diffTexts>) =>
		lines.map(
			(line) =>
				`${line.kind}:${line.parts.map((p) => (p.changed ? `[${p.text}]` : p.text)).join("")}`,
		);

	test("lines that became others are compared word by word", () => {
		expect(drawn(diffTexts("name: Bob\nrest\n", "name: Ann\nrest\nmore\n"))).toEqual([
			"removed:name: [Bob]",
			"added:name: [Ann]",
			"same:rest",
			"added:more",
		]);
	});

	test("long unchanged stretches are folded, with three lines kept", () => {
		const lines = Array.from({ length: 40 }, (_, n) => `line ${n}`);
		const changed = lines.with(20, "changed");
		const diff = diffTexts(lines.join("\n"), changed.join("\n"));
		expect(diff.map((line) => line.kind).join(" ")).toBe(
			"gap same same same removed added same same same gap",
		);
		expect(diff.find((line) => line.kind === "added")).toMatchObject({ after: 21 });
	});

	test("a unified diff keeps its line numbers", () => {
		const lines = diffPatch(
			"--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@ func\n same\n-old\n+new\n\\ No newline at end of file\n@@ -90 +90 @@\n-x\n",
		);
		expect(lines.map(({ kind, before, after }) => [kind, before ?? after])).toEqual([
			["same", 3],
			["removed", 4],
			["added", 4],
			["note", undefined],
			["gap", undefined],
			["removed", 90],
		]);
		expect(countChanges(lines)).toEqual({ added: 1, removed: 2 });
	});

	test("a patch's own lines that look like its headers are shown", () => {
		const lines = diffPatch("@@ -1,2 +1,2 @@\n--- rule\n+++ rule\n");
		expect(lines.map(({ kind, parts }) => [kind, parts.map((p) => p.text).join("")])).toEqual([
			["removed", "-- rule"],
			["added", "++ rule"],
		]);
	});
});

test("FAIL-B21 untrusted text stands in a direction of its own with its escapes marked", () => {
	render(<Untrusted text={"safe\u202egpj.exe"} />);
	const mark = screen.getByText("⟦U+202E⟧");
	expect(mark.tagName).toBe("MARK");
	expect(mark.closest("bdi")?.getAttribute("dir")).toBe("ltr");
	expect(document.body.textContent).toBe("safe⟦U+202E⟧gpj.exe");
});
