package session

// Section is one of the two lists a session stands in.
type Section string

// The sections.
const (
	SectionOwner Section = "owner"
	SectionRooms Section = "rooms"
)

// Words lists the closed set.
func (Section) Words() []string { return []string{string(SectionOwner), string(SectionRooms)} }

// SessionKind says what a session is: a sub-task, a room of a chat platform, or one of the owner's own.
type SessionKind string

// The kinds of sessions.
const (
	KindOwner SessionKind = "owner"
	KindRoom  SessionKind = "room"
	KindTask  SessionKind = "task"
)

// Words lists the closed set.
func (SessionKind) Words() []string {
	return []string{string(KindOwner), string(KindRoom), string(KindTask)}
}

// TurnOutcome is how a turn ended.
type TurnOutcome string

// The outcomes.
const (
	OutcomeReplied TurnOutcome = "replied"
	OutcomeSilent  TurnOutcome = "silent"
	OutcomeAborted TurnOutcome = "aborted"
	OutcomeError   TurnOutcome = "error"
)

// Words lists the closed set.
func (TurnOutcome) Words() []string {
	return []string{string(OutcomeReplied), string(OutcomeSilent), string(OutcomeAborted), string(OutcomeError)}
}

// PlaceKind tells a chat window from a local workspace.
type PlaceKind string

// The kinds of places.
const (
	PlaceWindow    PlaceKind = "window"
	PlaceWorkspace PlaceKind = "workspace"
)

// Words lists the closed set.
func (PlaceKind) Words() []string { return []string{string(PlaceWindow), string(PlaceWorkspace)} }

// SessionSummary is one session as lists show it. Fields that do not apply are absent, never null.
type SessionSummary struct {
	ID string `json:"id"`
	// Title is the title, or the session's name when there is no title.
	Title string `json:"title"`
	// ParentID is present on sub-sessions only.
	ParentID string `json:"parentId,omitzero"`
	// ChildCount is the number of direct children, archived ones included.
	ChildCount int         `json:"childCount" jsonschema:"minimum=0"`
	Kind       SessionKind `json:"kind"`
	// Section is that of the root session.
	Section Section `json:"section"`
	// Platform is the birth platform of the root; sessions the owner opened have none.
	Platform string `json:"platform,omitzero"`
	// Instance is the adapter plugin instance that takes the room over (rooms only).
	Instance string `json:"instance,omitzero"`
	// Account is the bot account recorded in the root's chat window (rooms only).
	Account string `json:"account,omitzero"`
	// Chat describes the root's chat window: groups and private chats only.
	Chat *Chat `json:"chat,omitzero"`
	// Place is the root's place; absent for a record that was filed as a fallback.
	Place *Place `json:"place,omitzero"`
	// CreatedAt is in milliseconds since the epoch, as all times are.
	CreatedAt int64 `json:"createdAt"`
	// UpdatedAt is the latest change of the session record.
	UpdatedAt int64 `json:"updatedAt"`
	// LastReplyAt is when she last spoke: the latest turn with outcome replied.
	LastReplyAt int64 `json:"lastReplyAt,omitzero"`
	// Running: a turn runs in this session itself.
	Running bool `json:"running"`
	// Error: the latest turn errored.
	Error bool `json:"error"`
	// Unread: her latest reply is newer than the last session/markSeen. Always false for rooms.
	Unread bool `json:"unread"`
	// Attention: this session or a descendant has an approval that was pushed and is not settled.
	Attention bool `json:"attention"`
	Archived  bool `json:"archived"`
	// Background is the number of own running background tasks plus the descendants that are busy.
	Background int `json:"background" jsonschema:"minimum=0"`
	// Tokens sums the model calls of the session and all descendants; absent while nothing is accounted.
	Tokens   *Tokens   `json:"tokens,omitzero"`
	LastTurn *LastTurn `json:"lastTurn,omitzero"`
	// Reason is the agent's one sentence on why the latest turn errored; only with error.
	Reason string `json:"reason,omitzero"`
	// Ancestors lists every ancestor, root first (sub-sessions only).
	Ancestors []SessionRef `json:"ancestors,omitzero"`
}

// Chat describes a chat window.
type Chat struct {
	// Type is the platform's own name for the type of chat.
	Type       string `json:"type"`
	MultiParty bool   `json:"multiParty"`
}

// Place is where a session lives; its key names the place layer of the settings.
type Place struct {
	Key  string    `json:"key"`
	Kind PlaceKind `json:"kind"`
	Name string    `json:"name"`
}

