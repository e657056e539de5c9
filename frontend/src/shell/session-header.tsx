import {
	Archive,
	ArchiveRestore,
	ChevronLeft,
	Copy,
	Ellipsis,
	Folder,
	FoldVertical,
	GitFork,
	Pencil,
	SlidersHorizontal,
	Square,
	Trash2,
} from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useStore } from "zustand";
import type { Place as PlaceOf, SessionSummary } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp, useSessions } from "@/state/context";
import { isOther } from "@/state/places";
import { childrenOf } from "@/state/sessions";
import { SubtaskMark } from "@/timeline/items/subtask-lines";
import { stateOfSession } from "@/timeline/items/subtasks";
import { IconButton } from "@/ui/button";
import { Menu, type MenuEntry } from "@/ui/menu";
import { Popover } from "@/ui/popover";
import { TitleField } from "@/ui/title-field";
import { archive, unarchive } from "./commands/archive";
import { stopAll } from "./commands/background";
import type { Command, CommandContext } from "./commands/command";
import { compress } from "./commands/compress";
import { copyId } from "./commands/copy-id";
import { remove } from "./commands/delete";
import { rename } from "./commands/rename";
import { sessionSettings } from "./commands/settings";
import { shown } from "./shortcuts";

/** Where the session stands, its title, and what can be done with it. */
export function SessionHeader({
	summary,
	renaming,
	onRenamed,
	context,
	children,
}: {
	summary: SessionSummary | undefined;
	renaming: boolean;
	onRenamed(): void;
	context: CommandContext;
	/** The usage ring and the like. */
	children?: ReactNode;
}) {
	const t = useT();
	const app = useApp();
	const title = summary ? summary.title || t("session.untitled") : "";
	return (
		<>
			<div className="min-w-0 flex-1">
				{summary?.ancestors && summary.ancestors.length > 0 && <Path summary={summary} />}
				{renaming && summary ? (
					<h1>
						<TitleField
							title={summary.title}
							label={t("session.rename.label")}
							className="h-8 w-full max-w-md text-[15px] font-semibold"
							onDone={(next) => {
								onRenamed();
								if (next !== undefined) void app.rename(summary.id, next);
							}}
						/>
					</h1>
				) : (
					<h1
						className="truncate text-[15px] font-semibold"
						data-testid="session-title"
						hidden={summary === undefined}
					>
						<button
							type="button"
							className="max-w-full cursor-text truncate text-left"
							title={title}
							onDoubleClick={() => context.window.rename()}
							onKeyDown={(event) => event.key === "Enter" && context.window.rename()}
						>
							{title}
						</button>
					</h1>
				)}
			</div>
			{summary?.place && isOther(summary.place) && <Place place={summary.place} />}
			{summary && summary.childCount > 0 && <Children summary={summary} />}
			{children}
			{sessionSettings.available?.(context) && (
				<IconButton
					label={t(sessionSettings.title)}
					data-testid="session-settings"
					className="max-sm:hidden"
					onClick={() => sessionSettings.run(context)}
				>
					<SlidersHorizontal size={16} />
				</IconButton>
			)}
			{summary && <Actions context={context} />}
		</>
	);
}

/** The ancestors, root first; each leads one level back (SP-TREE-16). */
function Path({ summary }: { summary: SessionSummary }) {
	const t = useT();
	return (
		<nav
			aria-label={t("session.path")}
			data-testid="path"
			className="text-soft flex items-center text-xs"
		>
			<ChevronLeft size={13} aria-hidden className="shrink-0" />
			{summary.ancestors?.map((ancestor) => (
				<span key={ancestor.id} className="flex min-w-0 items-center">
					<a
						href={`#/s/${encodeURIComponent(ancestor.id)}`}
						className="hover:text-ink truncate underline-offset-2 hover:underline"
					>
						{ancestor.title || t("session.untitled")}
					</a>
					<span aria-hidden className="px-1">
						›
					</span>
				</span>
			))}
		</nav>
	);
}

/** The folder it works in. */
function Place({ place }: { place: PlaceOf }) {
	const t = useT();
	const { places } = useApp();
	const root = useStore(
		places.store,
		(state) => state.places?.find(({ key }) => key === place.key)?.root,
	);
	return (
		<span
			data-testid="session-place"
			title={root}
			className="text-soft flex max-w-48 min-w-0 shrink items-center gap-1.5 px-2 text-[13px] max-sm:max-w-24"
		>
			<Folder size={14} aria-hidden className="shrink-0" />
			<span className="sr-only">{t("places.here")}</span>
			<span className="truncate">{place.name}</span>
		</span>
	);
}

function Children({ summary }: { summary: SessionSummary }) {
	const t = useT();
	const app = useApp();
	const [open, setOpen] = useState(false);
	const [read, setRead] = useState<"no" | "yes" | "failed">("no");
	const byId = useSessions((state) => state.byId);
	useEffect(() => {
		if (!open) return;
		app.lists.children(summary.id).then(
			() => setRead("yes"),
			() => setRead("failed"),
		);
	}, [open, app, summary.id]);
	const children = childrenOf(byId, summary.id);
	const label = t("session.children", { count: summary.childCount });
	return (
		<Popover
			label={label}
			open={open}
			onOpenChange={setOpen}
			className="w-80"
			trigger={
				<IconButton label={label} data-testid="children">
					<GitFork size={16} />
				</IconButton>
			}
		>
			<h2 className="px-4 pt-3 pb-1 text-sm font-semibold">{label}</h2>
			<ul className="min-h-10 overflow-y-auto px-1.5 pb-1.5 text-sm">
				{read === "failed" && (
					<li className="text-soft px-2.5 py-2">{t("session.children.failed")}</li>
				)}
				{read === "no" && <li className="text-soft px-2.5 py-2">{t("common.loading")}</li>}
				{read === "yes" &&
					children.map((child) => (
						<li key={child.id}>
							<a
								href={`#/s/${encodeURIComponent(child.id)}`}
								onClick={() => setOpen(false)}
								className="hover:bg-hover flex items-center gap-3 rounded-lg px-2.5 py-1.5"
							>
								<span className="min-w-0 flex-1 truncate">
									{child.title || t("session.untitled")}
								</span>
								<SubtaskMark state={stateOfSession(child)} />
							</a>
						</li>
					))}
			</ul>
		</Popover>
	);
}

function Actions({ context }: { context: CommandContext }) {
	const t = useT();
	const online = useOnline();
	const entry = (command: Command, icon: ReactNode, part: Partial<MenuEntry> = {}): MenuEntry => ({
		key: command.id,
		label: t(command.title),
		icon,
		shortcut: shown(command.shortcut),
		disabled: !online && command !== copyId,
		run: () => command.run(context),
		...part,
	});
	const archived = context.session?.summary?.archived === true;
	return (
		<Menu
			trigger={
				<IconButton label={t("session.actions")} data-testid="session-menu">
					<Ellipsis size={17} />
				</IconButton>
			}
			entries={[
				entry(rename, <Pencil size={14} />),
				archived
					? entry(unarchive, <ArchiveRestore size={14} />)
					: entry(archive, <Archive size={14} />),
				entry(copyId, <Copy size={14} />),
				...(sessionSettings.available?.(context)
					? [entry(sessionSettings, <SlidersHorizontal size={14} />, { disabled: false })]
					: []),
				...(compress.available?.(context) ? [entry(compress, <FoldVertical size={14} />)] : []),
				...(stopAll.available?.(context) ? [entry(stopAll, <Square size={13} />)] : []),
				entry(remove, <Trash2 size={14} />, { danger: true, apart: true }),
			]}
		/>
	);
}
