import { ChevronRight, LoaderCircle, PanelLeft, Search, SquarePen, X } from "lucide-react";
import {
	type CSSProperties,
	type ReactNode,
	type Ref,
	useEffect,
	useImperativeHandle,
	useMemo,
	useRef,
	useState,
} from "react";
import type { SessionSummary } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useApp, useHost, useSessions } from "@/state/context";
import { Button, IconButton } from "@/ui/button";
import { useNow } from "@/ui/hooks";
import { type VirtualizerHandle, VirtualRows } from "@/ui/virtual";
import { type Line, linesOf, ROW_HEIGHT } from "./lines";
import { SessionRow } from "./row";

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
	const box = useRef<HTMLInputElement>(null);
	useImperativeHandle(ref, () => ({ focusSearch: () => box.current?.select() }));
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
			<SearchBox box={box} />
			<List currentId={currentId} onDelete={onDelete} {...(onOpen ? { onOpen } : {})} />
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
	const app = useApp();
	const [query, setQuery] = useState(() => app.sessions.getState().query);
	useEffect(() => {
		const timer = setTimeout(() => app.search(query), query === "" ? 0 : SEARCH_DELAY_MS);
		return () => clearTimeout(timer);
	}, [query, app]);
	return (
		<search className="relative mx-3 mb-2 shrink-0">
			<Search
				size={15}
				aria-hidden
				className="text-soft absolute top-1/2 left-2.5 -translate-y-1/2"
			/>
			<input
				ref={box}
				type="search"
				data-testid="search"
				aria-label={t("sidebar.search")}
				placeholder={t("sidebar.search")}
				value={query}
				onChange={(event) => setQuery(event.target.value)}
				onKeyDown={(event) => {
					if (event.nativeEvent.isComposing) return;
					if (event.key === "Escape") setQuery("");
					if (event.key === "ArrowDown") focusRow(event.currentTarget.closest("nav"), 0);
				}}
				className="border-line bg-raised placeholder:text-soft h-9 w-full appearance-none rounded-lg border pr-8 pl-8 text-sm [&::-webkit-search-cancel-button]:hidden"
			/>
			{query !== "" && (
				<button
					type="button"
					aria-label={t("sidebar.search.clear")}
					onClick={() => setQuery("")}
					className="text-soft hover:text-ink absolute top-1/2 right-1.5 flex size-6 -translate-y-1/2 items-center justify-center rounded"
				>
					<X size={14} />
				</button>
			)}
		</search>
	);
}

function focusRow(root: Element | null, at: number): void {
	const links = root?.querySelectorAll<HTMLElement>("[data-row-link]");
	links?.[Math.max(0, Math.min(links.length - 1, at))]?.focus();
}

function List({
	currentId,
	onDelete,
	onOpen,
}: {
	currentId: string | undefined;
	onDelete(session: SessionSummary): void;
	onOpen?: () => void;
}) {
	const t = useT();
	const app = useApp();
	const state = useSessions((all) => all);
	const [archivedOpen, setArchivedOpen] = useState(false);
	const lines = useMemo(() => linesOf(state, archivedOpen), [state, archivedOpen]);
	const scroller = useRef<HTMLDivElement>(null);
	const rows = useRef<VirtualizerHandle>(null);
	const now = useNow(60_000);

	const toggleArchived = () => {
		if (!archivedOpen && state.lists.archived.status === "idle") void app.loadFirst("archived");
		setArchivedOpen(!archivedOpen);
	};
	// A page is fetched when the line that stands for it comes into view.
	const near = () => {
		const pane = scroller.current;
		if (!pane || !rows.current) return;
		const last = rows.current.findItemIndex(pane.scrollTop + pane.clientHeight + 4 * ROW_HEIGHT);
		for (const line of lines.slice(0, last + 1)) {
			if (line.type !== "loading") continue;
			const list = line.key.slice("loading:".length);
			if (list === "mine" || list === "archived" || list === "search") void app.loadMore(list);
		}
	};
	// biome-ignore lint/correctness/useExhaustiveDependencies: looked at again whenever the lines change.
	useEffect(near, [lines]);

	const move = (event: React.KeyboardEvent) => {
		const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
		const links = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-row-link]")];
		const at = links.indexOf(document.activeElement as HTMLElement);
		if (step === 0 || at < 0) return;
		event.preventDefault();
		focusRow(event.currentTarget, at + step);
	};

	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: its rows are links; the keys go between them.
		<div
			ref={scroller}
			className="min-h-0 flex-1 overflow-y-auto overscroll-contain pb-2"
			onScroll={near}
			onKeyDown={move}
		>
			<VirtualRows
				ref={rows}
				data={lines}
				scrollRef={scroller}
				itemSize={ROW_HEIGHT}
				item={MovingItem}
			>
				{(line) => (
					<LineView
						key={line.key}
						line={line}
						currentId={currentId}
						now={now}
						query={state.query}
						archivedOpen={archivedOpen}
						onToggleArchived={toggleArchived}
						onDelete={onDelete}
						{...(onOpen ? { onOpen } : {})}
					/>
				)}
			</VirtualRows>
			<span className="sr-only" aria-live="polite">
				{state.query !== "" && state.lists.search.status === "ready" && lines.length === 0
					? t("sidebar.none", { query: state.query })
					: ""}
			</span>
		</div>
	);
}

