package store

import (
	"encoding/json"
	"errors"
	"fmt"
)

// requestLife is how long a request is remembered, in milliseconds.
const requestLife = 7 * 24 * 3600 * 1000

// Request gives the id that a principal's earlier request under this key has made.
func (r reads) Request(principal, op, key string) (id string, found bool, err error) {
	var response []byte
	found, err = r.c.one("SELECT response FROM request_idempotency WHERE principal_id = ? AND op = ? AND key = ?", []any{principal, op, key},
		func(w row) { response = w.bytes(0) })
	if err == nil && found {
		err = json.Unmarshal(response, &id)
	}
	if err != nil {
		return "", false, fmt.Errorf("looking up a request: %w", err)
	}
	return id, found, nil
}

// PutRequest remembers what a request has made, and forgets what is too old.
func (tx *Tx) PutRequest(principal, op, key, id string, now int64) error {
	response, err := json.Marshal(id)
	if err != nil {
		return err
	}
	_, err = tx.c.exec(`INSERT INTO request_idempotency(principal_id, op, key, fingerprint, status, response, created_at, expires_at)
		VALUES (?, ?, ?, '', 201, ?, ?, ?)`, principal, op, key, string(response), now, now+requestLife)
	if isUnique(err) {
		err = errors.Join(ErrConflict, err)
	}
	if err == nil {
		_, err = tx.c.exec("DELETE FROM request_idempotency WHERE expires_at < ?", now)
	}
	if err != nil {
		return fmt.Errorf("remembering a request: %w", err)
	}
	return nil
}
