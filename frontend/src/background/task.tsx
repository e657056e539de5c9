import { ChevronRight, Square } from "lucide-react";
import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import type { BackgroundTask } from "@/contract/session.gen";
import { useLocale, useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp, useSessions } from "@/state/context";
import { Button } from "@/ui/button";
import { useNow } from "@/ui/hooks";
import { looks } from "@/ui/looks";
import { Untrusted } from "@/ui/untrusted";
import { Following } from "./following";

/** One task: what it is, whose, how far, and behind it what it prints. */
export function Task({
	task,
	open,
	onToggle,
	onLeave,
}: {
	task: BackgroundTask;
	open: boolean;
	onToggle(): void;
	/** A person goes to its conversation. */
	onLeave?: () => void;
}) {
	const t = useT();
	const running = task.status === "running";
	const row = useRef<HTMLDivElement>(null);
	const toggle = useRef<HTMLButtonElement>(null);
	const pressed = useRef(false);
	useEffect(() => {
		if (open) row.current?.scrollIntoView({ block: "nearest" });
	}, [open]);
	useEffect(() => {
		// Stop goes with what it stopped; whoever pressed it goes on from here.
		if (running || !pressed.current) return;
		pressed.current = false;
		if (document.activeElement === document.body) toggle.current?.focus({ preventScroll: true });
	}, [running]);
	return (
		<div ref={row} data-testid="task" data-task-id={task.id} data-status={task.status}>
			<button
				ref={toggle}
				type="button"
				aria-expanded={open}
				onClick={onToggle}
				className="hover:bg-hover flex w-full items-start gap-2 px-4 pt-2 pb-1 text-left text-[13.5px]"
			>
				<ChevronRight
					size={14}
					aria-hidden
					className={`text-soft mt-1 shrink-0 transition-transform ${open ? "rotate-90" : ""}`}
				/>
				<span className={`min-w-0 flex-1 ${open ? "break-words whitespace-pre-wrap" : "truncate"}`}>
					<What task={task} />
				</span>
			</button>
			<div className="flex items-center gap-3 pr-4 pb-1.5 pl-9 text-xs">
				<Status task={task} />
				<p className="text-soft min-w-0 flex-1 truncate">
					<Session task={task} {...(onLeave ? { onLeave } : {})} />
				</p>
				{running && (
					<Stop
						task={task}
						onPress={() => {
							pressed.current = true;
						}}
					/>
				)}
			</div>
			{task.reason !== undefined && (
				<p className="text-bad pr-4 pb-1.5 pl-9 text-[13px] break-words">
					<Untrusted text={task.reason} />
				</p>
			)}
			{!open && task.lastLine !== undefined && task.lastLine !== "" && (
				<p data-testid="task-line" className="text-soft truncate pr-4 pb-2 pl-9 font-mono text-xs">
					<Untrusted text={task.lastLine} />
				</p>
			)}
			{open && (
				<Following
					key={task.id}
					task={task}
					label={t("background.output", { label: task.label })}
				/>
			)}
		</div>
	);
}

/** The command as typed, the file, or the tool's name. */
function What({ task: { display, label } }: { task: BackgroundTask }) {
	if (display?.kind === "command") {
		return (
			<code className="font-mono text-[13px]">
				<Untrusted text={display.command.trim()} />
			</code>
		);
	}
	return (
		<>
			<span className="font-medium">
				<Untrusted text={label} />
			</span>
			{display?.kind === "file-change" && (
				<span className="text-soft ml-2">
					<Untrusted text={display.path} />
				</span>
			)}
		</>
	);
}

function Status({ task }: { task: BackgroundTask }) {
	const { t, duration, full } = useLocale();
	const { status, startedAt, endedAt, exitCode } = task;
	const now = useNow(status === "running" ? 1000 : 0);
	return (
		<span className={`flex shrink-0 items-center gap-2 ${looks[status].tone}`}>
			<span className="flex items-center gap-1">
				<span aria-hidden className="flex">
					{looks[status].icon}
				</span>
				{t(`task.${status}`)}
			</span>
			{exitCode !== undefined && exitCode !== 0 && (
				<span>{t("tool.exit", { code: exitCode })}</span>
			)}
			<time
				className="text-soft tabular-nums"
				dateTime={new Date(startedAt).toISOString()}
				title={t("background.since", { time: full(startedAt) })}
			>
				{duration(Math.max(0, (endedAt ?? now) - startedAt))}
			</time>
		</span>
	);
}

function Session({ task, onLeave }: { task: BackgroundTask; onLeave?: () => void }) {
	const t = useT();
	const title = useSessions((state) => state.byId.get(task.sessionId)?.title);
	return (
		<a
			href={`#/s/${encodeURIComponent(task.sessionId)}`}
			data-testid="task-session"
			className="text-accent underline underline-offset-2"
			{...(onLeave ? { onClick: onLeave } : {})}
		>
			{title || t("background.session")}
		</a>
	);
}

/** Spec SP-BG-14: that it stopped is drawn when the server says so, not when it was asked for. */
function Stop({ task, onPress }: { task: BackgroundTask; onPress(): void }) {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	const asked = useStore(app.background.store, (state) => state.stopping.has(task.id));
	return (
		<Button
			small
			data-testid="task-stop"
			disabled={asked || !online}
			onClick={() => {
				onPress();
				void app.stopTask(task.id);
			}}
		>
			<Square size={11} aria-hidden />
			{t(asked ? "background.stopping" : "background.stop")}
		</Button>
	);
}
