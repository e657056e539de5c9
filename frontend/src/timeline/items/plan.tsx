import { Check, ChevronRight, Circle, CircleDot, ListX } from "lucide-react";
import { useState } from "react";
import { useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { Button } from "@/ui/button";
import type { ItemProps } from "./view";

const icons = { "not-started": Circle, "in-progress": CircleDot, completed: Check };

/** Her to-do list, above the message box: one line, all of it on click, and a way to empty it. */
export function Plan({ item, onClear }: ItemProps<"plan"> & { onClear?: () => void }) {
	const t = useT();
	const online = useOnline();
	const [open, setOpen] = useState(false);
	if (item.items.length === 0) return null;
	const done = item.items.filter((entry) => entry.status === "completed").length;
	const current = item.items.find((entry) => entry.status === "in-progress");
	return (
		<section aria-label={t("plan.title")} className="border-line border-b text-[13.5px]">
			<button
				type="button"
				aria-expanded={open}
				onClick={() => setOpen(!open)}
				className="hover:bg-hover flex w-full items-center gap-2 px-4 py-1.5 text-left"
			>
				<ChevronRight
					size={14}
					aria-hidden
					className={`text-soft transition-transform ${open ? "rotate-90" : ""}`}
				/>
				<span className="font-medium">{t("plan.title")}</span>
				<span className="text-soft min-w-0 flex-1 truncate">{!open && current?.title}</span>
				<span className="text-soft text-xs">
					{t("plan.progress", { done, total: item.items.length })}
				</span>
			</button>
			{open && (
				<>
					<ol className="max-h-52 space-y-1 overflow-y-auto px-4 pb-1">
						{item.items.map((entry) => {
							const Icon = icons[entry.status];
							return (
								<li key={entry.id} className="flex items-start gap-2">
									<Icon
										size={14}
										aria-label={t(`plan.${entry.status}`)}
										className={`mt-1 shrink-0 ${entry.status === "completed" ? "text-good" : entry.status === "in-progress" ? "text-accent" : "text-soft"}`}
									/>
									<span className={entry.status === "completed" ? "text-soft line-through" : ""}>
										{entry.title}
									</span>
								</li>
							);
						})}
					</ol>
					{onClear && (
						<p className="flex justify-end px-2 pb-1.5">
							<Button small tone="quiet" disabled={!online} onClick={onClear}>
								<ListX size={14} aria-hidden />
								{t("plan.clear")}
							</Button>
						</p>
					)}
				</>
			)}
		</section>
	);
}