// Tokens counts what models read and wrote.
type Tokens struct {
	Input  int64 `json:"input" jsonschema:"minimum=0"`
	Output int64 `json:"output" jsonschema:"minimum=0"`
}

// LastTurn is the latest finished turn.
type LastTurn struct {
	Outcome TurnOutcome `json:"outcome"`
	EndedAt int64       `json:"endedAt"`
}

// SessionRef names a session for people.
type SessionRef struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// RoomGroup is the rooms of one adapter instance, or of one platform when none is recorded.
type RoomGroup struct {
	Platform string `json:"platform"`
	// Instance is absent for the rooms of a platform without a recorded instance.
	Instance string `json:"instance,omitzero"`
	// Label is ready to show.
	Label string `json:"label"`
	// Rooms counts the rooms that are not archived.
	Rooms int `json:"rooms" jsonschema:"minimum=0"`
	// Accounts counts the distinct bot accounts among them.
	Accounts int `json:"accounts" jsonschema:"minimum=0"`
	// Attention counts the rooms that wait for an approval, themselves or in a sub-session.
	Attention int `json:"attention" jsonschema:"minimum=0"`
}

// SessionsListParams filters and pages the list. Absent is not the same as empty: an empty parentId
// names a session that does not exist.
type SessionsListParams struct {
	Section Section `json:"section,omitzero"`
	// ParentID lists the direct children of that session; without it only roots are listed.
	ParentID *string `json:"parentId,omitzero"`
	// Instance lists only rooms taken over by that adapter instance; not together with platform.
	Instance *string `json:"instance,omitzero"`
	// Platform lists only rooms of that platform with no recorded instance; not together with instance.
	Platform *string `json:"platform,omitzero"`
	// Archived true lists only archived sessions; absent and false only the others.
	Archived *bool `json:"archived,omitzero"`
	// Background true lists only sessions whose background count is above 0; not together with archived.
	Background True `json:"background,omitzero"`
	// Query is matched against name, title and id without regard to case.
	Query string `json:"query,omitzero"`
	// Cursor is the nextCursor of the page before, unchanged.
	Cursor *string `json:"cursor,omitzero"`
	// Limit is the size of a page, 50 when absent.
	Limit int `json:"limit,omitzero" jsonschema:"minimum=1,maximum=200"`
}

// SessionsListResult is one page.
type SessionsListResult struct {
	Sessions []SessionSummary `json:"sessions"`
	// NextCursor is absent on the last page.
	NextCursor string `json:"nextCursor,omitzero"`
	// Groups is the same on every page, whatever the filters.
	Groups []RoomGroup `json:"groups"`
}

// SessionsChanged is pushed after sessions/watch. A summary may be repeated unchanged.
type SessionsChanged struct {
	// Upserts are full summaries of the changed sessions and all their ancestors.
	Upserts []SessionSummary `json:"upserts"`
	// Removes are the ids of deleted sessions.
	Removes []string    `json:"removes"`
	Groups  []RoomGroup `json:"groups"`
}

// SessionCreateParams creates a root session, or a sub-session of parentId.
type SessionCreateParams struct {
	Name     string  `json:"name,omitzero"`
	ParentID *string `json:"parentId,omitzero"`
	// Ext is an addition of this server; a client that knows only the protocol leaves it out.
	Ext *CreateExt `json:"ext,omitzero"`
}

// SessionCreateResult holds the new session.
type SessionCreateResult struct {
	Session SessionSummary `json:"session"`
}

// SessionRenameParams gives a session a title.
type SessionRenameParams struct {
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
}

// BatchOp is what session/batch does to each session.
type BatchOp string

// The operations.
const (
	BatchArchive BatchOp = "archive"
	BatchDelete  BatchOp = "delete"
)

// Words lists the closed set.
func (BatchOp) Words() []string { return []string{string(BatchArchive), string(BatchDelete)} }

// SessionBatchParams applies one operation to many sessions, each with its descendants.
type SessionBatchParams struct {
	Op  BatchOp  `json:"op"`
	IDs []string `json:"ids" jsonschema:"maxItems=500"`
}

// SessionBatchResult names only what failed.
type SessionBatchResult struct {
	Failed []BatchFailure `json:"failed"`
}

// BatchFailure is one session that was not touched, and why.
type BatchFailure struct {
	SessionID string `json:"sessionId"`
	Message   string `json:"message"`
}
