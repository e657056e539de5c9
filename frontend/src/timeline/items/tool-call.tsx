import { ChevronRight, FilePen, GitFork, SquareTerminal, Wrench } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import type { AppliedRule, BackgroundTask, ToolCallItem } from "@/contract/session.gen";
import { useLocale, useT } from "@/i18n/i18n";
import { useApp, useApprovals } from "@/state/context";
import { lastLine } from "@/ui/ansi/ansi";
import { Output } from "@/ui/ansi/output";
import { CopyButton } from "@/ui/copy";
import { countChanges, diffTexts } from "@/ui/diff/diff";
import { DiffView } from "@/ui/diff/diff-view";
import { useNow } from "@/ui/hooks";
import { looks } from "@/ui/looks";
import { valueForCard } from "@/ui/sanitize";
import { Untrusted } from "@/ui/untrusted";
import { useTimeline } from "../context";
import { Settlement } from "./settlement";
import { SubtaskLines } from "./subtask-lines";
import { subtasksOf } from "./subtasks";
import { isWaiting, stateOf, type ToolState } from "./tool-state";
import type { ItemProps } from "./view";

/** One call of a tool: a line that says what and how far, with everything behind it. */
export function ToolCall({ item }: ItemProps<"tool-call">) {
	const t = useT();
	const task = useTask(item.taskId);
	const state = stateOf(item);
	const waiting = isWaiting(item);
	const subtasks = useMemo(() => subtasksOf(item), [item]);
	const failed =
		state === "failed" || (item.display?.kind === "file-change" && state === "completed");
	const [open, setOpen] = useState<boolean>();
	const shown = open ?? failed;
	return (
		// biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame of its own.
		<div
			role="group"
			aria-label={t("tool.label", { tool: item.tool })}
			className={`my-1 overflow-hidden rounded-xl border ${waiting ? "border-warn-edge" : "border-line"} bg-raised`}
		>
			<button
				type="button"
				aria-expanded={shown}
				onClick={() => setOpen(!shown)}
				className="hover:bg-hover flex w-full items-center gap-2.5 px-3 py-2 text-left text-[13.5px]"
			>
				<ToolIcon item={item} />
				<span className="min-w-0 flex-1 truncate">
					<Headline item={item} />
				</span>
				{task ? <TaskMark task={task} /> : <StateMark item={item} state={state} />}
				<ChevronRight
					size={15}
					aria-hidden
					className={`text-soft shrink-0 transition-transform ${shown ? "rotate-90" : ""}`}
				/>
			</button>
			{!shown && state === "running" && !waiting && item.output && (
				<p className="text-soft truncate px-3 pb-2 pl-9 font-mono text-xs">
					<Untrusted text={lastLine(item.output)} />
				</p>
			)}
			{task && <TaskLine task={task} />}
			<SubtaskLines subtasks={subtasks} />
			{waiting && item.approvalId && <Waiting approvalId={item.approvalId} />}
			{item.ext?.rule && (shown || item.ext.rule.verdict !== "allow") && (
				<RuleLine rule={item.ext.rule} />
			)}
			{item.settlement && (item.settlement.state !== "approved" || shown) && (
				<Settlement settlement={item.settlement} />
			)}
			{shown && <Body item={item} hideFacts={waiting} />}
		</div>
	);
}

/** The owner's own rule that decided about the call. */
function RuleLine({ rule: { verdict, text } }: { rule: AppliedRule }) {
	const t = useT();
	return (
		<p data-testid="rule" data-verdict={verdict} className="text-soft px-3 pb-2 pl-9 text-[13px]">
			{text === undefined ? t("rule.free") : t(`rule.${verdict}`)}
			{text !== undefined && (
				<code className="ml-1.5 font-mono text-xs break-words whitespace-pre-wrap">
					<Untrusted text={text} />
				</code>
			)}
		</p>
	);
}

function ToolIcon({ item }: { item: ToolCallItem }) {
	const Icon =
		item.display?.kind === "command"
			? SquareTerminal
			: item.display?.kind === "file-change"
				? FilePen
				: item.tool.includes("subtask")
					? GitFork
					: Wrench;
	return <Icon size={15} aria-hidden className="text-soft shrink-0" />;
}

