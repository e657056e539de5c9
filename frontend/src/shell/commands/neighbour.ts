import type { Command, CommandContext } from "./command";

function step({ session, neighbours, window }: CommandContext, by: 1 | -1): void {
	const ids = neighbours();
	const at = session ? ids.indexOf(session.id) : -1;
	const next = ids[at < 0 ? 0 : at + by];
	if (next !== undefined) window.go(`/s/${encodeURIComponent(next)}`);
}

export const previousSession: Command = {
	id: "previous-session",
	title: "command.previous",
	shortcut: "Alt+ArrowUp",
	run: (context) => step(context, -1),
};

export const nextSession: Command = {
	id: "next-session",
	title: "command.next",
	shortcut: "Alt+ArrowDown",
	run: (context) => step(context, 1),
};
