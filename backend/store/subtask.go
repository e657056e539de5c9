package store

import (
	"fmt"

	"aalis/backend/event"
)

// Subtask is a sub-session as the one above it sees it.
type Subtask struct {
	Session Session
	Head    Head
	Cause   string // event id of the call that made it, "" when a person did
	Queued  bool   // something waits to be heard
	// Last is its newest turn, nil before the first; End how that ended, and Reply her last words in it.
	Last  *Turn
	End   event.TurnEnd
	Reply string
}

// AtRest reports whether nothing of it goes on, neither in itself nor below it.
func (s Subtask) AtRest() bool {
	return s.Head.RunningTurn == "" && s.Head.OpenBackground == 0 && s.Head.SubBusy == 0 && !s.Queued
}

// Subtask reads how a sub-session stands.
func (r reads) Subtask(sid int64) (t Subtask, err error) {
	if t.Session, err = r.SessionBySID(sid); err != nil {
		return t, fmt.Errorf("reading sub-session %d: %w", sid, err)
	}
	if t.Head, err = r.Head(sid); err != nil {
		return t, fmt.Errorf("reading the head of sub-session %d: %w", sid, err)
	}
	if _, err = r.c.one(`SELECT s.spawned_by_event_id, EXISTS (SELECT 1 FROM inputs i WHERE i.sid = s.sid AND i.state = 'pending')
		FROM sessions s WHERE s.sid = ?`, []any{sid}, func(w row) { t.Cause, t.Queued = w.str(0), w.int(1) != 0 }); err != nil {
		return t, err
	}
	last, found, err := r.LastTurn(sid)
	if err != nil || !found {
		return t, err
	}
	t.Last = &last
	if last.EndedSeq == 0 {
		return t, nil
	}
	e, _, err := r.EventAt(sid, last.EndedSeq)
	if err != nil {
		return t, err
	}
	t.End, _ = e.Payload.(event.TurnEnd) // nil once erased
	return t, r.Backwards(sid, last.EndedSeq, []event.Kind{event.AgentMessage, event.TurnStarted}, func(e event.Event) (bool, error) {
		m, said := e.Payload.(event.Message)
		if said && e.Turn == last.ID && !m.Aborted {
			t.Reply = m.Text
		}
		return !said && e.Seq > last.StartedSeq, nil
	})
}

// ChildSessions lists the living direct children of a session, the oldest first.
func (r reads) ChildSessions(sid int64) ([]Session, error) {
	var all []Session
	err := r.each("SELECT "+sessionColumns+" FROM sessions s WHERE s.parent_sid = ? AND s.deleted_at IS NULL ORDER BY s.sid", []any{sid},
		func(w row) error { all = append(all, scanSession(w)); return nil })
	return all, err
}

// TreeUse is what the sessions below a root amount to: how many there are, how many have a turn under
// way, and the tokens that they have used, those included that were deleted since.
type TreeUse struct {
	Sessions, Running int
	Tokens            int64
}

// TreeUse counts below a root.
func (r reads) TreeUse(rootSID int64) (u TreeUse, err error) {
	_, err = r.c.one(`SELECT coalesce(sum(s.deleted_at IS NULL), 0), coalesce(sum(h.running_turn_id IS NOT NULL), 0), coalesce(sum(h.tokens_in + h.tokens_out), 0)
		FROM sessions s JOIN session_heads h ON h.sid = s.sid WHERE s.root_sid = ?1 AND s.sid <> ?1`, []any{rootSID},
		func(w row) { u = TreeUse{Sessions: int(w.int(0)), Running: int(w.int(1)), Tokens: w.int(2)} })
	return u, err
}

// OwnerSpoke reports whether the owner has written in one of these sessions.
func (r reads) OwnerSpoke(sids []int64) (spoke bool, err error) {
	for _, sid := range sids {
		if err := r.Forwards(sid, 0, []event.Kind{event.UserMessage}, func(e event.Event) error {
			if in, ok := e.Payload.(event.Input); ok && in.Speaker.Owner {
				spoke = true
			}
			return nil
		}); err != nil || spoke {
			return spoke, err
		}
	}
	return false, nil
}
