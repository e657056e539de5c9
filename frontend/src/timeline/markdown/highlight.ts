import type { HighlighterCore, LanguageInput, ThemedToken } from "shiki/core";

/** What is coloured; a theme of our own with six classes, so that light and dark are one. */
const languages: Record<string, () => Promise<{ default: LanguageInput }>> = {
	bash: () => import("shiki/langs/bash.mjs"),
	c: () => import("shiki/langs/c.mjs"),
	cpp: () => import("shiki/langs/cpp.mjs"),
	csharp: () => import("shiki/langs/csharp.mjs"),
	css: () => import("shiki/langs/css.mjs"),
	diff: () => import("shiki/langs/diff.mjs"),
	dockerfile: () => import("shiki/langs/dockerfile.mjs"),
	go: () => import("shiki/langs/go.mjs"),
	html: () => import("shiki/langs/html.mjs"),
	ini: () => import("shiki/langs/ini.mjs"),
	java: () => import("shiki/langs/java.mjs"),
	javascript: () => import("shiki/langs/javascript.mjs"),
	json: () => import("shiki/langs/json.mjs"),
	kotlin: () => import("shiki/langs/kotlin.mjs"),
	lua: () => import("shiki/langs/lua.mjs"),
	markdown: () => import("shiki/langs/markdown.mjs"),
	php: () => import("shiki/langs/php.mjs"),
	python: () => import("shiki/langs/python.mjs"),
	ruby: () => import("shiki/langs/ruby.mjs"),
	rust: () => import("shiki/langs/rust.mjs"),
	sql: () => import("shiki/langs/sql.mjs"),
	swift: () => import("shiki/langs/swift.mjs"),
	toml: () => import("shiki/langs/toml.mjs"),
	tsx: () => import("shiki/langs/tsx.mjs"),
	typescript: () => import("shiki/langs/typescript.mjs"),
	xml: () => import("shiki/langs/xml.mjs"),
	yaml: () => import("shiki/langs/yaml.mjs"),
};

const aliases: Record<string, string> = {
	"c++": "cpp",
	"c#": "csharp",
	cs: "csharp",
	docker: "dockerfile",
	golang: "go",
	htm: "html",
	js: "javascript",
	jsx: "tsx",
	kt: "kotlin",
	md: "markdown",
	mjs: "javascript",
	patch: "diff",
	py: "python",
	rb: "ruby",
	rs: "rust",
	sh: "bash",
	shell: "bash",
	ts: "typescript",
	yml: "yaml",
	zsh: "bash",
};

export function knownLanguage(name: string): string | undefined {
	const lower = name.toLowerCase();
	const language = aliases[lower] ?? lower;
	return language in languages ? language : undefined;
}

export interface Token {
	text: string;
	/** One of the tok-… classes, or none. */
	className: string;
}

const THEME = "aalis";
const classOf: Record<string, string> = {
	"#000001": "tok-keyword",
	"#000002": "tok-string",
	"#000003": "tok-number",
	"#000004": "tok-comment",
	"#000005": "tok-function",
	"#000006": "tok-type",
};

// The colours only carry the class through the highlighter; they are never shown.
const theme = {
	name: THEME,
	type: "light" as const,
	colors: { "editor.foreground": "#000000", "editor.background": "#ffffff" },
	tokenColors: [
		{
			scope: ["keyword", "storage", "keyword.control", "markup.bold"],
			settings: { foreground: "#000001" },
		},
		{
			scope: ["string", "markup.inserted", "markup.inline.raw"],
			settings: { foreground: "#000002" },
		},
		{
			scope: ["constant.numeric", "constant.language", "constant.character", "markup.deleted"],
			settings: { foreground: "#000003" },
		},
		{ scope: ["comment", "punctuation.definition.comment"], settings: { foreground: "#000004" } },
		{
			scope: ["entity.name.function", "support.function", "meta.function-call", "markup.heading"],
			settings: { foreground: "#000005" },
		},
		{
			scope: [
				"entity.name.type",
				"entity.name.class",
				"entity.name.tag",
				"support.type",
				"support.class",
			],
			settings: { foreground: "#000006" },
		},
	],
};

let highlighter: Promise<HighlighterCore> | undefined;

async function load(): Promise<HighlighterCore> {
	const [{ createHighlighterCore }, { createJavaScriptRegexEngine }] = await Promise.all([
		import("shiki/core"),
		import("shiki/engine/javascript"),
	]);
	return createHighlighterCore({
		themes: [theme],
		langs: [],
		engine: createJavaScriptRegexEngine({ forgiving: true }),
	});
}

/** Longer code stays plain: colouring it would hold up the page. */
const LIMIT = 40_000;

/** Colours code of a known language; undefined when it stays plain. */
export async function highlight(code: string, name: string): Promise<Token[][] | undefined> {
	const language = knownLanguage(name);
	const loader = language === undefined ? undefined : languages[language];
	if (!language || !loader || code.length > LIMIT) return undefined;
	try {
		highlighter ??= load();
		const core = await highlighter;
		if (!core.getLoadedLanguages().includes(language))
			await core.loadLanguage((await loader()).default);
		const lines: ThemedToken[][] = core.codeToTokensBase(code, { lang: language, theme: THEME });
		return lines.map((line) =>
			line.map((token) => ({
				text: token.content,
				className: classOf[(token.color ?? "").toLowerCase()] ?? "",
			})),
		);
	} catch {
		return undefined; // Plain code is readable code.
	}
}
