import { GitFork, Info, LoaderCircle, Play } from "lucide-react";
import { COMMAND_REPLY_TOPIC, type NoticeItem } from "@/contract/session.gen";
import { type MessageKey, useLocale, useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp, useSession } from "@/state/context";
import { isRunning } from "@/state/session";
import { Button } from "@/ui/button";
import { Untrusted } from "@/ui/untrusted";
import { useTimeline } from "../context";
import { Markdown } from "../markdown/markdown";
import { Attachment } from "./attachments";
import type { ItemProps } from "./view";

export function Notice({ item }: ItemProps<"notice">) {
	if (item.topic === COMMAND_REPLY_TOPIC) {
		return (
			<div className="border-line bg-sunken my-2 rounded-xl border px-4 py-3">
				<Markdown text={item.text} />
			</div>
		);
	}
	if (item.topic === "tool-limit") return <ToolLimit item={item} />;
	if (item.topic === "event-marker" && typeof item.facts?.tokensAfter === "number") {
		return (
			<div
				data-testid="compressed"
				className="text-soft my-3 flex items-center gap-3 text-center text-xs"
			>
				<span aria-hidden className="border-line grow border-t" />
				<span className="max-w-[70%]">{item.text}</span>
				<span aria-hidden className="border-line grow border-t" />
			</div>
		);
	}
	if (item.topic === "subtask" && typeof item.facts?.subtaskId === "string") {
		return <SubtaskEnd item={item} id={item.facts.subtaskId} />;
	}
	return (
		<div className="text-soft flex items-center justify-center gap-2 py-2 text-center text-[13px]">
			<Words item={item} />
			{item.attachment && <Attachment itemId={item.itemId} n={0} attachment={item.attachment} />}
		</div>
	);
}

/** Kinds this client knows are drawn from their facts; the server's sentence stands for the others. */
function Words({ item }: { item: NoticeItem }) {
	const { t, duration } = useLocale();
	const key = knownWords(item);
	if (!key) {
		return item.text === "" ? null : (
			<span>
				<Info size={13} aria-hidden className="mr-1.5 inline align-[-2px]" />
				{item.text}
			</span>
		);
	}
	const busy = key === "notice.compress.start";
	const { tool, exitCode, durationMs, lastLine, reason } = item.facts ?? {};
	return (
		<span className="min-w-0">
			{busy && <LoaderCircle size={13} aria-hidden className="spin mr-1.5 inline align-[-2px]" />}
			<Untrusted text={t(key, { tool: text(tool) })} />
			{typeof exitCode === "number" && exitCode !== 0 && ` · ${t("tool.exit", { code: exitCode })}`}
			{typeof durationMs === "number" && ` · ${duration(durationMs)}`}
			{text(reason) !== "" && `: ${text(reason)}`}
			{text(lastLine) !== "" && (
				<code className="mt-0.5 block truncate font-mono text-xs">
					<Untrusted text={text(lastLine)} />
				</code>
			)}
		</span>
	);
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const TASK_STATES = ["running", "completed", "failed", "stopped", "aborted"] as const;
const COMPRESS_STATES = ["start", "done", "error"] as const;

function knownWords({ topic, facts }: NoticeItem): MessageKey | undefined {
	if (topic === "background-task") {
		const status = TASK_STATES.find((known) => known === facts?.status);
		return status && `notice.task.${status}`;
	}
	if (topic === "compress") {
		const status = COMPRESS_STATES.find((known) => known === facts?.status);
		return status && `notice.compress.${status}`;
	}
	return undefined;
}

/** A sub-task has ended: the sentence leads to its conversation. */
function SubtaskEnd({ item, id }: { item: NoticeItem; id: string }) {
	const { t, duration } = useLocale();
	const { status, name, durationMs } = item.facts ?? {};
	const known = SUBTASK_ENDS.find((end) => end === status);
	return (
		<p className="text-soft py-2 text-center text-[13px]">
			<GitFork size={13} aria-hidden className="mr-1.5 inline align-[-2px]" />
			<a
				href={`#/s/${encodeURIComponent(id)}`}
				data-testid="subtask-end"
				className="hover:text-ink underline-offset-2 hover:underline"
			>
				<Untrusted text={known ? t(`notice.subtask.${known}`, { name: text(name) }) : item.text} />
			</a>
			{typeof durationMs === "number" && durationMs >= 1000 && ` · ${duration(durationMs)}`}
		</p>
	);
}

const SUBTASK_ENDS = ["completed", "failed", "interrupted"] as const;

function ToolLimit({ item }: { item: NoticeItem }) {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	const { session } = useTimeline();
	const running = useSession(session, isRunning);
	return (
		<div className="border-line bg-sunken my-2 flex flex-wrap items-center justify-between gap-3 rounded-xl border px-4 py-2.5 text-[13.5px]">
			<span>{item.text}</span>
			{item.canContinue && (
				<Button
					small
					data-testid="continue"
					disabled={running || !online}
					onClick={() => app.proceed(session.id)}
				>
					<Play size={13} aria-hidden />
					{t("notice.continue")}
				</Button>
			)}
		</div>
	);
}
