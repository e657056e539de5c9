package session

import (
	"context"

	"aalis/backend/core"
)

func (c *Conn) turnRewind(ctx context.Context, p TurnRewindParams) (TurnRewindResult, error) {
	checkpoints := c.server.current().Checkpoints
	if checkpoints == nil {
		return TurnRewindResult{}, absent("wire.service-checkpoints")
	}
	return checkpoints.Rewind(ctx, c.actor(), p)
}

func (c *Conn) rewindUndo(ctx context.Context, p RewindUndoParams) (TurnRewindResult, error) {
	checkpoints := c.server.current().Checkpoints
	if checkpoints == nil {
		return TurnRewindResult{}, absent("wire.service-checkpoints")
	}
	return checkpoints.Undo(ctx, c.actor(), p)
}

// sessionCompress answers only when the compression is over (Spec SP-COMP-01).
func (c *Conn) sessionCompress(ctx context.Context, p SessionParams) (Empty, error) {
	compression := c.server.current().Compression
	if compression == nil {
		return Empty{}, absent("wire.service-compression")
	}
	return Empty{}, compression.Compress(ctx, p.SessionID)
}

// planClear empties the plan; where there is none it does nothing (decisions F14).
func (c *Conn) planClear(ctx context.Context, p SessionParams) (Empty, error) {
	if !c.server.current().Plans {
		return Empty{}, absent("wire.service-plans")
	}
	return c.do(ctx, core.SetPlan{Actor: c.actor(), Session: p.SessionID})
}
