package store

import "fmt"

// EraseStep is how many rows one step of an erasure touches, so that other writes get in between.
const EraseStep = 1000

// Erasing lists deleted sessions whose contents are still there, oldest deletion first.
func (r reads) Erasing() ([]int64, error) {
	var all []int64
	err := r.each("SELECT sid FROM sessions WHERE deleted_at IS NOT NULL AND erased_at IS NULL ORDER BY deleted_at, sid", nil,
		func(w row) error { all = append(all, w.int(0)); return nil })
	return all, err
}

// Erase takes one step of removing a deleted session's contents: payloads and actors become empty,
// streamed text and references to blobs go. done is true when nothing is left; it is resumable at
// any point. Types, numbers, ids and keys stay (kernel 8).
func (tx *Tx) Erase(sid int64) (done bool, err error) {
	s, err := tx.SessionBySID(sid)
	if err != nil {
		return false, err
	}
	if s.DeletedAt == 0 {
		return false, fmt.Errorf("erasing session %s, which is not deleted: %w", s.ID, ErrConflict)
	}
	left := int64(EraseStep)
	for _, sql := range []string{
		"DELETE FROM deltas WHERE key IN (SELECT key FROM deltas WHERE key >= ?1 AND key < ?2 LIMIT ?3)",
		`UPDATE events SET payload = NULL, actor = '{}' WHERE key IN
			(SELECT key FROM events WHERE key >= ?1 AND key < ?2 AND payload IS NOT NULL LIMIT ?3)`,
	} {
		n, err := tx.c.exec(sql, key(sid, 0), key(sid+1, 0), left)
		if err != nil {
			return false, fmt.Errorf("erasing session %s: %w", s.ID, err)
		}
		if left -= n; left <= 0 {
			return false, nil
		}
	}
	for _, sql := range []string{
		"DELETE FROM delta_folds WHERE sid = ?", "DELETE FROM blob_refs WHERE sid = ?", "DELETE FROM inputs WHERE sid = ?",
		"DELETE FROM actions WHERE sid = ?", "DELETE FROM work_items WHERE sid = ?", "DELETE FROM background_tasks WHERE sid = ?",
		"DELETE FROM session_reads WHERE sid = ?", "DELETE FROM checkpoints WHERE sid = ?", "DELETE FROM deliveries WHERE sid = ?",
	} {
		if _, err := tx.c.exec(sql, sid); err != nil {
			return false, fmt.Errorf("erasing session %s: %w", s.ID, err)
		}
	}
	if err := tx.forgetBlobs(); err != nil {
		return false, fmt.Errorf("erasing session %s: %w", s.ID, err)
	}
	_, err = tx.c.exec("UPDATE sessions SET erased_at = ? WHERE sid = ?", tx.Now, sid)
	return true, err
}

// Purge removes the skeletons of sessions that were deleted before a moment.
func (tx *Tx) Purge(before int64) (sessions int64, err error) {
	var sids []int64
	if err := tx.each(`SELECT sid FROM sessions s WHERE deleted_at < ? AND erased_at IS NOT NULL AND purged_at IS NULL
		AND NOT EXISTS (SELECT 1 FROM sessions c WHERE c.parent_sid = s.sid AND c.purged_at IS NULL) LIMIT 100`, []any{before},
		func(w row) error { sids = append(sids, w.int(0)); return nil }); err != nil {
		return 0, err
	}
	for _, sid := range sids {
		if _, err := tx.c.exec("UPDATE sessions SET purged_at = ? WHERE sid = ?", tx.Now, sid); err != nil {
			return 0, err
		}
		for _, sql := range []string{"DELETE FROM turns WHERE sid = ?", "DELETE FROM dead_turns WHERE sid = ?"} {
			if _, err := tx.c.exec(sql, sid); err != nil {
				return 0, err
			}
		}
		if _, err := tx.c.exec("DELETE FROM events WHERE key >= ? AND key < ?", key(sid, 0), key(sid+1, 0)); err != nil {
			return 0, err
		}
	}
	return int64(len(sids)), nil
}
