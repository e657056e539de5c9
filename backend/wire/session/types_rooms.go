package session

// LocalRoomsResult lists the rooms of the local platform. An addition of this server.
type LocalRoomsResult struct {
	Rooms []LocalRoom `json:"rooms"`
}

// LocalRoom is a room of the local platform.
type LocalRoom struct {
	// Address is the session's id once something was said there.
	Address string   `json:"address"`
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Members []string `json:"members"`
	// Answer is how it takes what she sends.
	Answer string `json:"answer"`
	// Sent is how many messages of hers it took.
	Sent int `json:"sent"`
}

// LocalSayParams has a member of a local room say or do something. An addition of this server.
type LocalSayParams struct {
	// Room is a room's id, address or name.
	Room   string `json:"room" jsonschema:"minLength=1"`
	Member string `json:"member" jsonschema:"minLength=1"`
	Text   string `json:"text,omitzero" jsonschema:"maxLength=200000"`
	// Mention: she is meant. An @ with her name in the text means her, too.
	Mention bool `json:"mention,omitzero"`
	// Happens is something done instead of said: poke, friend-request or join.
	Happens string `json:"happens,omitzero"`
	// ReplyTo is the id of the message that is replied to.
	ReplyTo string `json:"replyTo,omitzero"`
	// Times delivers the same message more than once, as platforms do that missed the receipt.
	Times int `json:"times,omitzero" jsonschema:"minimum=0,maximum=10"`
}

// LocalSayResult says what the message came to.
type LocalSayResult struct {
	MessageID string `json:"messageId"`
	// SessionID is the room's, ItemID that of the message in it.
	SessionID string `json:"sessionId,omitzero"`
	ItemID    string `json:"itemId,omitzero"`
	// TurnID is the turn it opened or waits for; absent for a remark.
	TurnID string `json:"turnId,omitzero"`
}

// LocalCrowdParams has many members of a local room speak at once. An addition of this server.
type LocalCrowdParams struct {
	Room    string `json:"room" jsonschema:"minLength=1"`
	Members int    `json:"members" jsonschema:"minimum=1"`
	// Each is how many messages each of them sends.
	Each int `json:"each" jsonschema:"minimum=1"`
	// Mention: she is meant by all of them.
	Mention bool `json:"mention,omitzero"`
}

// LocalAnswerParams sets how a local room takes what she sends. An addition of this server.
type LocalAnswerParams struct {
	Room string `json:"room" jsonschema:"minLength=1"`
	// How is accept, refuse, hold, fail, partial or hang.
	How    string `json:"how"`
	Reason string `json:"reason,omitzero"`
}
