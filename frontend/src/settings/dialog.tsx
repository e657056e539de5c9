import { Dialog } from "@base-ui/react/dialog";
import { ChevronsUpDown, X } from "lucide-react";
import { useMemo } from "react";
import type { SessionSummary } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useApp, useSessions } from "@/state/context";
import { placeKey, type SettingsPlace } from "@/state/edits";
import { Button, IconButton } from "@/ui/button";
import { Choice } from "@/ui/choice";
import { useMedia } from "@/ui/hooks";
import { useChoiceTexts, useRead } from "./hooks";
import { LayerNav } from "./layer-nav";
import { type LayerLine, layerLines, precedence } from "./layers";
import { SettingsPage } from "./page";
import type { SettingsAt } from "./row";
import { Unsaved } from "./unsaved";

/** All settings: of the conversation in front, and of every layer. */
export function SettingsDialog({
	at,
	current,
	onGo,
	onClose,
}: {
	at: SettingsAt | undefined;
	/** The conversation in front. */
	current: SessionSummary | undefined;
	onGo(at: SettingsAt): void;
	onClose(): void;
}) {
	return (
		<Dialog.Root open={at !== undefined} onOpenChange={(next) => !next && onClose()}>
			<Dialog.Portal>
				<Dialog.Backdrop className="fixed inset-0 z-40 bg-[rgb(20_16_8/35%)]" />
				<Dialog.Popup
					data-testid="settings"
					className="bg-raised border-line shadow-float appear fixed inset-0 z-50 flex flex-col overflow-hidden outline-none min-[900px]:inset-auto min-[900px]:top-1/2 min-[900px]:left-1/2 min-[900px]:h-[min(46rem,calc(100vh-3rem))] min-[900px]:w-[min(62rem,calc(100vw-3rem))] min-[900px]:-translate-x-1/2 min-[900px]:-translate-y-1/2 min-[900px]:rounded-2xl min-[900px]:border"
				>
					{at && <Inside at={at} current={current} onGo={onGo} />}
				</Dialog.Popup>
			</Dialog.Portal>
		</Dialog.Root>
	);
}

function Inside({
	at,
	current,
	onGo,
}: {
	at: SettingsAt;
	current: SessionSummary | undefined;
	onGo(at: SettingsAt): void;
}) {
	const t = useT();
	const { settings } = useApp();
	const narrow = useMedia("(max-width: 899px)");
	const layers = useRead(settings.layers);
	const { place } = at;
	const summary = useSummary(place, current);
	const lines = useLines(place, current, summary, layers?.value);
	const key = placeKey(place);
	const here = lines.find((line) => line.key === key);
	const title = here?.name ?? t("settings.title");
	const order = layers?.value?.order ?? [];
	return (
		<>
			<div className="border-line flex h-13 shrink-0 items-center gap-3 border-b pr-2 pl-5">
				<Dialog.Title className="min-w-0 flex-1 truncate text-base font-semibold">
					{t("settings.title")}
				</Dialog.Title>
				<Dialog.Close
					render={
						<IconButton label={t("common.close")} data-testid="settings-close">
							<X size={17} />
						</IconButton>
					}
				/>
			</div>
			<Unsaved />
			<div className="flex min-h-0 flex-1 flex-col min-[900px]:flex-row">
				{narrow ? (
					<LayerChoice lines={lines} here={here} onGo={onGo} />
				) : (
					<LayerNav
						lines={lines}
						here={key}
						failed={layers?.phase === "failed" && !layers.value}
						precedence={order.length > 0 ? precedence(order) : undefined}
						onRetry={() => void settings.layers.reload()}
						onGo={onGo}
					/>
				)}
				<SettingsPage
					key={key}
					place={place}
					focus={at.focus}
					title={title}
					summary={summary}
					layers={layers?.value}
					onGo={onGo}
				/>
			</div>
		</>
	);
}

/** What is known of the session whose settings are shown. */
function useSummary(
	place: SettingsPlace,
	current: SessionSummary | undefined,
): SessionSummary | undefined {
	const id = "session" in place ? place.session : undefined;
	const listed = useSessions((state) => (id === undefined ? undefined : state.byId.get(id)));
	if (id === undefined) return undefined;
	return current?.id === id ? current : listed;
}

/** Where one can go: the conversation in front, the one that is shown, and every layer. */
function useLines(
	place: SettingsPlace,
	current: SessionSummary | undefined,
	shown: SessionSummary | undefined,
	layers: Parameters<typeof layerLines>[0] | undefined,
): LayerLine[] {
	const t = useT();
	return useMemo(() => {
		const session = (id: string, name: string): LayerLine => ({
			key: placeKey({ session: id }),
			place: { session: id },
			name,
			group: t("settings.session"),
		});
		const other = "session" in place && place.session !== current?.id ? place.session : undefined;
		return [
			...(current ? [session(current.id, current.title || t("session.untitled"))] : []),
			...(other === undefined ? [] : [session(other, shown?.title || t("session.untitled"))]),
			...(layers ? layerLines(layers) : []),
		];
	}, [place, current, shown, layers, t]);
}

/** The list of layers where there is no room for one. */
function LayerChoice({
	lines,
	here,
	onGo,
}: {
	lines: readonly LayerLine[];
	here: LayerLine | undefined;
	onGo(at: SettingsAt): void;
}) {
	const t = useT();
	const texts = useChoiceTexts();
	return (
		<div className="px-5 pt-3">
			<Choice
				label={t("settings.layers")}
				texts={texts}
				options={lines.map((line) => ({ ...line, label: line.name }))}
				chosen={here?.key}
				onChoose={({ place }) => onGo({ place })}
				trigger={
					<Button className="w-full" data-testid="layer-choice">
						<span className="min-w-0 flex-1 truncate text-left">
							{here && here.group !== here.name ? `${here.group} · ${here.name}` : here?.name}
						</span>
						<ChevronsUpDown size={14} aria-hidden className="text-soft" />
					</Button>
				}
			/>
		</div>
	);
}
