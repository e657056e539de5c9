import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { useStore } from "zustand";
import type { BackgroundTask } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { tasksInOrder } from "@/state/background";
import { useApp } from "@/state/context";
import { IconButton } from "@/ui/button";
import { useMedia } from "@/ui/hooks";
import { Task } from "./task";

/** Every background task over all sessions: beside the conversation, or over it where there is no room. */
export function BackgroundPanel() {
	const t = useT();
	const { background } = useApp();
	const small = useMedia("(max-width: 1099px)");
	const open = useStore(background.panel, (panel) => panel.open);
	const there = useStore(background.store, (state) => state.phase === "ready");
	if (!there) return null;
	if (!small) return open ? <Beside /> : null;
	return (
		<Dialog.Root open={open} onOpenChange={(next) => !next && background.hide()}>
			<Dialog.Portal>
				<Dialog.Backdrop className="fixed inset-0 z-40 bg-[rgb(20_16_8/35%)]" />
				<Dialog.Popup
					data-testid="background-panel"
					aria-label={t("background.title")}
					className="bg-canvas border-line shadow-float fixed top-0 right-0 z-50 flex h-full w-[min(26rem,100vw)] flex-col border-l outline-none"
				>
					<Tasks onLeave={() => background.hide()} />
				</Dialog.Popup>
			</Dialog.Portal>
		</Dialog.Root>
	);
}

function Beside() {
	const t = useT();
	const { background } = useApp();
	const pane = useRef<HTMLElement>(null);
	useEffect(() => {
		const before = document.activeElement;
		const mine = pane.current;
		mine?.focus();
		return () => {
			// Whoever was in here goes back to where it was opened from.
			const lost =
				document.activeElement === document.body || mine?.contains(document.activeElement);
			if (lost && before instanceof HTMLElement && before.isConnected) before.focus();
		};
	}, []);
	return (
		<aside
			ref={pane}
			tabIndex={-1}
			aria-label={t("background.title")}
			data-testid="background-panel"
			className="bg-canvas border-line flex h-full w-[23rem] shrink-0 flex-col border-l outline-none"
			onKeyDown={(event) => {
				if (event.key === "Escape" && !event.defaultPrevented) background.hide();
			}}
		>
			<Tasks />
		</aside>
	);
}

function Tasks({ onLeave }: { onLeave?: () => void }) {
	const t = useT();
	const { background } = useApp();
	const state = useStore(background.store);
	const taskId = useStore(background.panel, (panel) => panel.taskId);
	const tasks = useMemo(() => tasksInOrder(state), [state]);
	const runs = (task: BackgroundTask | undefined) => task?.status === "running";
	return (
		<>
			<header className="border-line flex h-14 shrink-0 items-center gap-1 border-b pr-3 pl-4">
				<h2 className="min-w-0 flex-1 truncate text-[15px] font-semibold">
					{t("background.title")}
				</h2>
				<IconButton label={t("common.close")} onClick={() => background.hide()}>
					<X size={17} />
				</IconButton>
			</header>
			<div className="min-h-0 flex-1 overflow-y-auto pb-4">
				{tasks.length === 0 && (
					<p className="text-soft px-4 py-6 text-center text-[13.5px]">{t("background.empty")}</p>
				)}
				{/* One list: a task that ends goes down in it as it is, with what is open. */}
				<ul>
					{tasks.map((task, at) => (
						<li key={task.id} className={at > 0 ? "border-line border-t" : ""}>
							{(at === 0 || runs(tasks[at - 1]) !== runs(task)) && (
								<h3 className="text-soft px-4 pt-3 pb-1 text-xs">
									{t(runs(task) ? "background.running" : "background.ended")}
								</h3>
							)}
							<Task
								task={task}
								open={task.id === taskId}
								onToggle={() => background.show(task.id === taskId ? undefined : task.id)}
								{...(onLeave ? { onLeave } : {})}
							/>
						</li>
					))}
				</ul>
			</div>
		</>
	);
}
