import { Brain, ChevronRight } from "lucide-react";
import { useState } from "react";
import { useT } from "@/i18n/i18n";
import type { ItemProps } from "./view";

/** Folded to one line; while it streams the line is its latest. */
export function Reasoning({ item, streaming }: ItemProps<"reasoning">) {
	const t = useT();
	const [open, setOpen] = useState(false);
	const latest = item.text.trimEnd().split("\n").at(-1) ?? "";
	return (
		<section className="py-1">
			<button
				type="button"
				aria-expanded={open}
				onClick={() => setOpen(!open)}
				className="text-soft hover:bg-hover -ml-2 flex max-w-full items-center gap-2 rounded-lg px-2 py-1 text-[13px]"
			>
				<Brain size={14} aria-hidden className={`shrink-0 ${streaming ? "pulse" : ""}`} />
				<span className="shrink-0">
					{t(streaming ? "reasoning.thinking" : "reasoning.thought")}
				</span>
				{!open && <span className="min-w-0 truncate">{latest}</span>}
				<ChevronRight
					size={14}
					aria-hidden
					className={`shrink-0 transition-transform ${open ? "rotate-90" : ""}`}
				/>
			</button>
			{open && (
				<p className="border-line text-soft mt-1 ml-1 border-l-2 pl-3 text-[13.5px] break-words whitespace-pre-wrap">
					{item.text}
				</p>
			)}
		</section>
	);
}
