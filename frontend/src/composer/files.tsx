import { File as FileIcon, X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { type MessageKey, useLocale } from "@/i18n/i18n";
import { useApp } from "@/state/context";
import {
	type DraftFile,
	LARGEST_FILE,
	LARGEST_MESSAGE,
	MOST_FILES,
	type NotTaken,
} from "@/state/draft-files";
import { Untrusted } from "@/ui/untrusted";

/** The files of the message that is being written. */
export interface ComposerFiles {
	readonly list: readonly DraftFile[];
	readonly refused: readonly NotTaken[];
	add(files: readonly File[]): void;
	remove(id: number): void;
	/** Hands them over. */
	take(): readonly File[];
}

export function useDraftFiles(place: string): ComposerFiles {
	const { draftFiles } = useApp();
	const state = useStore(draftFiles.store, (all) => all.get(place));
	return useMemo(
		() => ({
			list: state?.files ?? [],
			refused: state?.refused ?? [],
			add: (files) => draftFiles.add(place, files),
			remove: (id) => draftFiles.remove(place, id),
			take: () => draftFiles.take(place),
		}),
		[draftFiles, place, state],
	);
}

/** What is attached, with a way to take each off, and what was not taken, with the reason. */
export function FileStrip({
	files,
	onRemoved,
}: {
	files: ComposerFiles;
	/** Its button is gone, so the focus has to go somewhere. */
	onRemoved(): void;
}) {
	const { t } = useLocale();
	if (files.list.length === 0 && files.refused.length === 0) return null;
	return (
		<div className="px-3 pt-3">
			{files.list.length > 0 && (
				<ul
					aria-label={t("composer.files")}
					data-testid="draft-files"
					className="flex max-h-40 flex-wrap gap-2 overflow-y-auto"
				>
					{files.list.map((draft) => (
						<Attached
							key={draft.id}
							draft={draft}
							onRemove={() => {
								files.remove(draft.id);
								onRemoved();
							}}
						/>
					))}
				</ul>
			)}
			<div role="alert" className="text-bad text-[13px]">
				{files.refused.map((one, at) => (
					// biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name.
					<p key={at} data-testid="file-refused" className="mt-1.5">
						<Reason {...one} />
					</p>
				))}
			</div>
		</div>
	);
}

function Reason({ why, name, size }: NotTaken) {
	const { t, size: inWords } = useLocale();
	const key: MessageKey = `composer.file.${why}`;
	const most = {
		empty: "",
		large: inWords(LARGEST_FILE),
		many: MOST_FILES,
		together: inWords(LARGEST_MESSAGE),
	}[why];
	return <Untrusted text={t(key, { name, size: inWords(size), most })} />;
}

function Attached({ draft, onRemove }: { draft: DraftFile; onRemove(): void }) {
	const { t, size } = useLocale();
	const { file } = draft;
	return (
		<li
			data-testid="draft-file"
			className="border-line bg-sunken relative flex h-14 max-w-60 items-center gap-2 rounded-xl border pr-9 pl-2"
		>
			<Thumbnail file={file} />
			<span className="min-w-0 text-[13px] leading-tight">
				<span className="block truncate" title={file.name}>
					<Untrusted text={file.name} />
				</span>
				<span className="text-soft text-xs">{size(file.size)}</span>
			</span>
			<button
				type="button"
				aria-label={t("composer.file.remove", { name: file.name })}
				className="text-soft hover:bg-hover hover:text-ink absolute top-1/2 right-1 flex size-7 -translate-y-1/2 items-center justify-center rounded-lg"
				onClick={onRemove}
			>
				<X size={14} />
			</button>
		</li>
	);
}

/** A small picture of a picture. What it says it is may be wrong; then the sign of a file stands there. */
function Thumbnail({ file }: { file: File }) {
	const [src, setSrc] = useState<string>();
	useEffect(() => {
		// An SVG may be as large as it likes when it is drawn.
		if (!/^image\/(png|jpeg|gif|webp|bmp|avif)$/.test(file.type)) return;
		const url = URL.createObjectURL(file);
		setSrc(url);
		return () => URL.revokeObjectURL(url);
	}, [file]);
	if (src === undefined) return <FileIcon size={20} aria-hidden className="text-soft shrink-0" />;
	return (
		<img
			src={src}
			alt=""
			className="bg-canvas size-10 shrink-0 rounded-lg object-cover"
			onError={() => setSrc(undefined)}
		/>
	);
}

/** The files of a paste, unless what was copied is words that have a picture of themselves beside them. */
export function pastedFiles(data: DataTransfer): readonly File[] {
	const words = data.types.includes("text/html") && data.getData("text/plain") !== "";
	return words ? [] : [...data.files];
}

/** Takes up what is dropped anywhere on the page; without it the browser would leave for the file. */
export function useFileDrop(enabled: boolean, add: (files: readonly File[]) => void): boolean {
	const [over, setOver] = useState(false);
	useEffect(() => {
		const has = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
		const move = (event: DragEvent) => {
			if (!has(event)) return;
			event.preventDefault();
			if (event.dataTransfer) event.dataTransfer.dropEffect = enabled ? "copy" : "none";
			setOver(enabled);
		};
		const leave = (event: DragEvent) => {
			if (event.relatedTarget === null) setOver(false);
		};
		const drop = (event: DragEvent) => {
			if (!has(event)) return;
			event.preventDefault();
			setOver(false);
			if (enabled) add([...(event.dataTransfer?.files ?? [])]);
		};
		window.addEventListener("dragover", move);
		window.addEventListener("dragleave", leave);
		window.addEventListener("drop", drop);
		return () => {
			window.removeEventListener("dragover", move);
			window.removeEventListener("dragleave", leave);
			window.removeEventListener("drop", drop);
		};
	}, [enabled, add]);
	return over;
}
