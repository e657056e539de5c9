import { Search, X } from "lucide-react";

/** A box that narrows what stands below it; Escape empties it before it means anything else. */
export function Find({
	label,
	clear,
	value,
	testId,
	onChange,
}: {
	label: string;
	/** The name of the button that empties it. */
	clear: string;
	value: string;
	testId: string;
	onChange(value: string): void;
}) {
	return (
		<div className="relative">
			<Search
				size={14}
				aria-hidden
				className="text-soft absolute top-1/2 left-2.5 -translate-y-1/2"
			/>
			<input
				type="search"
				data-testid={testId}
				aria-label={label}
				placeholder={label}
				value={value}
				onChange={(event) => onChange(event.target.value)}
				onKeyDown={(event) => {
					if (event.key !== "Escape" || value === "" || event.nativeEvent.isComposing) return;
					event.stopPropagation();
					onChange("");
				}}
				className="border-line bg-canvas placeholder:text-soft h-9 w-full appearance-none rounded-lg border pr-8 pl-8 text-sm [&::-webkit-search-cancel-button]:hidden"
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
