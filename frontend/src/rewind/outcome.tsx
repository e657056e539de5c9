import type { TurnRewindResult } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { outcomeOf } from "@/state/rewind";
import { Untrusted } from "@/ui/untrusted";

/** What a rewind did, or what taking it back did: every file, and why one was left alone (FAIL-C5). */
export function Came({
	result,
	root,
	undone = false,
}: {
	result: TurnRewindResult;
	root: string | undefined;
	undone?: boolean;
}) {
	const t = useT();
	const { restored, deleted, skipped, remarks } = outcomeOf(result);
	const words = undone ? "rewind.undone" : "rewind";
	return (
		<div className="space-y-3 text-[13px]">
			{remarks.map((remark) => (
				<p key={remark} className="text-warn">
					<Untrusted text={remark} />
				</p>
			))}
			{restored.length + deleted.length + skipped.length === 0 && remarks.length === 0 && (
				<p>{t("rewind.untouched")}</p>
			)}
			{root !== undefined && restored.length + deleted.length + skipped.length > 0 && (
				<p className="text-soft font-mono text-xs break-all">
					<Untrusted text={t("rewind.root", { root })} />
				</p>
			)}
			<Paths label={t(`${words}.restored`, { count: restored.length })} paths={restored} />
			<Paths label={t(`${words}.deleted`, { count: deleted.length })} paths={deleted} />
			{skipped.length > 0 && (
				<section aria-label={t("rewind.skipped", { count: skipped.length })}>
					<p className="text-warn font-medium">{t("rewind.skipped", { count: skipped.length })}</p>
					<ul className="max-h-52 overflow-y-auto">
						{skipped.map(({ path, reason }) => (
							<li key={path} className="mt-1">
								<span className="block font-mono text-xs break-all">
									<Untrusted text={path} />
								</span>
								<span className="text-soft block">
									<Untrusted text={reason} />
								</span>
							</li>
						))}
					</ul>
				</section>
			)}
			{!undone && result.deletedMessages !== undefined && (
				<p>{t("rewind.messages", { count: result.deletedMessages })}</p>
			)}
		</div>
	);
}

/** A list of paths under what is said of them; nothing when there are none. */
export function Paths({ label, paths }: { label: string; paths: readonly string[] }) {
	if (paths.length === 0) return null;
	return (
		<section aria-label={label}>
			<p className="font-medium">{label}</p>
			<ul className="max-h-52 overflow-y-auto">
				{paths.map((path) => (
					<li key={path} className="font-mono text-xs break-all">
						<Untrusted text={path} />
					</li>
				))}
			</ul>
		</section>
	);
}
