import { ArrowUpCircle, Hourglass, X } from "lucide-react";
import type { ReactNode } from "react";
import { useStore } from "zustand";
import { useT } from "@/i18n/i18n";
import { useDesktop, useHost } from "@/state/context";
import type { Desktop } from "@/state/desktop";
import { shownUpdate } from "@/state/desktop-reducer";
import { Button, IconButton } from "@/ui/button";
import { Untrusted } from "@/ui/untrusted";

/** What the window has to say above everything else, quietly. */
export function DesktopLines() {
	const desktop = useDesktop();
	return desktop ? (
		<>
			<Finishing desktop={desktop} />
			<Update desktop={desktop} />
		</>
	) : null;
}

function Line({
	testId,
	icon,
	children,
}: {
	testId: string;
	icon: ReactNode;
	children: ReactNode;
}) {
	return (
		<div
			role="status"
			data-testid={testId}
			className="bg-accent-wash text-ink flex min-h-9 items-center gap-3 px-4 py-0.5 text-[13px]"
		>
			{icon}
			{children}
		</div>
	);
}

/** The program ends once nothing runs; until then that can be taken back. */
function Finishing({ desktop }: { desktop: Desktop }) {
	const t = useT();
	const name = useHost((host) => host.appName);
	const finishing = useStore(desktop.store, (state) => state.finishing);
	if (!finishing) return null;
	return (
		<Line
			testId="finishing"
			icon={<Hourglass size={15} aria-hidden className="text-accent shrink-0" />}
		>
			<p className="min-w-0 flex-1">{t(`leave.${finishing}.finishing`, { name })}</p>
			<Button small data-testid="finishing-cancel" onClick={() => void desktop.goOn()}>
				{t("common.cancel")}
			</Button>
		</Line>
	);
}

function Update({ desktop }: { desktop: Desktop }) {
	const t = useT();
	const update = useStore(desktop.store, shownUpdate);
	const finishing = useStore(desktop.store, (state) => state.finishing !== undefined);
	if (!update || finishing) return null;
	return (
		<Line
			testId="update"
			icon={<ArrowUpCircle size={15} aria-hidden className="text-accent shrink-0" />}
		>
			<p className="min-w-0 flex-1">
				<Untrusted text={t("update.installed", { version: update.version })} />
			</p>
			<Button small data-testid="update-restart" onClick={() => void desktop.restart()}>
				{t(update.busy ? "update.restart.later" : "update.restart")}
			</Button>
			<IconButton
				label={t("update.dismiss")}
				className="!size-7"
				onClick={() => desktop.do({ type: "update-dismissed" })}
			>
				<X size={15} />
			</IconButton>
		</Line>
	);
}
