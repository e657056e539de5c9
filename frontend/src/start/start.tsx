import { Sparkles } from "lucide-react";
import type { ReactNode } from "react";
import { useT } from "@/i18n/i18n";
import { useHost, useSessions } from "@/state/context";

const IDEAS = ["start.idea.look", "start.idea.explain", "start.idea.plan"] as const;

/** Where nothing is open yet: a message box, and on the first start a word of welcome. */
export function Start({ composer, onIdea }: { composer: ReactNode; onIdea(text: string): void }) {
	const t = useT();
	const appName = useHost((host) => host.appName);
	const known = useSessions((state) => state.byId.size > 0 || state.lists.mine.status !== "ready");
	return (
		<div className="flex h-full min-h-0 flex-col overflow-y-auto">
			<div className="m-auto w-full max-w-[46rem] py-8">
				<div className="px-6 pb-6 text-center sm:px-8">
					<Sparkles size={26} aria-hidden className="text-accent mx-auto mb-3" />
					<h1 className="text-2xl font-semibold tracking-tight text-balance">
						{known ? t("start.title") : t("start.first", { name: appName })}
					</h1>
					{!known && (
						<p className="text-soft mx-auto mt-2 max-w-lg text-pretty">{t("start.first.body")}</p>
					)}
				</div>
				{composer}
				<section aria-label={t("start.ideas")} className="flex flex-wrap justify-center gap-2 px-6">
					{IDEAS.map((idea) => (
						<button
							key={idea}
							type="button"
							onClick={() => onIdea(t(idea))}
							className="border-line text-soft hover:bg-hover hover:text-ink rounded-full border px-3.5 py-1.5 text-[13px] transition-colors"
						>
							{t(idea)}
						</button>
					))}
				</section>
			</div>
		</div>
	);
}
