import { act, render } from "@testing-library/react";
import type { ReactNode } from "react";
import { ApprovalCard } from "@/approval/card";
import type { SessionItem, SessionSummary } from "@/contract/session.gen";
import { LinkContext } from "@/link/hooks";
import { Root } from "@/shell/root";
import { AppContext } from "@/state/context";
import { Desktop, type DesktopPort } from "@/state/desktop";
import type { OpenSession } from "@/state/open-session";
import { loadMarkdown } from "@/timeline/markdown/markdown";
import { Timeline } from "@/timeline/timeline";
import { TipProvider } from "@/ui/tip";
import { VirtualContext } from "@/ui/virtual";
import { FakeServer } from "./fake-server";
import { client } from "./harness";

/** Lets timers of a few milliseconds and everything behind them happen. */
export const pause = (ms = 20): Promise<void> =>
	act(async () => {
		await new Promise((resolve) => setTimeout(resolve, ms));
	});

/** The whole interface at an address, over a fake server; in a desktop window, where one is given. */
export async function openShell(server: FakeServer, path = "/", port?: DesktopPort) {
	window.location.hash = path;
	const parts = client(server);
	const desktop = port && new Desktop(port, (error) => parts.app.failed(error));
	desktop?.listen();
	parts.link.start();
	await loadMarkdown();
	const view = render(
		<VirtualContext value={false}>
			<Root link={parts.link} app={parts.app} desktop={desktop} />
		</VirtualContext>,
	);
	await pause();
	return { ...parts, ...view, server, desktop };
}

/** One session's timeline alone. */
export async function openTimeline(
	items: SessionItem[],
	{ server = new FakeServer(), ...summary }: Partial<SessionSummary> & { server?: FakeServer } = {},
) {
	server.session({ id: "s", ...summary }, items);
	const parts = client(server);
	parts.link.start();
	const session = parts.app.look("s");
	await loadMarkdown();
	await pause(5);
	const view = renderWith(parts, <TimelineOf session={session} />);
	await pause(5);
	return { ...parts, ...view, session, server };
}

function TimelineOf({ session }: { session: OpenSession }) {
	return (
		<Timeline
			session={session}
			appName="Aalis"
			renderApproval={(approval) => <ApprovalCard approval={approval} />}
		/>
	);
}

export function renderWith(parts: ReturnType<typeof client>, children: ReactNode) {
	return render(
		<VirtualContext value={false}>
			<LinkContext value={parts.link}>
				<AppContext value={parts.app}>
					<TipProvider>{children}</TipProvider>
				</AppContext>
			</LinkContext>
		</VirtualContext>,
	);
}
