package session

// QueueItem lists the inputs that wait to enter a turn, in order; each push replaces the whole of it.
type QueueItem struct {
	Kind string `json:"kind" jsonschema:"enum=queue"`
	ItemBase
	Entries []QueueEntry `json:"entries"`
}

// QueueEntry is one waiting input.
type QueueEntry struct {
	Speaker Speaker `json:"speaker"`
	Text    string  `json:"text"`
	// Attachments is their number.
	Attachments int `json:"attachments" jsonschema:"minimum=0"`
	// Ext is an addition of this server.
	Ext *QueueExt `json:"ext,omitzero"`
}

// QueueExt names a waiting input: inputId for ext/queue/edit and ext/queue/remove, clientId as the
// client sent it, files for people.
type QueueExt struct {
	InputID  string `json:"inputId,omitzero"`
	ClientID string `json:"clientId,omitzero"`
	// Files are the names of its attachments.
	Files []string `json:"files,omitzero"`
}
