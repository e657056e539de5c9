import { ArrowDownToLine } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { BackgroundTask } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { noOutput } from "@/state/background";
import { useApp } from "@/state/context";
import { Output } from "@/ui/ansi/output";
import { Button } from "@/ui/button";
import { Untrusted } from "@/ui/untrusted";

/** So near its end a pane counts as being there. */
const NEAR = 8;

/** What a task has printed, and goes on to print: the end stays in view until a person scrolls away. */
export function Following({ task, label }: { task: BackgroundTask; label: string }) {
	const t = useT();
	const { background } = useApp();
	const [output, setOutput] = useState(noOutput);
	const [follow, setFollow] = useState(true);
	const pane = useRef<HTMLElement>(null);
	useEffect(() => background.follow(task.id, setOutput), [background, task.id]);
	// biome-ignore lint/correctness/useExhaustiveDependencies: to the end with every piece of output.
	useLayoutEffect(() => {
		if (follow && pane.current) pane.current.scrollTop = pane.current.scrollHeight;
	}, [follow, output]);
	const scrolled = () => {
		const { scrollTop, clientHeight, scrollHeight } = pane.current ?? document.body;
		setFollow(scrollTop + clientHeight >= scrollHeight - NEAR);
	};
	const { phase, text, truncated, error } = output;
	return (
		<div
			data-testid="task-output"
			className="border-line bg-sunken mx-4 mb-3 overflow-hidden rounded-xl border"
		>
			{truncated && <p className="text-soft px-3 pt-2 text-xs">{t("background.truncated")}</p>}
			{text !== "" && (
				<Output
					text={text}
					label={label}
					more={(count) => t("common.showMore", { count })}
					pane={pane}
					onScroll={scrolled}
				/>
			)}
			{text === "" && phase !== "failed" && (
				<p className="text-soft px-3 py-2 text-[13px]">
					{t(phase === "loading" ? "common.loading" : "background.noOutput")}
				</p>
			)}
			{error !== undefined && (
				<p role="alert" className="text-bad px-3 py-2 text-[13px]">
					<Untrusted text={error} />
				</p>
			)}
			{task.status === "running" && (
				<div className="border-line flex justify-end border-t px-1.5 py-1">
					<Button
						small
						tone="quiet"
						aria-pressed={follow}
						data-testid="task-follow"
						onClick={() => setFollow(!follow)}
					>
						<ArrowDownToLine size={13} aria-hidden className={follow ? "text-accent" : ""} />
						{t("background.follow")}
					</Button>
				</div>
			)}
		</div>
	);
}
