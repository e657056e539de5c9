import type {
	AgentMessageItem,
	ApprovalSettlement,
	NoticeItem,
	SessionItem,
	ToolCallItem,
	TurnItem,
	UserMessageItem,
} from "@/contract/session.gen";
import type { FakeServer } from "../fake-server";
import { agent, notice, reasoning, tool, turn, user } from "../items";

/** A server in a state a person meets, for pictures and for looking around without a backend. */
export interface Scene {
	server: FakeServer;
	/** The address to open. */
	path: string;
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

type Extra<T> = Partial<Omit<T, "kind" | "turnId">>;

/** The items of a conversation, turn by turn; times within a turn are milliseconds after its beginning. */
export class Story {
	readonly items: SessionItem[] = [];
	private turnId = "";
	private began = 0;
	private count = 0;

	/** What was written opens a turn, which ends after `took`, or not yet. */
	ask(at: number, text: string, end: Extra<TurnItem> & { took?: number } = {}): this {
		this.turnId = `turn-${++this.count}`;
		this.began = at;
		const { took, ...rest } = end;
		const ended = took === undefined ? {} : { endedAt: at + took };
		this.items.push(
			user({ itemId: `${this.turnId}-u`, turnId: this.turnId, at, text, entry: "opened" }),
			turn({ itemId: this.turnId, turnId: this.turnId, at: at + 5, ...ended, ...rest }),
		);
		return this;
	}

	private base(after: number) {
		const itemId = `${this.turnId}-${this.items.length}`;
		return { itemId, turnId: this.turnId, at: this.began + after };
	}

	join(after: number, text: string): this {
		this.items.push(user({ ...this.base(after), text, entry: "joined" }));
		return this;
	}

	think(after: number, text: string): this {
		this.items.push(reasoning({ ...this.base(after), text }));
		return this;
	}

	reply(after: number, text: string, extra: Extra<AgentMessageItem> = {}): this {
		this.items.push(agent({ ...this.base(after), text, ...extra }));
		return this;
	}

	call(after: number, name: string, extra: Extra<ToolCallItem>): this {
		this.items.push(tool({ ...this.base(after), tool: name, ...extra }));
		return this;
	}

	/** A call that runs a command. */
	run(
		after: number,
		command: string,
		{ cwd, exitCode, ...extra }: Extra<ToolCallItem> & { cwd?: string; exitCode?: number },
	): this {
		const more = {
			...(cwd === undefined ? {} : { cwd }),
			...(exitCode === undefined ? {} : { exitCode }),
		};
		const display = { kind: "command" as const, command, ...more };
		return this.call(after, "exec", { args: { command }, display, ...extra });
	}

	note(after: number, topic: string, extra: Extra<NoticeItem>): this {
		this.items.push(notice({ ...this.base(after), topic, ...extra }));
		return this;
	}
}

export const byOwner = (state: "approved" | "denied", at: number): ApprovalSettlement => ({
	state,
	source: "answer",
	at,
	by: { platform: "webui", userId: "console", owner: true },
});

/** Somebody else's words outside any turn. */
export const said = (itemId: string, at: number, text: string, nickname: string): UserMessageItem =>
	user({
		itemId,
		at,
		text,
		speaker: { platform: "onebot", userId: nickname.toLowerCase(), owner: false, nickname },
		addressed: false,
	});
