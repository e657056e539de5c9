package session

// TurnItem is the turn itself; at is its start.
type TurnItem struct {
	Kind string `json:"kind" jsonschema:"enum=turn"`
	ItemBase
	// Source is the source of the input that opened it; absent when a person's message did.
	Source string `json:"source,omitzero"`
	// Outcome is absent while it runs.
	Outcome TurnOutcome `json:"outcome,omitzero"`
	// Reason is one sentence on why it errored.
	Reason  string `json:"reason,omitzero"`
	EndedAt int64  `json:"endedAt,omitzero"`
}
