import { FoldVertical } from "lucide-react";
import { useLocale } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { Button } from "@/ui/button";
import { Popover } from "@/ui/popover";
import { injectorsByPlugin } from "./usage-parts";
import type { ItemProps } from "./view";

const RADIUS = 7;
const ROUND = 2 * Math.PI * RADIUS;

/** How full the context is: a ring with the percentage, the parts behind it (SP-USAGE-06). */
export function Usage({ item, onCompress }: ItemProps<"usage">) {
	const { t, percent, number } = useLocale();
	const online = useOnline();
	const ratio = Math.min(1, Math.max(0, item.usageRatio));
	const near = item.compressAt !== undefined ? ratio >= item.compressAt * 0.9 : ratio >= 0.8;
	const label = t("usage.label", { percent: percent(item.usageRatio) });
	return (
		<Popover
			label={t("usage.title")}
			className="w-80"
			trigger={
				<button
					type="button"
					aria-label={label}
					data-testid="usage"
					className="text-soft hover:bg-hover hover:text-ink flex h-9 items-center gap-1.5 rounded-lg px-2 text-xs tabular-nums"
				>
					<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
						<circle
							cx="9"
							cy="9"
							r={RADIUS}
							fill="none"
							strokeWidth="2.5"
							className="stroke-line"
						/>
						<circle
							cx="9"
							cy="9"
							r={RADIUS}
							fill="none"
							strokeWidth="2.5"
							strokeDasharray={`${ratio * ROUND} ${ROUND}`}
							transform="rotate(-90 9 9)"
							className={near ? "stroke-warn" : "stroke-accent"}
						/>
					</svg>
					{percent(item.usageRatio)}
				</button>
			}
		>
			<div className="overflow-y-auto p-4 text-[13.5px]">
				<h2 className="font-semibold">{t("usage.title")}</h2>
				<p className="text-soft mt-0.5">
					{t("usage.of", { used: number(item.used), total: number(item.contextWindow) })}
					{item.ext?.estimated && ` · ${t("usage.estimated")}`}
				</p>
				{item.parts.length > 0 && (
					<table className="mt-3 w-full">
						<thead className="sr-only">
							<tr>
								<th>{t("usage.part")}</th>
								<th>{t("usage.tokens")}</th>
							</tr>
						</thead>
						<tbody>
							{item.parts.map((part, at) => (
								// biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their place.
								<PartRows key={at} part={part} />
							))}
						</tbody>
					</table>
				)}
				{item.compressAt !== undefined && (
					<p className="text-soft mt-3 text-xs">
						{t("usage.compressAt", { percent: percent(item.compressAt) })}
					</p>
				)}
				{onCompress && (
					<Button
						small
						className="mt-3"
						data-testid="compress"
						disabled={!online}
						onClick={onCompress}
					>
						<FoldVertical size={13} aria-hidden />
						{t("command.compress")}
					</Button>
				)}
			</div>
		</Popover>
	);
}

function PartRows({ part }: { part: ItemProps<"usage">["item"]["parts"][number] }) {
	const { number } = useLocale();
	return (
		<>
			<tr>
				<td className="py-0.5 pr-2">{part.label}</td>
				<td className="py-0.5 text-right tabular-nums">{number(part.tokens)}</td>
			</tr>
			{injectorsByPlugin(part.injectors).map(([plugin, tokens]) => (
				<tr key={plugin} className="text-soft text-xs">
					<td className="py-0.5 pr-2 pl-3">{plugin}</td>
					<td className="py-0.5 text-right tabular-nums">{number(tokens)}</td>
				</tr>
			))}
		</>
	);
}
