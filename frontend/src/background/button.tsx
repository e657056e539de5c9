import { Activity } from "lucide-react";
import { useStore } from "zustand";
import { useT } from "@/i18n/i18n";
import { runningCount } from "@/state/background";
import { useApp } from "@/state/context";

/** Leads to the background tasks, with how many run; not there when none does. */
export function BackgroundButton() {
	const t = useT();
	const { background } = useApp();
	const count = useStore(background.store, runningCount);
	const open = useStore(background.panel, (panel) => panel.open);
	if (count === 0 && !open) return null;
	const label = count > 0 ? t("background.count", { count }) : t("background.title");
	return (
		<button
			type="button"
			data-testid="background"
			aria-label={label}
			aria-expanded={open}
			title={label}
			onClick={() => (open ? background.hide() : background.show())}
			className={`hover:bg-hover hover:text-ink flex h-9 min-w-9 shrink-0 items-center justify-center gap-1.5 rounded-lg px-2 transition-colors ${open ? "bg-hover text-ink" : "text-soft"}`}
		>
			<Activity size={17} aria-hidden className={count > 0 ? "text-accent" : ""} />
			{count > 0 && (
				<span data-testid="background-count" className="text-xs font-semibold tabular-nums">
					{count}
				</span>
			)}
		</button>
	);
}
