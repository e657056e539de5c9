package store

import (
	"strings"

	"aalis/backend/event"
)

// Forwards calls each with a session's events of some kinds behind a seq, oldest first.
func (r reads) Forwards(sid, after int64, kinds []event.Kind, each func(event.Event) error) error {
	marks := strings.TrimSuffix(strings.Repeat("?,", len(kinds)), ",")
	args := []any{key(sid, after), key(sid, 1<<32-1)}
	for _, k := range kinds {
		args = append(args, string(k))
	}
	return r.each("SELECT "+eventColumns+eventFrom+"WHERE e.key > ? AND e.key <= ? AND +e.type IN ("+marks+") ORDER BY e.key", args, func(w row) error {
		e, err := scanEvent(w)
		if err != nil {
			return err
		}
		return each(e)
	})
}
