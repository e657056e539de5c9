import type { ReactNode } from "react";
import { useT } from "@/i18n/i18n";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy";

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
	return (
		<Page title={t("signin.title")} testId="signin-help">
			{problem !== "needed" && (
				<p role="alert" className="text-warn mt-3 text-sm">
					{t(`signin.${problem}`)}
				</p>
			)}
			<p className="text-soft mt-3 text-pretty">{t("signin.body")}</p>
			<p className="border-line bg-sunken mt-4 inline-flex items-center gap-3 rounded-xl border py-2 pr-2 pl-4 font-mono text-sm">
				<code>aalis open</code>
				<CopyButton text={() => "aalis open"} label={t("common.copy")} done={t("common.copied")} />
			</p>
			<p className="mt-5">
				<Button onClick={onRetry}>{t("signin.retry")}</Button>
			</p>
		</Page>
	);
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
