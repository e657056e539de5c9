import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import * as z from "zod/mini";
import { followLanguage } from "./i18n/i18n";
import { bearer, goToAskedSession, isSignedIn, isSignInPage, signIn } from "./link/auth";
import { desktopPort, inWindow } from "./link/bridge";
import { fetchFile } from "./link/files";
import { Link, nudgeOnWake } from "./link/link";
import { tabOptions, windowOptions } from "./link/options";
import { watchPresence } from "./link/presence";
import { tabTransport, windowTransport } from "./link/transport";
import { SignInHelp } from "./shell/pages";
import { errorReader } from "./shell/read-error";
import { Root } from "./shell/root";
import { followTheme } from "./shell/theme";
import { App } from "./state/app";
import { Desktop } from "./state/desktop";
import { loadMarkdown } from "./timeline/markdown/markdown";
import "./ui/tokens.css";

// The content security policy forbids building functions from text.
z.config({ jitless: true });

followTheme(document);
followLanguage(document);
const root = createRoot(document.getElementById("root") as HTMLElement);

/** The bytes of a file that was dropped on the window: it serves them to its page, once. */
const dropped = (id: string) => fetchFile(`/dropped/${encodeURIComponent(id)}`);

function start(): void {
	const inside = inWindow();
	const link = new Link({
		transport: inside ? windowTransport() : tabTransport(bearer),
		client: { name: inside ? "aalis-desktop" : "aalis-web", version: "0.1.0" },
		...(inside ? {} : { admitted: isSignedIn }),
	});
	const app = new App(link, errorReader, inside ? windowOptions : tabOptions(bearer));
	const desktop = inside
		? new Desktop({ ...desktopPort(), dropped }, (error) => app.failed(error))
		: undefined;
	desktop?.listen();
	watchPresence(link);
	nudgeOnWake(link);
	link.start();
	void loadMarkdown();
	root.render(
		<StrictMode>
			<Root link={link} app={app} desktop={desktop} />
		</StrictMode>,
	);
}

async function enter(): Promise<void> {
	const result = await signIn();
	// An old link does no harm to a browser that is signed in already.
	const inside = result === "signed-in" || (await isSignedIn().catch(() => false));
	if (inside) start();
	else root.render(<SignInHelp problem={result} onRetry={start} />);
}

if (isSignInPage()) void enter();
else {
	goToAskedSession();
	start();
}
