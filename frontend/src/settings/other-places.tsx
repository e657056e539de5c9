import { useMemo, useState } from "react";
import type { ConfigLayersResult, SettingRow } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useApp } from "@/state/context";
import { rowKey, type SettingsPlace } from "@/state/edits";
import { Button } from "@/ui/button";
import { Popover } from "@/ui/popover";
import { shownValue } from "./fields";
import { useRead } from "./hooks";
import { elsewhere } from "./layers";
import type { SettingsAt } from "./row";
import { labelOf } from "./rows";

/** "Set in N more places", and the way to each (SP-CONF-67). Nothing when there is none. */
export function OtherPlaces({
	row,
	place,
	layers,
	onGo,
}: {
	row: SettingRow;
	place: SettingsPlace;
	layers: ConfigLayersResult;
	onGo(at: SettingsAt): void;
}) {
	const t = useT();
	const { settings } = useApp();
	const [open, setOpen] = useState(false);
	const reading = useMemo(() => settings.overrides(row.plugin), [settings, row.plugin]);
	const items = useRead(reading)?.value?.items;
	const others = items ? elsewhere(items, row.key, place, layers, t("session.untitled")) : [];
	if (others.length === 0) return null;
	const label = t("settings.elsewhere", { count: others.length });
	return (
		<Popover
			label={t("settings.elsewhere.title", { label: labelOf(row) })}
			open={open}
			onOpenChange={setOpen}
			align="start"
			className="w-80"
			trigger={
				<Button small tone="quiet" data-testid="set-elsewhere">
					{label}
				</Button>
			}
		>
			<ul className="min-h-0 overflow-y-auto p-1.5 text-sm">
				{others.map((other) => (
					<li key={other.key}>
						<button
							type="button"
							className="hover:bg-hover block w-full rounded-lg px-2.5 py-1.5 text-left"
							onClick={() => {
								setOpen(false);
								onGo({ place: other.place, focus: rowKey(row) });
							}}
						>
							<span className="block truncate">{other.name}</span>
							<span className="text-soft block truncate text-xs">
								{shownValue(row.field, other.value, t)}
							</span>
						</button>
					</li>
				))}
			</ul>
		</Popover>
	);
}
