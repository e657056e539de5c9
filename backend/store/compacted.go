package store

import (
	"slices"

	"aalis/backend/event"
)

// DeadBelow lists the dead turns of a session that began at a seq or before, in order of their ids.
func (r reads) DeadBelow(sid, through int64) ([]string, error) {
	var dead []string
	err := r.each("SELECT d.turn_id FROM dead_turns d JOIN turns t ON t.id = d.turn_id WHERE d.sid = ? AND t.started_seq <= ? ORDER BY d.turn_id",
		[]any{sid, through}, func(w row) error { dead = append(dead, w.str(0)); return nil })
	return dead, err
}

// DeadStarts gives the dead turns of a session with the seq each began at.
func (r reads) DeadStarts(sid int64) (map[string]int64, error) {
	all := map[string]int64{}
	err := r.each("SELECT d.turn_id, t.started_seq FROM dead_turns d JOIN turns t ON t.id = d.turn_id WHERE d.sid = ?",
		[]any{sid}, func(w row) error { all[w.str(0)] = w.int(1); return nil })
	return all, err
}

// Compacted gives the summary that stands for the beginning of a conversation now; its Through is 0
// where there is none. A summary that tells of what has been cleared or rewound since, or leaves out
// what has been brought back, gives way to the one before it.
func (r reads) Compacted(sid int64) (event.Compacted, error) {
	h, err := r.Head(sid)
	if err != nil {
		return event.Compacted{}, err
	}
	for seq := h.CompactedSeq; seq > h.ClearedSeq; {
		e, found, err := r.EventAt(sid, seq)
		if err != nil || !found {
			return event.Compacted{}, err
		}
		c, ok := e.Payload.(event.Compacted)
		if !ok { // erased with its session
			break
		}
		dead, err := r.DeadBelow(sid, c.Through)
		if err != nil {
			return event.Compacted{}, err
		}
		if slices.Equal(dead, c.Without) {
			return c, nil
		}
		seq = c.Previous
	}
	return event.Compacted{}, nil
}

// ChangedFiles lists the paths that a session's turns changed and that were not put back, newest first.
func (r reads) ChangedFiles(sid int64, limit int) ([]string, error) {
	var all []string
	err := r.each(`SELECT f.path FROM checkpoint_files f JOIN checkpoints c ON c.id = f.checkpoint_id
		WHERE c.sid = ? AND c.id = c.turn_id AND c.undone_at IS NULL GROUP BY f.path ORDER BY max(c.at) DESC, f.path LIMIT ?`,
		[]any{sid, limit}, func(w row) error { all = append(all, w.str(0)); return nil })
	return all, err
}
