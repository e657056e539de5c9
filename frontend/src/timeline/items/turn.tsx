import { CircleSlash, History, Moon, TriangleAlert } from "lucide-react";
import type { TurnItem } from "@/contract/session.gen";
import { useLocale, useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp, useHost, useSession } from "@/state/context";
import { canRewind, turnIdOf } from "@/state/rewind";
import { isRunning } from "@/state/session";
import { IconButton } from "@/ui/button";
import { CopyButton } from "@/ui/copy";
import { useTimeline } from "../context";
import type { ItemProps } from "./view";

/** How a turn ended. A reply speaks for itself; the other ends say what they are. */
export function TurnEnd({ item, last = false, beside = false }: ItemProps<"turn">) {
	const { t, time, full, duration } = useLocale();
	const { session } = useTimeline();
	const { outcome, reason, endedAt } = item;
	const when = endedAt !== undefined && (
		<time dateTime={new Date(endedAt).toISOString()} title={full(endedAt)}>
			{time(endedAt)}
			{endedAt - item.at >= 1000 && ` · ${duration(endedAt - item.at)}`}
		</time>
	);
	const tools = (
		<span className="flex items-center">
			<Rewind item={item} />
			<CopyButton
				text={() => `session ${session.id}\nturn ${turnIdOf(item)}`}
				label={t("turn.copyIds")}
				done={t("common.copied")}
			/>
		</span>
	);
	if (outcome === "error") {
		return (
			<div className="group/turn border-bad/40 bg-bad-wash my-2 rounded-xl border px-4 py-2.5 text-[13.5px]">
				<p className="text-bad flex items-center gap-2 font-medium">
					<TriangleAlert size={15} aria-hidden />
					<span className="flex-1">{t("turn.error")}</span>
					<span className="text-soft text-xs font-normal">{when}</span>
					<span className="opacity-0 group-focus-within/turn:opacity-100 pointer-coarse:opacity-100 group-hover/turn:opacity-100">
						{tools}
					</span>
				</p>
				{reason !== undefined && <p className="mt-1 break-words">{reason}</p>}
				{last && <p className="text-soft mt-1">{t("turn.error.hint")}</p>}
			</div>
		);
	}
	if (outcome === "replied") {
		// The hovered line of the reply above is shared, so that a quiet end takes no room.
		return (
			<div className={`group/turn text-soft relative text-xs ${beside ? "h-0" : "h-3"}`}>
				<span
					className={`absolute right-0 flex h-7 items-center gap-2 opacity-0 group-focus-within/turn:opacity-100 pointer-coarse:opacity-100 hover:opacity-100 ${beside ? "-top-6" : "-top-2"}`}
				>
					{when}
					{tools}
				</span>
			</div>
		);
	}
	return (
		<div className="group/turn text-soft relative flex h-9 items-center gap-2 text-xs">
			<span className="bg-line h-px flex-1" />
			{outcome === "aborted" && <CircleSlash size={13} aria-hidden />}
			{outcome === "silent" && <Moon size={13} aria-hidden />}
			{outcome !== undefined && <span>{t(`turn.${outcome}`)}</span>}
			{when}
			<span className="bg-line h-px flex-1" />
			<span className="bg-canvas absolute right-0 opacity-0 group-focus-within/turn:opacity-100 pointer-coarse:opacity-100 group-hover/turn:opacity-100">
				{tools}
			</span>
		</div>
	);
}

/** The way back to before this turn. */
function Rewind({ item }: { item: TurnItem }) {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	const { session } = useTimeline();
	const features = useHost((host) => host.features);
	const running = useSession(session, isRunning);
	if (!canRewind(features, running, item)) return null;
	return (
		<IconButton
			label={t("rewind.open")}
			data-testid="rewind"
			className="size-7"
			disabled={!online}
			onClick={() => app.rewinds.do({ type: "ask", sessionId: session.id, turnId: turnIdOf(item) })}
		>
			<History size={14} />
		</IconButton>
	);
}
