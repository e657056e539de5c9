package approval

import (
	"slices"
	"time"

	"aalis/backend/event"
)

// activity is how long one report of presence counts. Spec SP-PRES-04.
const activity = 10 * time.Minute

// surface is a connection that reported presence. One that never did, and one that reported absence,
// is not in the map (Spec SP-PRES-03, -05).
type surface struct {
	decider string
	until   time.Time
	// holds are the approvals pushed to it that wait; they keep it present beyond until.
	holds map[string]bool
}

func (f *surface) present(now time.Time) bool { return now.Before(f.until) || len(f.holds) > 0 }

// Present says that the person at a connection is there, or is not, and reports whether the
// connection was absent before and is present now. connection names it until Gone is called; decider
// is the principal that may decide there. With "" nobody there may decide anything, so for approvals
// nobody is there.
func (s *Service) Present(connection, decider string, active bool) (arrived bool) {
	if !active || decider == "" {
		s.Gone(connection)
		return false
	}
	defer s.poke()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	f := s.surfaces[connection]
	if f != nil && !f.present(now) {
		s.leave(connection, now)
		f = nil
	}
	if arrived = f == nil; arrived {
		f = &surface{decider: decider, holds: make(map[string]bool)}
		s.surfaces[connection] = f
	}
	f.until = now.Add(activity)
	return arrived
}

// Gone says that a connection has ended, or that nobody is there any more. An approval that was
// pushed to it does not hold it (Spec SP-PRES-07, -08).
func (s *Service) Gone(connection string) {
	defer s.poke()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(connection, time.Now())
}

// leave takes a connection out and remembers when it was last present. Called under mu.
func (s *Service) leave(connection string, now time.Time) {
	f := s.surfaces[connection]
	if f == nil {
		return
	}
	delete(s.surfaces, connection)
	went := now
	if !f.present(now) {
		went = f.until
	}
	if went.After(s.left[f.decider]) {
		s.left[f.decider] = went
	}
}

// Show reports whether an approval that waits may be pushed to a connection: somebody is present
// there who is one of its approvers. If so the approval keeps the connection present until Settled
// or Gone (Spec SP-PRES-06). Whoever is told so pushes it.
func (s *Service) Show(connection, approval string, approvers []string) bool {
	defer s.poke()
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.surfaces[connection]
	if f == nil || !f.present(time.Now()) || !slices.Contains(approvers, f.decider) {
		return false
	}
	f.holds[approval] = true
	return true
}

// Settled says that an approval no longer keeps a connection present.
func (s *Service) Settled(connection, approval string) {
	defer s.poke()
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.surfaces[connection]
	if f == nil || !f.holds[approval] {
		return
	}
	delete(f.holds, approval)
	// Present until this moment, if it was held.
	if now := time.Now(); !f.present(now) {
		f.until = now
	}
}

// Admit decides, in the loop's writer, whether an approval may be asked for at all; it gives the
// source of the refusal, or "". Spec SP-APPR-17.
func (s *Service) Admit(p event.Policy) (source string) {
	if len(p.Approvers) == 0 {
		return event.SourceIneligible
	}
	if p.Absent != absentDeny {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, f := range s.surfaces {
		if f.present(now) && slices.Contains(p.Approvers, f.decider) {
			return ""
		}
	}
	return event.SourceAbsent
}

// goes is the moment at which the last of these principals is absent, in the past or, if nothing is
// reported until then, to come; never is set while an approval holds one present. Called under mu.
func (s *Service) goes(approvers []string, now time.Time) (at time.Time, never bool) {
	for _, who := range approvers {
		at = later(at, s.left[who])
	}
	for _, f := range s.surfaces {
		if !slices.Contains(approvers, f.decider) {
			continue
		}
		if len(f.holds) > 0 {
			return time.Time{}, true
		}
		at = later(at, f.until)
	}
	return at, false
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
