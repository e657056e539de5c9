// Package principaltest owns what tests need of package principal: a store in memory, and the
// conformance suite that every implementation of principal.Store passes. No program imports it.
package principaltest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"aalis/backend/principal"
)

// Memory is a principal.Store without a file. It enforces what the tables enforce.
type Memory struct {
	mu         sync.Mutex // guards all below
	principals map[string]principal.Principal
	rows       map[principal.Hash]principal.Credential
	broken     error
}

// NewMemory gives a store with the principal `owner`, as the first migration makes it.
func NewMemory() *Memory {
	return &Memory{
		principals: map[string]principal.Principal{
			principal.OwnerID: {ID: principal.OwnerID, Kind: principal.Owner, TenantID: "local"},
		},
		rows: make(map[principal.Hash]principal.Credential),
	}
}

// Break makes every later call fail with err; nil mends it.
func (m *Memory) Break(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = err
}

// AddPrincipal puts a principal in, as a command of the domain would.
func (m *Memory) AddPrincipal(p principal.Principal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.principals[p.ID] = p
}

// Rows gives a copy of every credential, for asserting on what is kept.
func (m *Memory) Rows() []principal.Credential {
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []principal.Credential
	for _, row := range m.rows {
		rows = append(rows, copyOf(row))
	}
	slices.SortFunc(rows, order)
	return rows
}

func copyOf(row principal.Credential) principal.Credential {
	row.Roles = slices.Clone(row.Roles)
	return row
}

func order(a, b principal.Credential) int {
	return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), bytes.Compare(a.TokenHash[:], b.TokenHash[:]))
}

// Principal implements principal.Store.
func (m *Memory) Principal(_ context.Context, id string) (principal.Principal, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, found := m.principals[id]
	return p, found && m.broken == nil, m.broken
}

var kinds = []principal.CredentialKind{
	principal.ViaTab, principal.ViaCookie, principal.ViaDevice,
	principal.ViaJWT, principal.ViaAppKey, principal.ViaEnvironment,
}

// PutCredential implements principal.Store.
func (m *Memory) PutCredential(_ context.Context, c principal.Credential) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return m.broken
	}
	if _, twice := m.rows[c.TokenHash]; twice {
		return errors.New("token_hash exists")
	}
	if _, known := m.principals[c.PrincipalID]; !known {
		return fmt.Errorf("no principal %q", c.PrincipalID)
	}
	if !slices.Contains(kinds, c.Kind) {
		return fmt.Errorf("kind %q is not one of %q", c.Kind, kinds)
	}
	m.rows[c.TokenHash] = copyOf(c)
	return nil
}

// Credential implements principal.Store.
func (m *Memory) Credential(_ context.Context, hash principal.Hash) (principal.Credential, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return principal.Credential{}, false, m.broken
	}
	row, found := m.rows[hash]
	return copyOf(row), found, nil
}

// TouchCredential implements principal.Store.
func (m *Memory) TouchCredential(_ context.Context, hash principal.Hash, expiresAt int64) error {
	return m.change(hash, func(row *principal.Credential) { row.ExpiresAt = expiresAt })
}

// RevokeCredential implements principal.Store.
func (m *Memory) RevokeCredential(_ context.Context, hash principal.Hash, revokedAt int64) error {
	return m.change(hash, func(row *principal.Credential) { row.RevokedAt = revokedAt })
}

// change edits a row that is not revoked.
func (m *Memory) change(hash principal.Hash, edit func(*principal.Credential)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return m.broken
	}
	if row, found := m.rows[hash]; found && row.RevokedAt == 0 {
		edit(&row)
		m.rows[hash] = row
	}
	return nil
}

// ListCredentials implements principal.Store.
func (m *Memory) ListCredentials(_ context.Context, kind principal.CredentialKind) ([]principal.Credential, error) {
	m.mu.Lock()
	broken := m.broken
	m.mu.Unlock()
	if broken != nil {
		return nil, broken
	}
	return slices.DeleteFunc(m.Rows(), func(row principal.Credential) bool { return row.Kind != kind }), nil
}
