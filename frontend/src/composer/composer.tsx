import { ArrowUp, Paperclip, Square } from "lucide-react";
import {
	type ReactNode,
	type Ref,
	useEffect,
	useImperativeHandle,
	useLayoutEffect,
	useRef,
	useState,
} from "react";
import { useT } from "@/i18n/i18n";
import { IconButton } from "@/ui/button";
import { KeyReader, keyPress } from "@/ui/keys";
import { Tip } from "@/ui/tip";
import { readDraft, writeDraft } from "./drafts";
import { type ComposerFiles, FileStrip, useFileDrop, usePaste } from "./files";
import { mentionAt, withMention } from "./mention";
import { completed, type SlashWord, slashChoices } from "./slash";
import { useFound, useSuggestions } from "./suggestions";

export interface ComposerHandle {
	focus(): void;
	/** Puts text in, for a person to go on with. */
	fill(text: string): void;
	/** Puts text in if nothing is there. */
	offer(text: string): void;
	/** Puts text below what is there. */
	add(text: string): void;
}

interface ComposerProps {
	ref?: Ref<ComposerHandle>;
	/** Where the draft belongs: a session's id, or `new`. */
	place: string;
	appName: string;
	/** Somebody is there to answer (features.send). */
	enabled: boolean;
	running?: boolean;
	/** Sends; false or a rejection leaves the text and the files in the box. */
	onSend(text: string, files?: readonly File[]): boolean | Promise<boolean>;
	onStop?(): void;
	/** What goes with the text; without it nothing can be attached. */
	files?: ComposerFiles;
	/** Finds files of the place by what was typed behind an `@`; absent where there is none. */
	findFiles?: ((query: string) => Promise<readonly string[]>) | undefined;
	/** What stands above the box: the plan, the queue. */
	children?: ReactNode;
	/** What stands below the text, beside Send: the quick settings. */
	tools?: ReactNode;
	autoFocus?: boolean;
}

/** The server takes no more than this (decisions F15). */
const LONGEST = 200_000;
const DRAFT_DELAY_MS = 300;

/** The message box. Enter sends, Shift+Enter breaks the line, Stop takes Send's place while it is empty. */
export function Composer({
	ref,
	place,
	appName,
	enabled,
	running = false,
	onSend,
	onStop,
	files,
	findFiles,
	children,
	tools,
	autoFocus = false,
}: ComposerProps) {
	const t = useT();
	const [text, setText] = useState(() => readDraft(place));
	const latest = useRef(text);
	const box = useRef<HTMLTextAreaElement>(null);
	const keys = useRef(new KeyReader());
	const sending = useRef(false);
	const [busy, setBusy] = useState(false);

	const change = (next: string) => {
		latest.current = next;
		setText(next);
	};

	const fill = (next: string) => {
		change(next);
		box.current?.focus();
	};
	useImperativeHandle(ref, () => ({
		focus: () => box.current?.focus(),
		fill,
		offer: (next) => latest.current.trim() === "" && fill(next),
		add: (next) => change(latest.current.trim() === "" ? next : `${latest.current}\n${next}`),
	}));

	const [caret, setCaret] = useState(0);
	const mention = findFiles ? mentionAt(text, caret) : undefined;
	const found = useFound(mention?.query, findFiles);
	const words = slashChoices(text);
	const suggest = useSuggestions(
		text,
		t(words.length > 0 ? "composer.slash" : "composer.mention"),
		words.length > 0
			? words.map((word) => ({ key: word, label: `/${word}`, about: t(`composer.slash.${word}`) }))
			: found.map((path) => ({ key: path, label: path })),
		(key) => {
			if (!mention) return fill(completed(key as SlashWord));
			const next = withMention(text, caret, mention, key);
			fill(next.text);
			setCaret(next.caret);
			// After the text is there.
			setTimeout(() => box.current?.setSelectionRange(next.caret, next.caret), 0);
		},
	);

	useDraft(place, text, latest);
	useGrowing(box, text);
	useEffect(() => {
		if (autoFocus) box.current?.focus();
	}, [autoFocus]);

	const over = text.length - LONGEST;
	const attached = files?.list.length ?? 0;
	const empty = text.trim() === "" && attached === 0;
	const paste = usePaste(files);
	const dropping = useFileDrop(
		enabled && files !== undefined,
		files?.add ?? nothing,
		files?.fetch ?? nothing,
	);
	const canSend = enabled && !empty && over <= 0 && !busy;

	const submit = async () => {
		const message = latest.current;
		// The box is emptied at once: a second click or Enter finds nothing to send (FAIL-A20).
		if (sending.current || !enabled || message.length > LONGEST) return;
		if (message.trim() === "" && attached === 0) return;
		const going = files?.take() ?? [];
		sending.current = true;
		change("");
		writeDraft(place, "");
		let taken = false;
		try {
			const answer = going.length > 0 ? onSend(message.trim(), going) : onSend(message.trim());
			if (typeof answer === "boolean") taken = answer;
			else {
				setBusy(true);
				taken = await answer;
			}
		} finally {
			sending.current = false;
			setBusy(false);
			if (!taken) {
				change([message, latest.current].filter((words) => words !== "").join("\n"));
				writeDraft(place, latest.current);
				if (going.length > 0) files?.add(going);
			}
		}
	};

	const stops = running && empty && onStop !== undefined;
	return (
		<div className="mx-auto w-full max-w-[46rem] px-3 pb-3 sm:px-6 sm:pb-5">
			<form
				data-testid="composer"
				className={`bg-raised focus-within:border-edge relative overflow-hidden rounded-2xl border shadow-sm transition-colors ${dropping ? "border-accent" : "border-line"}`}
				onSubmit={(event) => {
					event.preventDefault();
					void submit();
				}}
			>
				{children}
				{suggest.list}
				{files && <FileStrip files={files} onRemoved={() => box.current?.focus()} />}
				<div className="flex flex-wrap items-end gap-2 p-2 pl-4">
					<textarea
						ref={box}
						id="composer"
						rows={1}
						value={text}
						disabled={!enabled}
						aria-label={t("composer.label")}
						aria-describedby="composer-note"
						{...suggest.box}
						placeholder={
							!enabled
								? t("composer.off")
								: t(running ? "composer.placeholder.running" : "composer.placeholder", {
										name: appName,
									})
						}
						className={`placeholder:text-soft max-h-[33vh] min-h-9 min-w-0 flex-1 resize-none overflow-y-auto bg-transparent py-1.5 leading-6 outline-none disabled:cursor-not-allowed ${tools ? "basis-full" : ""}`}
						onChange={(event) => {
							change(event.target.value);
							setCaret(event.target.selectionStart);
						}}
						onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
						onPaste={paste}
						onCompositionStart={() => keys.current.compositionStart()}
						onCompositionEnd={(event) => keys.current.compositionEnd(event.timeStamp)}
						onKeyDown={(event) => {
							if (suggest.read(event)) return;
							const intent = keys.current.read(keyPress(event));
							if (intent === "send") {
								event.preventDefault();
								void submit();
							} else if (intent === "stop" && stops) {
								event.preventDefault();
								onStop();
							}
						}}
					/>
					{/* Wide enough never to fit beside the text. */}
					{tools && <div className="-ml-2 min-h-8 min-w-0 grow basis-24">{tools}</div>}
					{files && <AttachButton enabled={enabled} onFiles={files.add} />}
					{stops ? (
						<RoundButton
							label={t("composer.stop")}
							testId="stop"
							onClick={onStop}
							className="bg-ink text-canvas"
						>
							<Square size={13} fill="currentColor" />
						</RoundButton>
					) : (
						<RoundButton
							label={t("composer.send")}
							testId="send"
							disabled={!canSend}
							onClick={() => void submit()}
							className="bg-accent text-on-accent hover:bg-accent-strong disabled:bg-hover disabled:text-soft"
						>
							<ArrowUp size={18} />
						</RoundButton>
					)}
				</div>
				{dropping && (
					<p className="bg-accent-wash text-accent-strong pointer-events-none absolute inset-0 flex items-center justify-center text-sm font-medium">
						{t("composer.drop")}
					</p>
				)}
			</form>
			<p id="composer-note" className={over > 0 ? "text-bad mt-1.5 px-2 text-xs" : "sr-only"}>
				{over > 0 ? t("composer.tooLong", { count: over }) : t("composer.hint")}
			</p>
		</div>
	);
}

