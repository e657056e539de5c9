import { Bot, ChevronRight, FilePen, SquareTerminal, Timer, Wrench } from "lucide-react";
import { type ReactNode, useId, useMemo, useState } from "react";
import type { Approval } from "@/contract/session.gen";
import { useLocale, useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp, useApprovals, useHost } from "@/state/context";
import { Button } from "@/ui/button";
import { diffPatch } from "@/ui/diff/diff";
import { DiffView } from "@/ui/diff/diff-view";
import { useNow } from "@/ui/hooks";
import { valueForCard } from "@/ui/sanitize";
import { Untrusted } from "@/ui/untrusted";
import { Always } from "./always";

/**
 * One approval that waits: what would happen, in full and without deceit, and the answers to it. The
 * card is there exactly as long as the server says that it waits.
 */
export function ApprovalCard({ approval, head }: { approval: Approval; head?: ReactNode }) {
	const t = useT();
	return (
		// biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame of its own.
		<div
			role="group"
			data-testid="approval-card"
			data-approval-id={approval.id}
			aria-label={t("approval.label", { tool: approval.tool })}
			className="bg-warn-wash/60 px-4 py-3"
		>
			{head}
			<div className="flex items-start gap-2.5">
				<TitleIcon approval={approval} />
				<h2 className="min-w-0 flex-1 text-sm font-semibold">
					<Title approval={approval} />
				</h2>
				<Countdown until={approval.expiresAt} />
			</div>
			{approval.origin.kind === "autonomous" && (
				<p className="text-warn mt-1.5 flex items-center gap-1.5 text-[13px]">
					<Bot size={14} aria-hidden />
					{t("approval.autonomous")}
				</p>
			)}
			<Facts approval={approval} />
			<Answers approval={approval} />
		</div>
	);
}

const kindOf = ({ facts }: Approval): "command" | "file" | "tool" =>
	facts.command !== undefined ? "command" : facts.diff ? "file" : "tool";

function TitleIcon({ approval }: { approval: Approval }) {
	const Icon = { command: SquareTerminal, file: FilePen, tool: Wrench }[kindOf(approval)];
	return <Icon size={16} aria-hidden className="text-warn mt-0.5 shrink-0" />;
}

function Title({ approval }: { approval: Approval }) {
	const t = useT();
	const kind = kindOf(approval);
	if (kind === "command") return t("approval.title.command");
	if (kind === "file") return t("approval.title.file");
	return <Untrusted text={t("approval.title", { tool: approval.tool })} />;
}

function Countdown({ until }: { until: number }) {
	const { t, duration } = useLocale();
	const now = useNow(1000);
	const left = until - now;
	return (
		<span
			role="timer"
			className={`flex shrink-0 items-center gap-1 text-xs tabular-nums ${left < 30_000 ? "text-bad font-medium" : "text-soft"}`}
		>
			<Timer size={13} aria-hidden />
			{left > 0
				? t("approval.left", { time: duration(Math.ceil(left / 1000) * 1000) })
				: t("approval.ending")}
		</span>
	);
}

function Facts({ approval }: { approval: Approval }) {
	const t = useT();
	const { facts, chain } = approval;
	const kind = kindOf(approval);
	const params = Object.entries(facts.params);
	return (
		<div className="mt-2.5 space-y-2 text-[13px]">
			{chain && chain.length > 0 && (
				<Fact label={t("approval.path")}>
					<Untrusted text={chain.map(({ title }) => title).join(" › ")} />
				</Fact>
			)}
			{facts.command !== undefined && (
				<pre className="border-line bg-raised rounded-lg border px-3 py-2 font-mono text-[13px] break-words whitespace-pre-wrap">
					<Untrusted text={facts.command} />
				</pre>
			)}
			{facts.cwd !== undefined && (
				<Fact label={t("approval.cwd")}>
					<code className="font-mono text-xs break-all">
						<Untrusted text={facts.cwd} />
					</code>
				</Fact>
			)}
			{facts.diff && (
				<>
					<Fact label={t("approval.file")}>
						<code className="font-mono text-xs break-all">
							<Untrusted text={facts.diff.path} />
						</code>
					</Fact>
					<Patch path={facts.diff.path} patch={facts.diff.patch} />
				</>
			)}
			{params.length > 0 && <Parameters entries={params} folded={kind !== "tool"} />}
		</div>
	);
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
	return (
		<p className="flex gap-2">
			<span className="text-soft shrink-0">{label}</span>
			<span className="min-w-0">{children}</span>
		</p>
	);
}

