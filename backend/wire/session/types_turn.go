package session

// TurnSendParams sends one message under the connection's own identity.
type TurnSendParams struct {
	SessionID string `json:"sessionId"`
	// Content loses leading and trailing whitespace; it may be blank only with attachments.
	Content     string               `json:"content" jsonschema:"maxLength=200000"`
	Attachments []OutgoingAttachment `json:"attachments,omitzero" jsonschema:"maxItems=20"`
	// Ext is an addition of this server; a client that knows only the protocol leaves it out.
	Ext *ClientExt `json:"ext,omitzero"`
}

// ClientExt carries the client's own name for a message. Sending the same clientId to the same
// session twice is one message, answered twice; the user-message and the queue entry carry it back.
type ClientExt struct {
	ClientID string `json:"clientId" jsonschema:"minLength=1,maxLength=64"`
}

// OutgoingAttachment is a file a client sends.
type OutgoingAttachment struct {
	// Data is a base64 data URL. Its declared type is ignored: the bytes decide.
	Data string `json:"data"`
	Name string `json:"name"`
}

// QueueEditParams gives a waiting message other words. An addition of this server.
type QueueEditParams struct {
	SessionID string `json:"sessionId"`
	// InputID is the queue entry's ext.inputId; it stays the same.
	InputID string `json:"inputId"`
	// Content loses leading and trailing whitespace; it may be blank only with attachments.
	Content string `json:"content" jsonschema:"maxLength=200000"`
}

// QueueRemoveParams takes a waiting message out of the queue. An addition of this server.
type QueueRemoveParams struct {
	SessionID string `json:"sessionId"`
	InputID   string `json:"inputId"`
}

// TurnAbortParams stops the running turn.
type TurnAbortParams struct {
	SessionID string `json:"sessionId"`
	// TurnID stops the turn only if it is still that one.
	TurnID *string `json:"turnId,omitzero"`
}

// RewindScope is what turn/rewind takes back.
type RewindScope string

// The scopes of a rewind.
const (
	RewindCode        RewindScope = "code"
	RewindCodeAndChat RewindScope = "code-and-chat"
)

// Words lists the closed set.
func (RewindScope) Words() []string { return []string{string(RewindCode), string(RewindCodeAndChat)} }

// TurnRewindParams undoes exactly one concluded turn.
type TurnRewindParams struct {
	SessionID string      `json:"sessionId"`
	TurnID    string      `json:"turnId"`
	Scope     RewindScope `json:"scope"`
}

// TurnRewindResult says which files were put back. The two chat fields are there only when the
// conversation was rolled back too.
type TurnRewindResult struct {
	OK bool `json:"ok"`
	// Restored are the storage addresses of files that got their earlier content back.
	Restored []string `json:"restored"`
	// Deleted are the storage addresses of files the turn had created.
	Deleted []string `json:"deleted"`
	// Errors are the files that could not be put back; an empty uri is about the rewind as a whole.
	Errors          []RewindError `json:"errors"`
	DeletedMessages *int          `json:"deletedMessages,omitzero"`
	ChatDeleted     *bool         `json:"chatDeleted,omitzero"`
	// Ext is an addition of this server, there when something was rewound.
	Ext *RewindExt `json:"ext,omitzero"`
}

// RewindExt says how to take a rewind back, and where its files are.
type RewindExt struct {
	UndoID string `json:"undoId"`
	// Root is the absolute folder that workspace:/ stands for; absent when no file was touched.
	Root string `json:"root,omitzero"`
}

// RewindUndoParams takes a rewind back, files and conversation. An addition of this server.
type RewindUndoParams struct {
	SessionID string `json:"sessionId"`
	// UndoID is ext.undoId of the rewind's result.
	UndoID string `json:"undoId"`
}

// RewindError is one thing a rewind could not do.
type RewindError struct {
	URI    string `json:"uri"`
	Reason string `json:"reason"`
}