const nothing = () => undefined;

/** Opens the system's own dialog. */
function AttachButton({
	enabled,
	onFiles,
}: {
	enabled: boolean;
	onFiles(files: readonly File[]): void;
}) {
	const t = useT();
	const input = useRef<HTMLInputElement>(null);
	return (
		<>
			<input
				ref={input}
				type="file"
				multiple
				hidden
				data-testid="attach-input"
				onChange={(event) => {
					onFiles([...(event.target.files ?? [])]);
					// The same file can be chosen again after it was removed.
					event.target.value = "";
				}}
			/>
			<IconButton
				label={t("composer.attach")}
				data-testid="attach"
				disabled={!enabled}
				onClick={() => input.current?.click()}
			>
				<Paperclip size={17} />
			</IconButton>
		</>
	);
}

function RoundButton({
	label,
	testId,
	className,
	disabled = false,
	onClick,
	children,
}: {
	label: string;
	testId: string;
	className: string;
	disabled?: boolean;
	onClick(): void;
	children: ReactNode;
}) {
	return (
		<Tip text={label}>
			<button
				type="button"
				data-testid={testId}
				aria-label={label}
				disabled={disabled}
				onClick={onClick}
				className={`flex size-9 shrink-0 items-center justify-center rounded-full transition-colors disabled:cursor-default ${className}`}
			>
				{children}
			</button>
		</Tip>
	);
}

// Written a moment after the last key, and at once when the page or the place is left.
function useDraft(place: string, text: string, latest: React.RefObject<string>) {
	useEffect(() => {
		const timer = setTimeout(() => writeDraft(place, text), DRAFT_DELAY_MS);
		return () => clearTimeout(timer);
	}, [place, text]);
	useEffect(() => {
		const save = () => writeDraft(place, latest.current);
		window.addEventListener("pagehide", save);
		return () => {
			window.removeEventListener("pagehide", save);
			save();
		};
	}, [place, latest]);
}

// Grows with its text up to the third of the window that CSS allows; a new width wraps it anew.
function useGrowing(box: React.RefObject<HTMLTextAreaElement | null>, text: string) {
	const width = useRef(0);
	// biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text.
	useLayoutEffect(() => grow(box.current), [box, text]);
	useEffect(() => {
		const area = box.current;
		if (!area) return;
		const watcher = new ResizeObserver(() => {
			if (area.clientWidth === width.current) return;
			width.current = area.clientWidth;
			grow(area);
		});
		watcher.observe(area);
		return () => watcher.disconnect();
	}, [box]);
}

function grow(area: HTMLTextAreaElement | null): void {
	if (!area) return;
	area.style.height = "";
	// An empty box is as high as its one row; its placeholder does not count.
	if (area.value !== "") {
		area.style.height = "0";
		area.style.height = `${area.scrollHeight}px`;
	}
}
