import { Tooltip } from "@base-ui/react/tooltip";
import type { ReactElement } from "react";

/** A tip on hover and focus; the element it stands on keeps its own name. */
export function Tip({
	text,
	shortcut,
	children,
}: {
	text: string;
	shortcut?: string | undefined;
	children: ReactElement<Record<string, unknown>>;
}) {
	return (
		<Tooltip.Root>
			<Tooltip.Trigger render={children} />
			<Tooltip.Portal>
				<Tooltip.Positioner sideOffset={6} className="z-50">
					<Tooltip.Popup className="bg-ink text-canvas appear flex items-center gap-2 rounded-md px-2 py-1 text-xs">
						{text}
						{shortcut && <span className="opacity-75">{shortcut}</span>}
					</Tooltip.Popup>
				</Tooltip.Positioner>
			</Tooltip.Portal>
		</Tooltip.Root>
	);
}

export const TipProvider = Tooltip.Provider;
