import { Button as BaseButton } from "@base-ui/react/button";
import type { ComponentProps, ReactNode } from "react";
import { Tip } from "./tip";

type Tone = "plain" | "accent" | "quiet" | "danger";

const tones: Record<Tone, string> = {
	plain: "border-line bg-raised hover:bg-hover border",
	accent: "bg-accent text-on-accent hover:bg-accent-strong border border-transparent",
	quiet: "text-soft hover:bg-hover hover:text-ink border border-transparent",
	danger: "bg-bad text-on-bad hover:opacity-90 border border-transparent",
};

export type ButtonProps = ComponentProps<"button"> & { tone?: Tone; small?: boolean };

export function Button({ tone = "plain", small, className = "", ...rest }: ButtonProps) {
	const size = small ? "h-7 px-2.5 text-[13px]" : "h-9 px-3.5 text-sm";
	return (
		<BaseButton
			type="button"
			className={`inline-flex shrink-0 items-center justify-center gap-1.5 rounded-lg font-medium whitespace-nowrap transition-colors disabled:cursor-default disabled:opacity-55 ${size} ${tones[tone]} ${className}`}
			{...rest}
		/>
	);
}

/** A button that is only a picture: its label is its name and its tip. */
export function IconButton({
	label,
	shortcut,
	children,
	className = "",
	...rest
}: Omit<ComponentProps<"button">, "aria-label"> & {
	label: string;
	shortcut?: string | undefined;
	children: ReactNode;
}) {
	return (
		<Tip text={label} shortcut={shortcut}>
			<button
				type="button"
				aria-label={label}
				className={`text-soft hover:bg-hover hover:text-ink relative inline-flex size-9 shrink-0 items-center justify-center rounded-lg transition-colors disabled:cursor-default disabled:opacity-50 ${className}`}
				{...rest}
			>
				{children}
			</button>
		</Tip>
	);
}
