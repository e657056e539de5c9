import type { ComponentType } from "react";
import type { SessionItem } from "@/contract/session.gen";

export type ItemKind = SessionItem["kind"];
export type ItemOf<K extends ItemKind> = Extract<SessionItem, { kind: K }>;

export interface ItemProps<K extends ItemKind> {
	item: ItemOf<K>;
	/** More of it is on its way. */
	streaming: boolean;
	/** For turns: it is the newest one and nothing runs. */
	last?: boolean;
	/** For turns: the row above is a reply, whose last line has room for a quiet word. */
	beside?: boolean;
	/** For the usage: shortens what she reads; absent where nothing can. */
	onCompress?: (() => void) | undefined;
}

/** How a kind of item is drawn, and where: the shell puts what is not of the timeline in its place. */
export interface ItemView<K extends ItemKind> {
	place: "timeline" | "header" | "dock";
	View: ComponentType<ItemProps<K>>;
}

export type ItemViews = { [K in ItemKind]: ItemView<K> };
