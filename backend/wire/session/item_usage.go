package session

// UsageItem is the latest use of the model's context; each push replaces the whole of it.
type UsageItem struct {
	Kind string `json:"kind" jsonschema:"enum=usage"`
	ItemBase
	// Used is the number of tokens in the context.
	Used          int64 `json:"used" jsonschema:"minimum=0"`
	ContextWindow int64 `json:"contextWindow" jsonschema:"minimum=0"`
	// MaxTokens is the reserve for the reply.
	MaxTokens   int64 `json:"maxTokens,omitzero"`
	TokenBudget int64 `json:"tokenBudget,omitzero"`
	// UsageRatio is used / contextWindow.
	UsageRatio float64 `json:"usageRatio" jsonschema:"minimum=0"`
	// Parts are shown as given, in this order.
	Parts []UsagePart `json:"parts"`
	// CompressAt is the usage ratio at which the session is compressed; absent without compression.
	CompressAt *float64 `json:"compressAt,omitzero"`
	// Ext is an addition of this server.
	Ext *UsageExt `json:"ext,omitzero"`
}

// UsagePart is one row of the breakdown.
type UsagePart struct {
	Label  string `json:"label"`
	Tokens int64  `json:"tokens" jsonschema:"minimum=0"`
	// Injectors is the detail per injector, keyed by plugin instance id/local id.
	Injectors map[string]int64 `json:"injectors,omitzero"`
}

// UsageExt tells a counted number from a guessed one.
type UsageExt struct {
	// Estimated: the provider reported nothing, the numbers are an estimate.
	Estimated bool `json:"estimated"`
}
