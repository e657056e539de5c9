import { Popover as Base } from "@base-ui/react/popover";
import type { ReactElement, ReactNode } from "react";

/** A panel under a trigger. `label` names it for those who cannot see where it opened. */
export function Popover({
	trigger,
	label,
	children,
	open,
	onOpenChange,
	align = "end",
	className = "",
}: {
	trigger: ReactElement<Record<string, unknown>>;
	label: string;
	children: ReactNode;
	open?: boolean;
	onOpenChange?(open: boolean): void;
	align?: "start" | "end";
	className?: string;
}) {
	const control = open === undefined ? {} : { open };
	return (
		<Base.Root {...control} onOpenChange={(next) => onOpenChange?.(next)}>
			<Base.Trigger render={trigger} />
			<Base.Portal>
				<Base.Positioner sideOffset={6} align={align} className="z-50" collisionPadding={8}>
					<Base.Popup
						aria-label={label}
						className={`border-line bg-raised shadow-float appear flex max-h-[min(80vh,var(--available-height))] max-w-[calc(100vw-1rem)] flex-col rounded-2xl border outline-none ${className}`}
					>
						{children}
					</Base.Popup>
				</Base.Positioner>
			</Base.Portal>
		</Base.Root>
	);
}
