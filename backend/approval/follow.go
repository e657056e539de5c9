package approval

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
)

// derive reads what waits for an answer, as at start.
func (s *Service) derive(ctx context.Context, loop *core.Loop) error {
	var rows []store.Action
	if err := loop.Read(ctx, func(tx *store.ReadTx) (err error) {
		rows, err = tx.PendingActions(0)
		return err
	}); err != nil {
		return err
	}
	s.replace(rows)
	return nil
}

// replace takes rows for what waits.
func (s *Service) replace(rows []store.Action) {
	defer s.poke()
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.waiting)
	for _, a := range rows {
		s.waiting[a.ID] = clockOf(a.At, a.ExpiresAt, a.Policy)
	}
}

func clockOf(asked, expires int64, p event.Policy) *waiting {
	w := &waiting{asked: time.UnixMilli(asked), policy: p}
	if expires != 0 {
		w.expires = time.UnixMilli(expires)
	}
	return w
}

// follow keeps what waits up to date with the log, until ctx ends or the loop stops.
func (s *Service) follow(ctx context.Context, loop *core.Loop, cursor *core.Cursor) {
	seen := time.Now().UnixMilli() // when the newest fact was written that has been followed
	for {
		entries, err := cursor.Next(ctx)
		switch {
		case errors.Is(err, core.ErrFellBehind):
			err = s.catchUp(ctx, loop, seen)
		case err != nil && ctx.Err() != nil:
			// What has been settled by now gets its line.
			entries, _ = cursor.Take()
		}
		for _, e := range entries {
			if e.Fact != nil {
				seen = e.Fact.At
				s.note(e.Fact)
			}
		}
		if err != nil {
			return
		}
	}
}

// note takes one fact.
func (s *Service) note(e *event.Event) {
	switch p := e.Payload.(type) {
	case event.Action:
		if p.Refused {
			return
		}
		s.mu.Lock()
		s.waiting[e.ID] = clockOf(e.At, p.ExpiresAt, p.Policy)
		s.mu.Unlock()
		s.poke()
	case event.Resolution:
		s.mu.Lock()
		delete(s.waiting, p.ActionID)
		s.mu.Unlock()
		s.audit(e, p)
	}
}

// audit writes the line that every settlement leaves in the program's log (SEC-10): who decided and
// from where, never what was asked.
func (s *Service) audit(e *event.Event, r event.Resolution) {
	attrs := []slog.Attr{slog.String("approval", r.ActionID), slog.String("state", r.State), slog.String("source", r.Source)}
	if r.By != nil {
		attrs = append(attrs,
			slog.Group("by", "platform", r.By.Platform, "user", r.By.UserID, "owner", r.By.Owner, "principal", e.Actor.Principal),
			slog.String("via", e.Actor.Via), slog.String("surface", e.Actor.Surface))
	}
	s.log.LogAttrs(context.Background(), slog.LevelInfo, "an approval was settled", attrs...)
}

// catchUp reads again after facts were missed. It tries until it can; its error is the end of ctx.
func (s *Service) catchUp(ctx context.Context, loop *core.Loop, since int64) error {
	for {
		err := s.readAgain(ctx, loop, since)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s.log.Error("approvals cannot be read again", "error", err)
		select {
		case <-time.After(retry):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// readAgain reads what waits, and how everything was settled that was waiting or has been asked
// since. A settlement at the edge may get its line twice, none gets none.
func (s *Service) readAgain(ctx context.Context, loop *core.Loop, since int64) error {
	s.mu.Lock()
	known := slices.Sorted(maps.Keys(s.waiting))
	s.mu.Unlock()
	var pending []store.Action
	var settled []event.Event
	if err := loop.Read(ctx, func(tx *store.ReadTx) (err error) {
		if pending, err = tx.PendingActions(0); err != nil {
			return err
		}
		settled, err = settlements(tx, known, since)
		return err
	}); err != nil {
		return err
	}
	s.replace(pending)
	for _, e := range settled {
		if r, ok := e.Payload.(event.Resolution); ok {
			s.audit(&e, r)
		}
	}
	return nil
}

// settlements reads how the known actions and all that were asked since a moment were settled.
func settlements(tx *store.ReadTx, known []string, since int64) ([]event.Event, error) {
	actions, err := tx.ActionsSince(since)
	if err != nil {
		return nil, err
	}
	for _, id := range known {
		a, found, err := tx.Action(id)
		if err != nil {
			return nil, err
		}
		if found && a.At < since {
			actions = append(actions, a)
		}
	}
	var settled []event.Event
	for _, a := range actions {
		if a.Resolved == "" {
			continue
		}
		e, found, err := tx.Event(a.Resolved)
		if err != nil {
			return nil, err
		}
		if found {
			settled = append(settled, e)
		}
	}
	return settled, nil
}
