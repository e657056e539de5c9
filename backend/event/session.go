package event

import (
	"encoding/json"

	"aalis/backend/text"
)

// Created is the genesis of a session, seq 0.
type Created struct {
	ID          string          `json:"id"`
	Name        string          `json:"name,omitempty"` // "" : the default name
	Title       string          `json:"title,omitempty"`
	Origin      string          `json:"origin"` // sp, v1, ch, ms, im, task
	SessionKind string          `json:"kind"`   // owner, room, task
	Tenant      string          `json:"tenantId"`
	Initiator   string          `json:"initiatorId"`
	App         string          `json:"appId,omitempty"`
	Project     string          `json:"projectId,omitempty"`
	Place       string          `json:"place,omitempty"`
	Platform    string          `json:"platform,omitempty"`
	Instance    string          `json:"instance,omitempty"`
	Account     string          `json:"account,omitempty"`
	Chat        *Window         `json:"chat,omitempty"`
	ExtKey      string          `json:"extKey,omitempty"`
	Parent      string          `json:"parentId,omitempty"`
	SpawnedBy   string          `json:"spawnedBy,omitempty"` // event id
	Harness     string          `json:"harness"`
	HarnessV    int             `json:"harnessVersion"`
	Environment string          `json:"environmentId"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
}

// Window is a chat window of a platform.
type Window struct {
	Type       string `json:"type"`
	MultiParty bool   `json:"multiParty"`
	Name       string `json:"name,omitempty"`
}

// Updated changes a session's record; nil fields stay as they are.
type Updated struct {
	Title    *string `json:"title,omitempty"`
	Gate     *string `json:"gate,omitempty"` // open, locked, closed
	Archived *bool   `json:"archived,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	// Of a room: the adapter that takes it over now, its window, and the name that follows the window's.
	Instance *string `json:"instance,omitempty"`
	Chat     *Window `json:"chat,omitempty"`
	Name     *string `json:"name,omitempty"`
}

// Deleted is the tombstone; payloads are erased after it.
type Deleted struct {
	By     string   `json:"by,omitempty"`
	Reason string   `json:"reason,omitempty"`
	Tasks  []string `json:"tasks,omitempty"` // the background tasks that go with it
}

// The scopes of a rewind. RewindUndone takes one back.
const (
	RewindChat   = "code-and-chat"
	RewindUndone = "undone"
)

// Rewound makes one turn dead, or alive again.
type Rewound struct {
	Turn            string `json:"turnId"`
	Scope           string `json:"scope"`
	DeletedMessages int    `json:"deletedMessages"`
	UndoID          string `json:"undoId,omitempty"`
}

// Cleared makes the conversation up to a number dead.
type Cleared struct {
	Through int64 `json:"throughSeq"`
}

// Compacted replaces the conversation up to a number by a summary, for the model only. It holds while
// what it covers is neither cleared nor has other dead turns than Without; then Previous holds again.
type Compacted struct {
	Through      int64    `json:"throughSeq"`
	Summary      string   `json:"summary"` // all that the model reads in place of what is covered
	Model        string   `json:"model,omitempty"`
	TokensBefore int      `json:"tokensBefore"`
	TokensAfter  int      `json:"tokensAfter"`
	Automatic    bool     `json:"automatic,omitempty"`
	Previous     int64    `json:"previousSeq,omitempty"` // seq of the one before, 0 without
	Without      []string `json:"without,omitempty"`     // dead turns among what is covered
	// Files and Failed are facts of what is covered, for the next one to carry on.
	Files  []string `json:"files,omitempty"`
	Failed []string `json:"failed,omitempty"`
	// Prompt and Completion are the tokens the summary cost; Usage is the context afterwards.
	Prompt     int        `json:"promptTokens,omitempty"`
	Completion int        `json:"completionTokens,omitempty"`
	Usage      *ModelCall `json:"usage,omitempty"`
}

// Restored reports what a rewind did to files.
type Restored struct {
	Turn     string    `json:"turnId"`
	UndoID   string    `json:"undoId"`
	Restored []string  `json:"restored"`
	Deleted  []string  `json:"deleted"`
	Skipped  []Skipped `json:"skipped"`
}

// Skipped is a path a rewind left alone, and why.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Notice is a message of the program itself.
type Notice struct {
	Topic       string         `json:"topic"`
	Text        text.Text      `json:"text"`
	NoticeID    string         `json:"noticeId,omitempty"`
	Facts       map[string]any `json:"facts,omitempty"`
	Attachment  *Attachment    `json:"attachment,omitempty"`
	CanContinue bool           `json:"canContinue,omitempty"`
	// Body is what the model reads; "" is Text. No client is sent it.
	Body string `json:"body,omitempty"`
	// State is that of an input, for a notice that enters a turn as one; "" for all others. Platform is
	// then where the turn it came from had been opened.
	State    string `json:"inputState,omitempty"`
	Platform string `json:"platform,omitempty"`
	// Refused is set when the notice says that a model would not be shown files. No client is sent it.
	Refused *RefusedFiles `json:"refused,omitempty"`
	// Outbound: it goes out into a room, and is part of the conversation once it was taken there.
	Outbound bool `json:"outbound,omitempty"`
	// Happened is set for what happened on a platform. Source is then what a turn that it opens is from.
	Happened  bool     `json:"happened,omitempty"`
	Source    string   `json:"source,omitempty"`
	Speaker   *Speaker `json:"speaker,omitempty"` // whose doing it was
	Addressed *bool    `json:"addressed,omitempty"`
}

// RefusedFiles are files that a model, by its entry id, would not be shown; Blobs are their hashes.
type RefusedFiles struct {
	Model string   `json:"model"`
	Blobs []string `json:"blobs"`
}

// Plan is the whole to-do list.
type Plan struct {
	Entries []PlanEntry `json:"entries"`
}

// PlanEntry is one line of the plan.
type PlanEntry struct {
	ID     int    `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"`
}

// EventKind of each payload.
func (Created) EventKind() Kind   { return SessionCreated }
func (Updated) EventKind() Kind   { return SessionUpdated }
func (Deleted) EventKind() Kind   { return SessionDeleted }
func (Rewound) EventKind() Kind   { return HistoryRewound }
func (Cleared) EventKind() Kind   { return HistoryCleared }
func (Compacted) EventKind() Kind { return HistoryCompacted }
func (Restored) EventKind() Kind  { return CheckpointRestored }
func (Notice) EventKind() Kind    { return HostNotice }
func (Plan) EventKind() Kind      { return PlanUpdated }
