import type { ApprovalSettlement } from "@/contract/session.gen";
import { type Translate, useLocale } from "@/i18n/i18n";
import { Untrusted } from "@/ui/untrusted";

/** How an approval ended, in words. Whether it was the owner is told by `owner` alone (SP-SETTLE-04). */
export function settledWords(settlement: ApprovalSettlement, t: Translate): string {
	if (settlement.source !== "answer") return t(`settled.${settlement.source}`);
	const verdict = settlement.state === "approved" ? "approved" : "denied";
	const by = settlement.by;
	if (by?.owner) return t(`settled.${verdict}.owner`);
	return t(`settled.${verdict}`, { who: by?.nickname ?? by?.userId ?? by?.platform ?? "?" });
}

export function Settlement({ settlement }: { settlement: ApprovalSettlement }) {
	const { t, time, full } = useLocale();
	const tone = settlement.state === "approved" ? "text-good" : "text-warn";
	return (
		<p className={`px-3 py-1.5 pl-9 text-[13px] ${tone}`}>
			<Untrusted text={settledWords(settlement, t)} />
			<time
				className="text-soft ml-2 text-xs"
				dateTime={new Date(settlement.at).toISOString()}
				title={full(settlement.at)}
			>
				{time(settlement.at)}
			</time>
		</p>
	);
}
