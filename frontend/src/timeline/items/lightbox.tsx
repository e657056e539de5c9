import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { useT } from "@/i18n/i18n";
import { IconButton } from "@/ui/button";
import { Untrusted } from "@/ui/untrusted";

/** An image as large as the window allows. Escape and a click beside it close it; the focus goes back. */
export function Lightbox({
	open,
	src,
	name,
	onClose,
	children,
}: {
	open: boolean;
	src: string | undefined;
	name: string;
	onClose(): void;
	/** What can be done with it. */
	children: ReactNode;
}) {
	const t = useT();
	return (
		<Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
			<Dialog.Portal>
				<Dialog.Backdrop className="fixed inset-0 z-40 bg-[rgb(20_16_8/70%)]" />
				<Dialog.Popup
					data-testid="lightbox"
					className="bg-raised border-line shadow-float appear fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100vh-2rem)] max-w-[calc(100vw-2rem)] min-w-72 -translate-x-1/2 -translate-y-1/2 flex-col overflow-hidden rounded-2xl border outline-none"
				>
					<div className="border-line flex h-12 shrink-0 items-center gap-1 border-b pr-2 pl-4">
						<Dialog.Title className="min-w-0 flex-1 truncate text-sm font-medium">
							<Untrusted text={name} />
						</Dialog.Title>
						{children}
						<Dialog.Close
							render={
								<IconButton label={t("common.close")} data-testid="lightbox-close">
									<X size={17} />
								</IconButton>
							}
						/>
					</div>
					<img
						src={src}
						alt={name}
						className="bg-sunken min-h-0 max-w-full flex-1 object-contain"
					/>
				</Dialog.Popup>
			</Dialog.Portal>
		</Dialog.Root>
	);
}
