import type {
	AgentMessageItem,
	Approval,
	BackgroundTask,
	NoticeItem,
	ReasoningItem,
	ToolCallItem,
	TurnItem,
	UserMessageItem,
} from "@/contract/session.gen";

/** Items for tests, with as little said as the contract allows. */
type Part<T> = Partial<T> & { itemId: string };

const AT = 1_700_000_000_000;

export const user = (part: Part<UserMessageItem>): UserMessageItem => ({
	kind: "user-message",
	at: AT,
	text: "hello",
	speaker: { platform: "webui", userId: "console", owner: true },
	...part,
});

export const agent = (part: Part<AgentMessageItem>): AgentMessageItem => ({
	kind: "agent-message",
	at: AT,
	text: "",
	...part,
});

export const reasoning = (part: Part<ReasoningItem>): ReasoningItem => ({
	kind: "reasoning",
	at: AT,
	text: "",
	...part,
});

export const tool = (part: Part<ToolCallItem>): ToolCallItem => ({
	kind: "tool-call",
	at: AT,
	tool: "exec",
	args: {},
	status: "running",
	...part,
});

export const notice = (part: Part<NoticeItem>): NoticeItem => ({
	kind: "notice",
	at: AT,
	topic: "event-marker",
	text: "",
	...part,
});

export const turn = (part: Part<TurnItem>): TurnItem => ({
	kind: "turn",
	at: AT,
	...part,
});

export const taskOf = (part: Partial<BackgroundTask> & { id: string }): BackgroundTask => ({
	sessionId: "s",
	kind: "tool-call",
	label: "exec",
	status: "running",
	startedAt: AT,
	...part,
});

export const approvalOf = (
	part: Partial<Approval> & { id: string; sessionId: string },
): Approval => ({
	origin: { kind: "hand", participants: [{ platform: "webui", userId: "console" }] },
	target: "tool",
	tool: "exec",
	facts: { params: {} },
	options: ["approve", "deny"],
	contentHash: "0123abcd",
	expiresAt: Date.now() + 300_000,
	state: "pending",
	...part,
});
