import { createContext, useContext, useEffect, useState } from "react";
import { useStore } from "zustand";
import { fetchFile, needsFetch } from "./files";
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

export { downloadAddress, mediaAddress, saveFile, savesByItself } from "./files";

/**
 * What an element shows a file by: its address, or the bytes where the element could not ask for them.
 * `plays` says that it is audio or video.
 */
export function useFileSource(address: string, plays: boolean): { src?: string; failed?: true } {
	const [fetched, setFetched] = useState<{ address: string; src?: string; failed?: true }>();
	const fetches = needsFetch(plays);
	useEffect(() => {
		if (!fetches) return;
		let url: string | undefined;
		let gone = false;
		fetchFile(address)
			.then((bytes) => {
				if (gone) return;
				url = URL.createObjectURL(bytes);
				setFetched({ address, src: url });
			})
			.catch(() => !gone && setFetched({ address, failed: true }));
		return () => {
			gone = true;
			if (url) URL.revokeObjectURL(url);
		};
	}, [address, fetches]);
	if (!fetches) return { src: address };
	if (fetched?.address !== address) return {};
	const { address: _, ...rest } = fetched;
	return rest;
}
