package core

import "aalis/backend/store"

// PutCredential adds a credential.
type PutCredential struct{ Credential store.Credential }

func (c PutCredential) run(w *write) (Receipt, error) {
	return Receipt{}, w.PutCredential(c.Credential)
}

// TouchCredential moves the end of a credential.
type TouchCredential struct {
	Hash      [32]byte
	ExpiresAt int64
}

func (c TouchCredential) run(w *write) (Receipt, error) {
	return Receipt{}, w.TouchCredential(c.Hash, c.ExpiresAt)
}

// RevokeCredential ends a credential.
type RevokeCredential struct {
	Hash [32]byte
	At   int64
}

func (c RevokeCredential) run(w *write) (Receipt, error) {
	return Receipt{}, w.RevokeCredential(c.Hash, c.At)
}
