package session

// SessionItem is one entry of a session's timeline, or one of its three fixed items (plan, usage,
// queue), told apart by kind. The shapes are pointers to the structs of itemVariants.
type SessionItem interface{ itemBase() *ItemBase }

// The kinds of items.
const (
	KindUserMessage  = "user-message"
	KindAgentMessage = "agent-message"
	KindReasoning    = "reasoning"
	KindToolCall     = "tool-call"
	KindNotice       = "notice"
	KindPlan         = "plan"
	KindUsage        = "usage"
	KindTurn         = "turn"
	KindQueue        = "queue"
)

// The itemIds that exist once per session; no other item may bear them.
const (
	PlanID  = "plan"
	UsageID = "usage"
	QueueID = "queue"
)

// itemVariants lists the nine shapes; the contract's union is generated from it.
var itemVariants = []any{
	UserMessageItem{},
	AgentMessageItem{},
	ReasoningItem{},
	ToolCallItem{},
	NoticeItem{},
	PlanItem{},
	UsageItem{},
	TurnItem{},
	QueueItem{},
}

// ItemBase is what every item has beside its kind.
type ItemBase struct {
	// ItemID is opaque, unique in its session, and the same live and in history.
	ItemID string `json:"itemId"`
	// At is when the item first appeared, in milliseconds since the epoch; a later push keeps it.
	At int64 `json:"at"`
	// TurnID is the turn the item belongs to; inputs that entered no turn have none.
	TurnID string `json:"turnId,omitzero"`
}

func (b *ItemBase) itemBase() *ItemBase { return b }

// Entry is how an input came into its turn.
type Entry string

// The entries.
const (
	EntryOpened Entry = "opened"
	EntryJoined Entry = "joined"
)

// Words lists the closed set.
func (Entry) Words() []string { return []string{string(EntryOpened), string(EntryJoined)} }

// AttachmentKind tells what a client can show inline from what it can only offer as a file.
type AttachmentKind string

// The kinds of attachments.
const (
	AttachmentImage AttachmentKind = "image"
	AttachmentAudio AttachmentKind = "audio"
	AttachmentVideo AttachmentKind = "video"
	AttachmentFile  AttachmentKind = "file"
)

// Words lists the closed set.
func (AttachmentKind) Words() []string {
	return []string{string(AttachmentImage), string(AttachmentAudio), string(AttachmentVideo), string(AttachmentFile)}
}

// ItemAttachment is a file as a client is shown it.
type ItemAttachment struct {
	Kind AttachmentKind `json:"kind"`
	// Src is a media address for image, audio and video; a URL or an opaque handle for other files;
	// absent when there is nothing to download.
	Src  string `json:"src,omitzero"`
	Name string `json:"name"`
}

// Speaker is who said something.
type Speaker struct {
	Platform string `json:"platform"`
	UserID   string `json:"userId,omitzero"`
	Nickname string `json:"nickname,omitzero"`
	// Source is set when the input was injected rather than said.
	Source string `json:"source,omitzero"`
	Owner  bool   `json:"owner"`
}
