import { useEffect, useRef, useState } from "react";

/**
 * A title that is being changed. Enter and leaving keep it, Escape does not; `onDone` hears once, and
 * has the new title only when there is one.
 */
export function TitleField({
	title,
	label,
	className,
	onDone,
}: {
	title: string;
	label: string;
	className: string;
	onDone(next: string | undefined): void;
}) {
	const box = useRef<HTMLInputElement>(null);
	const left = useRef(false);
	const [value, setValue] = useState(title);
	useEffect(() => {
		// After the menu has given its focus back.
		const timer = setTimeout(() => box.current?.select(), 30);
		return () => clearTimeout(timer);
	}, []);
	const done = (keep: boolean) => {
		if (left.current) return;
		left.current = true;
		const next = value.trim();
		onDone(keep && next !== "" && next !== title ? next : undefined);
	};
	return (
		<input
			ref={box}
			value={value}
			maxLength={200}
			aria-label={label}
			data-testid="rename"
			onChange={(event) => setValue(event.target.value)}
			onBlur={() => done(true)}
			onKeyDown={(event) => {
				if (event.nativeEvent.isComposing || event.keyCode === 229) return;
				if (event.key === "Enter") done(true);
				if (event.key === "Escape") done(false);
			}}
			className={`border-edge bg-raised min-w-0 rounded-md border px-2 ${className}`}
		/>
	);
}
