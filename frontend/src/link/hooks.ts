import { createContext, useContext } from "react";
import { useStore } from "zustand";
import type { Connection, Link } from "./link";

export const LinkContext = createContext<Link | undefined>(undefined);

export function useLink(): Link {
	const link = useContext(LinkContext);
	if (!link) throw new Error("a component that needs the link stands outside its provider");
	return link;
}

export const useConnection = (): Connection => useStore(useLink().connection);

/** True while requests can be made; buttons that make one are disabled otherwise. */
export const useOnline = (): boolean => useStore(useLink().connection, (c) => c.phase === "open");
