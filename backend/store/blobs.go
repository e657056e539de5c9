package store

import (
	"encoding/hex"

	"aalis/backend/event"
)

// name notes which bytes an event names. What is no hash, and what has none, names nothing.
func (tx *Tx) name(e event.Event, all ...event.Attachment) error {
	for _, a := range all {
		hash, err := hex.DecodeString(a.Blob)
		if err != nil || len(hash) == 0 {
			continue
		}
		if _, err := tx.c.exec("INSERT OR IGNORE INTO blobs(sha256, media_type, size, created_at) VALUES (?, ?, ?, ?)", hash, null(a.Type), a.Size, e.At); err != nil {
			return err
		}
		if _, err := tx.c.exec("INSERT OR IGNORE INTO blob_refs(sha256, sid, event_id) VALUES (?, ?, ?)", hash, e.SID, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// forgetBlobs drops the rows of bytes that no event names any more. The bytes themselves are removed by
// whoever keeps them.
func (tx *Tx) forgetBlobs() error {
	_, err := tx.c.exec("DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM blob_refs r WHERE r.sha256 = blobs.sha256)")
	return err
}

// NamedBlobs gives the hashes, in hex, of all bytes that events name.
func (r reads) NamedBlobs() (map[string]bool, error) {
	all := map[string]bool{}
	err := r.each("SELECT DISTINCT lower(hex(sha256)) FROM blob_refs", nil, func(w row) error { all[w.str(0)] = true; return nil })
	return all, err
}

// BlobNamed reports whether an event names bytes.
func (r reads) BlobNamed(hash string) (named bool, err error) {
	return r.c.one("SELECT 1 FROM blob_refs WHERE sha256 = unhex(?) LIMIT 1", []any{hash}, func(row) {})
}
