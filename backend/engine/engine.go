// Package engine owns what an engine is: the thing that conducts one turn. One folder below per
// engine; native is our own agent loop, others are programs spoken to in their own protocol, which
// never leaves their folder. An engine never touches the log: it tells its Host what happens, and
// package turn makes events of it.
//
//	turn.Reactor sees turn.started
//	  Engine.Run(ctx, turn, host)
//	    host.History, host.Join      what was said
//	    host.StartMessage/Text/EndMessage, StartReasoning/…, ProposeTool, CallTool,
//	    host.Approve                 waits for the owner's answer
//	    host.CompleteTool            or host.Work, for calls that may go on without their turn
//	    host.Finish                  the last message and the end, in one commit
//
// A cancelled ctx (its cause says why) or an error of a Host method that is ErrStopped means: stop
// at once; the turn's end is written by package turn, not by the engine.
package engine

import (
	"context"
	"encoding/json"
	"errors"

	"aalis/backend/text"
)

// ErrStopped is returned by Host methods once the turn is interrupted or over.
var ErrStopped = errors.New("the turn has been stopped")

// ErrInputWaiting is returned by Finish when an input arrived that must join first.
var ErrInputWaiting = errors.New("an input waits to join the turn")

// Engine conducts turns. It is safe for concurrent use; Run is called once per turn.
type Engine interface {
	// Run returns when the turn is over: nil after a successful Finish or Silent, an *Failure to
	// end it with an error, ErrStopped or ctx's error when it was stopped.
	Run(ctx context.Context, t Turn, host Host) error
}

// Measurer is an engine that can tell the size of a context without calling the model.
type Measurer interface {
	// Measure gives what a call with said would send now: an estimate that says it is one, without
	// completion and latency. Spec SP-SUB-07.
	Measure(ctx context.Context, t Turn, said []Entry) (ModelCall, error)
}

// Titler is an engine that can name a conversation.
type Titler interface {
	// Title names a conversation by its first question and answer, in a few words of its language;
	// "" when the engine has nothing better than the question itself.
	Title(ctx context.Context, t Turn, question, answer string) (string, error)
}

// Compressor is an engine that can shorten a conversation.
type Compressor interface {
	// Keep gives how many of the newest entries stay when a conversation is shortened; ok is false when
	// nothing is gained by it. t has a turn when it is shortened by itself.
	Keep(ctx context.Context, t Turn, said []Entry) (keep int, ok bool, err error)
	// Summarize writes what stands in place of gone, in front of kept. An error that a person can act on
	// is a *Failure.
	Summarize(ctx context.Context, t Turn, gone, kept []Entry, facts Facts) (Summary, error)
}

// Facts is what a summary must keep whatever its author makes of the conversation, a line each.
type Facts struct {
	Plan   []string // entries with their states
	Open   []string // what waits for the owner's approval
	Failed []string // calls that failed, and how
	Files  []string // paths that were changed
}

// Summary is what stands for the beginning of a conversation.
type Summary struct {
	Text       string
	Model      string // entry id of the model that wrote it, "" when none did
	Prompt     int    // tokens the writing cost
	Completion int
}

// Turn is what an engine is told when it begins.
type Turn struct {
	SessionID string
	TurnID    string
	Continue  bool   // opened by turn/continue: no new input, a fresh tool budget
	Subtask   bool   // the session works for the one above it, which reads its last words
	Guests    bool   // others than the owner are heard: no rule spares the owner a question, and what is not harmless is asked
	Model     string // entry id "<provider>/<model>" this turn is bound to, "" for what is set
	Place     Place
	ToolLimit int      // model calls with tool calls allowed in this turn, 0 for what is set
	Settings  Settings // nil: nothing is set
	// Context is the tokens of the newest call of the session and its answer, as a provider counted them;
	// 0 when none did.
	Context int
	Room    string // what the model is told of the chat room the session is; "" for none
}

