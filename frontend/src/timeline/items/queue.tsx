import { Clock, Paperclip, Pencil, Undo2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import type { QueueEntry } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp } from "@/state/context";
import type { OpenSession } from "@/state/open-session";
import type { QueueEdit } from "@/state/queue-edits";
import { Button, IconButton } from "@/ui/button";
import { KeyReader, keyPress } from "@/ui/keys";
import type { ItemProps } from "./view";

interface QueueProps extends ItemProps<"queue"> {
	/** Whose queue it is; without one nothing can be changed. */
	session?: OpenSession;
	/** A message of the owner's was taken back. */
	onTakenBack?(text: string, files: readonly File[]): void;
}

/** What waits to be taken up, in order, above the message box; the owner's words can be changed there. */
export function Queue({ item, session, onTakenBack }: QueueProps) {
	const t = useT();
	if (item.entries.length === 0) return null;
	return (
		<section
			aria-label={t("queue.label", { count: item.entries.length })}
			data-testid="queue"
			className="border-line border-b py-1.5 pr-2 pl-4 text-[13.5px]"
		>
			<p aria-hidden className="text-soft mb-0.5 flex items-center gap-1.5 text-xs">
				<Clock size={13} aria-hidden />
				{t("queue.label", { count: item.entries.length })}
			</p>
			<ol className="-ml-1 max-h-44 overflow-y-auto pl-1">
				{item.entries.map((entry, at) => (
					<li key={entry.ext?.inputId ?? at} data-testid="queue-entry">
						{session && entry.ext?.inputId ? (
							<Changeable
								entry={entry}
								inputId={entry.ext.inputId}
								session={session}
								onTakenBack={onTakenBack}
							/>
						) : (
							<p className="flex min-h-7 items-center gap-2 pr-2">
								<Words entry={entry} />
							</p>
						)}
					</li>
				))}
			</ol>
		</section>
	);
}

function Words({ entry }: { entry: QueueEntry }) {
	const t = useT();
	return (
		<>
			{!entry.speaker.owner && (
				<span className="text-soft shrink-0">{entry.speaker.nickname ?? entry.speaker.userId}</span>
			)}
			<span className="min-w-0 flex-1 truncate" title={entry.text}>
				{entry.text}
			</span>
			{entry.attachments > 0 && (
				<span
					className="text-soft max-w-[50%] shrink-0 truncate"
					title={t("queue.attachments", { count: entry.attachments })}
				>
					<Paperclip size={12} aria-hidden className="mr-1 inline align-[-1px]" />
					{entry.ext?.files
						? entry.ext.files.join(", ")
						: t("queue.attachments", { count: entry.attachments })}
				</span>
			)}
		</>
	);
}

function Changeable({
	entry,
	inputId,
	session,
	onTakenBack,
}: {
	entry: QueueEntry;
	inputId: string;
	session: OpenSession;
	onTakenBack: QueueProps["onTakenBack"];
}) {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	const edit = useStore(session.queueEdits, (state) => state.open.get(inputId));
	const [leaving, setLeaving] = useState(false);
	const pencil = useRef<HTMLButtonElement>(null);
	const editing = edit !== undefined;
	const edited = useRef(editing);
	useEffect(() => {
		// Whoever was typing here goes on where the field was opened from.
		if (edited.current && !editing && document.activeElement === document.body)
			pencil.current?.focus();
		edited.current = editing;
	}, [editing]);
	if (edit) return <Field entry={entry} inputId={inputId} session={session} edit={edit} />;
	const takeBack = async () => {
		setLeaving(true);
		const taken = await app.takeBack(session.id, inputId);
		setLeaving(false);
		if (!taken) return;
		const files = entry.ext?.clientId ? session.reclaim(entry.ext.clientId) : [];
		if (entry.speaker.owner) onTakenBack?.(entry.text, files);
	};
	return (
		<div className="flex min-h-7 items-center gap-2">
			<Words entry={entry} />
			<span className="flex shrink-0">
				{entry.speaker.owner && (
					<IconButton
						ref={pencil}
						label={t("queue.change")}
						className="size-7"
						disabled={leaving}
						data-testid="queue-change"
						onClick={() => session.editQueue({ type: "begin", inputId, text: entry.text })}
					>
						<Pencil size={14} />
					</IconButton>
				)}
				<IconButton
					label={t("queue.takeBack")}
					className="size-7"
					disabled={leaving || !online}
					data-testid="queue-take-back"
					onClick={() => void takeBack()}
				>
					<Undo2 size={15} />
				</IconButton>
			</span>
		</div>
	);
}

function Field({
	entry,
	inputId,
	session,
	edit,
}: {
	entry: QueueEntry;
	inputId: string;
	session: OpenSession;
	edit: QueueEdit;
}) {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	const box = useRef<HTMLTextAreaElement>(null);
	const keys = useRef(new KeyReader());
	useEffect(() => {
		const area = box.current;
		area?.focus();
		area?.setSelectionRange(area.value.length, area.value.length);
	}, []);
	const blank = edit.draft.trim() === "" && entry.attachments === 0;
	const able = online && !blank && !edit.saving;
	const save = () => able && void app.changeQueued(session, inputId);
	const leave = () => session.editQueue({ type: "leave", inputId });
	return (
		<div className="flex items-end gap-1.5 py-1.5 pr-1">
			<textarea
				ref={box}
				rows={Math.min(5, edit.draft.split("\n").length)}
				value={edit.draft}
				readOnly={edit.saving}
				maxLength={200_000}
				aria-label={t("queue.change.label")}
				data-testid="queue-field"
				className="border-edge bg-canvas min-w-0 flex-1 resize-none rounded-lg border px-2 py-1 leading-6"
				onChange={(event) =>
					session.editQueue({ type: "type", inputId, draft: event.target.value })
				}
				onCompositionStart={() => keys.current.compositionStart()}
				onCompositionEnd={(event) => keys.current.compositionEnd(event.timeStamp)}
				onKeyDown={(event) => {
					const intent = keys.current.read(keyPress(event));
					if (intent === "none") return;
					event.preventDefault();
					event.stopPropagation();
					if (intent === "send") save();
					else leave();
				}}
			/>
			<Button small tone="quiet" disabled={edit.saving} onClick={leave}>
				{t("common.cancel")}
			</Button>
			<Button small disabled={!able} onClick={save} data-testid="queue-save">
				{t("common.save")}
			</Button>
		</div>
	);
}
