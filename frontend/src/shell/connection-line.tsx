import { useLocale } from "@/i18n/i18n";
import { useConnection, useLink } from "@/link/hooks";
import { useHost } from "@/state/context";
import { useNow } from "@/ui/hooks";

/** A thin line while there is no connection; nothing to see while there is. */
export function ConnectionLine() {
	const { t } = useLocale();
	const link = useLink();
	const connection = useConnection();
	const known = useHost((host) => host.init !== undefined);
	const away = connection.phase === "away";
	const now = useNow(away ? 500 : 0);
	// The very first moments are the start screen's; a second try of a known server is quick.
	const quiet = connection.phase === "open" || (connection.phase === "connecting" && !known);
	const seconds = away ? Math.max(0, Math.ceil((connection.retryAt - now) / 1000)) : 0;
	return (
		<div data-testid="connection" data-state={connection.phase} role="status">
			{quiet ? (
				<span className="sr-only">
					{t(connection.phase === "open" ? "connection.open" : "connection.connecting")}
				</span>
			) : (
				<div className="bg-warn-wash text-warn flex min-h-7 items-center justify-center gap-3 px-4 py-0.5 text-[13px]">
					<span aria-live="off">
						{away && connection.reason !== "" && `${connection.reason} `}
						{away && seconds > 1 ? t("connection.awayIn", { seconds }) : t("connection.away")}
					</span>
					{away && seconds > 1 && (
						<button
							type="button"
							className="underline underline-offset-2"
							onClick={() => link.nudge()}
						>
							{t("connection.now")}
						</button>
					)}
				</div>
			)}
		</div>
	);
}
