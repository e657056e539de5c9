package turn

import (
	"context"

	"aalis/backend/engine"
)

// Work is a call of a turn that may go on without it.
type Work struct {
	engine.Work
	Turn string
	// Show streams a piece of what it prints to the call's card. An error means that the turn has been
	// stopped.
	Show func(piece string) error
}

// Work does the work of a call that may go on in the background.
func (h *host) Work(ctx context.Context, w engine.Work) (engine.ToolResult, error) {
	background := h.reactor.options.Background
	if background == nil {
		return engine.ToolResult{}, engine.ErrNoBackground
	}
	got, err := background(ctx, Work{Work: w, Turn: h.turn.id, Show: func(piece string) error { return h.Text(w.CallID, piece) }})
	return got, h.wrap(ctx, "doing the work of a call", err)
}
