import { lastRewindable, turnIdOf } from "@/state/rewind";
import type { Command, CommandContext } from "./command";

function latest({ app, session }: CommandContext) {
	if (!session || session.running) return undefined;
	const { features } = app.host.getState();
	return lastRewindable(features, app.look(session.id).store.getState());
}

export const rewind: Command = {
	id: "rewind",
	title: "command.rewind",
	available: (context) => context.online && latest(context) !== undefined,
	run: (context) => {
		const turn = latest(context);
		if (!turn || !context.session) return;
		const { id: sessionId } = context.session;
		context.app.rewinds.do({ type: "ask", sessionId, turnId: turnIdOf(turn) });
	},
};
