import { ChevronDown, Folder, FolderPlus } from "lucide-react";
import { useStore } from "zustand";
import { useT } from "@/i18n/i18n";
import { useApp } from "@/state/context";
import { choosable, chosenPlace } from "@/state/places";
import { Menu } from "@/ui/menu";

/** Which folder the conversation that is being written begins in; not there while there is only one. */
export function PlaceChoice({ onManage }: { onManage(): void }) {
	const t = useT();
	const { places } = useApp();
	const state = useStore(places.store);
	const chosen = chosenPlace(state);
	if (!chosen) return null;
	return (
		<Menu
			align="start"
			trigger={
				<button
					type="button"
					data-testid="place"
					aria-label={t("places.choose", { name: chosen.name })}
					title={chosen.root}
					className="text-soft hover:bg-hover hover:text-ink flex h-8 max-w-56 items-center gap-1.5 rounded-lg px-2 text-[13px]"
				>
					<Folder size={14} aria-hidden className="shrink-0" />
					<span className="truncate">{chosen.name}</span>
					<ChevronDown size={13} aria-hidden className="shrink-0" />
				</button>
			}
			entries={[
				...choosable(state).map((place) => ({
					key: place.key,
					label: place.missing ? t("places.missing", { name: place.name }) : place.name,
					checked: place.key === chosen.key,
					disabled: place.missing === true,
					run: () => places.choose(place.key),
				})),
				{
					key: "manage",
					label: t("places.manage"),
					icon: <FolderPlus size={14} />,
					apart: true,
					run: onManage,
				},
			]}
		/>
	);
}