function Patch({ path, patch }: { path: string; patch: string }) {
	const t = useT();
	const lines = useMemo(() => diffPatch(patch), [patch]);
	return (
		<div
			// biome-ignore lint/a11y/noNoninteractiveTabindex: a pane that scrolls must be reachable by keyboard.
			tabIndex={0}
			className="border-line bg-raised max-h-80 overflow-auto rounded-lg border py-1"
		>
			<DiffView
				lines={lines}
				label={t("tool.change", { path })}
				more={(count) => t("common.showMore", { count })}
			/>
		</div>
	);
}

/** Every parameter, names too: what stands in the command or the diff is not always all of it. */
function Parameters({ entries, folded }: { entries: [string, unknown][]; folded: boolean }) {
	const t = useT();
	const [open, setOpen] = useState(!folded);
	return (
		<div>
			<button
				type="button"
				aria-expanded={open}
				className="text-soft hover:text-ink flex items-center gap-1 text-xs"
				onClick={() => setOpen(!open)}
			>
				<ChevronRight
					size={13}
					aria-hidden
					className={`transition-transform ${open ? "rotate-90" : ""}`}
				/>
				{t("approval.params")}
			</button>
			{open && (
				<dl className="border-line bg-raised mt-1 space-y-1 rounded-lg border px-3 py-2 font-mono text-xs">
					{entries.map(([key, value]) => (
						<div key={key} className="flex gap-2">
							<dt className="text-soft shrink-0">
								<Untrusted text={key} />
							</dt>
							<dd className="min-w-0 break-words whitespace-pre-wrap">
								<Untrusted text={valueForCard(value)} />
							</dd>
						</div>
					))}
				</dl>
			)}
		</div>
	);
}

const LONGEST_NOTE = 2_000;

function Answers({ approval }: { approval: Approval }) {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	const pending = useApprovals((state) => state.pending.get(approval.id));
	const settings = useHost((host) => host.features.settings);
	const [noting, setNoting] = useState(false);
	const [always, setAlways] = useState(false);
	const [note, setNote] = useState("");
	const id = useId();
	const answer = pending?.answer ?? "none";
	const off = !online || answer === "sending" || answer === "taken";
	const may = (option: "approve" | "deny") => approval.options.includes(option);
	return (
		<div className="mt-3">
			{noting && (
				<div className="mb-2">
					<label htmlFor={id} className="text-soft mb-1 block text-xs">
						{t("approval.note.label")}
					</label>
					<textarea
						id={id}
						rows={2}
						value={note}
						maxLength={LONGEST_NOTE}
						// biome-ignore lint/a11y/noAutofocus: the box was asked for a moment ago.
						autoFocus
						onChange={(event) => setNote(event.target.value)}
						className="border-edge bg-raised w-full resize-y rounded-lg border px-2.5 py-1.5 text-sm"
					/>
				</div>
			)}
			{always && approval.facts.command !== undefined && (
				<Always
					command={approval.facts.command}
					off={off}
					onAllow={(rule, scope) => app.approveAlways(approval.id, rule, scope)}
					onLeave={() => setAlways(false)}
				/>
			)}
			<div className="flex flex-wrap items-center gap-2" hidden={always}>
				{may("approve") && !noting && (
					<Button
						small
						tone="accent"
						data-testid="approve"
						disabled={off}
						onClick={() => void app.answer(approval.id, "approve")}
					>
						{t("approval.approve")}
					</Button>
				)}
				{may("deny") && (
					<Button
						small
						data-testid="deny"
						disabled={off || (noting && note.trim() === "")}
						onClick={() => void app.answer(approval.id, "deny", noting ? note : "")}
					>
						{t(noting ? "approval.note.send" : "approval.deny")}
					</Button>
				)}
				{may("deny") && (
					<Button
						small
						tone="quiet"
						data-testid="deny-note"
						disabled={off}
						onClick={() => setNoting(!noting)}
					>
						{t(noting ? "common.cancel" : "approval.note")}
					</Button>
				)}
				{may("approve") && !noting && settings && approval.facts.command !== undefined && (
					<Button
						small
						tone="quiet"
						data-testid="always"
						disabled={off}
						onClick={() => setAlways(true)}
					>
						{t("approval.always")}
					</Button>
				)}
				<span
					role="status"
					className={`text-[13px] ${answer === "refused" ? "text-bad" : "text-soft"}`}
				>
					{answer === "sending" && t("approval.sending")}
					{answer === "taken" && t("approval.taken")}
					{answer === "refused" && pending?.message}
				</span>
			</div>
		</div>
	);
}
