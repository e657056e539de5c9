import { ArrowLeft, PanelLeft } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLocation, useRoute } from "wouter";
import { useStore } from "zustand";
import { Inbox } from "@/approval/inbox";
import { BackgroundButton } from "@/background/button";
import { BackgroundPanel } from "@/background/panel";
import type { ComposerHandle } from "@/composer/composer";
import type { SessionSummary } from "@/contract/session.gen";
import { currentLocale, useT } from "@/i18n/i18n";
import { useConnection, useLink } from "@/link/hooks";
import { PlacesDialog } from "@/places/dialog";
import { RewindDialog } from "@/rewind/dialog";
import { SettingsDialog } from "@/settings/dialog";
import type { SettingsAt } from "@/settings/row";
import { Unsaved } from "@/settings/unsaved";
import { shownSessions } from "@/sidebar/lines";
import { Sidebar, type SidebarHandle } from "@/sidebar/sidebar";
import { waitingApprovals } from "@/state/approvals";
import {
	useApp,
	useApprovals,
	useDesktop,
	useHost,
	useSession,
	useSessions,
} from "@/state/context";
import type { OpenSession } from "@/state/open-session";
import { isRunning, runningTurn } from "@/state/session";
import { itemViews } from "@/timeline/items";
import type { TimelineHandle } from "@/timeline/timeline";
import { announce, LiveRegions } from "@/ui/announce";
import { IconButton } from "@/ui/button";
import { Confirm } from "@/ui/dialog";
import { useMedia } from "@/ui/hooks";
import { TipProvider } from "@/ui/tip";
import { commands } from "./commands";
import type { Command, CommandContext } from "./commands/command";
import { newSession } from "./commands/new-session";
import { search } from "./commands/search";
import { toggleSidebar } from "./commands/toggle-sidebar";
import { ConnectionLine } from "./connection-line";
import { DesktopLines } from "./desktop/lines";
import { useCommandDesktop, Wishes } from "./desktop/wishes";
import { SignInHelp, WrongVersion } from "./pages";
import { Palette } from "./palette";
import { PreferencesMenu } from "./preferences-menu";
import { SessionHeader } from "./session-header";
import { SessionScreen } from "./session-screen";
import { matches, shown } from "./shortcuts";
import { StartScreen } from "./start-screen";
import { Toasts } from "./toasts";
import { useSidebarSize } from "./use-sidebar-size";

/** The window: what stands where, which keys do what, and what is said when there is no way in. */
export function Shell() {
	const link = useLink();
	const connection = useConnection();
	if (connection.phase === "signed-out") {
		return <SignInHelp problem="needed" onRetry={() => link.nudge()} />;
	}
	if (connection.phase === "refused") return <WrongVersion message={connection.message} />;
	return (
		<TipProvider delay={500}>
			<div className="flex h-full">
				<div className="h-full min-w-0 flex-1">
					<Routes />
				</div>
				<BackgroundPanel />
			</div>
			<RewindDialog />
			<LiveRegions />
			<Toasts />
		</TipProvider>
	);
}

function Routes() {
	const app = useApp();
	const [, params] = useRoute("/s/:id");
	const id = params === null ? undefined : decoded(params.id);
	const session = useMemo(() => (id === undefined ? undefined : app.look(id)), [app, id]);
	useEffect(() => (id === undefined ? undefined : app.enter(id)), [app, id]);
	return session ? <InSession key={session.id} session={session} /> : <Window />;
}