function Headline({ item }: { item: ToolCallItem }) {
	const { display } = item;
	if (display?.kind === "command") {
		return (
			<code className="font-mono text-[13px]">
				<Untrusted text={firstLine(display.command)} />
			</code>
		);
	}
	if (display?.kind === "file-change") {
		return (
			<>
				<Untrusted text={display.path} />
				<Changes removed={display.removed ?? ""} added={display.added ?? ""} />
			</>
		);
	}
	const essential = Object.values(item.args).find(
		(value) => typeof value === "string" && value !== "",
	);
	return (
		<>
			<span className="font-medium">
				<Untrusted text={item.tool} />
			</span>
			{typeof essential === "string" && (
				<span className="text-soft ml-2">
					<Untrusted text={firstLine(essential)} />
				</span>
			)}
		</>
	);
}

const firstLine = (text: string): string => {
	const line = text.trimStart().split("\n", 1)[0] ?? "";
	return line.length < text.trim().length ? `${line} …` : line;
};

function Changes({ removed, added }: { removed: string; added: string }) {
	const counts = useMemo(() => countChanges(diffTexts(removed, added)), [removed, added]);
	return (
		<span className="ml-2 font-mono text-xs">
			<span className="text-good">+{counts.added}</span>{" "}
			<span className="text-bad">−{counts.removed}</span>
		</span>
	);
}

function StateMark({ item, state }: { item: ToolCallItem; state: ToolState }) {
	const { t, duration } = useLocale();
	const running = state === "running" && item.startedAt !== undefined;
	const now = useNow(running ? 1000 : 0);
	const elapsed = item.durationMs ?? (running && item.startedAt ? now - item.startedAt : undefined);
	const exitCode = item.display?.kind === "command" ? item.display.exitCode : undefined;
	return (
		<span className={`flex shrink-0 items-center gap-2 text-xs ${looks[state].tone}`}>
			{exitCode !== undefined && exitCode !== 0 && (
				<span>{t("tool.exit", { code: exitCode })}</span>
			)}
			{item.taskId !== undefined && <span>{t("tool.background")}</span>}
			{item.sentToRoom && <span>{t("tool.sentToRoom")}</span>}
			{elapsed !== undefined && elapsed >= 1000 && (
				<span className="text-soft tabular-nums">{duration(elapsed)}</span>
			)}
			<span className="flex items-center gap-1">
				<span aria-hidden className="flex">
					{looks[state].icon}
				</span>
				<span className={state === "completed" ? "sr-only" : ""}>
					{t(item.notExecuted && state !== "denied" ? "tool.notExecuted" : `tool.${state}`)}
				</span>
			</span>
		</span>
	);
}

/** Spec SP-TOOL-25: how the work of a call that was moved goes on; of one no longer known nothing. */
function useTask(taskId: string | undefined): BackgroundTask | undefined {
	const { background } = useApp();
	return useStore(background.store, ({ tasks }) =>
		taskId === undefined ? undefined : tasks.get(taskId),
	);
}

function TaskMark({ task }: { task: BackgroundTask }) {
	const { t, duration } = useLocale();
	const { status, startedAt, endedAt, exitCode } = task;
	const now = useNow(status === "running" ? 1000 : 0);
	return (
		<span
			data-testid="task-mark"
			data-status={status}
			className={`flex shrink-0 items-center gap-2 text-xs ${looks[status].tone}`}
		>
			{exitCode !== undefined && exitCode !== 0 && (
				<span>{t("tool.exit", { code: exitCode })}</span>
			)}
			<span className="text-soft max-sm:hidden">{t("tool.background")}</span>
			<span className="text-soft tabular-nums">
				{duration(Math.max(0, (endedAt ?? now) - startedAt))}
			</span>
			<span className="flex items-center gap-1">
				<span aria-hidden className="flex">
					{looks[status].icon}
				</span>
				{t(`task.${status}`)}
			</span>
		</span>
	);
}

function TaskLine({ task }: { task: BackgroundTask }) {
	const t = useT();
	const { background } = useApp();
	return (
		<div className="flex min-h-8 items-center gap-3 pr-3 pb-1.5 pl-9">
			<p className="text-soft min-w-0 flex-1 truncate font-mono text-xs">
				<Untrusted text={task.lastLine ?? ""} />
			</p>
			<button
				type="button"
				data-testid="task-open"
				className="text-accent shrink-0 text-[13px] hover:underline"
				onClick={() => background.show(task.id)}
			>
				{t("background.show")}
			</button>
		</div>
	);
}

