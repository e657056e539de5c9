import { CSPProvider } from "@base-ui/react/csp-provider";
import { Router } from "wouter";
import { useHashLocation } from "wouter/use-hash-location";
import { LinkContext } from "@/link/hooks";
import type { Link } from "@/link/link";
import type { App } from "@/state/app";
import { AppContext } from "@/state/context";
import { ErrorBoundary } from "./error-boundary";
import { Shell } from "./shell";

/** The whole interface over one link and one app. Addresses live in the fragment: the window has no server to ask. */
export function Root({ link, app }: { link: Link; app: App }) {
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
