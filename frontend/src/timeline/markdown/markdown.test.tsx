import { act, render } from "@testing-library/react";
import * as fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { TipProvider } from "@/ui/tip";
import { plainParts } from "./plain-parts";

describe("a text before its parser is here", () => {
	test("is paragraphs, and code as code", () => {
		const text =
			"One\nline\n\n\nTwo\n```go title=x\nfunc f() {\n\n}\n```\nThree\n~~~~\n```\n~~~\n~~~~\n- a";
		expect(plainParts(text)).toEqual([
			{ text: "One\nline" },
			{ text: "Two" },
			{ language: "go", code: "func f() {\n\n}" },
			{ text: "Three" },
			{ language: "", code: "```\n~~~" },
			{ text: "- a" },
		]);
	});

	test("a fence that nobody has closed yet holds the rest", () => {
		expect(plainParts("a\n```\nb\n\nc")).toEqual([{ text: "a" }, { language: "", code: "b\n\nc" }]);
	});

	test("loses no line but those that only separate", () => {
		const line = fc.constantFrom("a", " b ", "", "  ", "```", "~~~", "````go", "    c", "# d");
		fc.assert(
			fc.property(fc.array(line), (lines) => {
				const shown = plainParts(lines.join("\n")).flatMap((part) =>
					("code" in part ? part.code : part.text).split("\n"),
				);
				const wanted = lines.filter((l) => /[a-d]/.test(l) && !l.includes("```"));
				expect(shown.filter((l) => /[a-d]/.test(l) && !l.includes("```"))).toEqual(wanted);
			}),
		);
	});

	test("is shown as it was written, and in its form as soon as the parser comes", async () => {
		// Other tests have fetched the parser; modules made anew have not.
		vi.resetModules();
		const { Markdown, loadMarkdown } = await import("./markdown");
		const view = render(
			<TipProvider>
				<Markdown text={"See **this**\n\n| a | b |\n|---|---|\n| 1 | 2 |"} />
			</TipProvider>,
		);
		expect(view.container.textContent).toContain("See **this**");
		expect(view.container.querySelector("table")).toBeNull();
		await act(loadMarkdown);
		expect(view.container.textContent).toContain("See this");
		expect(view.container.querySelectorAll("td")).toHaveLength(2);
	});
});
