// Package provider owns the shape in which the program speaks to a model: a request, a stream of
// chunks, and the errors a person or a retry can act on. One folder below per wire dialect; none
// of their shapes leave their folder. It also owns the Set: the models the owner can choose, as
// config.yaml names them. The package never keeps a conversation, retries, or counts money: that is
// the engine's. Engines call it; backend.Open builds the Set.
package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"aalis/backend/text"
)

// Model streams one answer. A good sequence ends with the chunk that has Finish; a bad one with its
// first error, an *Error or ctx's error. Cancelling ctx ends it within 100 ms whatever the server
// does. Breaking out of the loop releases the connection. A Model is safe for concurrent use and
// never changes the request.
type Model interface {
	Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error]
}

// Role says who speaks in a Message.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of the conversation given to the model.
type Message struct {
	Role      Role
	Text      string
	Images    []Image    // user only: what is to be looked at with Text
	Reasoning string     // assistant only, for models that want their own thinking back
	ToolCalls []ToolCall // assistant only
	CallID    string     // tool only: the call this answers
	Notice    bool       // user only: the program's own words, not a person's
}

// Image is a picture as it was sent: image/png, image/jpeg, image/gif or image/webp. A model that takes
// none says so in its own way; who called it asks again without.
type Image struct {
	Type string
	Data []byte
}

// ToolCall is a finished call by the model. ID is ours (a UUIDv7), never the server's.
type ToolCall struct {
	ID   string
	Name string
	Args json.RawMessage // an object; "{}" when the model gave none
}

// ToolSpec tells the model about one tool.
type ToolSpec struct {
	Name        string
	Description string
	Params      json.RawMessage // JSON Schema of an object
}

// Request is one call of a model.
type Request struct {
	Model     string // the server's own name for it, without our provider prefix
	System    string
	Messages  []Message
	Tools     []ToolSpec
	MaxTokens int // 0: the server's default
	// Thinking is how long the model thinks before it answers, one of the words of Thinker; "" leaves it
	// to the model. A model that knows no such thing answers as always.
	Thinking string
}

// How long a model can be asked to think.
const (
	ThinkNone   = "none"
	ThinkLow    = "low"
	ThinkMedium = "medium"
	ThinkHigh   = "high"
)

// Chunk is one step of the stream; exactly one group of fields is set.
type Chunk struct {
	Text      string // a piece of the answer: whole UTF-8, never empty when set
	Reasoning string // a piece of the thinking

	Call *CallDelta // a piece of a tool call

	Usage  *Usage       // at most once, just before Finish, if the server reports it
	Finish FinishReason // once, the last chunk
}

// CallDelta is a piece of the Index-th tool call of this answer. The first piece of an index has
// Name, indexes count from 0 without a gap; Args pieces concatenate to the arguments, which are
// whatever the model wrote: whether they are JSON is for the engine to find out.
type CallDelta struct {
	Index int
	Name  string
	Args  string
}

// Usage is what the server counted, in tokens.
type Usage struct {
	Prompt     int
	Completion int
}

// FinishReason says why the model stopped.
type FinishReason string

// The finish reasons.
const (
	FinishStop      FinishReason = "stop"
	FinishToolCalls FinishReason = "tool_calls"
	FinishLength    FinishReason = "length"
	FinishFilter    FinishReason = "content_filter"
)

// ErrorCode names what went wrong with a call of a model.
type ErrorCode string

// The error codes.
const (
	ErrUnreachable ErrorCode = "unreachable" // no connection, or it broke
	ErrTimeout     ErrorCode = "timeout"     // connected, but silent for too long
	ErrAuth        ErrorCode = "auth"        // 401, 403
	ErrNotFound    ErrorCode = "not_found"   // no such model or path
	ErrRateLimit   ErrorCode = "rate_limit"  // 429
	ErrOverflow    ErrorCode = "overflow"    // the conversation does not fit the model's window
	ErrRefused     ErrorCode = "refused"     // any other 4xx
	ErrServer      ErrorCode = "server"      // 5xx
	ErrGarbage     ErrorCode = "garbage"     // an answer that is not the protocol
)

// Error is a failed call of a model, with a sentence a person can act on. It never holds a key.
type Error struct {
	Code       ErrorCode
	Provider   string        // the provider's id in config.yaml
	Status     int           // HTTP status, 0 without one
	Message    text.Text     // what to tell the owner
	Raw        string        // the server's own words, at most MaxRaw bytes, for the log and the event
	Retryable  bool          // the same request may succeed later; never once a chunk was given out
	RetryAfter time.Duration // what the server asked for, 0 otherwise
	Err        error
}

// Error is for logs.
func (e *Error) Error() string {
	s := fmt.Sprintf("provider %s: %s", e.Provider, e.Code)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Entry is one model the owner can choose.
type Entry struct {
	ID            string // "<provider id>/<model name>"
	Provider      string // provider id
	Kind          string // the provider's type in config.yaml
	Name          string // the server's name for the model
	ContextWindow int    // tokens; 128,000 when config.yaml does not say
	Model         Model
}

// MaxRaw bounds Error.Raw, in bytes.
const MaxRaw = 2000

// DefaultContextWindow is assumed when config.yaml gives none, in tokens.
const DefaultContextWindow = 128_000
