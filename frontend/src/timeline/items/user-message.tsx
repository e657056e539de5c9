import { CornerDownRight, Forward as ForwardIcon } from "lucide-react";
import type { Forward } from "@/contract/session.gen";
import { useLocale, useT } from "@/i18n/i18n";
import { CopyButton } from "@/ui/copy";
import { Attachments } from "./attachments";
import type { ItemProps } from "./view";

/** Begins the user id of the session above, where it speaks to its sub-task. */
const PARENT = "parent:";

export function UserMessage({ item }: ItemProps<"user-message">) {
	const { t, full } = useLocale();
	const { speaker } = item;
	const above = speaker.userId?.startsWith(PARENT) ?? false;
	const name = above ? t("user.parent") : (speaker.nickname ?? speaker.userId ?? speaker.platform);
	const source = above ? undefined : speaker.source;
	return (
		<article
			aria-label={speaker.owner ? t("user.label") : t("user.other", { name })}
			className="group/item flex flex-col items-end py-2"
		>
			{!speaker.owner && <p className="text-soft mb-1 text-xs">{name}</p>}
			<div className="flex max-w-[85%] items-end gap-1">
				<CopyButton
					text={() => item.text}
					label={t("user.copy")}
					done={t("common.copied")}
					className="opacity-0 group-focus-within/item:opacity-100 group-hover/item:opacity-100"
				/>
				<div
					title={full(item.at)}
					className="bg-accent-wash min-w-0 rounded-2xl rounded-br-md px-4 py-2.5"
				>
					{item.text !== "" && <p className="break-words whitespace-pre-wrap">{item.text}</p>}
					<Attachments itemId={item.itemId} list={item.attachments} />
					{item.forwards?.map((forward, at) => (
						// biome-ignore lint/suspicious/noArrayIndexKey: forwards have no identity but their place.
						<Forwarded key={at} forward={forward} />
					))}
				</div>
			</div>
			{(item.entry === "joined" || source !== undefined) && (
				<p className="text-soft mt-1 flex items-center gap-1 text-xs">
					<CornerDownRight size={12} aria-hidden />
					{item.entry === "joined" && t("user.joined")}
					{item.entry === "joined" && source !== undefined && " · "}
					{source !== undefined && t("user.source", { source })}
				</p>
			)}
		</article>
	);
}

function Forwarded({ forward }: { forward: Forward }) {
	const t = useT();
	const { facts } = forward;
	if (!facts)
		return <p className="text-soft mt-2 text-[13px] italic">{t("user.forward.missing")}</p>;
	return (
		<details className="border-line mt-2 rounded-lg border px-3 py-1.5 text-[13px]">
			<summary className="cursor-pointer">
				<ForwardIcon size={13} aria-hidden className="mr-1 inline" />
				{t("user.forward", { count: facts.count })}
				{facts.participants.length > 0 &&
					` ${t("user.forward.people", { people: facts.participants.join(", ") })}`}
				{facts.unlisted > 0 && ` ${t("user.forward.others", { count: facts.unlisted })}`}
			</summary>
			<p className="mt-1 break-words whitespace-pre-wrap">{facts.text}</p>
			{facts.cutOff && <p className="text-soft">{t("user.forward.cut")}</p>}
		</details>
	);
}
