import type { ReactNode } from "react";
import { useHashLocation } from "wouter/use-hash-location";
import { useT } from "@/i18n/i18n";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy";
import { palette } from "./commands/palette";
import { shown } from "./shortcuts";

/** A page that stands alone: a title, a word, what to do. */
export function Page({
	title,
	children,
	testId,
	status = false,
}: {
	title: string;
	children?: ReactNode;
	testId?: string;
	status?: boolean;
}) {
	return (
		<main className="flex h-full items-center justify-center p-6" data-testid={testId}>
			<div className="max-w-md text-center" role={status ? "status" : undefined}>
				<h1 className="text-xl font-semibold text-balance">{title}</h1>
				{children}
			</div>
		</main>
	);
}

export type SignInProblem = "needed" | "refused" | "unreachable";

/** For a tab that nobody has let in: how to get in. */
export function SignInHelp({ problem, onRetry }: { problem: SignInProblem; onRetry(): void }) {
	const t = useT();
	const command = openCommand(useHashLocation()[0]);
	return (
		<Page title={t("signin.title")} testId="signin-help">
			{problem !== "needed" && (
				<p role="alert" className="text-warn mt-3 text-sm">
					{t(`signin.${problem}`)}
				</p>
			)}
			<p className="text-soft mt-3 text-pretty">{t("signin.body")}</p>
			<ul className="mx-auto mt-4 w-fit list-disc space-y-2 pl-5 text-left">
				<li>{t("signin.tray")}</li>
				<li>{t("signin.window", { keys: shown(palette.shortcut) ?? "" })}</li>
				<li>
					{t("signin.terminal")}{" "}
					<span className="border-line bg-sunken inline-flex items-center gap-2 rounded-lg border py-0.5 pr-0.5 pl-3 font-mono text-sm">
						<code>{command}</code>
						<CopyButton text={() => command} label={t("common.copy")} done={t("common.copied")} />
					</span>
				</li>
			</ul>
			<p className="text-soft mt-4 text-sm text-pretty">{t("signin.after")}</p>
			<p className="mt-4">
				<Button onClick={onRetry}>{t("signin.retry")}</Button>
			</p>
		</Page>
	);
}

/** What opens a tab at the same place; an id that a terminal would read as more than a word is left out. */
function openCommand(path: string): string {
	const id = /^\/s\/([\w.:-]+)$/.exec(path)?.[1];
	return id === undefined ? "aalis open" : `aalis open ${id}`;
}

export function WrongVersion({ message }: { message: string }) {
	const t = useT();
	return (
		<Page title={t("connection.refused")} testId="wrong-version">
			<p className="text-soft mt-3">{message}</p>
			<p className="text-soft mt-1">{t("connection.refused.body")}</p>
			<p className="mt-5">
				<Button tone="accent" onClick={() => location.reload()}>
					{t("app.reload")}
				</Button>
			</p>
		</Page>
	);
}
