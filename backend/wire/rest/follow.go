// Package rest owns what the protocols over HTTP share: following the log of one session from a number
// on, and the frames of an event stream. It knows no protocol's shapes and decides nothing.
package rest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aalis/backend/core"
	"aalis/backend/store"
)

const (
	// page is how many rows one read takes: transactions stay short, and none is open while a reader is
	// written to.
	page = 500
	// settle is how long after a piece of text its row is looked for; rows are written within 50 ms.
	settle = 60 * time.Millisecond
)

// Follower gives the rows of one session's log in order, those that are there and then those that come,
// each once. Rows have every number of the log; what is shown of them is for the caller.
type Follower struct {
	Loop *core.Loop
	SID  int64
	// After is the number behind which to begin; it moves on.
	After int64
	// Idle is how long nothing may be given before Beat is called.
	Idle time.Duration
	// Rows takes the next rows inside a read of the database, to look up what they refer to, and returns
	// what is to be done with them outside of it.
	Rows func(tx *store.ReadTx, rows []store.Row) (give func() error, err error)
	Beat func() error
}

// Run follows until ctx ends, the log is closed, or one of the functions fails. What is written while
// it reads is never missed and never given twice: the place in the order is taken before the first read,
// and rows are asked for by number.
func (f *Follower) Run(ctx context.Context) error {
	cursor := f.Loop.Cursor()
	if err := f.catchUp(ctx); err != nil {
		return err
	}
	for {
		facts, pieces, err := f.wait(ctx, cursor)
		if errors.Is(err, errIdle) {
			err = f.Beat()
		}
		if facts && err == nil {
			err = f.catchUp(ctx)
		}
		for pieces && err == nil { // their rows come a moment later
			pieces, err = f.soon(ctx, cursor)
		}
		if err != nil {
			return err
		}
	}
}

var errIdle = errors.New("nothing was written for long")

// wait returns when something was written in the session; errIdle when nothing was for long.
func (f *Follower) wait(ctx context.Context, cursor *core.Cursor) (facts, pieces bool, err error) {
	ctx, stop := context.WithTimeoutCause(ctx, f.Idle, errIdle)
	defer stop()
	for {
		entries, err := cursor.Next(ctx)
		if errors.Is(err, core.ErrFellBehind) {
			return true, true, nil
		}
		if err != nil {
			return false, false, err
		}
		if facts, pieces = f.mine(entries); facts || pieces {
			return facts, pieces, nil
		}
	}
}

func (f *Follower) mine(entries []core.Entry) (facts, pieces bool) {
	for _, e := range entries {
		if e.SID == f.SID {
			facts, pieces = facts || e.Fact != nil, pieces || e.Piece != nil
		}
	}
	return facts, pieces
}

// soon reads a moment later, and says whether more pieces have come meanwhile.
func (f *Follower) soon(ctx context.Context, cursor *core.Cursor) (more bool, err error) {
	timer := time.NewTimer(settle)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-timer.C:
	}
	entries, err := cursor.Take()
	if err != nil && !errors.Is(err, core.ErrFellBehind) {
		return false, err
	}
	_, more = f.mine(entries)
	return more || err != nil, f.catchUp(ctx)
}

// catchUp gives everything that is written behind After.
func (f *Follower) catchUp(ctx context.Context) error {
	for {
		var give func() error
		n := 0
		if err := f.Loop.Read(ctx, func(tx *store.ReadTx) error {
			rows, err := tx.Rows(f.SID, f.After, page)
			if err != nil || len(rows) == 0 {
				return err
			}
			n, f.After = len(rows), rows[len(rows)-1].Seq
			give, err = f.Rows(tx, rows)
			return err
		}); err != nil {
			return fmt.Errorf("reading the log: %w", err)
		}
		if n == 0 {
			return nil
		}
		if err := give(); err != nil {
			return err
		}
		if n < page {
			return nil
		}
	}
}
