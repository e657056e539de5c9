import { Activity, MessagesSquare } from "lucide-react";
import type { ReactNode } from "react";
import { useLocale, useT } from "@/i18n/i18n";
import { useApp, useSessions } from "@/state/context";
import { groupKey, rowsOf, type View } from "@/state/sessions";

/** What lies beside the owner's own list: what runs in the background, and the groups of rooms. */
export function Places({ view }: { view: View }) {
	const t = useT();
	const groups = useSessions((state) => state.groups);
	const running = useSessions((state) => rowsOf(state, "running").length);
	if (running === 0 && groups.length === 0) return null;
	return (
		<ul
			aria-label={t("sidebar.places")}
			className="border-line max-h-[40%] shrink-0 overflow-y-auto border-t py-1.5"
		>
			{running > 0 && (
				<Place
					to="running"
					view={view}
					icon={<Activity size={15} aria-hidden />}
					label={t("running.title")}
					count={running}
				/>
			)}
			{groups.map((group) => (
				<Place
					key={groupKey(group)}
					to={groupKey(group)}
					view={view}
					icon={<MessagesSquare size={15} aria-hidden />}
					label={group.label}
					count={group.rooms}
					attention={group.attention}
				/>
			))}
		</ul>
	);
}

function Place({
	to,
	view,
	icon,
	label,
	count,
	attention = 0,
}: {
	to: Exclude<View, "all">;
	view: View;
	icon: ReactNode;
	label: string;
	count: number;
	attention?: number;
}) {
	const { t, number } = useLocale();
	const { lists } = useApp();
	const current = view === to;
	return (
		<li>
			<button
				type="button"
				data-place={to}
				aria-pressed={current}
				onClick={() => lists.show(current ? "all" : to)}
				className={`mx-2 flex h-9 w-[calc(100%-1rem)] items-center gap-2.5 rounded-lg px-3 text-[13px] ${current ? "bg-hover text-ink" : "text-soft hover:bg-hover/70 hover:text-ink"}`}
			>
				{icon}
				<span className="min-w-0 flex-1 truncate text-left">{label}</span>
				{attention > 0 && (
					<span className="bg-warn-wash text-warn rounded-full px-1.5 text-[11px] font-semibold tabular-nums">
						<span aria-hidden>{number(attention)}</span>
						<span className="sr-only">{t("rooms.attention", { count: attention })}</span>
					</span>
				)}
				<span className="text-xs tabular-nums">{number(count)}</span>
			</button>
		</li>
	);
}
