package session

// SessionSnapshot answers session/subscribe; every later push of the session has a higher seq.
type SessionSnapshot struct {
	// Epoch is new at every start of the session service.
	Epoch string `json:"epoch"`
	// Seq rises within one epoch; it need not be contiguous.
	Seq     int64          `json:"seq"`
	Session SessionSummary `json:"session"`
	// Items is the latest page of history merged by time with what the running turn has produced,
	// then plan, usage and queue where there are any.
	Items []SessionItem `json:"items"`
	// Approvals were pushed and are not settled.
	Approvals []Approval `json:"approvals"`
	// Before feeds session/history; absent when nothing older exists.
	Before string `json:"before,omitzero"`
}

// SessionHistoryParams asks for an older page.
type SessionHistoryParams struct {
	SessionID string `json:"sessionId"`
	// Before is the value of the snapshot or of the page before; absent means the newest page.
	Before *string `json:"before,omitzero"`
	// Limit is the number of archived messages merged into the page, 100 when absent.
	Limit int `json:"limit,omitzero" jsonschema:"minimum=1,maximum=200"`
}

// SessionHistoryResult is a page, oldest item first.
type SessionHistoryResult struct {
	Items []SessionItem `json:"items"`
	// Before is absent when nothing older exists.
	Before string `json:"before,omitzero"`
}

// ItemStarted puts an item in; the same itemId may be started again and replaces the earlier one.
type ItemStarted struct {
	SessionID string      `json:"sessionId"`
	Epoch     string      `json:"epoch"`
	Seq       int64       `json:"seq"`
	Item      SessionItem `json:"item"`
}

// ItemDelta appends to the item's streamed text: the text of messages and reasoning, the output of
// a tool call.
type ItemDelta struct {
	SessionID string `json:"sessionId"`
	Epoch     string `json:"epoch"`
	Seq       int64  `json:"seq"`
	ItemID    string `json:"itemId"`
	Text      string `json:"text"`
}

// ItemCompleted carries the whole item and overrides whatever was streamed.
type ItemCompleted struct {
	SessionID string      `json:"sessionId"`
	Epoch     string      `json:"epoch"`
	Seq       int64       `json:"seq"`
	Item      SessionItem `json:"item"`
}

// SessionResync says that everything received for the session is void; subscribe again.
type SessionResync struct {
	SessionID string `json:"sessionId"`
	Epoch     string `json:"epoch"`
	Seq       int64  `json:"seq"`
}
