import { TriangleAlert } from "lucide-react";
import { useStore } from "zustand";
import { useT } from "@/i18n/i18n";
import { useApp } from "@/state/context";
import { Button } from "@/ui/button";
import { Untrusted } from "@/ui/untrusted";

/** That a change is in effect but not on disk, until one is or somebody has read it (SP-CONF-58). */
export function Unsaved() {
	const t = useT();
	const { settings } = useApp();
	const { text } = useStore(settings.unsaved);
	if (text === undefined) return null;
	return (
		<div
			role="alert"
			data-testid="unsaved"
			className="bg-warn-wash text-warn flex items-center gap-3 px-4 py-1.5 text-[13px]"
		>
			<TriangleAlert size={15} aria-hidden className="shrink-0" />
			<p className="min-w-0 flex-1 break-words">
				<strong className="font-semibold">{t("settings.unsaved")}</strong> <Untrusted text={text} />
			</p>
			<Button small tone="quiet" className="text-warn" onClick={() => settings.dismissUnsaved()}>
				{t("settings.unsaved.dismiss")}
			</Button>
		</div>
	);
}
