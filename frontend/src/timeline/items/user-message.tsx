import { CornerDownRight, Forward as ForwardIcon } from "lucide-react";
import type { Forward, UserMessageItem } from "@/contract/session.gen";
import { useLocale, useT } from "@/i18n/i18n";
import { CopyButton } from "@/ui/copy";
import { Untrusted } from "@/ui/untrusted";
import { Attachments } from "./attachments";
import { initialsOf, nameOf } from "./speaker";
import type { ItemProps } from "./view";

/** Begins the user id of the session above, where it speaks to its sub-task. */
const PARENT = "parent:";

const isAbove = ({ speaker }: UserMessageItem): boolean =>
	speaker.userId?.startsWith(PARENT) ?? false;

/** The owner's words stand on the right, those of others on the left, as in any chat. */
export function UserMessage({ item }: ItemProps<"user-message">) {
	const { t, full } = useLocale();
	const { speaker } = item;
	const name = isAbove(item) ? t("user.parent") : nameOf(speaker);
	const copy = (
		<CopyButton
			text={() => item.text}
			label={t("user.copy")}
			done={t("common.copied")}
			className="opacity-0 group-focus-within/item:opacity-100 group-hover/item:opacity-100"
		/>
	);
	if (speaker.owner) {
		return (
			<article
				aria-label={t("user.label")}
				data-speaker="owner"
				className="group/item flex flex-col items-end py-2"
			>
				<div className="flex max-w-[85%] items-end gap-1">
					{copy}
					<div
						title={full(item.at)}
						className="bg-accent-wash min-w-0 rounded-2xl rounded-br-md px-4 py-2.5"
					>
						<Said item={item} />
					</div>
				</div>
				<Entered item={item} />
			</article>
		);
	}
	// What nobody took up is drawn quietly: it was said beside her, not to her.
	const aside = item.entry === undefined;
	return (
		<article
			aria-label={t("user.other", { name })}
			data-speaker="other"
			data-aside={aside || undefined}
			className="group/item flex items-start gap-2.5 py-1.5"
		>
			<span
				aria-hidden
				className="bg-sunken border-line text-soft mt-0.5 flex size-8 shrink-0 items-center justify-center rounded-full border text-xs font-medium select-none"
			>
				{initialsOf(name)}
			</span>
			<div className="flex min-w-0 max-w-[85%] flex-col items-start">
				<p className="text-soft mb-0.5 max-w-full truncate text-xs">
					<Untrusted text={name} />
				</p>
				<div className={`flex max-w-full gap-1 ${aside ? "items-start" : "items-end"}`}>
					<div
						title={full(item.at)}
						className={
							aside
								? "text-soft min-w-0"
								: "bg-sunken border-line min-w-0 rounded-2xl rounded-tl-md border px-4 py-2.5"
						}
					>
						<Said item={item} />
					</div>
					{copy}
				</div>
				<Entered item={item} />
			</div>
		</article>
	);
}

function Said({ item }: { item: UserMessageItem }) {
	return (
		<>
			{item.text !== "" && <p className="break-words whitespace-pre-wrap">{item.text}</p>}
			<Attachments itemId={item.itemId} list={item.attachments} />
			{item.forwards?.map((forward, at) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: forwards have no identity but their place.
				<Forwarded key={at} forward={forward} />
			))}
		</>
	);
}

/** How a message came into its turn, where that is not by opening it. */
function Entered({ item }: { item: UserMessageItem }) {
	const t = useT();
	const source = isAbove(item) ? undefined : item.speaker.source;
	if (item.entry !== "joined" && source === undefined) return null;
	return (
		<p className="text-soft mt-1 flex items-center gap-1 text-xs">
			<CornerDownRight size={12} aria-hidden />
			{item.entry === "joined" && t("user.joined")}
			{item.entry === "joined" && source !== undefined && " · "}
			{source !== undefined && t("user.source", { source })}
		</p>
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
