import { Archive, ArchiveRestore, Ellipsis, Pencil, Trash2 } from "lucide-react";
import { memo, useEffect, useRef, useState } from "react";
import type { SessionSummary } from "@/contract/session.gen";
import { useLocale, useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp } from "@/state/context";
import { type Mark, markOf } from "@/state/sessions";
import { Menu } from "@/ui/menu";

const marks: Record<Mark, string> = {
	attention: "bg-warn-edge",
	error: "bg-bad",
	unread: "bg-accent",
	running: "bg-accent pulse",
	background: "",
};

export interface RowProps {
	session: SessionSummary;
	current: boolean;
	now: number;
	onDelete(session: SessionSummary): void;
	onOpen?(): void;
}

/** A session in the list: its title, one line on how it stands, and at most one mark. */
export const SessionRow = memo(function SessionRow({
	session,
	current,
	now,
	onDelete,
	onOpen,
}: RowProps) {
	const t = useT();
	const [renaming, setRenaming] = useState(false);
	const title = session.title || t("session.untitled");
	return (
		<div
			data-testid="session-row"
			data-session-id={session.id}
			className={`group/row relative mx-2 flex h-13 items-center rounded-lg ${current ? "bg-hover" : "hover:bg-hover/70"}`}
		>
			{renaming ? (
				<RenameBox session={session} onDone={() => setRenaming(false)} />
			) : (
				<>
					<a
						href={`#/s/${encodeURIComponent(session.id)}`}
						aria-current={current ? "page" : undefined}
						data-row-link
						onClick={onOpen}
						onDoubleClick={(event) => {
							event.preventDefault();
							setRenaming(true);
						}}
						className="flex h-full min-w-0 flex-1 flex-col justify-center rounded-lg py-1 pr-9 pl-3"
					>
						<span className="flex items-center gap-2">
							<span
								className={`min-w-0 flex-1 truncate text-sm ${session.unread ? "font-semibold" : current ? "font-medium" : ""}`}
							>
								{title}
							</span>
						</span>
						<SecondLine session={session} now={now} />
					</a>
					<MarkDot session={session} />
					<RowMenu
						session={session}
						title={title}
						onRename={() => setRenaming(true)}
						onDelete={onDelete}
					/>
				</>
			)}
		</div>
	);
});

function MarkDot({ session }: { session: SessionSummary }) {
	const t = useT();
	const mark = markOf(session);
	if (!mark) return null;
	const label =
		mark === "background" ? t("mark.background", { count: session.background }) : t(`mark.${mark}`);
	return (
		<span
			data-mark={mark}
			className="pointer-events-none absolute top-1/2 right-3.5 -translate-y-1/2 group-focus-within/row:opacity-0 group-hover/row:opacity-0"
		>
			{mark === "background" ? (
				<span className="text-soft bg-sunken border-line rounded-full border px-1.5 text-[11px] tabular-nums">
					{session.background}
				</span>
			) : (
				<span aria-hidden className={`block size-2.5 rounded-full ${marks[mark]}`} />
			)}
			<span className="sr-only">{label}</span>
		</span>
	);
}

function SecondLine({ session, now }: { session: SessionSummary; now: number }) {
	const { t, ago } = useLocale();
	const line = (className: string, text: string) => (
		<span className={`truncate text-xs ${className}`}>{text}</span>
	);
	if (session.attention) return line("text-warn", t("row.attention"));
	if (session.error) return line("text-bad", session.reason ?? t("row.failed"));
	if (session.running) return line("text-soft", t("row.running"));
	const when = ago(session.lastTurn?.endedAt ?? session.updatedAt, now);
	return line("text-soft", session.archived ? `${t("row.archived")} · ${when}` : when);
}

function RowMenu({
	session,
	title,
	onRename,
	onDelete,
}: {
	session: SessionSummary;
	title: string;
	onRename(): void;
	onDelete(session: SessionSummary): void;
}) {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	return (
		<Menu
			align="start"
			trigger={
				<button
					type="button"
					aria-label={t("sidebar.actions", { title })}
					data-testid="row-menu"
					className="text-soft hover:bg-hover hover:text-ink absolute top-1/2 right-1.5 flex size-7 -translate-y-1/2 items-center justify-center rounded-md opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 data-popup-open:opacity-100"
				>
					<Ellipsis size={16} />
				</button>
			}
			entries={[
				{
					key: "rename",
					label: t("session.rename"),
					icon: <Pencil size={14} />,
					disabled: !online,
					run: onRename,
				},
				session.archived
					? {
							key: "unarchive",
							label: t("session.unarchive"),
							icon: <ArchiveRestore size={14} />,
							disabled: !online,
							run: () => void app.unarchive(session.id),
						}
					: {
							key: "archive",
							label: t("session.archive"),
							icon: <Archive size={14} />,
							disabled: !online,
							run: () => void app.archive(session.id),
						},
				{
					key: "delete",
					label: t("session.delete"),
					icon: <Trash2 size={14} />,
					danger: true,
					apart: true,
					disabled: !online,
					run: () => onDelete(session),
				},
			]}
		/>
	);
}

function RenameBox({ session, onDone }: { session: SessionSummary; onDone(): void }) {
	const t = useT();
	const app = useApp();
	const box = useRef<HTMLInputElement>(null);
	const [title, setTitle] = useState(session.title);
	useEffect(() => {
		// After the menu has given its focus back.
		const timer = setTimeout(() => box.current?.select(), 30);
		return () => clearTimeout(timer);
	}, []);
	const done = () => {
		const next = title.trim();
		if (next !== "" && next !== session.title) void app.rename(session.id, next);
		onDone();
	};
	return (
		<input
			ref={box}
			value={title}
			maxLength={200}
			aria-label={t("session.rename.label")}
			data-testid="rename"
			onChange={(event) => setTitle(event.target.value)}
			onBlur={done}
			onKeyDown={(event) => {
				if (event.nativeEvent.isComposing || event.keyCode === 229) return;
				if (event.key === "Enter") done();
				if (event.key === "Escape") onDone();
			}}
			className="border-edge bg-raised mx-1.5 h-9 min-w-0 flex-1 rounded-md border px-2 text-sm"
		/>
	);
}
