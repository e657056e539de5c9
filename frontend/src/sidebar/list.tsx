import { ChevronRight, LoaderCircle } from "lucide-react";
import {
	type CSSProperties,
	type ReactNode,
	type Ref,
	useEffect,
	useLayoutEffect,
	useMemo,
	useRef,
} from "react";
import type { SessionSummary } from "@/contract/session.gen";
import { useLocale, useT } from "@/i18n/i18n";
import { useApp, useSessions } from "@/state/context";
import type { ListName, View } from "@/state/sessions";
import { Button } from "@/ui/button";
import { useNow } from "@/ui/hooks";
import { type VirtualizerHandle, VirtualRows } from "@/ui/virtual";
import { focusRow } from "./focus-row";
import { type Line, linesOf, ROW_HEIGHT } from "./lines";
import { SessionRow } from "./row";

interface ListProps {
	view: View;
	/** Where each view was scrolled to; one that is come back to begins there. */
	offsets: Map<View, number>;
	archivedOpen: boolean;
	onArchivedOpen(open: boolean): void;
	currentId: string | undefined;
	onDelete(session: SessionSummary): void;
	onOpen?: () => void;
}

/** The rows of a view. */
export function List({
	view,
	offsets,
	archivedOpen,
	onArchivedOpen,
	currentId,
	onDelete,
	onOpen,
}: ListProps) {
	const locale = useLocale();
	const { lists } = useApp();
	const state = useSessions((all) => all);
	const lines = useMemo(() => linesOf(state, archivedOpen, locale), [state, archivedOpen, locale]);
	const scroller = useRef<HTMLDivElement>(null);
	const rows = useRef<VirtualizerHandle>(null);
	const now = useNow(60_000);
	useLayoutEffect(() => {
		if (scroller.current) scroller.current.scrollTop = offsets.get(view) ?? 0;
	}, [offsets, view]);

	const toggleArchived = () => {
		if (!archivedOpen && state.lists.archived.status === "idle") void lists.loadFirst("archived");
		onArchivedOpen(!archivedOpen);
	};
	// A page is fetched when the line that stands for it comes into view.
	const near = () => {
		const pane = scroller.current;
		if (!pane || !rows.current) return;
		const last = rows.current.findItemIndex(pane.scrollTop + pane.clientHeight + 4 * ROW_HEIGHT);
		for (const line of lines.slice(0, last + 1)) {
			if (line.type !== "loading") continue;
			const { list } = line;
			if (list === "mine" || list === "archived" || list === "search") void lists.loadMore(list);
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
			onScroll={(event) => {
				offsets.set(view, event.currentTarget.scrollTop);
				near();
			}}
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
						archivedOpen={archivedOpen}
						onToggleArchived={toggleArchived}
						onDelete={onDelete}
						{...(onOpen ? { onOpen } : {})}
					/>
				)}
			</VirtualRows>
			<span className="sr-only" aria-live="polite">
				{lines.map((line) =>
					line.type === "empty" && line.list === "search"
						? locale.t("sidebar.none", { query: state.query })
						: "",
				)}
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
	archivedOpen,
	onToggleArchived,
	onDelete,
	onOpen,
}: {
	line: Line;
	now: number;
	archivedOpen: boolean;
	onToggleArchived(): void;
} & Pick<ListProps, "currentId" | "onDelete" | "onOpen">) {
	const t = useT();
	switch (line.type) {
		case "session":
			return (
				<SessionRow
					session={line.session}
					facts={line.facts}
					mark={line.mark}
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
			return <Failed list={line.list} />;
		case "empty":
			return <Empty list={line.list} />;
	}
}

function Failed({ list }: { list: ListName }) {
	const t = useT();
	const { lists } = useApp();
	const again = () => {
		if (list === "search") {
			const { query } = lists.store.getState();
			lists.search("");
			lists.search(query);
		} else if (list === "running") void lists.loadRunning();
		else if (list === "mine" || list === "archived") void lists.loadFirst(list);
		else lists.show(list);
	};
	return (
		<div className="text-soft flex items-center justify-between gap-2 px-5 py-2 text-[13px]">
			<span>{t("sidebar.failed")}</span>
			<Button small onClick={again}>
				{t("common.retry")}
			</Button>
		</div>
	);
}

function Empty({ list }: { list: ListName }) {
	const t = useT();
	const query = useSessions((state) => state.query);
	const filter = useSessions((state) => state.table.filter);
	const words = (text: string) => (
		<p className="text-soft px-5 py-4 text-[13px] break-words">{text}</p>
	);
	switch (list) {
		case "search":
			return words(t("sidebar.none", { query }));
		case "archived":
			return words(t("sidebar.archived.empty"));
		case "running":
			return words(t("running.empty"));
		case "mine":
			return (
				<div className="px-5 py-4 text-[13px]">
					<p className="font-medium">{t("sidebar.empty")}</p>
					<p className="text-soft">{t("sidebar.empty.body")}</p>
				</div>
			);
		default:
			return words(
				filter === "" ? t("rooms.count", { count: 0 }) : t("rooms.filter.none", { query: filter }),
			);
	}
}
