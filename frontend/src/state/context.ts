import { createContext, useContext } from "react";
import { useStore } from "zustand";
import type { App, HostState } from "./app";
import type { ApprovalsState } from "./approvals";
import type { Desktop } from "./desktop";
import type { OpenSession } from "./open-session";
import type { SessionState } from "./session";
import type { SessionsState } from "./sessions";

export const AppContext = createContext<App | undefined>(undefined);

/** The desktop window around the page; nothing in a tab. */
export const DesktopContext = createContext<Desktop | undefined>(undefined);

export const useDesktop = (): Desktop | undefined => useContext(DesktopContext);

export function useApp(): App {
	const app = useContext(AppContext);
	if (!app) throw new Error("a component that needs the app stands outside its provider");
	return app;
}

export const useHost = <T>(select: (state: HostState) => T): T => useStore(useApp().host, select);
export const useSessions = <T>(select: (state: SessionsState) => T): T =>
	useStore(useApp().lists.store, select);
export const useApprovals = <T>(select: (state: ApprovalsState) => T): T =>
	useStore(useApp().approvals, select);
export const useSession = <T>(session: OpenSession, select: (state: SessionState) => T): T =>
	useStore(session.store, select);
