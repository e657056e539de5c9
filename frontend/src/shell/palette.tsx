import { Dialog } from "@base-ui/react/dialog";
import { Search } from "lucide-react";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { useT } from "@/i18n/i18n";
import { useApp, useSessions } from "@/state/context";
import { rowsOf } from "@/state/sessions";
import { commands } from "./commands";
import type { Command, CommandContext } from "./commands/command";
import { shown } from "./shortcuts";

interface Choice {
	id: string;
	group: "sessions" | "commands";
	label: string;
	hint?: string | undefined;
	run(): void;
}

const SESSIONS_SHOWN = 8;

/** Conversations by title, then everything the registry offers. */
export function Palette({
	open,
	onClose,
	context,
}: {
	open: boolean;
	onClose(): void;
	context: CommandContext;
}) {
	const t = useT();
	const input = useRef<HTMLInputElement>(null);
	return (
		<Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
			<Dialog.Portal>
				<Dialog.Backdrop className="fixed inset-0 z-40 bg-[rgb(20_16_8/35%)]" />
				<Dialog.Popup
					initialFocus={input}
					data-testid="palette"
					className="bg-raised border-line shadow-float appear fixed top-[12vh] left-1/2 z-50 flex max-h-[70vh] w-[min(36rem,calc(100vw-1.5rem))] -translate-x-1/2 flex-col overflow-hidden rounded-2xl border outline-none"
				>
					<Dialog.Title className="sr-only">{t("palette.label")}</Dialog.Title>
					<Choices input={input} onClose={onClose} context={context} />
				</Dialog.Popup>
			</Dialog.Portal>
		</Dialog.Root>
	);
}

function Choices({
	input,
	onClose,
	context,
}: {
	input: React.RefObject<HTMLInputElement | null>;
	onClose(): void;
	context: CommandContext;
}) {
	const t = useT();
	const [query, setQuery] = useState("");
	const [active, setActive] = useState(0);
	const id = useId();
	const sessions = useSessionChoices(query, context);
	const choices = useMemo(() => {
		const words = query.trim().toLowerCase();
		const fitting = commands
			.filter((command) => command.available?.(context) ?? true)
			.map((command) => commandChoice(command, t(command.title), context))
			.filter((choice) => choice.label.toLowerCase().includes(words));
		return [...sessions, ...fitting];
	}, [query, sessions, context, t]);
	const at = Math.min(active, choices.length - 1);
	const option = (n: number) => `${id}-${n}`;
	const take = (choice: Choice | undefined) => {
		if (!choice) return;
		onClose();
		// The dialog gives its focus back first; the command may want it elsewhere.
		setTimeout(() => choice.run(), 0);
	};
	// biome-ignore lint/correctness/useExhaustiveDependencies: kept in view whenever it moves.
	useEffect(() => {
		document.getElementById(option(at))?.scrollIntoView({ block: "nearest" });
	}, [at]);
	return (
		<>
			<div className="border-line flex items-center gap-2.5 border-b px-4">
				<Search size={17} aria-hidden className="text-soft" />
				<input
					ref={input}
					role="combobox"
					aria-expanded
					aria-controls={`${id}-list`}
					aria-activedescendant={choices.length > 0 ? option(at) : undefined}
					aria-autocomplete="list"
					aria-label={t("palette.placeholder")}
					placeholder={t("palette.placeholder")}
					value={query}
					onChange={(event) => {
						setQuery(event.target.value);
						setActive(0);
					}}
					onKeyDown={(event) => {
						if (event.nativeEvent.isComposing || event.keyCode === 229) return;
						const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
						if (step !== 0 && choices.length > 0) {
							event.preventDefault();
							setActive((at + step + choices.length) % choices.length);
						} else if (event.key === "Enter") {
							event.preventDefault();
							take(choices[at]);
						}
					}}
					className="placeholder:text-soft h-12 flex-1 bg-transparent text-[15px] outline-none"
				/>
			</div>
			<div
				id={`${id}-list`}
				role="listbox"
				aria-label={t("palette.label")}
				className="overflow-y-auto p-1.5"
			>
				{choices.length === 0 && <p className="text-soft px-3 py-4 text-sm">{t("palette.none")}</p>}
				{choices.map((choice, n) => (
					<div key={choice.id}>
						{choice.group !== choices[n - 1]?.group && (
							<p aria-hidden className="text-soft px-3 pt-2 pb-1 text-xs">
								{t(`palette.${choice.group}`)}
							</p>
						)}
						{/* biome-ignore lint/a11y/useKeyWithClickEvents: the box above has the keys. */}
						<div
							id={option(n)}
							role="option"
							tabIndex={-1}
							aria-selected={n === at}
							onClick={() => take(choice)}
							onPointerMove={() => setActive(n)}
							className={`flex items-center gap-3 rounded-lg px-3 py-2 text-sm ${n === at ? "bg-hover" : ""}`}
						>
							<span className="min-w-0 flex-1 truncate">{choice.label}</span>
							{choice.hint && <span className="text-soft shrink-0 text-xs">{choice.hint}</span>}
						</div>
					</div>
				))}
			</div>
		</>
	);
}

const commandChoice = (command: Command, label: string, context: CommandContext): Choice => ({
	id: `command:${command.id}`,
	group: "commands",
	label,
	hint: shown(command.shortcut),
	run: () => command.run(context),
});

// Known titles answer at once; the server's search adds what has not been loaded yet.
function useSessionChoices(query: string, context: CommandContext): Choice[] {
	const t = useT();
	const app = useApp();
	const state = useSessions((all) => all);
	const [found, setFound] = useState<{ query: string; ids: string[] }>({ query: "", ids: [] });
	useEffect(() => {
		if (query.trim() === "") return;
		const timer = setTimeout(async () => {
			const sessions = await app.lists.find(query, SESSIONS_SHOWN);
			setFound({ query, ids: sessions.map((session) => session.id) });
		}, 120);
		return () => clearTimeout(timer);
	}, [query, app]);
	return useMemo(() => {
		const words = query.trim().toLowerCase();
		const known = rowsOf(state, "mine").filter((session) =>
			session.title.toLowerCase().includes(words),
		);
		const more = found.query === query ? found.ids.flatMap((id) => state.byId.get(id) ?? []) : [];
		const unique = new Map([...known, ...more].map((session) => [session.id, session]));
		return [...unique.values()].slice(0, SESSIONS_SHOWN).map((session) => ({
			id: `session:${session.id}`,
			group: "sessions" as const,
			label: session.title || t("session.untitled"),
			hint: session.archived ? t("row.archived") : undefined,
			run: () => context.window.go(`/s/${encodeURIComponent(session.id)}`),
		}));
	}, [query, state, found, context, t]);
}