// A room's id is its address: in the tab's it is written with escapes, which the router leaves in it.
function decoded(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

function InSession({ session }: { session: OpenSession }) {
	const summary = useSession(session, (state) => state.summary);
	const running = useSession(session, isRunning);
	const turnId = useSession(session, (state) => runningTurn(state)?.turnId);
	const gone = useSession(session, (state) => state.phase === "gone");
	const current = useMemo(
		() =>
			gone
				? undefined
				: {
						id: session.id,
						running,
						...(summary ? { summary } : {}),
						...(turnId === undefined ? {} : { turnId }),
					},
		[gone, session, summary, running, turnId],
	);
	return <Window session={session} current={current} />;
}

function Window({
	session,
	current,
}: {
	session?: OpenSession;
	current?: CommandContext["session"];
}) {
	const t = useT();
	const app = useApp();
	const narrow = useMedia("(max-width: 899px)");
	const [path, go] = useLocation();
	const empty = useSessions(
		(state) =>
			state.byId.size === 0 && state.groups.length === 0 && state.lists.mine.status === "ready",
	);
	const size = useSidebarSize();
	const composer = useRef<ComposerHandle>(null);
	const sidebar = useRef<SidebarHandle>(null);
	const timeline = useRef<TimelineHandle>(null);
	const [paletteOpen, setPaletteOpen] = useState(false);
	const [inboxOpen, setInboxOpen] = useState(false);
	const [renaming, setRenaming] = useState(false);
	const [deleting, setDeleting] = useState<SessionSummary>();
	const [settingsAt, setSettingsAt] = useState<SettingsAt>();
	const [placesOpen, setPlacesOpen] = useState(false);
	const settings = useHost((host) => host.features.settings);
	useEffect(() => {
		if (!settings) setSettingsAt(undefined);
	}, [settings]);
	const places = useStore(app.places.store, (state) => state.places !== undefined);
	const background = useStore(app.background.store, (state) => state.phase === "ready");
	const desktop = useCommandDesktop();
	const online = useConnection().phase === "open";
	const { hidden, setHidden } = size;

	const context = useMemo<CommandContext>(
		() => ({
			app,
			online,
			settings,
			places,
			background,
			...(current ? { session: current } : {}),
			...(desktop ? { desktop } : {}),
			neighbours: () => shownSessions(app.lists.store.getState(), currentLocale()),
			window: {
				go,
				focusComposer: () => setTimeout(() => composer.current?.focus(), 0),
				focusSearch: () => {
					setHidden(false);
					if (narrow) go("/");
					setTimeout(() => sidebar.current?.focusSearch(), 0);
				},
				toggleSidebar: () => (narrow ? go("/") : setHidden(!hidden)),
				openPalette: () => setPaletteOpen(true),
				openInbox: () => setInboxOpen(true),
				jumpToLatest: () => timeline.current?.jumpToLatest(),
				rename: () => setRenaming(true),
				confirmDelete: setDeleting,
				openSettings: (place) => setSettingsAt({ place }),
				openPlaces: () => setPlacesOpen(true),
				closeDialogs: () => {
					setPaletteOpen(false);
					setInboxOpen(false);
					setSettingsAt(undefined);
					setPlacesOpen(false);
				},
			},
		}),
		[app, online, settings, places, background, current, desktop, go, narrow, hidden, setHidden],
	);
	useShortcuts(context);
	useTitle();
	useApprovalNews();

	const answerDelete = useCallback(
		async (yes: boolean) => {
			setDeleting(undefined);
			if (!yes || !deleting) return;
			const done = await app.remove(deleting.id);
			if (done && deleting.id === session?.id) go("/");
		},
		[app, deleting, session, go],
	);

	const listScreen = narrow && path === "/" && !empty;
	const inbox = (
		<>
			<BackgroundButton />
			<Inbox
				open={inboxOpen}
				onOpenChange={setInboxOpen}
				onShow={(id) => {
					setInboxOpen(false);
					go(`/s/${encodeURIComponent(id)}`);
				}}
			/>
		</>
	);
	const side = (
		<Sidebar
			ref={sidebar}
			currentId={session?.id}
			onNew={() => newSession.run(context)}
			onDelete={setDeleting}
			onHide={narrow ? undefined : () => setHidden(true)}
			tools={listScreen && inbox}
			footer={<PreferencesMenu context={context} />}
			edge={!narrow && <Edge size={size} />}
			shortcuts={{
				new: shown(newSession.shortcut),
				search: shown(search.shortcut),
				hide: shown(toggleSidebar.shortcut),
			}}
		/>
	);
	return (
		<div className="flex h-full flex-col">
			<button
				type="button"
				className="bg-accent text-on-accent sr-only z-50 rounded-lg px-4 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
				onClick={() => composer.current?.focus()}
			>
				{t("app.skip")}
			</button>
			<ConnectionLine />
			<DesktopLines />
			{desktop && <Wishes desktop={desktop.actions} context={context} />}
			{settingsAt === undefined && <Unsaved />}
			<div className="flex min-h-0 flex-1">
				{!narrow && !hidden && (
					<div className="h-full shrink-0" style={{ width: size.width }}>
						{side}
					</div>
				)}
				{listScreen ? (
					<main className="min-h-0 w-full">
						<h1 className="sr-only">{t("sidebar.label")}</h1>
						{side}
					</main>
				) : (
					<div className="flex min-h-0 min-w-0 flex-1 flex-col">
						<header className="flex h-14 shrink-0 items-center gap-1 px-3 sm:px-4">
							{narrow
								? !empty && (
										<IconButton
											label={t("sidebar.show")}
											onClick={() => go("/")}
											data-testid="back"
										>
											<ArrowLeft size={18} />
										</IconButton>
									)
								: hidden && (
										<IconButton
											label={t("sidebar.show")}
											shortcut={shown(toggleSidebar.shortcut)}
											onClick={() => setHidden(false)}
										>
											<PanelLeft size={17} />
										</IconButton>
									)}
							{session ? (
								<SessionHeader
									summary={current?.summary}
									renaming={renaming}
									onRenamed={() => setRenaming(false)}
									context={context}
								>
									<UsageOf session={session} />
								</SessionHeader>
							) : (
								<span className="flex-1" />
							)}
							{inbox}
						</header>
						{session ? (
							<SessionScreen
								session={session}
								composer={composer}
								timeline={timeline}
								onLeave={() => go("/new")}
							/>
						) : (
							<StartScreen
								composer={composer}
								onPlaces={() => setPlacesOpen(true)}
								onStarted={(id) => go(`/s/${encodeURIComponent(id)}`)}
							/>
						)}
					</div>
				)}
			</div>
			<Palette open={paletteOpen} onClose={() => setPaletteOpen(false)} context={context} />
			<PlacesDialog open={placesOpen} onClose={() => setPlacesOpen(false)} />
			<SettingsDialog
				at={settingsAt}
				current={current?.summary}
				onGo={setSettingsAt}
				onClose={() => setSettingsAt(undefined)}
			/>
			<Confirm
				open={deleting !== undefined}
				title={t("session.delete.title")}
				body={t("session.delete.body", { title: deleting?.title || t("session.untitled") })}
				action={t("session.delete.action")}
				cancel={t("common.cancel")}
				onAnswer={(yes) => void answerDelete(yes)}
			/>
		</div>
	);
}

function UsageOf({ session }: { session: OpenSession }) {
	const usage = useSession(session, (state) => state.usage);
	const app = useApp();
	const compresses = useHost((host) => host.features.compress);
	return usage ? (
		<itemViews.usage.View
			item={usage}
			streaming={false}
			onCompress={compresses ? () => void app.compress(session.id) : undefined}
		/>
	) : null;
}

function Edge({ size }: { size: ReturnType<typeof useSidebarSize> }) {
	const t = useT();
	return (
		// biome-ignore lint/a11y/useSemanticElements: a rule cannot be dragged.
		<div
			role="separator"
			tabIndex={0}
			aria-orientation="vertical"
			aria-label={t("sidebar.resize")}
			aria-valuenow={size.width}
			aria-valuemin={size.least}
			aria-valuemax={size.most}
			className="hover:bg-edge/40 absolute top-0 -right-1 z-10 h-full w-2 cursor-col-resize"
			{...size.handlers}
		/>
	);
}

const keysOf = ({ shortcut, otherKeys = [] }: Command) =>
	shortcut === undefined ? otherKeys : [shortcut, ...otherKeys];

function useShortcuts(context: CommandContext) {
	useEffect(() => {
		const press = (event: KeyboardEvent) => {
			if (event.isComposing || event.defaultPrevented) return;
			for (const command of commands) {
				if (!keysOf(command).some((keys) => matches(keys, event))) continue;
				if (command.available && !command.available(context)) continue;
				event.preventDefault();
				command.run(context);
				return;
			}
		};
		window.addEventListener("keydown", press);
		return () => window.removeEventListener("keydown", press);
	}, [context]);
}

/** The tab, or the window, is named after her, with how many approvals wait (SP-INIT-12). */
function useTitle() {
	const desktop = useDesktop();
	const appName = useHost((host) => host.appName);
	const waiting = useApprovals((state) => waitingApprovals(state).length);
	useEffect(() => {
		const title = waiting > 0 ? `(${waiting}) ${appName}` : appName;
		document.title = title;
		desktop?.title(title);
	}, [appName, waiting, desktop]);
}

function useApprovalNews() {
	const t = useT();
	const pending = useApprovals((state) => state.pending);
	const told = useRef(new Set<string>());
	useEffect(() => {
		for (const [id, { approval }] of pending) {
			if (told.current.has(id)) continue;
			told.current.add(id);
			announce(t("approval.announce", { tool: approval.tool }), "assertive");
		}
	}, [pending, t]);
}