// Settings are a session's values of the fields its engine declared.
type Settings interface {
	// Current gives them as they are now, by key; what has no value is left out. An engine asks before
	// every call of a model, so that a change counts in the running turn.
	Current(ctx context.Context) (map[string]json.RawMessage, error)
}

// Place is the folder the session works in.
type Place struct {
	Key  string
	Root string // absolute
	// None: the session belongs to no project, and nothing that can change things runs in it
	// (Spec V1-062, -063).
	None bool
}

// Entry is one thing said or done earlier, oldest first, dead turns left out.
type Entry struct {
	Kind   EntryKind
	TurnID string
	// user, agent, reasoning, notice: the words
	Text    string
	Speaker string // user: display name when there are several people
	Files   []File // user: what went with the words
	Step    int    // agent, reasoning, tool: the model call of its turn that made it
	// tool
	CallID string
	Tool   string
	Args   json.RawMessage
	Result string
	Status ToolStatus // "" while it runs
}

// EntryKind names what an Entry is.
type EntryKind string

// The entry kinds.
const (
	EntryUser      EntryKind = "user"
	EntryAgent     EntryKind = "agent"
	EntryReasoning EntryKind = "reasoning"
	EntryTool      EntryKind = "tool"
	EntryNotice    EntryKind = "notice" // a host notice the model should know of
	// EntrySummary stands for everything before it.
	EntrySummary EntryKind = "summary"
)

// Input is one input that joined the running turn.
type Input struct {
	EventID string
	Text    string
	Speaker string
	Files   []File // what went with the words
	Notice  bool   // of the program: the words are not a person's
}

// File is something that went with an input.
type File struct {
	ID   string // names its bytes
	Kind string // image, audio, video, file
	Name string
	Type string // MIME
	Size int64
	// Refused are the models, as entry ids, that would not be shown it in this session.
	Refused []string
	// Read gives the bytes, at most most of them; nil where they are not kept.
	Read func(most int64) ([]byte, error)
}

// MessageEnd completes a message.
type MessageEnd struct {
	MessageID    string
	Text         string // the whole text: the concatenation of its pieces
	FinishReason string // "retry": this version is thrown away, and another follows
	Provider     string
	Model        string
	Prompt       int // tokens of this turn's last call; 0 when not reported
	Completion   int // tokens of all this turn's calls so far; 0 when not reported
}

// ModelCall is one call of a model, for accounting and the usage item.
type ModelCall struct {
	Step          int
	Provider      string
	Model         string
	Prompt        int // tokens
	Completion    int
	Estimated     bool // characters/4, because the provider reported nothing
	ContextWindow int
	Parts         []UsagePart
	LatencyMS     int64
	CompressAt    float64 // share of the window at which the conversation is shortened, 0 for never
}

// UsagePart is one line of the breakdown of the context, in display order.
type UsagePart struct {
	Label     text.Text
	Tokens    int
	Injectors map[string]int
}

// ToolCall announces a call whose arguments are complete.
type ToolCall struct {
	CallID string // from ProposeTool
	Name   string
	Args   json.RawMessage
	Effect string // "read" or "write"
	Step   int
	Rule   *Rule // of the owner's that decided about it; nil: none did
}

// Rule is a standing answer of the owner's: deny, ask or allow, and the rule as it is written, "" where
// everything is let through.
type Rule struct {
	Verdict string
	Text    string
}

// Guard says what a call may change below its place's root.
type Guard struct {
	CallID   string
	Paths    []string // with forward slashes
	Anywhere bool     // any path
}

// ApprovalRequest is what the owner is asked. Facts is the tool's, as JSON.
type ApprovalRequest struct {
	CallID string
	Tool   string
	Facts  json.RawMessage
}

// Decision is the owner's answer, or what stood in for it.
type Decision struct {
	Approved bool
	State    string // approved, denied, expired, cancelled
	Source   string // answer, absent, timeout, ineligible, rate-limit, turn-ended, shutdown
	Note     string // the owner's words on a denial
}

