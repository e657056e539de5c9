import { Square, SquareCheck } from "lucide-react";
import { isValidElement, memo, type ReactNode, useRef } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import remend from "remend";
import { useT } from "@/i18n/i18n";
import { outward } from "@/ui/opener";
import { type Blocks, noBlocks, openFence, splitBlocks } from "./blocks";
import { CodeBlock } from "./code-block";
import type { MarkdownProps } from "./markdown";

/**
 * Finished blocks are parsed once; the last one again with every piece, with its open marks closed so
 * that it does not flicker. Raw HTML stays text.
 */
export function Rich({ text, streaming }: MarkdownProps) {
	const memory = useRef<Blocks>(noBlocks);
	memory.current = splitBlocks(memory.current, text);
	const { blocks } = memory.current;
	return (
		<div className="prose">
			{blocks.map((block, at) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: a finished block keeps its place for good.
				<Block key={at} text={block} open={streaming && at === blocks.length - 1} />
			))}
		</div>
	);
}

const Block = memo(function Block({ text, open }: { text: string; open: boolean }) {
	const fence = open ? openFence(text) : undefined;
	if (fence) return <CodeBlock code={fence.code} language={fence.language} open />;
	return (
		<div className="block">
			<ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={transform}>
				{open ? remend(text, { linkMode: "text-only" }) : text}
			</ReactMarkdown>
		</div>
	);
});

const PLUGINS = [remarkGfm];

const transform = (url: string): string => outward(url) ?? "";

const COMPONENTS: Components = {
	a: ({ href, children }) => <Outward href={href}>{children}</Outward>,
	// A picture from elsewhere would tell its server who reads this; its address is shown instead.
	img: ({ src, alt }) => (
		<Outward href={typeof src === "string" ? src : undefined}>{alt || String(src ?? "")}</Outward>
	),
	pre: ({ children }) => {
		const { code, language } = codeOf(children);
		return <CodeBlock code={code} language={language} />;
	},
	input: ({ checked }) => <Tick checked={checked === true} />,
	table: ({ children }) => (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: a pane that scrolls must be reachable by keyboard.
		<div className="table-scroll" tabIndex={0}>
			<table>{children}</table>
		</div>
	),
};

/** The box of a task: a sign, not a control. */
function Tick({ checked }: { checked: boolean }) {
	const t = useT();
	const Icon = checked ? SquareCheck : Square;
	return (
		<Icon
			size={15}
			role="img"
			aria-label={t(checked ? "plan.completed" : "plan.not-started")}
			className={`mr-2 inline align-[-2px] ${checked ? "text-good" : "text-soft"}`}
		/>
	);
}

/** Every link of a text goes through here; the page itself hands it to the one opener. */
function Outward({ href, children }: { href: string | undefined; children: ReactNode }) {
	const t = useT();
	if (!outward(href)) return <span title={t("link.refused")}>{children}</span>;
	return (
		<a
			href={href}
			target="_blank"
			rel="noopener noreferrer"
			title={href}
			className="text-accent decoration-accent/40 hover:decoration-accent underline underline-offset-2"
		>
			{children}
		</a>
	);
}

function codeOf(children: ReactNode): { code: string; language: string } {
	if (!isValidElement<{ className?: string; children?: ReactNode }>(children)) {
		return { code: String(children ?? ""), language: "" };
	}
	const language = /language-(\S+)/.exec(children.props.className ?? "")?.[1] ?? "";
	return { code: String(children.props.children ?? "").replace(/\n$/, ""), language };
}
