import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Undo2 } from "lucide-react";
import { type ReactNode, type RefObject, useEffect, useMemo, useRef } from "react";
import { useStore } from "zustand";
import type { RewindScope } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp, useSession } from "@/state/context";
import type { OpenSession } from "@/state/open-session";
import { changesOf, type Rewinding, rewoundOf } from "@/state/rewind";
import { isRunning } from "@/state/session";
import { Button } from "@/ui/button";
import { Untrusted } from "@/ui/untrusted";
import { Came, Paths } from "./outcome";

/** Asks what of a turn is to be taken back, does it, and tells what came of it. */
export function RewindDialog() {
	const t = useT();
	const app = useApp();
	const { now } = useStore(app.rewinds.store);
	/** The answer that changes nothing; it has the focus. */
	const safe = useRef<HTMLButtonElement>(null);
	const close = () => {
		const rewound = rewoundOf(now);
		app.rewinds.do({ type: "close" });
		if (!rewound) return;
		app.toast(t("rewind.toast"), "plain", {
			label: t("rewind.takeBack"),
			run: () => void app.rewinds.undo(rewound),
		});
	};
	return (
		<AlertDialog.Root open={now !== undefined} onOpenChange={(next) => !next && close()}>
			<AlertDialog.Portal>
				<AlertDialog.Backdrop className="fixed inset-0 z-40 bg-[rgb(20_16_8/45%)]" />
				<AlertDialog.Popup
					data-testid="rewind-dialog"
					data-phase={now?.phase}
					initialFocus={safe}
					className="bg-raised border-line shadow-float appear fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100vh-2rem)] w-[min(30rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 flex-col rounded-2xl border outline-none"
				>
					{now &&
						(now.phase === "asking" || now.phase === "rewinding" ? (
							<Question now={now} safe={safe} onClose={close} />
						) : (
							<Answer now={now} safe={safe} onClose={close} />
						))}
				</AlertDialog.Popup>
			</AlertDialog.Portal>
		</AlertDialog.Root>
	);
}

function Frame({
	title,
	children,
	buttons,
}: {
	title: string;
	children: ReactNode;
	buttons: ReactNode;
}) {
	return (
		<>
			<AlertDialog.Title className="px-5 pt-5 text-base font-semibold">{title}</AlertDialog.Title>
			<div className="min-h-0 space-y-3 overflow-y-auto px-5 pt-2 pb-1 text-sm">{children}</div>
			<div className="flex flex-wrap justify-end gap-2 px-5 pt-3 pb-5">{buttons}</div>
		</>
	);
}

const SCOPES = ["code", "code-and-chat"] as const satisfies RewindScope[];

interface PartProps {
	now: Rewinding;
	safe: RefObject<HTMLButtonElement | null>;
	onClose(): void;
}

function Question({ now, safe, onClose }: PartProps) {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	const session = useMemo(() => app.look(now.sessionId), [app, now.sessionId]);
	const running = useSession(session, isRunning);
	const working = now.phase === "rewinding";
	return (
		<Frame
			title={t("rewind.title")}
			buttons={
				<>
					<Button ref={safe} disabled={working} onClick={onClose}>
						{t("common.cancel")}
					</Button>
					<Button
						tone="danger"
						data-testid="rewind-go"
						disabled={working || running || !online}
						// A key that is held down or pressed twice must not answer for a person.
						onKeyDown={(event) => event.repeat && event.preventDefault()}
						onClick={() => void app.rewinds.go()}
					>
						{t(working ? "rewind.working" : "rewind.action")}
					</Button>
				</>
			}
		>
			<fieldset disabled={working} className="space-y-1">
				<legend className="sr-only">{t("rewind.scope")}</legend>
				{SCOPES.map((scope) => (
					<label
						key={scope}
						className="hover:bg-hover -mx-2 flex cursor-pointer items-start gap-2.5 rounded-lg px-2 py-1.5"
					>
						<input
							type="radio"
							name="rewind-scope"
							value={scope}
							checked={now.scope === scope}
							onChange={() => app.rewinds.do({ type: "scope", scope })}
							className="accent-accent mt-1 size-4 shrink-0"
						/>
						<span>
							<span className="block font-medium">{t(`rewind.scope.${scope}`)}</span>
							<span className="text-soft block text-[13px]">{t(`rewind.scope.${scope}.hint`)}</span>
						</span>
					</label>
				))}
			</fieldset>
			<Preview session={session} turnId={now.turnId} />
			<AlertDialog.Description className="text-soft text-[13px]">
				{t("rewind.limits")}
			</AlertDialog.Description>
			<Problem text={now.problem} />
		</Frame>
	);
}

/** What the turn changed, as far as its cards say. */
function Preview({ session, turnId }: { session: OpenSession; turnId: string }) {
	const t = useT();
	const items = useSession(session, (state) => state.items);
	const { files, commands } = useMemo(() => changesOf({ items }, turnId), [items, turnId]);
	return (
		<div data-testid="rewind-preview" className="bg-sunken rounded-xl px-3 py-2 text-[13px]">
			{files.length > 0 ? (
				<Paths label={t("rewind.files", { count: files.length })} paths={files} />
			) : (
				<p>{t("rewind.files.none")}</p>
			)}
			{commands > 0 && <p className="mt-1">{t("rewind.commands", { count: commands })}</p>}
		</div>
	);
}

function Answer({ now, safe, onClose }: PartProps) {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	const rewound = rewoundOf(now);
	const undoing = now.phase === "undoing";
	const { phase } = now;
	// The button that had the focus went with the question.
	// biome-ignore lint/correctness/useExhaustiveDependencies: again with every step.
	useEffect(() => safe.current?.focus(), [phase, safe]);
	const title =
		phase === "undone" ? "rewind.undone" : now.result?.ext ? "rewind.done" : "rewind.done.nothing";
	return (
		<Frame
			title={t(title)}
			buttons={
				<>
					{(rewound || undoing) && (
						<Button
							data-testid="rewind-undo"
							disabled={undoing || !online}
							onClick={() => rewound && void app.rewinds.undo(rewound)}
						>
							<Undo2 size={15} aria-hidden />
							{t(undoing ? "rewind.undoing" : "rewind.takeBack")}
						</Button>
					)}
					<Button ref={safe} tone="accent" disabled={undoing} onClick={onClose}>
						{t("common.close")}
					</Button>
				</>
			}
		>
			<div role="status">
				{now.undone ? (
					<Came result={now.undone} root={now.result?.ext?.root} undone />
				) : (
					now.result && <Came result={now.result} root={now.result.ext?.root} />
				)}
			</div>
			<Problem text={now.problem} />
		</Frame>
	);
}

function Problem({ text }: { text: string | undefined }) {
	if (text === undefined) return null;
	return (
		<p role="alert" className="text-bad text-[13px]">
			<Untrusted text={text} />
		</p>
	);
}
