import { currentLocale } from "@/i18n/i18n";
import { LinkError, RpcError } from "@/link/errors";
import type { ErrorReader } from "@/state/app";
import { UnreadableFile } from "@/state/draft-files";

const words = {
	away: "connection.lost",
	lost: "connection.lost",
	timeout: "connection.timeout",
	unreadable: "connection.unreadable",
} as const;

/** Tells the stores what an error of the link means; the server's own sentences come rendered. */
export const errorReader: ErrorReader = {
	message: (error) => {
		if (error instanceof RpcError) return error.message;
		if (error instanceof LinkError) return currentLocale().t(words[error.kind]);
		if (error instanceof UnreadableFile)
			return currentLocale().t("composer.file.unreadable", { name: error.fileName });
		return error instanceof Error ? error.message : String(error);
	},
	isAway: (error) => error instanceof LinkError && (error.kind === "away" || error.kind === "lost"),
	reason: (error) => (error instanceof RpcError ? error.reason : undefined),
};
