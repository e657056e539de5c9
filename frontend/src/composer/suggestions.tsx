import { useEffect, useState } from "react";

/** One thing that what is typed may become. */
export interface Suggestion {
	readonly key: string;
	readonly label: string;
	readonly about?: string;
}

/** What fits what is typed, and the keys among it. Enter takes one before it sends; Escape leaves it. */
export function useSuggestions(
	text: string,
	label: string,
	all: readonly Suggestion[],
	choose: (key: string) => void,
) {
	const [at, setAt] = useState(0);
	const [closed, setClosed] = useState("");
	const open = text === closed ? [] : all;
	const marked = Math.min(at, open.length - 1);
	const current = open[marked];
	return {
		list:
			open.length > 0 ? (
				<SuggestionList label={label} all={open} marked={marked} onChoose={choose} />
			) : undefined,
		box: current
			? { "aria-controls": "suggestions", "aria-activedescendant": `suggestion-${marked}` }
			: {},
		read(event: React.KeyboardEvent): boolean {
			// A key of an input method is its own; WebKit marks it by its code alone.
			if (!current || event.nativeEvent.isComposing || event.keyCode === 229) return false;
			const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
			if (step !== 0) setAt((marked + step + open.length) % open.length);
			else if (event.key === "Escape") setClosed(text);
			else if ((event.key === "Tab" || event.key === "Enter") && !event.shiftKey) {
				choose(current.key);
				setAt(0);
			} else return false;
			event.preventDefault();
			return true;
		},
	};
}

function SuggestionList({
	label,
	all,
	marked,
	onChoose,
}: {
	label: string;
	all: readonly Suggestion[];
	marked: number;
	onChoose(key: string): void;
}) {
	return (
		<div
			id="suggestions"
			role="listbox"
			aria-label={label}
			data-testid="suggestions"
			tabIndex={-1}
			className="border-line max-h-60 overflow-y-auto border-b p-1.5 text-sm"
		>
			{all.map(({ key, label: name, about }, at) => (
				<div
					key={key}
					id={`suggestion-${at}`}
					ref={at === marked ? intoView : undefined}
					role="option"
					tabIndex={-1}
					aria-selected={at === marked}
					className={`flex cursor-pointer items-baseline gap-3 rounded-lg px-3 py-1.5 ${at === marked ? "bg-hover" : ""}`}
					// Before the box loses the focus.
					onMouseDown={(event) => {
						event.preventDefault();
						onChoose(key);
					}}
				>
					<code className="min-w-0 truncate font-mono text-[13px]">{name}</code>
					{about && <span className="text-soft truncate">{about}</span>}
				</div>
			))}
		</div>
	);
}

const intoView = (element: HTMLElement | null) => element?.scrollIntoView?.({ block: "nearest" });

const ASK_AFTER_MS = 80;

/** The files that fit a query, asked for a moment after the last key; none while there is no query. */
export function useFound(
	query: string | undefined,
	find: ((query: string) => Promise<readonly string[]>) | undefined,
): readonly string[] {
	const [found, setFound] = useState<{ query: string; files: readonly string[] }>();
	useEffect(() => {
		if (query === undefined || !find) {
			setFound(undefined);
			return;
		}
		let wanted = true;
		const timer = setTimeout(() => {
			find(query).then(
				(files) => wanted && setFound({ query, files }),
				// Without an answer nothing is offered; what is typed stands as it is.
				() => wanted && setFound(undefined),
			);
		}, ASK_AFTER_MS);
		return () => {
			wanted = false;
			clearTimeout(timer);
		};
	}, [query, find]);
	return query === undefined || found === undefined ? [] : found.files;
}
