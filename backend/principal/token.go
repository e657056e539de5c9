package principal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"aalis/backend/fault"
	"aalis/backend/text"
)

const (
	// DefaultTokenLifetime is the life of a token when nobody says otherwise.
	DefaultTokenLifetime = 720 * time.Hour
	maxTokenLifetime     = 10 * 365 * 24 * time.Hour
	maxTokenName         = 64
	issuer               = "aalis"
)

// claims are what a token carries. Scope is for the client to read; what counts are the roles of the
// token's record, so that a token can never say more about itself than was decided.
type claims struct {
	Scope string `json:"scope"`
	jwt.RegisteredClaims
}

// Token describes a token of another client. The secret itself is given out once and kept nowhere.
type Token struct {
	ID        string // for `aalis token revoke`
	Name      string // of a device token: its device
	DeviceID  string // the bound device, "" for signed tokens
	Scopes    Scopes
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt time.Time // zero while it counts
}

// TokenRequest says what token to make. Zero Scopes and Lifetime mean the defaults.
type TokenRequest struct {
	Name     string
	Scopes   Scopes
	Lifetime time.Duration
}

// CreateToken makes a signed token (JWT, HS256) for another client of the owner and returns it with
// its description. Faults of code invalid name what is wrong with the request.
func (a *Authority) CreateToken(ctx context.Context, r TokenRequest) (string, Token, error) {
	if err := r.check(); err != nil {
		return "", Token{}, err
	}
	scopes, err := scopesFrom(r.Scopes.words())
	if err != nil {
		return "", Token{}, err
	}
	if len(scopes) == 0 {
		scopes = DefaultScopes()
	}
	if r.Lifetime == 0 {
		r.Lifetime = DefaultTokenLifetime
	}
	key, err := a.signingKey()
	if err != nil {
		return "", Token{}, err
	}
	// Whole seconds, the resolution of exp, so that the record and the token end together.
	now := time.Now().Truncate(time.Second)
	row := Credential{
		PrincipalID: OwnerID,
		Kind:        ViaJWT,
		DeviceID:    r.Name,
		Roles:       scopes.words(),
		CreatedAt:   now.UnixMilli(),
		ExpiresAt:   now.Add(r.Lifetime).Truncate(time.Second).UnixMilli(),
	}
	jti := newSecret()
	row.TokenHash = hashOf(jti)
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		Scope: strings.Join(row.Roles, " "),
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    issuer,
			Subject:   row.PrincipalID,
			ID:        jti,
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(time.UnixMilli(row.ExpiresAt)),
		},
	}).SignedString(key)
	if err != nil {
		return "", Token{}, fmt.Errorf("signing a token: %w", err)
	}
	if err := a.store.PutCredential(ctx, row); err != nil {
		return "", Token{}, fmt.Errorf("keeping a token's record: %w", err)
	}
	return signed, tokenOf(row), nil
}

func (r TokenRequest) check() error {
	switch {
	case strings.TrimSpace(r.Name) == "" || utf8.RuneCountInString(r.Name) > maxTokenName ||
		strings.ContainsFunc(r.Name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return fault.New(fault.Invalid, text.New("door.token-name", "max", maxTokenName))
	case r.Lifetime != 0 && (r.Lifetime < time.Second || r.Lifetime > maxTokenLifetime):
		return fault.New(fault.Invalid, text.New("door.token-lifetime", "max", maxTokenLifetime.String()))
	}
	return nil
}

func tokenOf(row Credential) Token {
	t := Token{
		ID:        row.ID(),
		Name:      row.DeviceID,
		CreatedAt: time.UnixMilli(row.CreatedAt),
		ExpiresAt: time.UnixMilli(row.ExpiresAt),
	}
	if row.Kind == ViaDevice {
		t.DeviceID = row.DeviceID
	}
	for _, role := range row.Roles {
		t.Scopes = append(t.Scopes, Scope(role))
	}
	if row.RevokedAt != 0 {
		t.RevokedAt = time.UnixMilli(row.RevokedAt)
	}
	return t
}

// Tokens lists the signed tokens that were made, revoked and expired ones included, and the device tokens
// whose time is not over (a device gets a new one every hour), each oldest first.
func (a *Authority) Tokens(ctx context.Context) ([]Token, error) {
	rows, err := a.store.ListCredentials(ctx, ViaJWT)
	if err != nil {
		return nil, fmt.Errorf("listing tokens: %w", err)
	}
	devices, err := a.store.ListCredentials(ctx, ViaDevice)
	if err != nil {
		return nil, fmt.Errorf("listing device tokens: %w", err)
	}
	now := time.Now().UnixMilli()
	for _, row := range devices {
		if now < row.ExpiresAt {
			rows = append(rows, row)
		}
	}
	tokens := make([]Token, len(rows))
	for i, row := range rows {
		tokens[i] = tokenOf(row)
	}
	return tokens, nil
}

// RevokeToken ends the token with this id at once, for live connections too, and with the token of a
// device every other one of that device, renewals included. Revoking it again does no harm; an unknown
// id is a fault of code not-found.
func (a *Authority) RevokeToken(ctx context.Context, id string) error {
	for _, kind := range []CredentialKind{ViaJWT, ViaDevice} {
		rows, err := a.store.ListCredentials(ctx, kind)
		if err != nil {
			return fmt.Errorf("listing tokens: %w", err)
		}
		for _, row := range rows {
			switch {
			case row.ID() != id:
			case kind == ViaDevice:
				return a.revokeDevice(ctx, row.DeviceID)
			default:
				return a.revoke(ctx, row.TokenHash)
			}
		}
	}
	return fault.New(fault.NotFound, text.New("door.token-unknown", "id", id))
}

// signingKey refuses a short key: HS256 is worth what its key is.
func (a *Authority) signingKey() ([]byte, error) {
	key, err := a.key()
	if err != nil {
		return nil, err
	}
	if len(key) < secretBytes {
		return nil, fmt.Errorf("the signing key has %d bytes and needs %d", len(key), secretBytes)
	}
	return key, nil
}

// jwtCaller checks signature, algorithm, issuer and end of a JWT, then asks the record of its jti.
func (a *Authority) jwtCaller(ctx context.Context, signed string) (Caller, error) {
	key, err := a.signingKey()
	if err != nil {
		return Caller{}, err
	}
	var c claims
	_, err = jwt.ParseWithClaims(signed, &c, func(*jwt.Token) (any, error) { return key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithExpirationRequired(), jwt.WithIssuer(issuer), jwt.WithStrictDecoding())
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return Caller{}, unauthenticated("door.credential-expired")
	case err != nil || c.ID == "":
		return Caller{}, unauthenticated("door.token-invalid")
	}
	row, found, err := a.store.Credential(ctx, hashOf(c.ID))
	if err != nil {
		return Caller{}, fmt.Errorf("looking up a token: %w", err)
	}
	if !found || row.Kind != ViaJWT || row.PrincipalID != c.Subject {
		return Caller{}, unauthenticated("door.credential-unknown")
	}
	if err := alive(row, time.Now()); err != nil {
		return Caller{}, err
	}
	return a.callerOf(ctx, row)
}
