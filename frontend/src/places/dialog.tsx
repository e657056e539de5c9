import { Dialog } from "@base-ui/react/dialog";
import { Folder, Trash2, X } from "lucide-react";
import { type RefObject, useEffect, useId, useRef, useState } from "react";
import { useStore } from "zustand";
import type { PlaceInfo } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useOnline } from "@/link/hooks";
import { useApp } from "@/state/context";
import { Button, IconButton } from "@/ui/button";
import { Confirm } from "@/ui/dialog";
import { Untrusted } from "@/ui/untrusted";

/** The folders she can work in: which there are, one more, one less. */
export function PlacesDialog({ open, onClose }: { open: boolean; onClose(): void }) {
	const t = useT();
	const { places } = useApp();
	const box = useRef<HTMLInputElement>(null);
	useEffect(() => {
		if (open) void places.read();
	}, [open, places]);
	return (
		<Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
			<Dialog.Portal>
				<Dialog.Backdrop className="fixed inset-0 z-40 bg-[rgb(20_16_8/35%)]" />
				<Dialog.Popup
					data-testid="places"
					initialFocus={box}
					className="bg-raised border-line shadow-float appear fixed top-1/2 left-1/2 z-40 flex max-h-[calc(100vh-2rem)] w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 flex-col rounded-2xl border outline-none"
				>
					<header className="flex items-start gap-2 px-5 pt-4">
						<div className="min-w-0 flex-1">
							<Dialog.Title className="text-base font-semibold">{t("places.title")}</Dialog.Title>
							<Dialog.Description className="text-soft mt-1 text-sm">
								{t("places.body")}
							</Dialog.Description>
						</div>
						<IconButton label={t("common.close")} onClick={onClose}>
							<X size={17} />
						</IconButton>
					</header>
					<List />
					<Add box={box} />
				</Dialog.Popup>
			</Dialog.Portal>
		</Dialog.Root>
	);
}

function List() {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	const all = useStore(app.places.store, (state) => state.places) ?? [];
	const [leaving, setLeaving] = useState<PlaceInfo>();
	return (
		<>
			<ul className="min-h-0 flex-1 overflow-y-auto px-3 py-3">
				{all.map((place, at) => (
					<li
						key={place.key}
						data-place-key={place.key}
						className="flex items-center gap-3 rounded-lg px-2 py-1.5"
					>
						<Folder size={16} aria-hidden className="text-soft shrink-0" />
						<span className="min-w-0 flex-1">
							<span className="block truncate text-sm">
								<Untrusted text={place.name} />
								<span className="text-soft ml-2 text-xs">
									{t("places.sessions", { count: place.sessions })}
								</span>
							</span>
							<span className="text-soft block font-mono text-xs break-all">
								<Untrusted text={place.root} />
							</span>
							{place.missing && <span className="text-warn block text-xs">{t("places.gone")}</span>}
						</span>
						{at > 0 && (
							<IconButton
								label={t("places.remove", { name: place.name })}
								data-testid="place-remove"
								disabled={!online}
								onClick={() => setLeaving(place)}
							>
								<Trash2 size={15} />
							</IconButton>
						)}
					</li>
				))}
			</ul>
			<Confirm
				open={leaving !== undefined}
				title={t("places.remove.title")}
				body={t("places.remove.body", { name: leaving?.name ?? "" })}
				action={t("places.remove.action")}
				cancel={t("common.cancel")}
				onAnswer={(yes) => {
					setLeaving(undefined);
					if (yes && leaving) void app.attempt(app.places.remove(leaving.key));
				}}
			/>
		</>
	);
}

function Add({ box }: { box: RefObject<HTMLInputElement | null> }) {
	const t = useT();
	const app = useApp();
	const online = useOnline();
	const id = useId();
	const [path, setPath] = useState("");
	const [busy, setBusy] = useState(false);
	const [problem, setProblem] = useState<string>();
	const add = async () => {
		if (busy || path.trim() === "") return;
		setBusy(true);
		setProblem(undefined);
		const refused = await app.addPlace(path.trim());
		setBusy(false);
		setProblem(refused);
		if (refused === undefined) setPath("");
		box.current?.focus();
	};
	return (
		<form
			className="border-line border-t px-5 pt-3 pb-5"
			onSubmit={(event) => {
				event.preventDefault();
				void add();
			}}
		>
			<label htmlFor={id} className="text-sm font-medium">
				{t("places.add")}
			</label>
			<div className="mt-1.5 flex gap-2">
				<input
					ref={box}
					id={id}
					value={path}
					spellCheck={false}
					autoComplete="off"
					autoCapitalize="off"
					data-testid="place-path"
					placeholder={t("places.path")}
					aria-invalid={problem !== undefined}
					aria-describedby={problem === undefined ? undefined : `${id}-problem`}
					onChange={(event) => setPath(event.target.value)}
					className="border-edge bg-canvas placeholder:text-soft h-9 min-w-0 flex-1 rounded-lg border px-2.5 font-mono text-[13px]"
				/>
				<Button
					type="submit"
					tone="accent"
					data-testid="place-add"
					disabled={busy || !online || path.trim() === ""}
				>
					{t("places.add.action")}
				</Button>
			</div>
			{problem !== undefined && (
				<p id={`${id}-problem`} role="alert" className="text-bad mt-1.5 text-[13px]">
					<Untrusted text={problem} />
				</p>
			)}
		</form>
	);
}
