package store

import (
	"fmt"

	"aalis/backend/event"
)

// Rebuild makes every projection anew from the log, in one transaction: a repair and a proof of the
// reducer, never part of a start. Internal numbers, what readers have seen, and the rows of deleted
// sessions stay as they are.
func (s *Store) Rebuild(now int64) error {
	tx, err := s.Begin(now, func() int64 { return 0 })
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := tx.rebuild(); err != nil {
		return fmt.Errorf("rebuilding: %w", err)
	}
	return tx.Commit()
}

func (tx *Tx) rebuild() error {
	var living []int64
	ticks := map[int64]int64{}
	if err := tx.each("SELECT h.sid, h.tick FROM session_heads h WHERE h.list <> 9 ORDER BY h.sid", nil, func(w row) error {
		living = append(living, w.int(0))
		ticks[w.int(0)] = w.int(1)
		return nil
	}); err != nil {
		return err
	}
	const alive = "(SELECT sid FROM session_heads WHERE list <> 9)"
	for _, sql := range []string{
		"PRAGMA defer_foreign_keys=ON",
		"DELETE FROM turns WHERE sid IN " + alive, "DELETE FROM inputs WHERE sid IN " + alive, "DELETE FROM actions WHERE sid IN " + alive,
		"DELETE FROM dead_turns WHERE sid IN " + alive, "DELETE FROM background_tasks WHERE sid IN " + alive,
		"DELETE FROM blob_refs WHERE sid IN " + alive, "DELETE FROM deliveries WHERE sid IN " + alive,
		"DELETE FROM work_items WHERE execution_mode = 'inproc' AND sid IN " + alive,
		"DELETE FROM sessions WHERE sid IN " + alive, "DELETE FROM session_heads WHERE list <> 9",
	} {
		if err := tx.c.script(sql); err != nil {
			return err
		}
	}
	tx.forget()
	for _, sid := range living {
		if err := tx.replay(sid, ticks[sid]); err != nil {
			return fmt.Errorf("session number %d: %w", sid, err)
		}
	}
	return tx.flush()
}

func (tx *Tx) replay(sid, tick int64) error {
	h := &Head{SID: sid, Tick: tick}
	tx.heads[sid] = h
	for after := int64(-1); ; {
		page, err := tx.bare(sid, after)
		if err != nil {
			return err
		}
		for _, e := range page {
			h.LastSeq, h.UpdatedAt = e.Seq, e.At
			if e.ChatSeq != 0 {
				h.ChatSeq, h.ChatKSeq, h.ChatAt = e.ChatSeq, e.Seq, e.At
			}
			if err := reduce(tx, h, e); err != nil {
				return err
			}
			after = e.Seq
		}
		if len(page) == 0 {
			break
		}
	}
	_, err := tx.c.one("SELECT key, at FROM deltas WHERE key >= ? AND key < ? ORDER BY key DESC LIMIT 1", []any{key(sid, 0), key(sid+1, 0)}, func(w row) {
		if seq := w.int(0) & (1<<32 - 1); seq > h.LastSeq {
			h.LastSeq, h.UpdatedAt = seq, w.int(1)
		}
	})
	if err != nil {
		return err
	}
	_, err = tx.c.one("SELECT key, ch_seq, at FROM deltas WHERE key >= ? AND key < ? AND ch_seq IS NOT NULL ORDER BY key DESC LIMIT 1",
		[]any{key(sid, 0), key(sid+1, 0)}, func(w row) {
			if w.int(1) > h.ChatSeq {
				h.ChatSeq, h.ChatKSeq, h.ChatAt = w.int(1), w.int(0)&(1<<32-1), w.int(2)
			}
		})
	tx.dirty[sid] = true
	return err
}

// bare reads a page of events without the session's row, which may not exist yet.
func (tx *Tx) bare(sid, after int64) ([]event.Event, error) {
	var all []event.Event
	err := tx.each(`SELECT e.sid, e.seq, e.id, e.type, e.turn_id, e.parent_id, e.actor, e.payload, e.idem_key, e.ch_seq, e.at, '' FROM events e
		WHERE e.key > ? AND e.key < ? ORDER BY e.key LIMIT 500`, []any{key(sid, after), key(sid+1, 0)}, func(w row) error {
		e, err := scanEvent(w)
		all = append(all, e)
		return err
	})
	return all, err
}

// Projections dumps every projection as text, one line a row, for comparing.
func (s *Store) Projections() (map[string][]string, error) {
	out := map[string][]string{}
	for _, table := range []string{"sessions", "session_heads", "turns", "inputs", "actions", "dead_turns", "background_tasks", "work_items", "deliveries"} {
		if err := s.writer.query("SELECT * FROM "+table+" ORDER BY 1, 2", nil, func(w row) error {
			out[table] = append(out[table], fmt.Sprint([]any(anys(w))...))
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func anys(w row) []any {
	a := make([]any, 0, 2*len(w))
	for _, v := range w {
		a = append(a, v, "|")
	}
	return a
}

// HeadsAgree compares every head with the log, one seek per table, and lists the sessions that
// differ. It is the cheap check of every start.
func (r reads) HeadsAgree() (wrong []int64, err error) {
	err = r.each(`SELECT h.sid FROM session_heads h WHERE h.list <> 9 AND h.last_seq <> max(
			coalesce((SELECT max(e.key) FROM events e WHERE e.key >= h.sid << 32 AND e.key < (h.sid + 1) << 32), 0),
			coalesce((SELECT max(d.key) FROM deltas d WHERE d.key >= h.sid << 32 AND d.key < (h.sid + 1) << 32), 0)) & 4294967295`, nil, func(w row) error {
		wrong = append(wrong, w.int(0))
		return nil
	})
	return wrong, err
}

// IntegrityCheck runs SQLite's own check; nil means the file is sound.
func (s *Store) IntegrityCheck() error {
	var said string
	if _, err := s.writer.one("PRAGMA integrity_check", nil, func(w row) { said = w.str(0) }); err != nil {
		return err
	}
	if said != "ok" {
		return fmt.Errorf("the database is damaged: %s", said)
	}
	return nil
}
