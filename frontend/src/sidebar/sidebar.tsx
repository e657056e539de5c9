import { PanelLeft, SquarePen } from "lucide-react";
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import type { SessionSummary } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useApp, useHost, useSessions } from "@/state/context";
import type { View } from "@/state/sessions";
import { IconButton } from "@/ui/button";
import { FindBox } from "./find-box";
import { List } from "./list";
import { Places } from "./places";
import { ViewHead } from "./view-head";

export interface SidebarHandle {
	focusSearch(): void;
}

interface SidebarProps {
	ref?: Ref<SidebarHandle>;
	currentId: string | undefined;
	onNew(): void;
	onDelete(session: SessionSummary): void;
	onOpen?(): void;
	/** Absent where the sidebar is a screen of its own. */
	onHide?: (() => void) | undefined;
	footer: ReactNode;
	/** What else the head holds where the sidebar is a screen of its own. */
	tools?: ReactNode;
	/** The edge that is dragged. */
	edge?: ReactNode;
	shortcuts: { new?: string | undefined; search?: string | undefined; hide?: string | undefined };
}

/** The conversations, found in seconds among thousands. */
export function Sidebar({
	ref,
	currentId,
	onNew,
	onDelete,
	onOpen,
	onHide,
	footer,
	tools,
	edge,
	shortcuts,
}: SidebarProps) {
	const t = useT();
	const appName = useHost((host) => host.appName);
	const { lists } = useApp();
	const view = useSessions((state) => state.view);
	const box = useRef<HTMLInputElement>(null);
	const offsets = useRef(new Map<View, number>());
	const [archivedOpen, setArchivedOpen] = useState(false);
	useImperativeHandle(ref, () => ({
		focusSearch: () => {
			if (lists.store.getState().view !== "all") lists.show("all");
			// After the box has come back.
			setTimeout(() => {
				box.current?.focus();
				box.current?.select();
			}, 0);
		},
	}));
	return (
		<nav
			aria-label={t("sidebar.label")}
			data-testid="sidebar"
			className="bg-side border-line relative flex h-full min-h-0 w-full flex-col border-r"
		>
			<header className="flex h-14 shrink-0 items-center gap-1 px-3">
				<span className="min-w-0 flex-1 truncate pl-2 text-[15px] font-semibold">{appName}</span>
				<IconButton
					label={t("sidebar.new")}
					shortcut={shortcuts.new}
					data-testid="new-session"
					onClick={onNew}
				>
					<SquarePen size={17} />
				</IconButton>
				{tools}
				{onHide && (
					<IconButton label={t("sidebar.hide")} shortcut={shortcuts.hide} onClick={onHide}>
						<PanelLeft size={17} />
					</IconButton>
				)}
			</header>
			{view === "all" ? <SearchBox box={box} /> : <ViewHead view={view} />}
			<List
				key={view}
				view={view}
				offsets={offsets.current}
				archivedOpen={archivedOpen}
				onArchivedOpen={setArchivedOpen}
				currentId={currentId}
				onDelete={onDelete}
				{...(onOpen ? { onOpen } : {})}
			/>
			<Places view={view} />
			<footer className="border-line flex h-12 shrink-0 items-center gap-1 border-t px-3">
				{footer}
			</footer>
			{edge}
		</nav>
	);
}

const SEARCH_DELAY_MS = 120;

function SearchBox({ box }: { box: React.RefObject<HTMLInputElement | null> }) {
	const t = useT();
	const { lists } = useApp();
	const [query, setQuery] = useState(() => lists.store.getState().query);
	useEffect(() => {
		const timer = setTimeout(() => lists.search(query), query === "" ? 0 : SEARCH_DELAY_MS);
		return () => clearTimeout(timer);
	}, [query, lists]);
	return (
		<search className="mx-3 mb-2 block shrink-0">
			<FindBox
				box={box}
				testId="search"
				label={t("sidebar.search")}
				clear={t("sidebar.search.clear")}
				value={query}
				onChange={setQuery}
			/>
		</search>
	);
}
