import { Menu as BaseMenu } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";

export interface MenuEntry {
	key: string;
	label: ReactNode;
	icon?: ReactNode;
	shortcut?: string | undefined;
	danger?: boolean;
	disabled?: boolean;
	/** A tick; given, the entry is one of several to choose from. */
	checked?: boolean;
	/** A line above. */
	apart?: boolean;
	run(): void;
}

/** A menu under a trigger; the entries come from the command registry or stand alone. */
export function Menu({
	trigger,
	entries,
	align = "end",
}: {
	trigger: ReactElement<Record<string, unknown>>;
	entries: readonly MenuEntry[];
	align?: "start" | "end";
}) {
	return (
		<BaseMenu.Root>
			<BaseMenu.Trigger render={trigger} />
			<BaseMenu.Portal>
				<BaseMenu.Positioner sideOffset={4} align={align} className="z-50 outline-none">
					<BaseMenu.Popup className="border-line bg-raised shadow-float appear max-h-[70vh] max-w-[calc(100vw-1rem)] min-w-52 overflow-y-auto rounded-xl border p-1 outline-none">
						{entries.map((entry) => (
							<Entry key={entry.key} entry={entry} />
						))}
					</BaseMenu.Popup>
				</BaseMenu.Positioner>
			</BaseMenu.Portal>
		</BaseMenu.Root>
	);
}

function Entry({ entry }: { entry: MenuEntry }) {
	return (
		<>
			{entry.apart && <BaseMenu.Separator className="bg-line mx-2 my-1 h-px" />}
			<BaseMenu.Item
				disabled={entry.disabled ?? false}
				onClick={() => entry.run()}
				className={`data-highlighted:bg-hover flex cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-sm outline-none data-disabled:cursor-default data-disabled:opacity-50 ${entry.danger ? "text-bad" : ""}`}
			>
				<span className="flex w-4 justify-center" aria-hidden>
					{entry.checked ? "✓" : entry.icon}
				</span>
				<span className="min-w-0 flex-1 truncate">{entry.label}</span>
				{entry.checked && <span className="sr-only">✓</span>}
				{entry.shortcut && <span className="text-soft text-xs">{entry.shortcut}</span>}
			</BaseMenu.Item>
		</>
	);
}
