package principal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// CredentialKind is the kind column of the credentials table, and for the two that are never stored a
// word of its own. It is an alias so that rows of the table convert.
type CredentialKind = string

// The kinds of credentials.
const (
	ViaTab         CredentialKind = "ws"                 // bearer of a browser tab that cannot use the cookie
	ViaCookie      CredentialKind = "v1_cookie"          // ap_session
	ViaDevice      CredentialKind = "v1_desktop"         // short-lived token of a paired device
	ViaJWT         CredentialKind = "jwt_jti"            // signed token of another client; its jti is what is hashed
	ViaAppKey      CredentialKind = "app_key"            // managed API: consumer
	ViaEnvironment CredentialKind = "environment_secret" // managed API: environment

	ViaOwnerToken CredentialKind = "owner_token" // run/owner.token; lives in memory and that file only
	ViaDesktop    CredentialKind = "desktop"     // the window's bindings
)

// Hash is the SHA-256 of a secret (of the jti for a JWT), the primary key of the credentials table.
// Every secret has 256 random bits, so a plain hash cannot be turned back.
type Hash = [sha256.Size]byte

func hashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// Credential is one row of the credentials table. Times are Unix milliseconds, 0 stands for NULL.
// The field types are plain so that a row struct of the same shape converts without copying by hand.
type Credential struct {
	TokenHash   Hash
	PrincipalID string
	Kind        CredentialKind
	// DeviceID is the bound device of ViaDevice, and the name given to a ViaJWT.
	DeviceID string
	// Roles are the scopes.
	Roles     []string
	CreatedAt int64
	ExpiresAt int64
	RevokedAt int64
}

// ID names the credential where its hash would be unwieldy: lists, logs, `aalis token revoke ID`.
func (c Credential) ID() string { return credentialID(c.TokenHash) }

func credentialID(h Hash) string { return hex.EncodeToString(h[:8]) }

// Store keeps principals and credentials. Each method is one statement; when a write returns nil it
// is committed. Implementations are safe for concurrent use and see their own writes at once.
type Store interface {
	// Principal gives the row of principals with this id; false when there is none.
	Principal(ctx context.Context, id string) (Principal, bool, error)
	// PutCredential inserts a row; a token_hash that exists already is an error.
	PutCredential(ctx context.Context, c Credential) error
	// Credential gives the row with this token_hash, whether revoked or expired or not; false when
	// there is none.
	Credential(ctx context.Context, hash Hash) (Credential, bool, error)
	// TouchCredential sets expires_at of a row that is not revoked; it is no error when there is none.
	TouchCredential(ctx context.Context, hash Hash, expiresAt int64) error
	// RevokeCredential sets revoked_at where it is NULL; it is no error when there is none.
	RevokeCredential(ctx context.Context, hash Hash, revokedAt int64) error
	// ListCredentials gives every row of the kind, oldest first (created_at, then token_hash).
	ListCredentials(ctx context.Context, kind CredentialKind) ([]Credential, error)
}
