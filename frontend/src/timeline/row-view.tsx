import { LoaderCircle, Paperclip } from "lucide-react";
import { type ComponentType, memo, type ReactNode } from "react";
import { useLocale, useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useSession } from "@/state/context";
import type { OutboxEntry } from "@/state/outbox";
import { Button } from "@/ui/button";
import { useTimeline } from "./context";
import { itemViews } from "./items";
import type { Row } from "./rows";

/** One row. Drawn again only when what it shows has changed, not when rows around it have. */
export const RowView = memo(
	function RowView({ row }: { row: Row }): ReactNode {
		switch (row.type) {
			case "start":
				return <Start />;
			case "day":
				return <Day at={row.at} />;
			case "working":
				return <Working />;
			case "outbox":
				return <Unsent entry={row.entry} />;
			case "turn": {
				const { View } = itemViews.turn;
				return (
					<div data-testid="turn" data-outcome={row.turn.outcome}>
						<View item={row.turn} streaming={false} last={row.last} beside={row.beside} />
					</div>
				);
			}
			case "item":
				return <Item row={row} />;
		}
	},
	({ row: a }, { row: b }) => {
		if (a.type === "item" && b.type === "item")
			return a.item === b.item && a.streaming === b.streaming;
		if (a.type === "turn" && b.type === "turn")
			return a.turn === b.turn && a.last === b.last && a.beside === b.beside;
		if (a.type === "outbox" && b.type === "outbox") return a.entry === b.entry;
		return a.type === b.type && a.key === b.key;
	},
);

function Item({ row }: { row: Extract<Row, { type: "item" }> }) {
	const { item, streaming } = row;
	return (
		<div
			data-testid="item"
			data-item-id={item.itemId}
			data-kind={item.kind}
			data-status={item.kind === "tool-call" ? item.status : streaming ? "streaming" : "completed"}
		>
			<ItemBody item={item} streaming={streaming} />
		</div>
	);
}

function ItemBody({ item, streaming }: Pick<Extract<Row, { type: "item" }>, "item" | "streaming">) {
	// The view of a kind takes that kind; the table is checked to be so.
	const { View } = itemViews[item.kind] as {
		View: ComponentType<{ item: typeof item; streaming: boolean }>;
	};
	return <View item={item} streaming={streaming} />;
}

function Day({ at }: { at: number }) {
	const { day } = useLocale();
	return (
		<p className="text-soft flex items-center gap-3 py-3 text-xs">
			<span className="bg-line h-px flex-1" />
			<time dateTime={new Date(at).toISOString()}>{day(at)}</time>
			<span className="bg-line h-px flex-1" />
		</p>
	);
}

function Working() {
	const t = useT();
	const { appName } = useTimeline();
	return (
		<p data-testid="working" className="text-soft flex items-center gap-2 py-2 text-[13.5px]">
			<span aria-hidden className="bg-accent pulse size-2 rounded-full" />
			{t("timeline.working", { name: appName })}
		</p>
	);
}

function Start() {
	const t = useT();
	const { session } = useTimeline();
	const before = useSession(session, (state) => state.before);
	const older = useSession(session, (state) => state.older);
	const empty = useSession(session, (state) => state.items.length === 0);
	if (before === undefined) {
		return (
			<p className="text-soft h-10 pt-4 text-center text-xs">{!empty && t("timeline.start")}</p>
		);
	}
	return (
		<div className="text-soft flex h-10 items-center justify-center gap-2 pt-4 text-xs">
			{older === "failed" ? (
				<>
					{t("timeline.older.failed")}
					<Button small tone="quiet" onClick={() => void session.loadOlder()}>
						{t("common.retry")}
					</Button>
				</>
			) : (
				<>
					{older === "loading" && <LoaderCircle size={13} aria-hidden className="spin" />}
					{t("timeline.older")}
				</>
			)}
		</div>
	);
}

/** What goes with a message, by name. */
function Files({ names }: { names: readonly string[] | undefined }) {
	if (!names) return null;
	return (
		<ul className="text-soft text-[13px]">
			{names.map((name, at) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name.
				<li key={at} className="flex items-center gap-1.5">
					<Paperclip size={13} aria-hidden className="shrink-0" />
					<span className="min-w-0 break-words">{name}</span>
				</li>
			))}
		</ul>
	);
}

/** A message the server has not shown yet, and what a person can do when it did not go through. */
function Unsent({ entry }: { entry: OutboxEntry }) {
	const t = useT();
	const online = useOnline();
	const { session } = useTimeline();
	const failed = entry.state === "failed";
	return (
		<div data-testid="unsent" data-state={entry.state} className="flex flex-col items-end py-2">
			<div
				className={`max-w-[85%] rounded-2xl rounded-br-md px-4 py-2.5 ${failed ? "border-bad/50 bg-bad-wash border" : "bg-accent-wash opacity-75"}`}
			>
				{entry.text !== "" && <p className="break-words whitespace-pre-wrap">{entry.text}</p>}
				<Files names={entry.files} />
			</div>
			{failed ? (
				<div className="mt-1 flex flex-wrap items-center justify-end gap-1.5 text-[13px]">
					<span className="text-bad">
						{entry.lost
							? t("user.filesLost")
							: entry.message === undefined
								? t("user.unconfirmed")
								: `${t("user.unsent")}: ${entry.message}`}
					</span>
					{!entry.lost && (
						<Button small disabled={!online} onClick={() => session.retry(entry.clientId)}>
							{t("user.send")}
						</Button>
					)}
					<Button small tone="quiet" onClick={() => session.discard(entry.clientId)}>
						{t("user.discard")}
					</Button>
				</div>
			) : (
				<p className="text-soft mt-1 text-xs">{t(online ? "user.sending" : "user.waiting")}</p>
			)}
		</div>
	);
}
