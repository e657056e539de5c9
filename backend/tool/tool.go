// Package tool owns what a tool is: its definition, the schema its arguments must meet, how it is
// prepared, shown, approved and run, and the registry of those an engine may call. It also owns
// what every family needs alike: the confined view of the session's folder, the unified diff of a
// change, and the bounds on output. One folder below per family; per tool a .go file and a .md file
// (the words the model reads). The package never decides whether something is allowed: it only says
// what would happen, as facts.
//
// A call goes in two steps, so that what is approved is what runs:
//
//	Registry.Prepare(call)   validates the arguments, resolves the target, gives Facts; no effect
//	(approval, when Prepared.NeedsApproval, on exactly these facts)
//	Prepared.Execute(ctx)    checks the target again, then acts
//
// The registry is the border where a panic of a tool becomes the failure of one call.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Effect says whether a tool can change anything.
type Effect string

// The effects.
const (
	Read  Effect = "read"
	Write Effect = "write"
)

// Definition is one tool. Build it with Define.
type Definition struct {
	Name        string          // what the model calls it: [a-z_]{1,64}
	Description string          // the .md beside the code
	Params      json.RawMessage // JSON Schema of the arguments, an object; set by Define
	Example     json.RawMessage // arguments that meet Params; shown to a model that got them wrong
	Effect      Effect
	Display     *Display // how a card shows it; nil: the generic card
	// Harmless says that anybody may have it called: it shows and changes nothing but what belongs to the
	// conversation. All others are asked about where others than the owner are heard (decisions H6).
	Harmless bool
	// Movable says that its calls may go on in the background: prepare gives a Move with each, and the
	// model gets one more argument, BackgroundArg, with which it asks for that at once.
	Movable bool

	// prepare is set by Define.
	prepare func(ctx context.Context, call Call) (Prepared, error)
}

// Call is one request of the model.
type Call struct {
	SessionID string
	TurnID    string
	CallID    string
	Args      json.RawMessage
	Place     Place
}

// Facts are what the owner is shown before deciding: literal, unrendered, unsanitised.
// Spec SP-APPR-29, decisions H9.
type Facts struct {
	Command string         `json:"command,omitempty"`
	Cwd     string         `json:"cwd,omitempty"` // absolute: where the command would really run
	Diff    *Diff          `json:"diff,omitempty"`
	Params  map[string]any `json:"params"` // the arguments as given; numbers are json.Number
}

// Diff is a unified diff of one file, before and after.
type Diff struct {
	Path  string `json:"path"`
	Patch string `json:"patch"`
}

// Output takes streamed output of a running tool, whole UTF-8 pieces. It is safe for concurrent
// use and never blocks for long.
type Output func(piece string)

// Prepared is a call that is ready to run.
type Prepared struct {
	Facts         Facts
	NeedsApproval bool
	// Touches are the paths that Execute may change, below the place's root with forward slashes, and
	// Anywhere says that it may change any: what stands there is kept before, for a rewind.
	Touches  []string
	Anywhere bool
	// Execute acts, once; a second call is refused. It checks its target again first: a target that
	// changed since Prepare gives an *Error with TargetChanged and nothing has happened. It returns
	// within 2 s of ctx's end, with its whole process group gone. An error is a failure of the call:
	// an *Error (the model reads its Message, which holds whatever output there was), or ctx's own.
	Execute func(ctx context.Context, out Output) (Result, error)
	// Move is set for calls of a movable tool, and nil for all others.
	Move *Move
}

// Move is how a call runs that may go on without its turn.
type Move struct {
	// AtOnce: the model asked for the background. Set by Define.
	AtOnce bool
	// Execute stands for Prepared.Execute, with the same promises, where the call may move; only one of
	// the two is called. ctx outlives the turn, and the output is not bounded: whoever takes it keeps
	// what it needs.
	Execute func(ctx context.Context, out Output) (Result, error)
}

// BackgroundArg is the argument of movable tools that asks for the background at once (decisions G2).
const BackgroundArg = "background"

// Result is what a tool returned.
type Result struct {
	Text      string // exactly what the model reads
	ExitCode  *int   // of a command that ended by itself; 0 is success
	Truncated bool   // Text is head and tail only
}

// Error is a failed call; the model reads Message in English, as it reads everything else.
// NotExecuted means that nothing happened; it is always true for an error of Prepare.
type Error struct {
	Code        ErrorCode
	Message     string
	NotExecuted bool
	Err         error
}

// ErrorCode names why a call failed.
type ErrorCode string

// The error codes.
const (
	InvalidArgs   ErrorCode = "invalid"
	UnknownTool   ErrorCode = "unknown_tool"
	NotFoundErr   ErrorCode = "not_found"
	OutsidePlace  ErrorCode = "outside_place"
	TargetChanged ErrorCode = "target_changed" // the file is not what was approved any more
	TimedOut      ErrorCode = "timed_out"
	Failed        ErrorCode = "failed"
)

// Error gives the sentence for the model.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Refuse makes the error of a call that did nothing. A %w in format keeps its cause.
func Refuse(code ErrorCode, format string, args ...any) *Error {
	e := Fail(code, format, args...)
	e.NotExecuted = true
	return e
}

// Fail makes the error of a call that may have had an effect. A %w in format keeps its cause.
func Fail(code ErrorCode, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	var cause error
	if wrapping, ok := err.(interface{ Unwrap() error }); ok {
		cause = wrapping.Unwrap()
	}
	return &Error{Code: code, Message: err.Error(), Err: cause}
}

// Limits that every tool keeps.
const (
	// MaxResultBytes bounds Result.Text; longer results keep head and tail.
	MaxResultBytes = 64 << 10
	// MaxDiffBytes: a larger or binary file has no diff in its facts (decisions H9).
	MaxDiffBytes = 256 << 10
	// MaxStreamBytes is how much of a call's output is streamed before one closing line
	// (decisions D11). What the model reads is not bounded by it.
	MaxStreamBytes = 256 << 10
	// StopGrace is how long a process group has between SIGTERM and SIGKILL (decisions F7).
	StopGrace = time.Second
)
