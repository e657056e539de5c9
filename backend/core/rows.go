package core

import (
	"context"
	"errors"

	"aalis/backend/store"
)

// Rows is a reader of one session's rows by number: what replaying protocols read. Replay and live
// are the same reads, woken by commits; it holds no entry that is not durable. It belongs to one
// goroutine.
type Rows struct {
	loop *Loop
	sid  int64
	last int64
}

// Rows reads a session's rows behind a number; -1 begins with the genesis.
func (l *Loop) Rows(sid, after int64) *Rows { return &Rows{loop: l, sid: sid, last: after} }

// pageRows bounds one read, so that no read transaction stays open while a client is written to.
const pageRows = 500

// Next waits for rows behind the last one given. After the session's tombstone it gives ErrGone.
func (r *Rows) Next(ctx context.Context) ([]store.Row, error) {
	for {
		wake, closed := r.loop.commits.wait()
		var page []store.Row
		var deleted bool
		if err := r.loop.st.Read(ctx, func(tx *store.ReadTx) (err error) {
			if page, err = tx.Rows(r.sid, r.last, pageRows); err != nil {
				return err
			}
			s, err := tx.SessionBySID(r.sid)
			deleted = s.DeletedAt != 0
			return err
		}); err != nil {
			return nil, err
		}
		if len(page) > 0 {
			r.last = page[len(page)-1].Seq
			return page, nil
		}
		if deleted {
			return nil, ErrGone
		}
		if closed {
			return nil, ErrClosed
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// ErrGone ends the rows of a deleted session.
var ErrGone = errors.New("the session has been deleted")
