package event

// Kind is the type of an event, noun.past.
type Kind string

// The kinds. Names are public through the managed-session API: additions are free, renames are not.
const (
	SessionCreated     Kind = "session.created"
	SessionUpdated     Kind = "session.updated"
	SessionDeleted     Kind = "session.deleted"
	HistoryRewound     Kind = "history.rewound"
	HistoryCleared     Kind = "history.cleared"
	HistoryCompacted   Kind = "history.compacted"
	CheckpointRestored Kind = "checkpoint.restored"
	UserMessage        Kind = "user.message"
	InputChanged       Kind = "input.changed"
	InputDropped       Kind = "input.dropped"
	UserInterrupt      Kind = "user.interrupt"
	HostNotice         Kind = "host.notice"
	ChatMessage        Kind = "chat.message"
	TurnStarted        Kind = "turn.started"
	TurnInputJoined    Kind = "turn.input.joined"
	TurnEnded          Kind = "turn.ended"
	MessageStarted     Kind = "agent.message.started"
	AgentMessage       Kind = "agent.message"
	DeliveryUpdated    Kind = "delivery.updated"
	ReasoningStarted   Kind = "agent.reasoning.started"
	AgentReasoning     Kind = "agent.reasoning"
	ModelCalled        Kind = "model.called"
	PlanUpdated        Kind = "plan.updated"
	ToolProposed       Kind = "tool.proposed"
	ToolCalled         Kind = "tool.called"
	ToolResult         Kind = "tool.result"
	ToolEffect         Kind = "tool.effect"
	ToolBackgrounded   Kind = "tool.backgrounded"
	ActionRequested    Kind = "agent.action.requested"
	ActionResolved     Kind = "user.action.resolved"
	ExecutionUpdated   Kind = "execution.updated"
	BackgroundEnded    Kind = "background.ended"
	Failed             Kind = "error"
)

// spec is one line of the table: how a kind is read again, and whether the chat API numbers it.
// The chat decision is frozen when a row is written; changing it affects new events only.
type spec struct {
	kind   Kind
	decode func([]byte) (Payload, error)
	chat   func(Payload) bool
}

func always(Payload) bool { return true }

// kinds is the table of the vocabulary. To add one: its constant above, its struct in the file of
// its noun, a line here; the tests then name every place that must handle or ignore it.
var kinds = []spec{
	{SessionCreated, as[Created], nil},
	{SessionUpdated, as[Updated], nil},
	{SessionDeleted, as[Deleted], nil},
	{HistoryRewound, as[Rewound], always},
	{HistoryCleared, as[Cleared], always},
	{HistoryCompacted, as[Compacted], nil},
	{CheckpointRestored, as[Restored], nil},
	{UserMessage, as[Input], always},
	{InputChanged, as[InputChange], nil},
	{InputDropped, as[InputDrop], nil},
	{UserInterrupt, as[Interrupt], always},
	{HostNotice, as[Notice], nil},
	{ChatMessage, as[Chat], always},
	{TurnStarted, as[TurnStart], always},
	{TurnInputJoined, as[InputJoin], nil},
	{TurnEnded, as[TurnEnd], always},
	{MessageStarted, as[MessageStart], nil},
	{AgentMessage, as[Message], func(p Payload) bool { m, ok := p.(Message); return ok && m.Final && !m.Aborted }},
	{DeliveryUpdated, as[Delivery], nil},
	{ReasoningStarted, as[ReasoningStart], nil},
	{AgentReasoning, as[Reasoning], nil},
	{ModelCalled, as[ModelCall], nil},
	{PlanUpdated, as[Plan], nil},
	{ToolProposed, as[Proposal], nil},
	{ToolCalled, as[Call], always},
	{ToolResult, as[Result], always},
	{ToolEffect, as[Effect], nil},
	{ToolBackgrounded, as[Backgrounding], nil},
	{ActionRequested, as[Action], nil},
	{ActionResolved, as[Resolution], nil},
	{ExecutionUpdated, as[Execution], nil},
	{BackgroundEnded, as[BackgroundEnd], nil},
	{Failed, as[Failure], always},
}

var byKind = func() map[Kind]spec {
	m := make(map[Kind]spec, len(kinds))
	for _, s := range kinds {
		if _, twice := m[s.kind]; twice {
			panic("event: kind stands twice: " + string(s.kind))
		}
		m[s.kind] = s
	}
	return m
}()

// Kinds lists the vocabulary in table order.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i, s := range kinds {
		all[i] = s.kind
	}
	return all
}

// Known reports whether this build knows the kind.
func Known(k Kind) bool { _, ok := byKind[k]; return ok }

// ChatVisible reports whether the chat API gives this event a number.
func ChatVisible(p Payload) bool {
	s, known := byKind[p.EventKind()]
	return known && s.chat != nil && s.chat(p)
}
