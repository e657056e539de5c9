import { WrapText } from "lucide-react";
import { memo, useEffect, useState } from "react";
import { useT } from "@/i18n/i18n";
import { IconButton } from "@/ui/button";
import { CopyButton } from "@/ui/copy";
import { highlight, type Token } from "./highlight";

/** A block of code. Colour comes once it is closed; while it streams it is plain and cheap. */
export const CodeBlock = memo(function CodeBlock({
	code,
	language,
	open = false,
}: {
	code: string;
	language: string;
	open?: boolean;
}) {
	const t = useT();
	const [wrap, setWrap] = useState(false);
	const lines = useHighlight(code, language, open);
	return (
		<figure className="border-line bg-sunken group/code block my-3 overflow-hidden rounded-xl border">
			<figcaption className="text-soft flex h-8 items-center justify-between pr-1 pl-3 font-mono text-xs">
				<span>{language}</span>
				<span className="flex">
					<IconButton
						label={t("code.wrap")}
						aria-pressed={wrap}
						className="size-7"
						onClick={() => setWrap(!wrap)}
					>
						<WrapText size={14} />
					</IconButton>
					<CopyButton text={() => code} label={t("code.copy")} done={t("common.copied")} />
				</span>
			</figcaption>
			<pre
				// A block that scrolls sideways must be reachable by keyboard.
				// biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
				tabIndex={0}
				className={`px-3 pb-3 font-mono text-[13px] leading-relaxed ${wrap ? "break-words whitespace-pre-wrap" : "overflow-x-auto"}`}
			>
				<code>{lines ? <Tokens lines={lines} /> : code}</code>
			</pre>
		</figure>
	);
});

function Tokens({ lines }: { lines: Token[][] }) {
	return lines.map((line, at) => (
		// biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place.
		<span key={at}>
			{line.map((token, n) =>
				token.className ? (
					// biome-ignore lint/suspicious/noArrayIndexKey: as above.
					<span key={n} className={token.className}>
						{token.text}
					</span>
				) : (
					token.text
				),
			)}
			{at < lines.length - 1 && "\n"}
		</span>
	));
}

function useHighlight(code: string, language: string, open: boolean): Token[][] | undefined {
	const [result, setResult] = useState<{ code: string; lines: Token[][] }>();
	useEffect(() => {
		if (open || language === "") return;
		let wanted = true;
		// After what is on screen has been drawn.
		const timer = setTimeout(() => {
			void highlight(code, language).then((lines) => {
				if (wanted && lines) setResult({ code, lines });
			});
		}, 30);
		return () => {
			wanted = false;
			clearTimeout(timer);
		};
	}, [code, language, open]);
	return result?.code === code ? result.lines : undefined;
}
