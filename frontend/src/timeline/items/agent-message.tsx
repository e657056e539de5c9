import { Clock, TriangleAlert } from "lucide-react";
import { useLocale } from "@/i18n/i18n";
import { CopyButton } from "@/ui/copy";
import { useTimeline } from "../context";
import { Markdown } from "../markdown/markdown";
import { Attachments } from "./attachments";
import type { ItemProps } from "./view";

export function AgentMessage({ item, streaming }: ItemProps<"agent-message">) {
	const { t, number, time, full } = useLocale();
	const { appName } = useTimeline();
	const { model } = item;
	return (
		<article
			aria-label={t("agent.label", { name: appName })}
			aria-busy={streaming}
			className="group/item pt-2"
		>
			{item.text !== "" && <Markdown text={item.text} streaming={streaming} />}
			<Attachments itemId={item.itemId} list={item.attachments} />
			{item.undelivered && (
				<p className="text-warn mt-1.5 flex items-center gap-1.5 text-[13px]">
					<TriangleAlert size={14} aria-hidden />
					{t("agent.undelivered", { reason: item.undelivered.reason })}
				</p>
			)}
			{item.ext?.sending && (
				<p className="text-soft mt-1 flex items-center gap-1.5 text-[13px]">
					<Clock size={13} aria-hidden />
					{t("agent.sending")}
				</p>
			)}
			{!streaming && (
				<footer className="text-soft mt-0.5 -ml-1.5 flex h-6 flex-wrap items-center gap-x-2 overflow-hidden text-xs opacity-0 transition-opacity group-focus-within/item:opacity-100 group-hover/item:opacity-100">
					<CopyButton text={() => item.text} label={t("agent.copy")} done={t("common.copied")} />
					<time dateTime={new Date(item.at).toISOString()} title={full(item.at)}>
						{time(item.at)}
					</time>
					{model?.model && (
						<span>{model.provider ? `${model.provider}/${model.model}` : model.model}</span>
					)}
					{model?.promptTokens !== undefined && model.completionTokens !== undefined && (
						<span>
							{t("agent.tokens", {
								input: number(model.promptTokens),
								output: number(model.completionTokens),
							})}
						</span>
					)}
				</footer>
			)}
		</article>
	);
}
