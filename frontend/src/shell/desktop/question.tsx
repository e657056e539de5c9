import { Dialog } from "@base-ui/react/dialog";
import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import { useT } from "@/i18n/i18n";
import { useHost } from "@/state/context";
import type { Desktop } from "@/state/desktop";
import type { Question as Asked, Choice } from "@/state/desktop-events";
import { Button } from "@/ui/button";

/**
 * Asks what is to happen with what still runs before the program ends. The answer that changes nothing
 * has the focus, and is what leaving the dialog in any way means.
 */
export function Question({ desktop }: { desktop: Desktop }) {
	const question = useStore(desktop.store, (state) => state.question);
	const answering = useStore(desktop.store, (state) => state.answering);
	return question ? (
		<Shown key={question.id} question={question} answering={answering} desktop={desktop} />
	) : null;
}

const WORK = [
	["turns", "leave.turns"],
	["tasks", "leave.tasks"],
	["waiting", "leave.waiting"],
] as const;

function Shown({
	question,
	answering,
	desktop,
}: {
	question: Asked;
	answering: Choice | undefined;
	desktop: Desktop;
}) {
	const t = useT();
	const name = useHost((host) => host.appName);
	const cancel = useRef<HTMLButtonElement>(null);
	const { id, kind } = question;
	useEffect(() => {
		const frame = requestAnimationFrame(() => desktop.seen(id));
		return () => cancelAnimationFrame(frame);
	}, [desktop, id]);
	const answer = (choice: Choice) => () => void desktop.answer(id, choice);
	return (
		<Dialog.Root open onOpenChange={(open) => !open && answer("cancel")()}>
			<Dialog.Portal>
				<Dialog.Backdrop className="fixed inset-0 z-60 bg-[rgb(20_16_8/45%)]" />
				<Dialog.Popup
					role="alertdialog"
					initialFocus={cancel}
					data-testid="leave-question"
					data-kind={kind}
					className="bg-raised border-line shadow-float appear fixed top-1/2 left-1/2 z-70 max-h-[calc(100vh-2rem)] w-[min(30rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-2xl border p-5 outline-none"
				>
					<Dialog.Title className="text-base font-semibold">
						{t(`leave.${kind}.title`, { name })}
					</Dialog.Title>
					<Dialog.Description render={<div />} className="text-soft mt-2 text-sm">
						<ul className="text-ink list-disc space-y-0.5 pl-5">
							{WORK.map(([what, key]) =>
								question[what] > 0 ? <li key={what}>{t(key, { count: question[what] })}</li> : null,
							)}
						</ul>
						<p className="mt-2">{t(`leave.${kind}.body`)}</p>
					</Dialog.Description>
					<div className="mt-5 flex flex-wrap justify-end gap-2">
						<Button
							tone="danger"
							data-testid="leave-stop"
							disabled={answering !== undefined}
							onClick={answer("stop")}
						>
							{t(`leave.${kind}.stop`)}
						</Button>
						<Button
							data-testid="leave-finish"
							disabled={answering !== undefined}
							onClick={answer("finish")}
						>
							{t("leave.finish")}
						</Button>
						<Button ref={cancel} data-testid="leave-cancel" onClick={answer("cancel")}>
							{t("common.cancel")}
						</Button>
					</div>
				</Dialog.Popup>
			</Dialog.Portal>
		</Dialog.Root>
	);
}
