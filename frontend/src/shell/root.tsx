import { CSPProvider } from "@base-ui/react/csp-provider";
import { useEffect, useLayoutEffect } from "react";
import { Router } from "wouter";
import { useHashLocation } from "wouter/use-hash-location";
import { hearHostLanguage } from "@/i18n/i18n";
import { LinkContext } from "@/link/hooks";
import type { Link } from "@/link/link";
import type { App, HostState } from "@/state/app";
import { AppContext, DesktopContext } from "@/state/context";
import type { Desktop } from "@/state/desktop";
import { Question } from "./desktop/question";
import { useReports } from "./desktop/reports";
import { ErrorBoundary } from "./error-boundary";
import { Shell } from "./shell";
import { stay } from "./stay";

/** The whole interface over one link and one app. Addresses live in the fragment: the window has no server to ask. */
export function Root({
	link,
	app,
	desktop,
}: {
	link: Link;
	app: App;
	desktop?: Desktop | undefined;
}) {
	useHostLanguage(app);
	useReports(desktop);
	useEffect(
		() => stay(window, { inWindow: desktop !== undefined, failed: (error) => app.failed(error) }),
		[app, desktop],
	);
	return (
		<ErrorBoundary>
			<CSPProvider disableStyleElements>
				<LinkContext value={link}>
					<AppContext value={app}>
						<DesktopContext value={desktop}>
							<Router hook={useHashLocation}>
								<Shell />
							</Router>
							{desktop && <Question desktop={desktop} />}
						</DesktopContext>
					</AppContext>
				</LinkContext>
			</CSPProvider>
		</ErrorBoundary>
	);
}

/** Every handshake says which language the host writes in; the interface speaks it from then on. */
function useHostLanguage(app: App): void {
	useLayoutEffect(() => {
		const hear = ({ init }: HostState) => {
			if (init) hearHostLanguage(init.ext?.language);
		};
		hear(app.host.getState());
		return app.host.subscribe(hear);
	}, [app]);
}
