package store

import (
	"strings"

	"aalis/backend/event"
)

// Timeline says which of a session's events a page of its conversation is made of.
type Timeline struct {
	SID   int64
	Above int64 // only events with a higher seq: what was cleared lies at or below it
	Below int64 // only events with a lower seq
	Kinds []event.Kind
	// Without are turns whose events are left out: those that are not concluded.
	Without []string
}

func (q Timeline) query() (string, []any) {
	args := []any{key(q.SID, q.Above), key(q.SID, q.Below)}
	for _, k := range q.Kinds {
		args = append(args, string(k))
	}
	for _, turn := range q.Without {
		args = append(args, turn)
	}
	// The + keeps the planner on the key: an index on type would need a sort of the whole session.
	return "SELECT " + eventColumns + eventFrom + `WHERE e.key > ? AND e.key < ? AND +e.type IN (` + marks(len(q.Kinds)) + `) AND (e.turn_id IS NULL
		OR e.turn_id NOT IN (` + marks(len(q.Without)) + `) AND NOT EXISTS (SELECT 1 FROM dead_turns d WHERE d.sid = e.sid AND d.turn_id = e.turn_id))
		AND NOT (+e.type = 'host.notice' AND EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = e.id AND (d.kind = 'aside' OR d.kind = 'notice' AND d.state <> 'accepted')))
		ORDER BY e.key DESC`, args
}

func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// Timeline calls each with the events of a page, newest first, until it returns false. Events of
// dead turns are left out, and notices that no platform took. The cost depends on how far each reads, not on the session's length.
func (r reads) Timeline(q Timeline, each func(event.Event) (more bool, err error)) error {
	query, args := q.query()
	return r.each(query, args, func(w row) error {
		e, err := scanEvent(w)
		if err != nil {
			return err
		}
		more, err := each(e)
		if err == nil && !more {
			err = errStop
		}
		return err
	})
}

// Dead reports whether a session's readers skip a turn.
func (r reads) Dead(sid int64, turn string) (bool, error) {
	return r.c.one("SELECT 1 FROM dead_turns WHERE sid = ? AND turn_id = ?", []any{sid, turn}, func(row) {})
}

// TurnBefore is the newest turn that started below a seq; found is false before the first.
func (r reads) TurnBefore(sid, seq int64) (t Turn, found bool, err error) {
	all, err := r.turns("WHERE sid = ? AND started_seq < ? ORDER BY started_seq DESC LIMIT 1", sid, seq)
	if err != nil || len(all) == 0 {
		return Turn{}, false, err
	}
	return all[0], true, nil
}
