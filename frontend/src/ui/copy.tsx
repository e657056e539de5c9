import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "./button";

/** Puts text on the clipboard; false when the browser forbids it. */
export async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return false;
	}
}

export function CopyButton({
	text,
	label,
	done,
	className = "",
}: {
	text: () => string;
	label: string;
	done: string;
	className?: string;
}) {
	const [copied, setCopied] = useState(false);
	useEffect(() => {
		if (!copied) return;
		const timer = setTimeout(() => setCopied(false), 1600);
		return () => clearTimeout(timer);
	}, [copied]);
	return (
		<IconButton
			label={copied ? done : label}
			className={`size-7 ${className}`}
			onClick={async () => setCopied(await copyText(text()))}
		>
			{copied ? <Check size={14} /> : <Copy size={14} />}
		</IconButton>
	);
}