/** The approval of this very card; the same object the inbox shows. */
function Waiting({ approvalId }: { approvalId: string }) {
	const t = useT();
	const app = useApp();
	const { session, renderApproval } = useTimeline();
	const pending = useApprovals((state) => state.pending.get(approvalId));
	const missing = pending === undefined;
	useEffect(() => {
		if (!missing) return;
		// Its push is usually right behind the card's.
		const timer = setTimeout(() => app.seek(session.id, approvalId), 800);
		return () => clearTimeout(timer);
	}, [missing, app, session, approvalId]);
	if (!pending)
		return <p className="text-soft px-3 pb-2.5 pl-9 text-[13px]">{t("approval.missing")}</p>;
	return <div className="border-line border-t">{renderApproval(pending.approval)}</div>;
}

function Body({ item, hideFacts }: { item: ToolCallItem; hideFacts: boolean }) {
	const t = useT();
	const { display } = item;
	const more = useCallback((count: number) => t("common.showMore", { count }), [t]);
	const output = item.output ?? "";
	// A command's result repeats its output for the model; one of the two is enough for a person.
	const result = display?.kind === "command" && output !== "" ? undefined : item.result;
	return (
		<div className="border-line border-t text-[13.5px]">
			{display?.kind === "command" && !hideFacts && (
				<Fact label={t("tool.command")}>
					<pre className="font-mono text-[13px] break-words whitespace-pre-wrap">
						<Untrusted text={display.command} />
					</pre>
					{display.cwd !== undefined && (
						<p className="text-soft mt-1 font-mono text-xs">
							<Untrusted text={t("tool.cwd", { cwd: display.cwd })} />
						</p>
					)}
				</Fact>
			)}
			{display?.kind === "file-change" && !hideFacts && (
				<FileChange path={display.path} removed={display.removed} added={display.added} />
			)}
			{display === undefined && !hideFacts && Object.keys(item.args).length > 0 && (
				<Fact label={t("tool.args")}>
					<Parameters value={item.args} />
				</Fact>
			)}
			{output !== "" && (
				<div className="group/out relative">
					<Output text={output} label={t("tool.output")} more={more} />
					<span className="bg-raised absolute top-1 right-2 rounded-lg opacity-0 group-focus-within/out:opacity-100 group-hover/out:opacity-100">
						<CopyButton
							text={() => output}
							label={t("tool.copyOutput")}
							done={t("common.copied")}
						/>
					</span>
				</div>
			)}
			{result !== undefined && result !== "" && (
				<Fact label={t("tool.result")}>
					<pre
						// biome-ignore lint/a11y/noNoninteractiveTabindex: a pane that scrolls must be reachable by keyboard.
						tabIndex={0}
						className="max-h-80 overflow-auto font-mono text-[12.5px] break-words whitespace-pre-wrap"
					>
						<Untrusted text={pretty(result)} />
					</pre>
				</Fact>
			)}
			{output === "" && (result === undefined || result === "") && item.status === "completed" && (
				<p className="text-soft px-3 py-2 text-[13px]">{t("tool.noOutput")}</p>
			)}
		</div>
	);
}

function FileChange({
	path,
	removed,
	added,
}: {
	path: string;
	removed: string | undefined;
	added: string | undefined;
}) {
	const t = useT();
	const lines = useMemo(() => diffTexts(removed ?? "", added ?? ""), [removed, added]);
	return (
		<div className="max-h-[28rem] overflow-auto py-1">
			<DiffView
				lines={lines}
				label={t("tool.change", { path })}
				more={(count) => t("common.showMore", { count })}
			/>
		</div>
	);
}

function Parameters({ value }: { value: Record<string, unknown> }) {
	return (
		<dl className="space-y-1 font-mono text-[12.5px]">
			{Object.entries(value).map(([key, part]) => (
				<div key={key} className="flex gap-2">
					<dt className="text-soft shrink-0">
						<Untrusted text={key} />
					</dt>
					<dd className="max-h-60 min-w-0 overflow-auto break-words whitespace-pre-wrap">
						<Untrusted text={valueForCard(part)} />
					</dd>
				</div>
			))}
		</dl>
	);
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
	return (
		<div className="px-3 py-2">
			<p className="text-soft mb-1 text-xs">{label}</p>
			{children}
		</div>
	);
}

// JSON is laid out to be read; anything else is shown as the model got it.
function pretty(result: string): string {
	if (!/^\s*[[{]/.test(result)) return result;
	try {
		return JSON.stringify(JSON.parse(result), undefined, 2);
	} catch {
		return result;
	}
}
