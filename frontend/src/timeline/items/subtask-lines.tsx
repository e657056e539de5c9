import { GitFork } from "lucide-react";
import { useEffect } from "react";
import type { SessionSummary } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp, useSessions } from "@/state/context";
import { looks } from "@/ui/looks";
import { Untrusted } from "@/ui/untrusted";
import { useTimeline } from "../context";
import { lookOf, type NamedSubtask, type SubtaskState, stateOfSession } from "./subtasks";

/** The sub-tasks a card is about: each leads to its conversation and says how it stands now. */
export function SubtaskLines({ subtasks }: { subtasks: readonly NamedSubtask[] }) {
	const app = useApp();
	const online = useOnline();
	const { session } = useTimeline();
	const missing = useSessions(({ byId }) =>
		subtasks.some(({ id, status }) => status !== "deleted" && !byId.has(id)),
	);
	useEffect(() => {
		if (missing && online) app.lists.know(session.id);
	}, [missing, online, app, session.id]);
	if (subtasks.length === 0) return null;
	return (
		<ul className="pb-1.5">
			{subtasks.map((subtask) => (
				<SubtaskLine key={subtask.id} subtask={subtask} />
			))}
		</ul>
	);
}

function SubtaskLine({ subtask }: { subtask: NamedSubtask }) {
	const t = useT();
	const now = useSessions(({ byId }) => byId.get(subtask.id));
	const name = (now?.title ?? subtask.name) || t("session.untitled");
	return (
		<li
			data-testid="subtask"
			data-subtask-id={subtask.id}
			className="flex min-h-8 items-center gap-2 pr-3 pl-9 text-[13px]"
		>
			<GitFork size={13} aria-hidden className="text-soft shrink-0" />
			{subtask.status === "deleted" ? (
				<span className="text-soft min-w-0 flex-1 truncate">{t("subtask.gone")}</span>
			) : (
				<a
					href={`#/s/${encodeURIComponent(subtask.id)}`}
					className="text-accent min-w-0 flex-1 truncate hover:underline"
				>
					<Untrusted text={name} />
				</a>
			)}
			{now?.tokens && (
				<span className="text-soft tabular-nums max-sm:hidden">
					{t("subtask.tokens", { count: now.tokens.input + now.tokens.output })}
				</span>
			)}
			<SubtaskMark state={stateNow(now, subtask.status)} />
		</li>
	);
}

// The end of the program is a stop to the session protocol; what the card was told is closer.
function stateNow(now: SessionSummary | undefined, told: SubtaskState): SubtaskState {
	if (!now) return told;
	const state = stateOfSession(now);
	return state === "stopped" && told === "interrupted" ? told : state;
}

export function SubtaskMark({ state }: { state: SubtaskState }) {
	const t = useT();
	const look = looks[lookOf[state]];
	return (
		<span
			data-testid="subtask-mark"
			data-state={state}
			className={`flex shrink-0 items-center gap-1 text-xs ${look.tone}`}
		>
			<span aria-hidden className="flex">
				{look.icon}
			</span>
			{t(`subtask.${state}`)}
		</span>
	);
}
