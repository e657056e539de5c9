import { type Ref, useCallback, useEffect, useRef } from "react";
import { useStore } from "zustand";
import { ApprovalCard } from "@/approval/card";
import { Composer, type ComposerHandle } from "@/composer/composer";
import { useDraftFiles } from "@/composer/files";
import type { Approval } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { QuickSettings, useQuickRows } from "@/settings/quick";
import { useApp, useHost, useSession } from "@/state/context";
import type { OpenSession } from "@/state/open-session";
import { isRunning, runningTurn } from "@/state/session";
import { itemViews } from "@/timeline/items";
import { Timeline, type TimelineHandle } from "@/timeline/timeline";
import { Button } from "@/ui/button";
import { useVisible } from "@/ui/hooks";
import { Page } from "./pages";

const renderApproval = (approval: Approval) => <ApprovalCard approval={approval} />;

/** One conversation: its timeline, and the box to write in. */
export function SessionScreen({
	session,
	composer,
	timeline,
	onLeave,
}: {
	session: OpenSession;
	composer: Ref<ComposerHandle>;
	timeline: Ref<TimelineHandle>;
	onLeave(): void;
}) {
	const t = useT();
	const appName = useHost((host) => host.appName);
	const phase = useSession(session, (state) => state.phase);
	const error = useSession(session, (state) => state.error);
	useSeen(session);
	if (phase === "gone") {
		return (
			<Page title={t("session.gone")} testId="session-gone">
				<p className="text-soft mt-2">{t("session.gone.body")}</p>
				<p className="mt-5">
					<Button onClick={onLeave}>{t("sidebar.new")}</Button>
				</p>
			</Page>
		);
	}
	if (phase === "failed") {
		return (
			<Page title={t("session.failed")} testId="session-failed">
				<p className="text-soft mt-2">{error}</p>
				<p className="mt-5">
					<Button onClick={() => void session.subscribe()}>{t("common.retry")}</Button>
				</p>
			</Page>
		);
	}
	return (
		<main className="flex min-h-0 flex-1 flex-col">
			{phase === "waiting" ? (
				<Skeleton />
			) : (
				<Timeline
					ref={timeline}
					session={session}
					appName={appName}
					renderApproval={renderApproval}
				/>
			)}
			<SessionComposer session={session} composer={composer} />
		</main>
	);
}

function SessionComposer({
	session,
	composer,
}: {
	session: OpenSession;
	composer: Ref<ComposerHandle>;
}) {
	const t = useT();
	const app = useApp();
	const appName = useHost((host) => host.appName);
	// Before the first handshake nobody knows; what is written then waits in the outbox.
	const enabled = useHost((host) => host.init === undefined || host.features.send);
	const running = useSession(session, isRunning);
	const plan = useSession(session, (state) => state.plan);
	const queue = useSession(session, (state) => state.queue);
	const archived = useSession(session, (state) => state.summary?.archived ?? false);
	const quick = useQuickRows(session.id);
	const files = useDraftFiles(session.id);
	const box = useRef<ComposerHandle>(null);
	const handle = useCallback(
		(next: ComposerHandle | null) => {
			box.current = next;
			if (typeof composer === "function") composer(next);
			else if (composer) composer.current = next;
		},
		[composer],
	);
	useHomeless(session, box);
	const find = useCallback((query: string) => app.findFiles(session.id, query), [app, session]);
	return (
		<Composer
			ref={handle}
			place={session.id}
			appName={appName}
			enabled={enabled}
			running={running}
			autoFocus
			tools={quick.rows.length > 0 && <QuickSettings sessionId={session.id} {...quick} />}
			files={files}
			findFiles={find}
			onSend={(text, attached) => {
				session.send(text, attached);
				return true;
			}}
			onStop={() => void app.stop(session.id, runningTurn(session.store.getState())?.turnId)}
		>
			{archived && (
				<div className="border-line text-soft flex items-center justify-between gap-3 border-b px-4 py-1.5 text-[13px]">
					{t("session.archived")}
					<Button small tone="quiet" onClick={() => void app.unarchive(session.id)}>
						{t("session.unarchive")}
					</Button>
				</div>
			)}
			{plan && (
				<itemViews.plan.View
					item={plan}
					streaming={false}
					onClear={() => void app.clearPlan(session.id)}
				/>
			)}
			{queue && (
				<itemViews.queue.View
					item={queue}
					streaming={false}
					session={session}
					onTakenBack={(text, taken) => {
						box.current?.offer(text);
						if (taken.length > 0) files.add(taken);
					}}
				/>
			)}
		</Composer>
	);
}

/** Words typed for a message that waits no longer go into the message box (FAIL-A18). */
function useHomeless(session: OpenSession, box: React.RefObject<ComposerHandle | null>) {
	const t = useT();
	const app = useApp();
	const some = useStore(session.queueEdits, (edits) => edits.homeless.length > 0);
	useEffect(() => {
		if (!some || !box.current) return;
		const homeless = session.takeHomeless();
		for (const words of homeless) box.current.add(words);
		if (homeless.length > 0) app.toast(t("queue.homeless"));
	}, [some, session, box, app, t]);
}

function Skeleton() {
	const t = useT();
	return (
		<div
			role="status"
			data-testid="loading"
			className="mx-auto w-full max-w-[46rem] flex-1 px-6 pt-14"
		>
			<span className="sr-only">{t("common.loading")}</span>
			<div aria-hidden className="space-y-4">
				<div className="bg-sunken ml-auto h-11 w-2/5 rounded-2xl" />
				<div className="bg-sunken h-4 w-11/12 rounded" />
				<div className="bg-sunken h-4 w-4/5 rounded" />
				<div className="bg-sunken h-4 w-3/5 rounded" />
			</div>
		</div>
	);
}

/** Tells the server that the owner has seen the session: on opening it, and on seeing a new reply. */
function useSeen(session: OpenSession) {
	const app = useApp();
	const visible = useVisible();
	const live = useSession(session, (state) => state.phase === "live");
	const unread = useSession(session, (state) => state.summary?.unread ?? false);
	const lastReplyAt = useSession(session, (state) => state.summary?.lastReplyAt);
	const seen = useRef<{ session: OpenSession; lastReplyAt: number | undefined }>(undefined);
	useEffect(() => {
		if (!visible || !live) return;
		const before = seen.current;
		const news = before?.session !== session || before.lastReplyAt !== lastReplyAt || unread;
		if (!news) return;
		seen.current = { session, lastReplyAt };
		app.markSeen(session.id);
	}, [app, session, visible, live, unread, lastReplyAt]);
}
