import { File as FileIcon, X } from "lucide-react";
import { type ClipboardEvent, useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { type MessageKey, useLocale } from "@/i18n/i18n";
import { useApp, useDesktop } from "@/state/context";
import {
	type DraftFile,
	LARGEST_FILE,
	LARGEST_MESSAGE,
	MOST_FILES,
	type NotTaken,
	type OfferedFile,
} from "@/state/draft-files";
import { Untrusted } from "@/ui/untrusted";

/** The files of the message that is being written. */
export interface ComposerFiles {
	readonly list: readonly DraftFile[];
	readonly refused: readonly NotTaken[];
	add(files: readonly File[]): void;
	/** Takes up what the desktop window was given. */
	fetch(offers: readonly OfferedFile[]): void;
	remove(id: number): void;
	/** Hands them over. */
	take(): readonly File[];
}

export function useDraftFiles(place: string): ComposerFiles {
	const app = useApp();
	const { draftFiles } = app;
	const state = useStore(draftFiles.store, (all) => all.get(place));
	return useMemo(
		() => ({
			list: state?.files ?? [],
			refused: state?.refused ?? [],
			add: (files) => draftFiles.add(place, files),
			fetch: (offers) => void app.attempt(draftFiles.fetch(place, offers)),
			remove: (id) => draftFiles.remove(place, id),
			take: () => draftFiles.take(place),
		}),
		[app, draftFiles, place, state],
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

/** Takes up what is pasted, unless it is words. */
export function usePaste(files: ComposerFiles | undefined) {
	const desktop = useDesktop();
	return (event: ClipboardEvent) => {
		if (!files) return;
		const { clipboardData } = event;
		const pasted = pastedFiles(clipboardData);
		if (pasted.length > 0) {
			event.preventDefault();
			files.add(pasted);
		} else if (desktop && clipboardData.getData("text/plain") === "") {
			// WebKitGTK brings no picture along with a paste, but lets it read the clipboard; one without a
			// picture is no failure.
			clipboardPictures().then(files.add, () => undefined);
		}
	};
}

async function clipboardPictures(): Promise<readonly File[]> {
	const pictures: File[] = [];
	for (const item of await navigator.clipboard.read()) {
		const type = item.types.find((one) => one.startsWith("image/"));
		if (type === undefined) continue;
		const name = `image.${type.replace(/^image\/|\+.*$/g, "")}`;
		pictures.push(new File([await item.getType(type)], name, { type }));
	}
	return pictures;
}

/**
 * Takes up what is dropped anywhere on the page; without it the browser would leave for the file. Some
 * windows show the page no file: they are given it, and tell of it by themselves.
 */
export function useFileDrop(
	enabled: boolean,
	add: (files: readonly File[]) => void,
	fetch: (offers: readonly OfferedFile[]) => void,
): boolean {
	const [over, setOver] = useState(false);
	const desktop = useDesktop();
	useEffect(() => (enabled ? desktop?.onDropped(fetch) : undefined), [enabled, desktop, fetch]);
	useEffect(() => {
		// What the page drags itself is no file.
		let own = false;
		const has = ({ dataTransfer }: DragEvent) =>
			dataTransfer !== null &&
			!own &&
			(dataTransfer.types.includes("Files") ||
				(desktop !== undefined && dataTransfer.types.includes("text/uri-list")));
		const begin = () => {
			own = true;
		};
		const end = () => {
			own = false;
		};
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
			const files = [...(event.dataTransfer?.files ?? [])];
			if (enabled && files.length > 0) add(files);
		};
		const listeners = [
			["dragstart", begin],
			["dragend", end],
			// WebKit asks anew with every enter whether it is taken.
			["dragenter", move],
			["dragover", move],
			["dragleave", leave],
			["drop", drop],
		] as const;
		for (const [name, heard] of listeners) window.addEventListener(name, heard);
		return () => {
			for (const [name, heard] of listeners) window.removeEventListener(name, heard);
		};
	}, [enabled, desktop, add]);
	return over;
}
