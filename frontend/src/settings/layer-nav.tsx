import { useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import { useT } from "@/i18n/i18n";
import { useApp } from "@/state/context";
import { VirtualRows } from "@/ui/virtual";
import { Find } from "./find";
import type { LayerLine } from "./layers";
import type { SettingsAt } from "./row";

/** More than this is narrowed by typing. */
const FEW = 12;

type NavLine =
	| (LayerLine & { readonly apart: boolean })
	| { readonly key: string; readonly heading: string };

/** The layers, grouped as the server names them; the one that is shown is marked. */
export function LayerNav({
	lines,
	here,
	failed,
	precedence,
	onRetry,
	onGo,
}: {
	lines: readonly LayerLine[];
	here: string;
	failed: boolean;
	precedence: string | undefined;
	onRetry(): void;
	onGo(at: SettingsAt): void;
}) {
	const t = useT();
	const { settings } = useApp();
	const [query, setQuery] = useState("");
	const pane = useRef<HTMLDivElement>(null);
	const edited = useStore(settings.edits);
	const unfinished = useMemo(
		() => new Set([...edited.values()].map((edit) => edit.place)),
		[edited],
	);
	const shown = useMemo(() => withHeadings(narrowed(lines, query)), [lines, query]);
	return (
		<nav
			aria-label={t("settings.layers")}
			className="border-line bg-side flex w-60 shrink-0 flex-col border-r"
		>
			{lines.length > FEW && (
				<div className="m-2 mb-0">
					<Find
						testId="layers-find"
						label={t("settings.layers.find")}
						clear={t("settings.layers.clear")}
						value={query}
						onChange={setQuery}
					/>
				</div>
			)}
			<div ref={pane} className="min-h-0 flex-1 overflow-y-auto p-2">
				{failed && (
					<p role="alert" className="text-bad px-2 py-1 text-[13px]">
						{t("settings.layers.failed")}{" "}
						<button type="button" className="underline underline-offset-2" onClick={onRetry}>
							{t("common.retry")}
						</button>
					</p>
				)}
				{shown.length === 0 && query !== "" && (
					<p className="text-soft px-2 py-1 text-[13px]">{t("settings.layers.none")}</p>
				)}
				<VirtualRows data={shown} scrollRef={pane} itemSize={34}>
					{(line) =>
						"heading" in line ? (
							<p key={line.key} className="text-soft px-2.5 pt-3 pb-1 text-xs">
								{line.heading}
							</p>
						) : (
							<div key={line.key} className={line.apart ? "pt-3" : ""}>
								<button
									type="button"
									data-testid="layer"
									aria-current={line.key === here ? "page" : undefined}
									title={line.name}
									onClick={() => onGo({ place: line.place })}
									className="hover:bg-hover aria-[current]:bg-hover flex h-8.5 w-full items-center gap-2 rounded-lg px-2.5 text-left text-sm aria-[current]:font-medium"
								>
									<span className="min-w-0 flex-1 truncate">{line.name}</span>
									{unfinished.has(line.key) && (
										<>
											<span aria-hidden className="bg-accent size-1.5 shrink-0 rounded-full" />
											<span className="sr-only">{t("settings.layers.edited")}</span>
										</>
									)}
								</button>
							</div>
						)
					}
				</VirtualRows>
			</div>
			{precedence !== undefined && (
				<p className="border-line text-soft border-t px-4 py-2.5 text-xs text-pretty">
					{t("settings.precedence", { layers: precedence })}
				</p>
			)}
		</nav>
	);
}

function narrowed(lines: readonly LayerLine[], query: string): readonly LayerLine[] {
	const words = query.trim().toLowerCase();
	if (words === "") return lines;
	return lines.filter(({ name, group }) => `${group} ${name}`.toLowerCase().includes(words));
}

// A layer that is its whole group, as global is, needs no heading.
function withHeadings(lines: readonly LayerLine[]): NavLine[] {
	return lines.flatMap((line, at): NavLine[] => {
		const first = line.group !== lines[at - 1]?.group;
		return first && line.group !== line.name
			? [
					{ key: `heading ${line.group}`, heading: line.group },
					{ ...line, apart: false },
				]
			: [{ ...line, apart: first && at > 0 }];
	});
}
