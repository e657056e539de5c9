import { ArrowLeft, ArrowUpDown } from "lucide-react";
import { type MouseEvent, useMemo } from "react";
import { useLocale, useT } from "@/i18n/i18n";
import { useApp, useSessions } from "@/state/context";
import { roomSorts } from "@/state/rooms";
import { type GroupKey, groupOf, listOf, type View } from "@/state/sessions";
import { IconButton } from "@/ui/button";
import { Menu } from "@/ui/menu";
import { FindBox } from "./find-box";
import { tableOf } from "./lines";

/** What stands above a list that is shown alone: its name, the way back, and a group's tools. */
export function ViewHead({ view }: { view: Exclude<View, "all"> }) {
	const t = useT();
	return view === "running" ? (
		<Title text={t("running.title")} view={view} />
	) : (
		<Group view={view} />
	);
}

function Group({ view }: { view: GroupKey }) {
	const { t, compare } = useLocale();
	const { lists } = useApp();
	const state = useSessions((all) => all);
	const { shown, count, arranged } = useMemo(
		() => tableOf(state, view, compare),
		[state, view, compare],
	);
	const { filter, sort } = state.table;
	return (
		<>
			{/* Spec SP-GROUP-09: as the server gave it. */}
			<Title text={groupOf(state, view)?.label ?? ""} view={view}>
				<span
					aria-live="polite"
					data-testid="room-count"
					className="text-soft shrink-0 pr-2 text-xs tabular-nums"
				>
					{filter === ""
						? t("rooms.count", { count })
						: t("rooms.shown", { shown: shown.length, count })}
				</span>
			</Title>
			{arranged && (
				<div className="mx-3 mb-2 flex shrink-0 items-center gap-1">
					<FindBox
						testId="room-filter"
						label={t("rooms.filter")}
						clear={t("rooms.filter.clear")}
						value={filter}
						disabled={!listOf(state, view).loaded}
						onChange={(next) => lists.arrange({ filter: next })}
					/>
					<Menu
						trigger={
							<IconButton
								label={t("rooms.sort", { by: t(`rooms.sort.${sort}`) })}
								data-testid="room-sort"
							>
								<ArrowUpDown size={16} />
							</IconButton>
						}
						entries={roomSorts.map((by) => ({
							key: by,
							label: t(`rooms.sort.${by}`),
							checked: by === sort,
							run: () => lists.arrange({ sort: by }),
						}))}
					/>
				</div>
			)}
		</>
	);
}

function Title({
	text,
	view,
	children,
}: {
	text: string;
	view: Exclude<View, "all">;
	children?: React.ReactNode;
}) {
	const t = useT();
	const { lists } = useApp();
	const back = (event: MouseEvent) => {
		// The place that was left keeps the focus; this button goes.
		const places = event.currentTarget
			.closest("nav")
			?.querySelectorAll<HTMLElement>("[data-place]");
		[...(places ?? [])].find(({ dataset }) => dataset.place === view)?.focus();
		lists.show("all");
	};
	return (
		<div className="mx-3 mb-2 flex h-9 shrink-0 items-center gap-1">
			<IconButton label={t("sidebar.back")} data-testid="view-back" onClick={back}>
				<ArrowLeft size={17} />
			</IconButton>
			<h2 className="min-w-0 flex-1 truncate text-sm font-semibold" title={text}>
				{text}
			</h2>
			{children}
		</div>
	);
}
