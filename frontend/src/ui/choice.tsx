import { Check } from "lucide-react";
import { type ReactElement, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Popover } from "./popover";

interface ChoiceOption {
	readonly key: string;
	readonly label: string;
	readonly hint?: string;
	readonly group?: string;
}

interface ChoiceTexts {
	find: string;
	none: string;
	empty: string;
	more(count: number): string;
	custom(text: string): string;
}

interface ChoiceProps<T extends ChoiceOption> {
	/** What is being chosen. */
	label: string;
	trigger: ReactElement<Record<string, unknown>>;
	options: readonly T[];
	/** The key of the option that is chosen now. */
	chosen?: string | undefined;
	texts: ChoiceTexts;
	onChoose(option: T): void;
	/** Takes what is typed when no option has that name; absent: only options are taken. */
	onCustom?: ((text: string) => void) | undefined;
	/** Stands above the options: that they are on their way, or could not be had. */
	status?: ReactNode;
	onOpenChange?(open: boolean): void;
	align?: "start" | "end";
}

/** More than this is narrowed by typing instead of scrolled through. */
const MOST_SHOWN = 150;
/** Up to so many are seen at a glance. */
const FEW = 7;

/** A button that opens a list to choose one of; many are found by typing. */
export function Choice<T extends ChoiceOption>(props: ChoiceProps<T>) {
	const { label, trigger, onOpenChange, align = "start" } = props;
	const [open, setOpen] = useState(false);
	const change = (next: boolean) => {
		setOpen(next);
		onOpenChange?.(next);
	};
	return (
		<Popover
			label={label}
			open={open}
			onOpenChange={change}
			align={align}
			className="w-80 overflow-hidden"
			trigger={trigger}
		>
			<Options {...props} onDone={() => change(false)} />
		</Popover>
	);
}

function Options<T extends ChoiceOption>({
	label,
	options,
	chosen,
	texts,
	onChoose,
	onCustom,
	status,
	onDone,
}: ChoiceProps<T> & { onDone(): void }) {
	const id = useId();
	const [query, setQuery] = useState("");
	const [active, setActive] = useState<number>();
	const list = useRef<HTMLDivElement>(null);
	const words = query.trim().toLowerCase();
	const fitting = options.filter((option) =>
		[option.label, option.group, option.hint].join(" ").toLowerCase().includes(words),
	);
	const shown = fitting.slice(0, MOST_SHOWN);
	const custom =
		onCustom && words !== "" && !options.some((option) => option.label === query.trim())
			? query.trim()
			: undefined;
	const count = shown.length + (custom === undefined ? 0 : 1);
	const start = Math.max(
		0,
		shown.findIndex((option) => option.key === chosen),
	);
	const at = Math.min(active ?? start, count - 1);
	const finds = options.length > FEW || onCustom !== undefined;
	// biome-ignore lint/correctness/useExhaustiveDependencies: kept in view whenever it moves or options come.
	useEffect(() => {
		showIn(list.current, list.current?.querySelector<HTMLElement>("[aria-selected=true]"));
	}, [at, options]);
	const take = (n: number) => {
		const option = shown[n];
		if (option) onChoose(option);
		else if (custom !== undefined && n === shown.length) onCustom?.(custom);
		else return;
		onDone();
	};
	return (
		<>
			<input
				role="combobox"
				aria-expanded
				aria-controls={`${id}-list`}
				aria-activedescendant={count > 0 ? `${id}-${at}` : undefined}
				aria-autocomplete="list"
				aria-label={label}
				placeholder={texts.find}
				readOnly={!finds}
				value={query}
				data-testid="choice-find"
				className={
					finds
						? "border-line placeholder:text-soft h-10 shrink-0 border-b bg-transparent px-3.5 text-sm outline-none"
						: "sr-only"
				}
				onChange={(event) => {
					setQuery(event.target.value);
					setActive(0);
				}}
				onKeyDown={(event) => {
					if (event.nativeEvent.isComposing || event.keyCode === 229) return;
					const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
					if (step !== 0 && count > 0) {
						event.preventDefault();
						setActive((at + step + count) % count);
					} else if (event.key === "Enter") {
						event.preventDefault();
						take(at);
					}
				}}
			/>
			{status}
			<div
				ref={list}
				id={`${id}-list`}
				role="listbox"
				aria-label={label}
				className="min-h-0 overflow-y-auto p-1"
			>
				{count === 0 && !status && (
					<p className="text-soft px-2.5 py-2 text-sm">{words === "" ? texts.empty : texts.none}</p>
				)}
				{shown.map((option, n) => (
					<div key={option.key}>
						{option.group !== undefined && option.group !== shown[n - 1]?.group && (
							<p aria-hidden className="text-soft px-2.5 pt-1.5 pb-0.5 text-xs">
								{option.group}
							</p>
						)}
						<Option
							id={`${id}-${n}`}
							active={n === at}
							chosen={option.key === chosen}
							onPoint={() => setActive(n)}
							onTake={() => take(n)}
						>
							<span className="block truncate">{option.label}</span>
							{option.group && <span className="sr-only">{option.group}</span>}
							{option.hint && <span className="text-soft block text-xs">{option.hint}</span>}
						</Option>
					</div>
				))}
				{custom !== undefined && (
					<Option
						id={`${id}-${shown.length}`}
						active={at === shown.length}
						chosen={false}
						onPoint={() => setActive(shown.length)}
						onTake={() => take(shown.length)}
					>
						<span className="block truncate">{texts.custom(custom)}</span>
					</Option>
				)}
				{fitting.length > shown.length && (
					<p className="text-soft px-2.5 py-1.5 text-xs">
						{texts.more(fitting.length - shown.length)}
					</p>
				)}
			</div>
		</>
	);
}

function Option({
	id,
	active,
	chosen,
	onPoint,
	onTake,
	children,
}: {
	id: string;
	active: boolean;
	chosen: boolean;
	onPoint(): void;
	onTake(): void;
	children: ReactNode;
}) {
	return (
		// biome-ignore lint/a11y/useKeyWithClickEvents: the box above has the keys.
		<div
			id={id}
			role="option"
			tabIndex={-1}
			aria-selected={active}
			onClick={onTake}
			onPointerMove={onPoint}
			className={`flex items-start gap-2 rounded-lg px-2.5 py-1.5 text-sm ${active ? "bg-hover" : ""}`}
		>
			<span className="min-w-0 flex-1">{children}</span>
			{chosen && (
				<>
					<Check size={15} aria-hidden className="text-accent mt-0.5 shrink-0" />
					<span className="sr-only">✓</span>
				</>
			)}
		</div>
	);
}

// Not scrollIntoView: a panel that has not found its place yet would take the page along.
function showIn(list: HTMLElement | null, option: HTMLElement | null | undefined): void {
	if (!list || !option) return;
	const frame = list.getBoundingClientRect();
	const box = option.getBoundingClientRect();
	if (box.top < frame.top) list.scrollTop -= frame.top - box.top;
	else if (box.bottom > frame.bottom) list.scrollTop += box.bottom - frame.bottom;
}
