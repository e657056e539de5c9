import { ArrowDown } from "lucide-react";
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef } from "react";
import { useStore } from "zustand";
import { useLocale } from "@/i18n/i18n";
import { useSession } from "@/state/context";
import { announce } from "@/ui/announce";
import { VirtualRows } from "@/ui/virtual";
import { TimelineContext, type TimelineContextValue } from "./context";
import { RowView } from "./row-view";
import { countAfter, rowsOf } from "./rows";
import { useAnchor } from "./use-anchor";

export interface TimelineHandle {
	jumpToLatest(): void;
}

/** The conversation: a virtual list that stays at its end while the reader is there. */
export function Timeline({
	ref,
	...context
}: TimelineContextValue & { ref?: Ref<TimelineHandle> }) {
	const { session, appName, renderApproval } = context;
	const { t } = useLocale();
	const state = useSession(session, (all) => all);
	const outbox = useStore(session.outbox);
	const rows = useMemo(
		() =>
			rowsOf(
				{
					items: state.items,
					streaming: state.streaming,
					...(state.summary ? { summary: state.summary } : {}),
				},
				outbox,
			),
		[state.items, state.streaming, state.summary, outbox],
	);
	const anchor = useAnchor(session, rows);
	useImperativeHandle(ref, () => ({ jumpToLatest: anchor.jumpToEnd }), [anchor.jumpToEnd]);
	useSpokenReplies(context, state);
	const value = useMemo(
		() => ({ session, appName, renderApproval }),
		[session, appName, renderApproval],
	);
	const fresh = anchor.away ? countAfter(rows, anchor.leftAt) : 0;
	return (
		<TimelineContext value={value}>
			<div className="relative min-h-0 flex-1">
				<section
					ref={anchor.scroller}
					aria-label={t("timeline.label")}
					data-testid="timeline"
					data-phase={state.phase}
					// biome-ignore lint/a11y/noNoninteractiveTabindex: a pane that scrolls must be reachable by keyboard.
					tabIndex={0}
					className="h-full overflow-x-hidden overflow-y-auto overscroll-contain [overflow-anchor:none]"
					{...anchor.handlers}
				>
					<div ref={anchor.content} className="mx-auto w-full max-w-[46rem] px-4 sm:px-6">
						<VirtualRows
							ref={anchor.list}
							data={rows}
							scrollRef={anchor.scroller}
							shift={anchor.shift}
						>
							{(row) => <RowView key={row.key} row={row} />}
						</VirtualRows>
						<div className="h-6" />
					</div>
				</section>
				{rows.length === 1 && state.phase === "live" && state.before === undefined && <Empty />}
				{anchor.away && (
					<button
						type="button"
						data-testid="jump-latest"
						onClick={anchor.jumpToEnd}
						className="border-line bg-raised shadow-float appear hover:bg-hover absolute bottom-3 left-1/2 flex h-9 -translate-x-1/2 items-center gap-2 rounded-full border px-3.5 text-[13px]"
					>
						<ArrowDown size={15} aria-hidden />
						<span className={fresh > 0 ? "sr-only" : ""}>{t("timeline.latest")}</span>
						{fresh > 0 && <span>{t("timeline.latest.count", { count: fresh })}</span>}
					</button>
				)}
			</div>
		</TimelineContext>
	);
}

function Empty() {
	const { t } = useLocale();
	return (
		<div className="pointer-events-none absolute inset-0 flex flex-col items-center justify-center px-6 text-center">
			<p className="font-medium">{t("session.empty")}</p>
			<p className="text-soft text-[13.5px]">{t("session.empty.body")}</p>
		</div>
	);
}

const SPOKEN_LENGTH = 300;

// What streams is not read piece by piece: its beginning is told, and then the whole of it.
function useSpokenReplies(
	{ session, appName }: TimelineContextValue,
	{ items, streaming }: { items: ReturnType<typeof rowItems>; streaming: ReadonlySet<string> },
) {
	const { t } = useLocale();
	const before = useRef<ReadonlySet<string>>(new Set());
	useLayoutEffect(() => {
		before.current = session.store.getState().streaming;
	}, [session]);
	useEffect(() => {
		const earlier = before.current;
		before.current = streaming;
		if (document.visibilityState !== "visible") return;
		const last = items.findLast((item) => item.kind === "agent-message");
		if (!last) return;
		const was = earlier.has(last.itemId);
		const is = streaming.has(last.itemId);
		if (is && !was) announce(t("timeline.replying", { name: appName }));
		if (was && !is) {
			announce(t("timeline.replied", { name: appName, text: last.text.slice(0, SPOKEN_LENGTH) }));
		}
	}, [items, streaming, appName, t]);
}

const rowItems = (session: TimelineContextValue["session"]) => session.store.getState().items;
