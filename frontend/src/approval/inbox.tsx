import { Inbox as InboxIcon } from "lucide-react";
import { useMemo } from "react";
import type { Approval } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { waitingApprovals } from "@/state/approvals";
import { useApprovals, useSessions } from "@/state/context";
import { Popover } from "@/ui/popover";
import { Untrusted } from "@/ui/untrusted";
import { ApprovalCard } from "./card";

/** Everything that waits for a person, over all sessions, wherever the person is. */
export function Inbox({
	open,
	onOpenChange,
	onShow,
}: {
	open: boolean;
	onOpenChange(open: boolean): void;
	/** Leads to the session an approval is from. */
	onShow(sessionId: string): void;
}) {
	const t = useT();
	const approvals = useApprovals((state) => state);
	const waiting = useMemo(() => waitingApprovals(approvals), [approvals]);
	const count = waiting.length;
	const label = count > 0 ? t("inbox.label", { count }) : t("inbox.none");
	return (
		<Popover
			label={t("inbox.title")}
			open={open}
			onOpenChange={onOpenChange}
			className="w-[27rem]"
			trigger={
				<button
					type="button"
					data-testid="inbox"
					aria-label={label}
					title={label}
					className={`relative flex h-9 min-w-9 items-center justify-center gap-1.5 rounded-lg px-2 transition-colors ${count > 0 ? "bg-warn-wash text-warn hover:brightness-97" : "text-soft hover:bg-hover hover:text-ink"}`}
				>
					<InboxIcon size={17} aria-hidden />
					{count > 0 && (
						<span data-testid="inbox-count" className="text-xs font-semibold tabular-nums">
							{count}
						</span>
					)}
				</button>
			}
		>
			<h2 className="border-line shrink-0 border-b px-4 py-2.5 text-sm font-semibold">
				{t("inbox.title")}
			</h2>
			{count === 0 ? (
				<p className="text-soft px-4 py-6 text-center text-[13.5px]">{t("inbox.none.body")}</p>
			) : (
				<ul className="divide-line min-h-0 divide-y overflow-y-auto">
					{waiting.map(({ approval }) => (
						<li key={approval.id}>
							<ApprovalCard
								approval={approval}
								head={<Origin approval={approval} onShow={onShow} />}
							/>
						</li>
					))}
				</ul>
			)}
		</Popover>
	);
}

function Origin({ approval, onShow }: { approval: Approval; onShow(sessionId: string): void }) {
	const t = useT();
	const title = useSessions((state) => state.byId.get(approval.sessionId)?.title);
	return (
		<button
			type="button"
			className="text-accent mb-2 block max-w-full truncate text-left text-[13px] hover:underline"
			title={t("approval.open")}
			onClick={() => onShow(approval.sessionId)}
		>
			<Untrusted text={title ?? approval.chain?.at(-1)?.title ?? t("approval.open")} />
		</button>
	);
}
