package engine

import (
	"context"
	"errors"
	"time"
)

// ErrNoBackground is returned by Host.Work where calls cannot go on without their turn; nothing has
// been run, and the engine runs the call itself.
var ErrNoBackground = errors.New("calls cannot go on in the background here")

// Work is a tool call that may go on without its turn.
type Work struct {
	CallID  string
	Tool    string
	AtOnce  bool // the model asked for the background
	Started time.Time
	// Do does it, once, in a goroutine of the host's. ctx outlives the turn; out takes what is streamed.
	// It never fails: a failure is a result.
	Do func(ctx context.Context, out func(piece string)) ToolResult
}
