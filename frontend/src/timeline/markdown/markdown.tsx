import { type ComponentType, memo } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { Plain } from "./plain";

export interface MarkdownProps {
	text: string;
	/** More of it is on its way. */
	streaming: boolean;
}

/** The parser is large and comes after the first paint; until it is here, text is plain. */
const parser = createStore<{ Rich?: ComponentType<MarkdownProps> }>(() => ({}));
let loading: Promise<void> | undefined;

const RETRY_MS = 3_000;

/** Fetches the parser, once. Resolves when it is here, or could not be had for now. */
export function loadMarkdown(): Promise<void> {
	loading ??= import("./rich").then(
		({ Rich }) => parser.setState({ Rich }),
		() => {
			// The server may be on its way back; plain text is readable text.
			setTimeout(() => {
				loading = undefined;
				void loadMarkdown();
			}, RETRY_MS);
		},
	);
	return loading;
}

/** Markdown that may still be growing. */
export const Markdown = memo(function Markdown({
	text,
	streaming = false,
}: Pick<MarkdownProps, "text"> & Partial<MarkdownProps>) {
	const Rich = useStore(parser, (state) => state.Rich);
	return Rich ? <Rich text={text} streaming={streaming} /> : <Plain text={text} />;
});
