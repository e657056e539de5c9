import { File, Film, Image, Music } from "lucide-react";
import type { ItemAttachment } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { openOutside, outward } from "@/ui/opener";
import { Untrusted } from "@/ui/untrusted";
import { useTimeline } from "../context";

const icons = { image: Image, audio: Music, video: Film, file: File };

/** Where a file is fetched: its handle goes back as it came (SP-FILE-02). */
export function downloadAddress(sessionId: string, handle: string): string {
	return `/api/session-file?${new URLSearchParams({ sessionId, handle })}`;
}

export function Attachments({ list }: { list: readonly ItemAttachment[] | undefined }) {
	if (!list || list.length === 0) return null;
	return (
		<ul className="mt-2 flex flex-wrap gap-1.5">
			{list.map((attachment, at) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: attachments have no identity but their place.
				<li key={at}>
					<Attachment attachment={attachment} />
				</li>
			))}
		</ul>
	);
}

const chip =
	"border-line bg-raised inline-flex max-w-72 items-center gap-1.5 rounded-lg border px-2 py-1 text-[13px]";

export function Attachment({ attachment }: { attachment: ItemAttachment }) {
	const t = useT();
	const { session } = useTimeline();
	const Icon = icons[attachment.kind];
	const body = (
		<>
			<Icon size={14} aria-label={t(`attachment.${attachment.kind}`)} className="shrink-0" />
			<span className="truncate">
				<Untrusted text={attachment.name} />
			</span>
		</>
	);
	const { src } = attachment;
	if (src !== undefined && outward(src)) {
		return (
			<button type="button" className={`${chip} hover:bg-hover`} onClick={() => openOutside(src)}>
				{body}
			</button>
		);
	}
	if (src !== undefined && attachment.kind === "file") {
		return (
			<a
				className={`${chip} hover:bg-hover`}
				href={downloadAddress(session.id, src)}
				download={attachment.name}
			>
				{body}
			</a>
		);
	}
	return <span className={chip}>{body}</span>;
}
