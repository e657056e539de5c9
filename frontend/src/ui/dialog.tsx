import { AlertDialog } from "@base-ui/react/alert-dialog";
import type { ReactNode } from "react";
import { Button } from "./button";

/** Asks before something that cannot be taken back. The safe answer has the focus. */
export function Confirm({
	open,
	title,
	body,
	action,
	cancel,
	onAnswer,
}: {
	open: boolean;
	title: string;
	body: ReactNode;
	action: string;
	cancel: string;
	onAnswer(yes: boolean): void;
}) {
	return (
		<AlertDialog.Root open={open} onOpenChange={(next) => !next && onAnswer(false)}>
			<AlertDialog.Portal>
				<AlertDialog.Backdrop className="fixed inset-0 z-40 bg-[rgb(20_16_8/45%)]" />
				<AlertDialog.Popup className="bg-raised border-line shadow-float appear fixed top-1/2 left-1/2 z-50 w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 rounded-2xl border p-5 outline-none">
					<AlertDialog.Title className="text-base font-semibold">{title}</AlertDialog.Title>
					<AlertDialog.Description className="text-soft mt-2 text-sm">
						{body}
					</AlertDialog.Description>
					<div className="mt-5 flex justify-end gap-2">
						<AlertDialog.Close render={<Button />}>{cancel}</AlertDialog.Close>
						<Button tone="danger" onClick={() => onAnswer(true)}>
							{action}
						</Button>
					</div>
				</AlertDialog.Popup>
			</AlertDialog.Portal>
		</AlertDialog.Root>
	);
}
