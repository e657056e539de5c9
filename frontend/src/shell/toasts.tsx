import { X } from "lucide-react";
import { useEffect } from "react";
import { useStore } from "zustand";
import { useT } from "@/i18n/i18n";
import type { Toast } from "@/state/app";
import { useApp } from "@/state/context";
import { Untrusted } from "@/ui/untrusted";

const STAYS_MS = 8_000;
/** What offers something to do waits for somebody to do it. */
const OFFERS_MS = 30_000;

/** What went wrong with something a person asked for, told where it does not get in the way. */
export function Toasts() {
	const toasts = useStore(useApp().toasts);
	return (
		<div
			role="status"
			className="pointer-events-none fixed inset-x-0 bottom-28 z-50 flex flex-col items-center gap-2 px-4"
		>
			{toasts.map((toast) => (
				<ToastView key={toast.id} toast={toast} />
			))}
		</div>
	);
}

function ToastView({ toast }: { toast: Toast }) {
	const t = useT();
	const app = useApp();
	useEffect(() => {
		const timer = setTimeout(() => app.dismiss(toast.id), toast.action ? OFFERS_MS : STAYS_MS);
		return () => clearTimeout(timer);
	}, [toast, app]);
	return (
		<div
			data-testid="toast"
			className="bg-ink text-canvas shadow-float appear pointer-events-auto flex max-w-lg items-center gap-3 rounded-xl py-2 pr-2 pl-4 text-sm"
		>
			<span className="min-w-0 break-words">
				<Untrusted text={toast.text} />
			</span>
			{toast.action && (
				<button
					type="button"
					data-testid="toast-action"
					className="shrink-0 font-semibold underline underline-offset-2"
					onClick={() => {
						app.dismiss(toast.id);
						toast.action?.run();
					}}
				>
					{toast.action.label}
				</button>
			)}
			<button
				type="button"
				aria-label={t("toast.dismiss")}
				className="flex size-7 shrink-0 items-center justify-center rounded-md opacity-80 hover:opacity-100"
				onClick={() => app.dismiss(toast.id)}
			>
				<X size={15} />
			</button>
		</div>
	);
}
