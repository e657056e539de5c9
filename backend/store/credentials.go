package store

import (
	"encoding/json"
	"fmt"
)

// Principal is one row of principals.
type Principal struct {
	ID, Kind, Tenant, UserID, Platform, App, Environment, Name string
}

// Principal finds a principal; found is false without one.
func (r reads) Principal(id string) (p Principal, found bool, err error) {
	found, err = r.c.one(`SELECT id, kind, tenant_id, user_id, platform, app_id, environment_id, display_name FROM principals WHERE id = ?`, []any{id},
		func(w row) {
			p = Principal{w.str(0), w.str(1), w.str(2), w.str(3), w.str(4), w.str(5), w.str(6), w.str(7)}
		})
	return p, found, err
}

// Credential is one row of credentials: a hash, never a secret. Times are ms, 0 for none.
type Credential struct {
	TokenHash   [32]byte
	PrincipalID string
	Kind        string
	DeviceID    string
	Roles       []string
	CreatedAt   int64
	ExpiresAt   int64
	RevokedAt   int64
}

const credentialColumns = "token_hash, principal_id, kind, device_id, roles, created_at, expires_at, revoked_at FROM credentials "

func (r reads) credentials(where string, args ...any) ([]Credential, error) {
	var all []Credential
	err := r.each("SELECT "+credentialColumns+where, args, func(w row) error {
		c := Credential{PrincipalID: w.str(1), Kind: w.str(2), DeviceID: w.str(3), CreatedAt: w.int(5), ExpiresAt: w.int(6), RevokedAt: w.int(7)}
		copy(c.TokenHash[:], w.bytes(0))
		all = append(all, c)
		return json.Unmarshal(w.bytes(4), &all[len(all)-1].Roles)
	})
	return all, err
}

// Credential finds a credential by its hash, whether it is still good or not.
func (r reads) Credential(hash [32]byte) (c Credential, found bool, err error) {
	all, err := r.credentials("WHERE token_hash = ?", hash[:])
	if err != nil || len(all) == 0 {
		return Credential{}, false, err
	}
	return all[0], true, nil
}

// Credentials lists every credential of a kind, oldest first.
func (r reads) Credentials(kind string) ([]Credential, error) {
	return r.credentials("WHERE kind = ? ORDER BY created_at, token_hash", kind)
}

// PutCredential adds a credential; one that exists is ErrConflict.
func (tx *Tx) PutCredential(c Credential) error {
	roles, err := json.Marshal(c.Roles)
	if err != nil {
		return err
	}
	_, err = tx.c.exec(`INSERT INTO credentials(token_hash, principal_id, kind, device_id, roles, created_at, expires_at, revoked_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, c.TokenHash[:], c.PrincipalID, c.Kind, null(c.DeviceID), string(roles), c.CreatedAt, zero(c.ExpiresAt), zero(c.RevokedAt))
	if isUnique(err) {
		return fmt.Errorf("adding a credential: %w (%w)", ErrConflict, err)
	}
	return err
}

// TouchCredential moves the end of a credential that is not revoked.
func (tx *Tx) TouchCredential(hash [32]byte, expiresAt int64) error {
	_, err := tx.c.exec("UPDATE credentials SET expires_at = ? WHERE token_hash = ? AND revoked_at IS NULL", zero(expiresAt), hash[:])
	return err
}

// RevokeCredential ends a credential, once.
func (tx *Tx) RevokeCredential(hash [32]byte, at int64) error {
	_, err := tx.c.exec("UPDATE credentials SET revoked_at = ? WHERE token_hash = ? AND revoked_at IS NULL", at, hash[:])
	return err
}

// Meta reads a fact about this installation; "" without one.
func (r reads) Meta(name string) (value string, err error) {
	_, err = r.c.one("SELECT value FROM meta WHERE key = ?", []any{name}, func(w row) { value = w.str(0) })
	return value, err
}
