import { Archive, ArchiveRestore, Ellipsis, Pencil, Trash2 } from "lucide-react";
import { memo, useState } from "react";
import type { SessionSummary } from "@/contract/session.gen";
import { type Locale, useLocale, useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp } from "@/state/context";
import type { Mark } from "@/state/sessions";
import { Menu } from "@/ui/menu";
import { TitleField } from "@/ui/title-field";

const marks: Record<Mark, string> = {
	attention: "bg-warn-edge",
	error: "bg-bad",
	unread: "bg-accent",
	running: "bg-accent pulse",
	background: "",
};

export interface RowProps {
	session: SessionSummary;
	/** What the second line begins with. */
	facts: string;
	mark: Mark | undefined;
	current: boolean;
	now: number;
	onDelete(session: SessionSummary): void;
	onOpen?(): void;
}

/** A session in the list: its title, one line on how it stands, and at most one mark. */
export const SessionRow = memo(function SessionRow({
	session,
	facts,
	mark,
	current,
	now,
	onDelete,
	onOpen,
}: RowProps) {
	const t = useT();
	const app = useApp();
	const [renaming, setRenaming] = useState(false);
	const title = session.title || t("session.untitled");
	return (
		<div
			data-testid="session-row"
			data-session-id={session.id}
			className={`group/row relative mx-2 flex h-13 items-center rounded-lg ${current ? "bg-hover" : "hover:bg-hover/70"}`}
		>
			{renaming ? (
				<TitleField
					title={session.title}
					label={t("session.rename.label")}
					className="mx-1.5 h-9 flex-1 text-sm"
					onDone={(next) => {
						setRenaming(false);
						if (next !== undefined) void app.rename(session.id, next);
					}}
				/>
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
						<SecondLine session={session} facts={facts} now={now} />
					</a>
					<MarkDot mark={mark} count={session.background} />
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

function MarkDot({ mark, count }: { mark: Mark | undefined; count: number }) {
	const t = useT();
	if (!mark) return null;
	const label = mark === "background" ? t("mark.background", { count }) : t(`mark.${mark}`);
	return (
		<span
			data-mark={mark}
			className="pointer-events-none absolute top-1/2 right-3.5 -translate-y-1/2 group-focus-within/row:opacity-0 group-hover/row:opacity-0"
		>
			{mark === "background" ? (
				<span className="text-soft bg-sunken border-line rounded-full border px-1.5 text-[11px] tabular-nums">
					{count}
				</span>
			) : (
				<span aria-hidden className={`block size-2.5 rounded-full ${marks[mark]}`} />
			)}
			<span className="sr-only">{label}</span>
		</span>
	);
}

function SecondLine({ session, facts, now }: Pick<RowProps, "session" | "facts" | "now">) {
	const locale = useLocale();
	const { words, tone } = stateOf(session, now, locale);
	return (
		<span className="text-soft truncate text-xs">
			{facts !== "" && `${facts} · `}
			<span className={tone}>{words}</span>
		</span>
	);
}

function stateOf(session: SessionSummary, now: number, { t, ago }: Locale) {
	if (session.attention) return { words: t("row.attention"), tone: "text-warn" };
	if (session.error) return { words: session.reason ?? t("row.failed"), tone: "text-bad" };
	if (session.running) return { words: t("row.running"), tone: "" };
	const when = ago(session.lastTurn?.endedAt ?? session.updatedAt, now);
	return { words: session.archived ? `${t("row.archived")} · ${when}` : when, tone: "" };
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