// ToolStatus is how a call ended.
type ToolStatus string

// The statuses of a finished call.
const (
	ToolSucceeded ToolStatus = "succeeded"
	ToolFailed    ToolStatus = "failed"
	ToolDenied    ToolStatus = "denied"
	ToolCancelled ToolStatus = "cancelled"
	ToolTimedOut  ToolStatus = "timed_out"
)

// ToolResult completes a call.
type ToolResult struct {
	CallID      string
	Status      ToolStatus
	Text        string // exactly what the model reads
	ExitCode    *int
	Truncated   bool
	NotExecuted bool
	Forbidden   bool // denied because it may not be done here, whoever asks
	DurationMS  int64
	// TaskID is set by Host.Work when the call was moved to the background: it is completed already.
	TaskID string
}

// Host is the running turn as its engine sees it. Methods block until what they report is
// committed, except Text, which returns at once.
type Host interface {
	// History gives the conversation before and within this turn.
	History(ctx context.Context) ([]Entry, error)
	// Join takes up every waiting input, in order; none is no error.
	Join(ctx context.Context) ([]Input, error)

	StartMessage(ctx context.Context, step int) (messageID string, err error)
	StartReasoning(ctx context.Context, step int) (itemID string, err error)
	// Text streams a piece of an open message, reasoning or tool output (by its call id).
	Text(itemID, piece string) error
	EndReasoning(ctx context.Context, itemID, text string) error
	// EndMessage completes a message that is not the turn's last.
	EndMessage(ctx context.Context, m MessageEnd) error
	ModelCalled(ctx context.Context, c ModelCall) error
	// Compress is asked before every call of a model. With want it shortens the conversation, which a
	// person sees. shortened says that History gives less than it gave before, because of this call or
	// of a person's; a compression that failed is told to the owner and is no error here.
	Compress(ctx context.Context, want bool) (shortened bool, err error)

	// ProposeTool shows the card while the model still writes the arguments.
	ProposeTool(ctx context.Context, name string) (callID string, err error)
	CallTool(ctx context.Context, c ToolCall) error
	// Approve asks the owner and waits for the settlement, whatever it is.
	Approve(ctx context.Context, r ApprovalRequest) (Decision, error)
	CompleteTool(ctx context.Context, r ToolResult) error
	// Work does the work of a call that may go on in the background: at once, or when it outlasts the
	// owner's patience. ErrNoBackground where that cannot be.
	Work(ctx context.Context, w Work) (ToolResult, error)
	// Guard keeps what a call is about to change, for a rewind. done is called once when the call has
	// ended, whatever became of it, or has moved to the background: what it changes there is not kept.
	Guard(ctx context.Context, g Guard) (done func(moved bool), err error)

	// FilesRefused tells the owner that a model, named by its entry id, answered only without files, and
	// has that kept: in later turns the files say so. ids are those of File.
	FilesRefused(ctx context.Context, model string, ids []string) error

	// ToolLimit tells the owner that the limit was reached and that the turn can be continued.
	ToolLimit(ctx context.Context, limit int) error
	// Finish completes the last message and ends the turn as replied. ErrInputWaiting: the message
	// is completed as not final and the turn goes on; Join next.
	Finish(ctx context.Context, m MessageEnd) error
	// Silent ends the turn without a reply; ErrInputWaiting as for Finish.
	Silent(ctx context.Context) error
}

// Failure ends a turn with an error a person can act on.
type Failure struct {
	Code      string
	Message   text.Text
	Retryable bool
	Status    int
	Provider  string
	LatencyMS int64
	Raw       string
	Err       error
}

// Error is for logs.
func (f *Failure) Error() string {
	s := "turn failed: " + f.Code + ": " + f.Message.String()
	if f.Err != nil {
		s += ": " + f.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }
