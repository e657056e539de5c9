package store

import (
	"strings"

	"aalis/backend/event"
)

// ActivityQuery asks for sessions by their last activity.
type ActivityQuery struct {
	Place  string         // only those that live there, "" for all
	Before *ActivityPlace // behind that place in the order
	Limit  int
}

// ActivityPlace is a place in the order: when something last happened in a session, and its id.
type ActivityPlace struct {
	At int64
	ID string
}

// Active is a session with its head.
type Active struct {
	Session Session
	Head    Head
}

// ByActivity lists root sessions that are not deleted, archived ones among them: the newest activity
// first, ids in their order where it is the same.
func (r reads) ByActivity(q ActivityQuery) (all []Active, err error) {
	where, args := []string{"h.list <> 9", "s.parent_sid IS NULL"}, []any{}
	if q.Place != "" {
		where, args = append(where, "s.place_key = ?"), append(args, q.Place)
	}
	if q.Before != nil {
		where = append(where, "(h.updated_at < ? OR h.updated_at = ? AND s.id > ?)")
		args = append(args, q.Before.At, q.Before.At, q.Before.ID)
	}
	args = append(args, q.Limit)
	err = r.each("SELECT "+headColumns+", "+sessionColumns+" FROM session_heads h JOIN sessions s ON s.sid = h.sid WHERE "+
		strings.Join(where, " AND ")+" ORDER BY h.updated_at DESC, s.id LIMIT ?", args, func(w row) error {
		all = append(all, Active{Head: scanHead(w), Session: scanSession(w[headWidth:])})
		return nil
	})
	return all, err
}

// CallOfExecution gives the event of the call whose work item has that id.
func (r reads) CallOfExecution(id string) (event.Event, bool, error) {
	return r.event("WHERE e.id = (SELECT tool_event_id FROM work_items WHERE work_id = ?)", id)
}
