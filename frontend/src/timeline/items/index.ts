import { AgentMessage } from "./agent-message";
import { Notice } from "./notice";
import { Plan } from "./plan";
import { Queue } from "./queue";
import { Reasoning } from "./reasoning";
import { ToolCall } from "./tool-call";
import { TurnEnd } from "./turn";
import { Usage } from "./usage";
import { UserMessage } from "./user-message";
import type { ItemViews } from "./view";

/** The one list of item kinds; a kind that is missing does not compile. */
export const itemViews = {
	"user-message": { place: "timeline", View: UserMessage },
	"agent-message": { place: "timeline", View: AgentMessage },
	reasoning: { place: "timeline", View: Reasoning },
	"tool-call": { place: "timeline", View: ToolCall },
	notice: { place: "timeline", View: Notice },
	turn: { place: "timeline", View: TurnEnd },
	plan: { place: "dock", View: Plan },
	queue: { place: "dock", View: Queue },
	usage: { place: "header", View: Usage },
} satisfies ItemViews;
