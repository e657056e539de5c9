package session

// UserMessageItem is what somebody said to her.
type UserMessageItem struct {
	Kind string `json:"kind" jsonschema:"enum=user-message"`
	ItemBase
	// Text is only what the speaker wrote, unrendered.
	Text        string           `json:"text"`
	Attachments []ItemAttachment `json:"attachments,omitzero"`
	Forwards    []Forward        `json:"forwards,omitzero"`
	Speaker     Speaker          `json:"speaker"`
	// Entry is absent for a message that entered no turn.
	Entry Entry `json:"entry,omitzero"`
	// Addressed is whether she was called; absent where nothing evaluated that.
	Addressed *bool `json:"addressed,omitzero"`
	// Ext carries back what the client sent with the message.
	Ext *ClientExt `json:"ext,omitzero"`
}

// Forward is a forwarded chat record that came with a message.
type Forward struct {
	// Facts is absent for a record that could not be fetched or expanded.
	Facts *ForwardFacts `json:"facts,omitzero"`
}

// ForwardFacts describes a forwarded record.
type ForwardFacts struct {
	// Count is the number of messages.
	Count int `json:"count" jsonschema:"minimum=0"`
	// Participants are the first 8.
	Participants []string `json:"participants" jsonschema:"maxItems=8"`
	// Unlisted is the number of participants beyond those.
	Unlisted int `json:"unlisted" jsonschema:"minimum=0"`
	// Text is a summary or the shortened original.
	Text string `json:"text"`
	// CutOff: the original was shortened.
	CutOff bool `json:"cutOff"`
}
