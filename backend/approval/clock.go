package approval

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"aalis/backend/core"
)

const (
	// grace is how long an approval waits alone for somebody to come back. Spec SP-APPR-13, -14.
	grace = 30 * time.Second
	// retry is the pause after a settlement that could not be written.
	retry = 5 * time.Second
)

// absentDeny is the policy whose approvals are refused when nobody is there; the others wait.
const absentDeny = "deny"

// watch settles every approval whose clock has run out, until ctx ends. When that is, is derived
// anew from what waits and who is there after each change; nothing else is remembered, so that no
// clock can be left running or be forgotten.
func (s *Service) watch(ctx context.Context, loop *core.Loop) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		due, next := s.due(time.Now())
		for _, d := range due {
			if !s.expire(ctx, loop, d) {
				return
			}
		}
		if len(due) > 0 {
			continue
		}
		var fires <-chan time.Time
		if !next.IsZero() {
			timer.Reset(time.Until(next))
			fires = timer.C
		}
		select {
		case <-s.changed:
		case <-fires:
		case <-ctx.Done():
			return
		}
	}
}

// overdue is an approval whose clock has run out.
type overdue struct {
	id     string
	at     time.Time
	absent bool // its grace, not its whole wait
}

// due lists what has run out by now, in that order, or says when the next one will; zero for never.
func (s *Service) due(now time.Time) (out []overdue, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, w := range s.waiting {
		at, absent := s.deadline(w, now)
		switch {
		case at.IsZero():
			continue
		case at.Before(w.notBefore):
			at = w.notBefore
		}
		if !now.Before(at) {
			out = append(out, overdue{id: id, at: at, absent: absent})
		} else if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	slices.SortFunc(out, func(a, b overdue) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
	return out, next
}

// deadline is the moment at which an approval is settled if nothing happens until then; zero for
// never. The grace is no addition to the whole wait (Spec SP-APPR-16). Called under mu.
func (s *Service) deadline(w *waiting, now time.Time) (at time.Time, absent bool) {
	at = w.expires
	if w.policy.Absent != absentDeny {
		return at, false
	}
	alone, never := s.goes(w.policy.Approvers, now)
	if never {
		return at, false
	}
	// Who went before it was asked is no reason to wait less.
	end := later(alone, w.asked).Add(grace)
	if at.IsZero() || end.Before(at) {
		return end, true
	}
	return at, false
}

// expire settles one approval; an answer that came first stands. It is false when nothing more can
// be written.
func (s *Service) expire(ctx context.Context, loop *core.Loop, d overdue) bool {
	_, err := loop.Do(ctx, core.ExpireAction{ActionID: d.id, Absent: d.absent})
	if ctx.Err() != nil || errors.Is(err, core.ErrClosed) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		delete(s.waiting, d.id) // here as well, or it would be due until the log has been followed
		return true
	}
	if w := s.waiting[d.id]; w != nil {
		w.notBefore = time.Now().Add(retry)
	}
	s.log.Error("an approval could not be settled", "approval", d.id, "error", err)
	return true
}
