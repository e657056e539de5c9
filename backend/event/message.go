package event

import "encoding/json"

// The states an input is written in; what becomes of it later is in its row of inputs.
const (
	InputPending   = "pending"   // waits to enter a turn
	InputOpened    = "opened"    // opens the turn of the same batch
	InputSwallowed = "swallowed" // will enter no turn
)

// Input is what somebody said to her. Its event id is its message id.
type Input struct {
	Text        string          `json:"text"` // as written
	Attachments []Attachment    `json:"attachments,omitempty"`
	Speaker     Speaker         `json:"speaker"`
	ReplyTo     string          `json:"replyTo,omitempty"`
	Addressed   *bool           `json:"addressed,omitempty"`
	Forwards    json.RawMessage `json:"forwards,omitempty"`
	Client      json.RawMessage `json:"clientPayload,omitempty"`
	ClientID    string          `json:"clientId,omitempty"`
	State       string          `json:"inputState"`
	// FromTurn is the turn of the session above in which she said it to her sub-task.
	FromTurn string `json:"fromTurn,omitempty"`
	// Body is what an archive has of an old input whose text and attachments were not recorded.
	Body string `json:"body,omitempty"`
}

// Speaker is a person, as shown.
type Speaker struct {
	Platform string `json:"platform"`
	UserID   string `json:"userId,omitempty"`
	Nickname string `json:"nickname,omitempty"`
	Source   string `json:"source,omitempty"`
	Owner    bool   `json:"owner"`
}

// Attachment is a file that goes with a message; Blob is its SHA-256 in hex.
type Attachment struct {
	Kind string `json:"kind"` // image, audio, video, file
	Name string `json:"name,omitempty"`
	Blob string `json:"blob,omitempty"`
	URL  string `json:"url,omitempty"`
	Type string `json:"type,omitempty"`
	Size int64  `json:"size,omitempty"`
}

// Waiting is a queued input when it leaves the queue; the item is drawn from it.
type Waiting struct {
	EventID string `json:"eventId"`
	At      int64  `json:"at"` // when it was sent
	Input
	// Notice is set when what waited is a notice of the program; Input then only says who speaks.
	Notice *Notice `json:"notice,omitempty"`
}

// InputChange edits a queued input.
type InputChange struct {
	InputID string `json:"inputId"`
	Text    string `json:"text"`
}

// DropRemoved is the reason of an input that was taken out of the queue by hand: it leaves nothing
// behind, while what was dropped for another reason was said and not heard.
const DropRemoved = "removed"

// InputDrop takes an input out of the queue; it enters no turn.
type InputDrop struct {
	InputID string  `json:"inputId"`
	Reason  string  `json:"reason,omitempty"`
	Input   Waiting `json:"input"`
}

// InputJoin takes a queued input into the running turn.
type InputJoin struct {
	InputID string  `json:"inputEventId"`
	Input   Waiting `json:"input"`
}

// Interrupt asks the running turn to stop.
type Interrupt struct {
	Turn   string `json:"turnId"`
	Reason string `json:"reason,omitempty"`
}

// Chat is a message stored for the chat API, with no meaning here.
type Chat struct {
	Role    string          `json:"role"`
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	ReplyTo string          `json:"replyTo,omitempty"`
}

// MessageStart opens a message of hers.
type MessageStart struct {
	MessageID string `json:"messageId"`
	Step      int    `json:"step"`
}

// Message is a finished message of hers: exactly the concatenation of its deltas.
type Message struct {
	MessageID   string       `json:"messageId"`
	Step        int          `json:"step"`
	Text        string       `json:"text"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Finish      string       `json:"finishReason,omitempty"`
	Final       bool         `json:"final"`
	Aborted     bool         `json:"aborted,omitempty"`
	Provider    string       `json:"provider,omitempty"`
	Model       string       `json:"model,omitempty"`
	Prompt      int          `json:"promptTokens,omitempty"`
	Completion  int          `json:"completionTokens,omitempty"`
	External    bool         `json:"external,omitempty"`
	StartedAt   int64        `json:"startedAt"`
	// Sent: it goes out into a room, and what became of it is told by delivery.updated. Withheld is why
	// a message in a room does not go out.
	Sent     bool   `json:"sent,omitempty"`
	Withheld string `json:"withheld,omitempty"`
	// Fleeting: it is seen live only, and is no part of the conversation.
	Fleeting bool `json:"fleeting,omitempty"`
}

// ReasoningStart opens a stretch of thinking.
type ReasoningStart struct {
	ItemID string `json:"itemId"`
	Step   int    `json:"step"`
}

// Reasoning is a finished stretch of thinking.
type Reasoning struct {
	ItemID    string `json:"itemId"`
	Step      int    `json:"step"`
	Text      string `json:"text"`
	StartedAt int64  `json:"startedAt"`
}

// EventKind of each payload.
func (Input) EventKind() Kind          { return UserMessage }
func (InputChange) EventKind() Kind    { return InputChanged }
func (InputDrop) EventKind() Kind      { return InputDropped }
func (InputJoin) EventKind() Kind      { return TurnInputJoined }
func (Interrupt) EventKind() Kind      { return UserInterrupt }
func (Chat) EventKind() Kind           { return ChatMessage }
func (MessageStart) EventKind() Kind   { return MessageStarted }
func (Message) EventKind() Kind        { return AgentMessage }
func (ReasoningStart) EventKind() Kind { return ReasoningStarted }
func (Reasoning) EventKind() Kind      { return AgentReasoning }
