import { Clock } from "lucide-react";
import { useT } from "@/i18n/i18n";
import type { ItemProps } from "./view";

/** What waits to be taken up, in order, above the message box. */
export function Queue({ item }: ItemProps<"queue">) {
	const t = useT();
	if (item.entries.length === 0) return null;
	return (
		<section
			aria-label={t("queue.label", { count: item.entries.length })}
			className="border-line border-b px-4 py-2 text-[13.5px]"
		>
			<p aria-hidden className="text-soft mb-1 flex items-center gap-1.5 text-xs">
				<Clock size={13} aria-hidden />
				{t("queue.label", { count: item.entries.length })}
			</p>
			<ol className="max-h-32 space-y-0.5 overflow-y-auto">
				{item.entries.map((entry, at) => (
					<li key={entry.ext?.inputId ?? at} className="flex gap-2" data-testid="queue-entry">
						{!entry.speaker.owner && (
							<span className="text-soft shrink-0">
								{entry.speaker.nickname ?? entry.speaker.userId}
							</span>
						)}
						<span className="min-w-0 flex-1 truncate">{entry.text}</span>
						{entry.attachments > 0 && (
							<span className="text-soft shrink-0">
								{t("queue.attachments", { count: entry.attachments })}
							</span>
						)}
					</li>
				))}
			</ol>
		</section>
	);
}
