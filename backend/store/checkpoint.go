package store

import (
	"encoding/json"
	"fmt"

	"aalis/backend/text"
)

// What stood at a path.
const (
	ImageAbsent = "absent"
	ImageFile   = "file"
	ImageLink   = "link" // Hash names its target's bytes
	ImageFolder = "folder"
	ImageLarge  = "large" // a file whose bytes were not kept; Hash tells it from others by what stat says
	ImageOther  = "other" // a device, a socket, a pipe
)

// Image is what stood at a path at one moment.
type Image struct {
	Kind string `json:"kind"`
	Hash string `json:"hash,omitempty"`
	Mode uint32 `json:"mode,omitempty"` // permission bits
	Size int64  `json:"size,omitempty"` // bytes
}

// FileChange is one path a turn changed.
type FileChange struct {
	Path   string // below the checkpoint's root, with forward slashes
	Before Image
	After  Image
}

// Checkpoint is what is known of one turn's changes, or of what a rewind replaced.
type Checkpoint struct {
	ID       string // the turn's id, or the undo's
	SID      int64
	Turn     string
	Root     string
	Partial  *text.Text // why not everything is known; nil when all is
	At       int64
	UndoneAt int64
}

const checkpointColumns = "id, sid, turn_id, root, partial, at, undone_at FROM checkpoints "

func scanCheckpoint(w row) (Checkpoint, error) {
	c := Checkpoint{ID: w.str(0), SID: w.int(1), Turn: w.str(2), Root: w.str(3), At: w.int(5), UndoneAt: w.int(6)}
	if w.null(4) {
		return c, nil
	}
	c.Partial = &text.Text{}
	if err := json.Unmarshal(w.bytes(4), c.Partial); err != nil {
		return c, fmt.Errorf("decoding checkpoint %s: %w", c.ID, err)
	}
	return c, nil
}

// Checkpoint finds a checkpoint; found is false without one.
func (r reads) Checkpoint(id string) (c Checkpoint, found bool, err error) {
	err = r.each("SELECT "+checkpointColumns+"WHERE id = ?", []any{id}, func(w row) (err error) {
		found = true
		c, err = scanCheckpoint(w)
		return err
	})
	return c, found, err
}

// CheckpointFiles lists what a checkpoint knows, by path.
func (r reads) CheckpointFiles(id string) ([]FileChange, error) {
	var all []FileChange
	err := r.each("SELECT path, before, after FROM checkpoint_files WHERE checkpoint_id = ? ORDER BY path", []any{id}, func(w row) error {
		c := FileChange{Path: w.str(0)}
		if err := json.Unmarshal(w.bytes(1), &c.Before); err != nil {
			return fmt.Errorf("decoding %s of checkpoint %s: %w", c.Path, id, err)
		}
		if err := json.Unmarshal(w.bytes(2), &c.After); err != nil {
			return fmt.Errorf("decoding %s of checkpoint %s: %w", c.Path, id, err)
		}
		all = append(all, c)
		return nil
	})
	return all, err
}

// CheckpointHashes gives the bytes that any checkpoint names, with the number of bytes.
func (r reads) CheckpointHashes() (map[string]int64, error) {
	all := map[string]int64{}
	err := r.each(`SELECT hash, max(size) FROM (
		SELECT before ->> 'hash' AS hash, before ->> 'size' AS size FROM checkpoint_files WHERE before ->> 'kind' IN ('file', 'link')
		UNION ALL SELECT after ->> 'hash', after ->> 'size' FROM checkpoint_files WHERE after ->> 'kind' IN ('file', 'link')
	) WHERE hash IS NOT NULL GROUP BY hash`, nil, func(w row) error { all[w.str(0)] = w.int(1); return nil })
	return all, err
}

// OldCheckpoints lists checkpoints that know of any file, oldest first.
func (r reads) OldCheckpoints(limit int) ([]Checkpoint, error) {
	var all []Checkpoint
	err := r.each("SELECT "+checkpointColumns+"WHERE EXISTS (SELECT 1 FROM checkpoint_files f WHERE f.checkpoint_id = id) ORDER BY at, id LIMIT ?", []any{limit}, func(w row) error {
		c, err := scanCheckpoint(w)
		all = append(all, c)
		return err
	})
	return all, err
}

// PutCheckpoint adds changes to a checkpoint, which is made when it is missing. Of a path only the
// first before and the newest after are kept; what came out as it was is forgotten.
func (tx *Tx) PutCheckpoint(c Checkpoint, files []FileChange) error {
	var partial any
	if c.Partial != nil {
		raw, err := json.Marshal(c.Partial)
		if err != nil {
			return fmt.Errorf("encoding checkpoint %s: %w", c.ID, err)
		}
		partial = string(raw)
	}
	if _, err := tx.c.exec(`INSERT INTO checkpoints(id, sid, turn_id, root, partial, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT(id) DO UPDATE SET partial = coalesce(partial, ?5)`, c.ID, c.SID, c.Turn, c.Root, partial, tx.Now); err != nil {
		return err
	}
	for _, f := range files {
		before, err := json.Marshal(f.Before)
		if err != nil {
			return err
		}
		after, err := json.Marshal(f.After)
		if err != nil {
			return err
		}
		if _, err := tx.c.exec(`INSERT INTO checkpoint_files(checkpoint_id, path, before, after) VALUES (?, ?, ?, ?)
			ON CONFLICT(checkpoint_id, path) DO UPDATE SET after = excluded.after`, c.ID, f.Path, string(before), string(after)); err != nil {
			return err
		}
	}
	_, err := tx.c.exec("DELETE FROM checkpoint_files WHERE checkpoint_id = ? AND before = after", c.ID)
	return err
}

// UndoneCheckpoint says that a checkpoint was put back, or with undone false that it stands again.
func (tx *Tx) UndoneCheckpoint(id string, undone bool) error {
	var at any
	if undone {
		at = tx.Now
	}
	_, err := tx.c.exec("UPDATE checkpoints SET undone_at = ? WHERE id = ?", at, id)
	return err
}

// ForgetCheckpoint drops what a checkpoint knows and keeps why.
func (tx *Tx) ForgetCheckpoint(id string, why text.Text) error {
	raw, err := json.Marshal(why)
	if err != nil {
		return fmt.Errorf("encoding checkpoint %s: %w", id, err)
	}
	if _, err := tx.c.exec("DELETE FROM checkpoint_files WHERE checkpoint_id = ?", id); err != nil {
		return err
	}
	_, err = tx.c.exec("UPDATE checkpoints SET partial = ? WHERE id = ?", string(raw), id)
	return err
}