/** A row that changes its place goes there instead of vanishing here and appearing there. */
function MovingItem({
	style,
	children,
	ref,
}: {
	style: CSSProperties;
	children: ReactNode;
	index: number;
	ref?: unknown;
}) {
	return (
		<div
			ref={ref as Ref<HTMLDivElement>}
			style={style}
			className="transition-[top] duration-200 ease-out"
		>
			{children}
		</div>
	);
}

function LineView({
	line,
	currentId,
	now,
	query,
	archivedOpen,
	onToggleArchived,
	onDelete,
	onOpen,
}: {
	line: Line;
	currentId: string | undefined;
	now: number;
	query: string;
	archivedOpen: boolean;
	onToggleArchived(): void;
	onDelete(session: SessionSummary): void;
	onOpen?: () => void;
}) {
	const t = useT();
	const app = useApp();
	switch (line.type) {
		case "session":
			return (
				<SessionRow
					session={line.session}
					current={line.session.id === currentId}
					now={now}
					onDelete={onDelete}
					{...(onOpen ? { onOpen } : {})}
				/>
			);
		case "heading":
			return (
				<button
					type="button"
					aria-expanded={archivedOpen}
					data-testid="archived"
					onClick={onToggleArchived}
					className="text-soft hover:text-ink mx-2 mt-2 flex h-9 w-[calc(100%-1rem)] items-center gap-1.5 rounded-lg px-3 text-[13px]"
				>
					<ChevronRight
						size={14}
						aria-hidden
						className={`transition-transform ${archivedOpen ? "rotate-90" : ""}`}
					/>
					{t("sidebar.archived")}
				</button>
			);
		case "loading":
			return (
				<p className="text-soft flex h-13 items-center gap-2 px-5 text-[13px]">
					<LoaderCircle size={14} aria-hidden className="spin" />
					{t("common.loading")}
				</p>
			);
		case "failed":
			return (
				<div className="text-soft flex items-center justify-between gap-2 px-5 py-2 text-[13px]">
					<span>{t("sidebar.failed")}</span>
					<Button
						small
						onClick={() => {
							if (line.list === "search") {
								app.search("");
								app.search(query);
							} else void app.loadFirst(line.list);
						}}
					>
						{t("common.retry")}
					</Button>
				</div>
			);
		case "empty":
			return <Empty of={line.of} query={query} />;
	}
}

function Empty({ of, query }: { of: "mine" | "archived" | "search"; query: string }) {
	const t = useT();
	if (of === "search") {
		return (
			<p className="text-soft px-5 py-4 text-[13px] break-words">{t("sidebar.none", { query })}</p>
		);
	}
	if (of === "archived") {
		return <p className="text-soft px-5 py-2 text-[13px]">{t("sidebar.archived.empty")}</p>;
	}
	return (
		<div className="px-5 py-4 text-[13px]">
			<p className="font-medium">{t("sidebar.empty")}</p>
			<p className="text-soft">{t("sidebar.empty.body")}</p>
		</div>
	);
}
