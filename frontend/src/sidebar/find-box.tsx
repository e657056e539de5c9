import { Search, X } from "lucide-react";
import type { RefObject } from "react";
import { focusRow } from "./focus-row";

/** A box that narrows the list below it. Escape empties it, the arrow down leads into the list. */
export function FindBox({
	box,
	testId,
	label,
	clear,
	value,
	disabled = false,
	onChange,
}: {
	box?: RefObject<HTMLInputElement | null>;
	testId: string;
	label: string;
	/** The name of the button that empties it. */
	clear: string;
	value: string;
	disabled?: boolean;
	onChange(value: string): void;
}) {
	return (
		<div className="relative min-w-0 flex-1">
			<Search
				size={15}
				aria-hidden
				className="text-soft absolute top-1/2 left-2.5 -translate-y-1/2"
			/>
			<input
				ref={box}
				type="search"
				data-testid={testId}
				aria-label={label}
				placeholder={label}
				value={value}
				disabled={disabled}
				onChange={(event) => onChange(event.target.value)}
				onKeyDown={(event) => {
					if (event.nativeEvent.isComposing) return;
					if (event.key === "Escape") onChange("");
					if (event.key === "ArrowDown") focusRow(event.currentTarget.closest("nav"), 0);
				}}
				className="border-line bg-raised placeholder:text-soft h-9 w-full appearance-none rounded-lg border pr-8 pl-8 text-sm disabled:opacity-60 [&::-webkit-search-cancel-button]:hidden"
			/>
			{value !== "" && (
				<button
					type="button"
					aria-label={clear}
					onClick={() => onChange("")}
					className="text-soft hover:text-ink absolute top-1/2 right-1.5 flex size-6 -translate-y-1/2 items-center justify-center rounded"
				>
					<X size={14} />
				</button>
			)}
		</div>
	);
}
