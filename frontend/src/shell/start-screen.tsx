import { type Ref, useCallback, useRef } from "react";
import { Composer, type ComposerHandle } from "@/composer/composer";
import { useDraftFiles } from "@/composer/files";
import { useT } from "@/i18n/i18n";
import { useConnection } from "@/link/hooks";
import { PlaceChoice } from "@/places/choice";
import { Start } from "@/start/start";
import { useApp, useHost } from "@/state/context";
import { Page } from "./pages";

/** Where a conversation begins: it comes into being with its first message. */
export function StartScreen({
	composer,
	onPlaces,
	onStarted,
}: {
	composer: Ref<ComposerHandle>;
	/** Leads to the list of folders. */
	onPlaces(): void;
	onStarted(id: string): void;
}) {
	const t = useT();
	const app = useApp();
	const known = useHost((host) => host.init !== undefined);
	const appName = useHost((host) => host.appName);
	const enabled = useHost((host) => host.features.send);
	const { phase } = useConnection();
	const box = useRef<ComposerHandle>(null);
	const files = useDraftFiles("new");
	const find = useCallback((query: string) => app.findFiles(undefined, query), [app]);
	if (!known) {
		return (
			<Page title={t("start.waiting", { name: appName })} status testId="starting">
				<p className="text-soft mt-2">
					{t(phase === "away" ? "connection.away" : "start.waiting.body")}
				</p>
			</Page>
		);
	}
	return (
		<main className="min-h-0 flex-1">
			<Start
				onIdea={(text) => box.current?.fill(text)}
				composer={
					<Composer
						ref={(handle) => {
							box.current = handle;
							if (typeof composer === "function") composer(handle);
							else if (composer) composer.current = handle;
						}}
						place="new"
						appName={appName}
						enabled={enabled}
						autoFocus
						tools={<PlaceChoice onManage={onPlaces} />}
						files={files}
						findFiles={find}
						onSend={(text, attached) =>
							app.attempt(app.start(text, attached).then((id) => onStarted(id)))
						}
					/>
				}
			/>
		</main>
	);
}
