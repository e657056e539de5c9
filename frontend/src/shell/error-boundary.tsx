import { Component, type ErrorInfo, type ReactNode } from "react";
import { currentLocale } from "@/i18n/i18n";
import { Button } from "@/ui/button";
import { Page } from "./pages";

/** Keeps a broken part from leaving an empty window: says so, and offers the way back. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error?: Error }> {
	override state: { error?: Error } = {};

	static getDerivedStateFromError(error: Error) {
		return { error };
	}

	override componentDidCatch(error: Error, info: ErrorInfo): void {
		console.error(error, info.componentStack);
	}

	override render(): ReactNode {
		const { error } = this.state;
		if (!error) return this.props.children;
		const { t } = currentLocale();
		return (
			<Page title={t("app.crashed")} testId="crashed">
				<p className="text-soft mt-3">{t("app.crashed.body")}</p>
				<p className="mt-5">
					<Button tone="accent" onClick={() => location.reload()}>
						{t("app.reload")}
					</Button>
				</p>
				<details className="text-soft mt-5 text-left text-[13px]">
					<summary className="cursor-pointer">{t("app.details")}</summary>
					<pre className="mt-2 font-mono text-xs break-words whitespace-pre-wrap">
						{error.stack ?? error.message}
					</pre>
				</details>
			</Page>
		);
	}
}
