import { Download, File, Film, Image, Music } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { ItemAttachment } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import {
	downloadAddress,
	mediaAddress,
	saveFile,
	savesByItself,
	useFileSource,
} from "@/link/hooks";
import { useApp } from "@/state/context";
import { openOutside, outward } from "@/ui/opener";
import { Untrusted } from "@/ui/untrusted";
import { useTimeline } from "../context";
import { Lightbox } from "./lightbox";

const icons = { image: Image, audio: Music, video: Film, file: File };

interface AttachmentsProps {
	itemId: string;
	list: readonly ItemAttachment[] | undefined;
}

export function Attachments({ itemId, list }: AttachmentsProps) {
	if (!list || list.length === 0) return null;
	return (
		<ul className="my-1 flex flex-wrap gap-1.5" data-testid="attachments">
			{list.map((attachment, at) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: attachments have no identity but their place.
				<li key={at} className="max-w-full min-w-0">
					<Attachment itemId={itemId} n={at} attachment={attachment} />
				</li>
			))}
		</ul>
	);
}

const chip =
	"border-line bg-raised inline-flex max-w-72 items-center gap-1.5 rounded-lg border px-2 py-1 text-[13px]";

interface AttachmentProps {
	itemId: string;
	/** Its place among the item's attachments. */
	n: number;
	attachment: ItemAttachment;
}

/** One file: shown if it can be, with a way to keep it if there is one, else by its name. */
export function Attachment({ itemId, n, attachment }: AttachmentProps) {
	const { session } = useTimeline();
	const app = useApp();
	const { kind, src, name } = attachment;
	if (src === undefined) return <Chip attachment={attachment} />;
	if (outward(src)) {
		return (
			<button
				type="button"
				className={`${chip} hover:bg-hover`}
				onClick={() => void app.attempt(openOutside(src))}
			>
				<Label attachment={attachment} />
			</button>
		);
	}
	if (kind === "file")
		return <Chip attachment={attachment} address={downloadAddress(session.id, src)} />;
	const address = mediaAddress(session.id, itemId, n);
	// Another address is another file: what failed before may be there.
	return <Media key={address} kind={kind} name={name} address={address} attachment={attachment} />;
}

function Label({ attachment }: { attachment: ItemAttachment }) {
	const t = useT();
	const Icon = icons[attachment.kind];
	return (
		<>
			<Icon size={14} aria-label={t(`attachment.${attachment.kind}`)} className="shrink-0" />
			<span className="truncate">
				<Untrusted text={attachment.name} />
			</span>
		</>
	);
}

function Chip({ attachment, address }: { attachment: ItemAttachment; address?: string }) {
	if (address === undefined) {
		return (
			<span className={chip} data-testid="attachment" data-kind={attachment.kind}>
				<Label attachment={attachment} />
			</span>
		);
	}
	return (
		<SaveLink
			address={address}
			name={attachment.name}
			className={`${chip} hover:bg-hover`}
			kind={attachment.kind}
		>
			<Label attachment={attachment} />
			<Download size={13} aria-hidden className="text-soft shrink-0" />
		</SaveLink>
	);
}

/** A link that keeps a file; where links cannot, it is done for them. */
function SaveLink({
	address,
	name,
	kind,
	className,
	children,
}: {
	address: string;
	name: string;
	kind: ItemAttachment["kind"];
	className: string;
	children: ReactNode;
}) {
	const t = useT();
	const app = useApp();
	return (
		<a
			className={className}
			data-testid="attachment"
			data-kind={kind}
			href={address}
			download={name}
			title={t("attachment.save")}
			onClick={(event) => {
				if (!savesByItself()) return;
				event.preventDefault();
				void app.attempt(saveFile(address, name));
			}}
		>
			{children}
		</a>
	);
}

/** A fixed height, so that nothing below moves when the bytes arrive. */
const frame = "border-line bg-sunken h-44 max-w-full overflow-hidden rounded-xl border";

function Media({
	kind,
	name,
	address,
	attachment,
}: {
	kind: "image" | "audio" | "video";
	name: string;
	address: string;
	attachment: ItemAttachment;
}) {
	const t = useT();
	const { src, failed } = useFileSource(address, kind !== "image");
	const [broken, setBroken] = useState(false);
	const [open, setOpen] = useState(false);
	// What cannot be shown here can still be kept.
	if (failed || broken) return <Chip attachment={attachment} address={address} />;
	const shown = { "data-testid": "attachment", "data-kind": kind, onError: () => setBroken(true) };
	if (kind === "audio") {
		return (
			<figure className="w-80 max-w-full">
				<audio
					controls
					preload="metadata"
					src={src}
					aria-label={name}
					className="h-10 w-full"
					{...shown}
				>
					<track kind="captions" />
				</audio>
				<figcaption className="text-soft truncate px-1 text-xs">
					<Untrusted text={name} />
				</figcaption>
			</figure>
		);
	}
	if (kind === "video") {
		return (
			<video
				controls
				preload="metadata"
				src={src}
				aria-label={name}
				className={`${frame} aspect-video`}
				{...shown}
			>
				<track kind="captions" />
			</video>
		);
	}
	return (
		<>
			<button
				type="button"
				aria-label={t("attachment.enlarge", { name })}
				className={`${frame} block min-w-20 cursor-zoom-in`}
				onClick={() => setOpen(true)}
			>
				<img src={src} alt={name} className="h-full max-w-full object-scale-down" {...shown} />
			</button>
			<Lightbox open={open} src={src} name={name} onClose={() => setOpen(false)}>
				<SaveLink
					address={address}
					name={name}
					kind={kind}
					className="text-soft hover:bg-hover hover:text-ink inline-flex size-9 items-center justify-center rounded-lg"
				>
					<Download size={17} aria-label={t("attachment.save")} />
				</SaveLink>
			</Lightbox>
		</>
	);
}
