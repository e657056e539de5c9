import { Info, Play } from "lucide-react";
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
	const { tool, exitCode, durationMs, lastLine, reason } = item.facts ?? {};
	return (
		<span className="min-w-0">
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
