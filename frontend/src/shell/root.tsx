import { CSPProvider } from "@base-ui/react/csp-provider";
import { useLayoutEffect } from "react";
import { Router } from "wouter";
import { useHashLocation } from "wouter/use-hash-location";
import { hearHostLanguage } from "@/i18n/i18n";
import { LinkContext } from "@/link/hooks";
import type { Link } from "@/link/link";
import type { App, HostState } from "@/state/app";
import { AppContext } from "@/state/context";
import { ErrorBoundary } from "./error-boundary";
import { Shell } from "./shell";

/** The whole interface over one link and one app. Addresses live in the fragment: the window has no server to ask. */
export function Root({ link, app }: { link: Link; app: App }) {
	useHostLanguage(app);
	return (
		<ErrorBoundary>
			<CSPProvider disableStyleElements>
				<LinkContext value={link}>
					<AppContext value={app}>
						<Router hook={useHashLocation}>
							<Shell />
						</Router>
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
