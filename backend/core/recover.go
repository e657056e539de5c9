package core

import (
	"context"
	"errors"
	"fmt"

	"aalis/backend/store"
)

// Recover puts the log in order after whatever ended the last process, before anything is served:
// running turns end as interrupted, what was on its way into rooms as unknown, background tasks as aborted, queues open their turns, erasures
// go on. Kernel 9. It runs while Run runs and is safe to repeat.
func Recover(ctx context.Context, l *Loop) error {
	var running []store.Turn
	if err := l.Read(ctx, func(tx *store.ReadTx) (err error) {
		running, err = tx.RunningTurns()
		return err
	}); err != nil {
		return fmt.Errorf("looking for what was cut off: %w", err)
	}
	for _, t := range running {
		if t.Epoch == l.epoch {
			continue
		}
		if _, err := l.Do(ctx, StopTurn{Turn: t.ID, Interrupted: true}); err != nil {
			return fmt.Errorf("ending turn %s: %w", t.ID, err)
		}
	}
	if _, err := l.Do(ctx, CutDeliveries{}); err != nil {
		return fmt.Errorf("settling what was on its way: %w", err)
	}
	// Before the queues: what it tells her waits in them.
	if _, err := l.Do(ctx, CutTasks{}); err != nil {
		return fmt.Errorf("ending background tasks: %w", err)
	}
	var queued []int64
	if err := l.Read(ctx, func(tx *store.ReadTx) (err error) {
		queued, err = tx.SessionsWithPendingInputs()
		return err
	}); err != nil {
		return fmt.Errorf("looking for queues: %w", err)
	}
	for _, sid := range queued {
		if _, err := l.Do(ctx, DispatchPending{SID: sid}); err != nil {
			return fmt.Errorf("taking up a queue: %w", err)
		}
	}
	return nil
}

// Eraser removes the contents of deleted sessions behind the log: at start what a crash left, then
// whenever a session is deleted. Each time swept, which may be nil, is called then, to remove what lies
// outside the database. It returns when ctx ends.
func Eraser(ctx context.Context, l *Loop, swept func(ctx context.Context)) error {
	c := l.Cursor()
	for {
		if err := EraseAll(ctx, l); err != nil {
			return err
		}
		if swept != nil {
			swept(ctx)
		}
		if err := waitForDeletion(ctx, c); err != nil {
			return err
		}
	}
}

// EraseAll removes what is left of every deleted session.
func EraseAll(ctx context.Context, l *Loop) error {
	for _, cmd := range []Command{EraseDeleted{}, PurgeSkeletons{}} {
		for {
			r, err := l.Do(ctx, cmd)
			if err != nil {
				return err
			}
			if r.Done {
				break
			}
		}
	}
	return nil
}

func waitForDeletion(ctx context.Context, c *Cursor) error {
	for {
		entries, err := c.Next(ctx)
		if errors.Is(err, ErrFellBehind) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if len(e.Removed) > 0 {
				return nil
			}
		}
	}
}
