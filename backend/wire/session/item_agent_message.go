package session

// AgentMessageItem is what she said. A message of attachments only is valid.
type AgentMessageItem struct {
	Kind string `json:"kind" jsonschema:"enum=agent-message"`
	ItemBase
	Text        string           `json:"text"`
	Attachments []ItemAttachment `json:"attachments,omitzero"`
	Model       *ReplyModel      `json:"model,omitzero"`
	// Undelivered is set when a room did not get the message.
	Undelivered *Undelivered `json:"undelivered,omitzero"`
	// Ext is an addition of this server.
	Ext *SendingExt `json:"ext,omitzero"`
}

// SendingExt tells a message that the platform has not answered yet.
type SendingExt struct {
	// Sending: it is on its way into the room.
	Sending bool `json:"sending"`
}

// ReplyModel is what produced a reply and what its turn used. A number the provider did not report
// is absent.
type ReplyModel struct {
	Provider string `json:"provider,omitzero"`
	Model    string `json:"model,omitzero"`
	// PromptTokens is the context of the turn's last call.
	PromptTokens *int64 `json:"promptTokens,omitzero"`
	// CompletionTokens is the output of all calls of the turn.
	CompletionTokens *int64 `json:"completionTokens,omitzero"`
}

// Undelivered says why a room did not get a message.
type Undelivered struct {
	Reason string `json:"reason"`
}

// ReasoningItem is her thinking.
type ReasoningItem struct {
	Kind string `json:"kind" jsonschema:"enum=reasoning"`
	ItemBase
	Text string `json:"text"`
}
