package principal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"aalis/backend/text"
)

// Unauthenticated is the error of every credential that does not count: absent, unknown, expired,
// revoked, tampered with. Message says which and what to do. Any other error of this package means
// that nobody knows, because the store or the key failed.
type Unauthenticated struct{ Message text.Text }

func (e *Unauthenticated) Error() string { return "unauthenticated: " + e.Message.String() }

func unauthenticated(key text.Key) error { return &Unauthenticated{Message: text.New(key)} }

// maxSecretLength bounds what is looked at as a credential; a JWT of ours has about 300 bytes.
const maxSecretLength = 4096

// Authority answers who is calling. It is safe for concurrent use.
type Authority struct {
	store Store
	key   KeySource
	owner *OwnerToken
	login Login

	codes    codes // for browsers
	pairings codes // for other clients of this machine

	mu        sync.Mutex // guards followers
	followers map[Hash]map[*follower]struct{}
}

// NewAuthority makes an authority over its three sources, with LocalLogin. owner may be nil where no
// server runs, as in a command that manages tokens while the program is not started.
func NewAuthority(store Store, key KeySource, owner *OwnerToken) *Authority {
	return NewAuthorityWith(LocalLogin{}, store, key, owner)
}

// NewAuthorityWith is NewAuthority with another login.
func NewAuthorityWith(login Login, store Store, key KeySource, owner *OwnerToken) *Authority {
	return &Authority{login: login, store: store, key: key, owner: owner, followers: make(map[Hash]map[*follower]struct{})}
}

// Bearer is BearerFrom of a client that names no device.
func (a *Authority) Bearer(ctx context.Context, secret string) (Caller, error) {
	return a.BearerFrom(ctx, secret, "")
}

// BearerFrom tells who holds this secret: the owner's token, a JWT, or an opaque secret of the
// credentials table. device is where the client says it is; it counts for the token of a paired device
// only, which is worth nothing from another one. The browser's cookie value is not accepted here: what
// a cookie may do is tied to where it comes from, and a bearer has no such tie.
func (a *Authority) BearerFrom(ctx context.Context, secret, device string) (Caller, error) {
	if secret == "" || len(secret) > maxSecretLength {
		return Caller{}, unauthenticated("door.credential-unknown")
	}
	if a.owner != nil && a.owner.Matches(secret) {
		return a.ownerCaller(), nil
	}
	if strings.Count(secret, ".") == 2 {
		return a.jwtCaller(ctx, secret)
	}
	return a.stored(ctx, hashOf(secret), func(row Credential) error {
		switch {
		case row.Kind == ViaTab || row.Kind == ViaAppKey || row.Kind == ViaEnvironment:
			return nil
		case row.Kind == ViaDevice && row.DeviceID == device && device != "":
			return nil
		case row.Kind == ViaDevice:
			return unauthenticated("door.device-other")
		}
		return unauthenticated("door.credential-unknown")
	})
}

// Cookie tells whose sign-in the value of ap_session is. Whether the request may use a cookie at all
// is for the door to check first.
func (a *Authority) Cookie(ctx context.Context, value string) (Caller, error) {
	if value == "" || len(value) > maxSecretLength {
		return Caller{}, unauthenticated("door.credential-unknown")
	}
	return a.stored(ctx, hashOf(value), func(row Credential) error {
		if row.Kind != ViaCookie {
			return unauthenticated("door.credential-unknown")
		}
		return nil
	})
}

func (a *Authority) ownerCaller() Caller {
	return Caller{
		Principal:    localOwner(),
		Scopes:       AllScopes(),
		Identity:     Identity{Platform: SurfaceCLI, UserID: consoleUser},
		Surface:      SurfaceCLI,
		CredentialID: "owner",
		Via:          ViaOwnerToken,
	}
}

// stored makes the caller of a row, and counts the use of a browser's sign-in.
func (a *Authority) stored(ctx context.Context, hash Hash, check func(Credential) error) (Caller, error) {
	row, found, err := a.store.Credential(ctx, hash)
	if err != nil {
		return Caller{}, fmt.Errorf("looking up a credential: %w", err)
	}
	if !found {
		return Caller{}, unauthenticated("door.credential-unknown")
	}
	if err := check(row); err != nil {
		return Caller{}, err
	}
	if err := alive(row, time.Now()); err != nil {
		return Caller{}, err
	}
	caller, err := a.callerOf(ctx, row)
	if err != nil {
		return Caller{}, err
	}
	return caller, a.touch(ctx, row)
}

func alive(row Credential, now time.Time) error {
	switch {
	case row.RevokedAt != 0:
		return unauthenticated("door.credential-revoked")
	case row.ExpiresAt != 0 && now.UnixMilli() >= row.ExpiresAt:
		return unauthenticated("door.credential-expired")
	}
	return nil
}

func (a *Authority) callerOf(ctx context.Context, row Credential) (Caller, error) {
	who, found, err := a.store.Principal(ctx, row.PrincipalID)
	if err != nil {
		return Caller{}, fmt.Errorf("looking up a principal: %w", err)
	}
	if !found {
		return Caller{}, unauthenticated("door.credential-unknown")
	}
	// A word that this version does not know grants nothing; the others still count.
	scopes := Scopes{}
	for _, scope := range AllScopes() {
		for _, role := range row.Roles {
			if role == string(scope) {
				scopes = append(scopes, scope)
				break
			}
		}
	}
	surface := SurfaceClient
	if row.Kind == ViaCookie || row.Kind == ViaTab {
		surface = SurfaceWeb
	}
	c := Caller{
		Principal:      who,
		Scopes:         scopes,
		Identity:       Identity{Platform: surface, UserID: userOf(who)},
		Surface:        surface,
		CredentialID:   row.ID(),
		Via:            row.Kind,
		CredentialHash: row.TokenHash,
	}
	if row.Kind == ViaDevice {
		c.DeviceID = row.DeviceID
	}
	if row.ExpiresAt != 0 && !sliding(row.Kind) {
		c.ExpiresAt = time.UnixMilli(row.ExpiresAt)
	}
	return c, nil
}

func userOf(who Principal) string {
	switch {
	case who.Kind == Owner:
		return consoleUser
	case who.UserID != "":
		return who.UserID
	}
	return who.ID
}

// follower is one live connection that wants to know when its credential ends.
type follower struct {
	ended func(text.Text)
	timer *time.Timer
}

// Follow calls ended, once and from another goroutine, when the caller's credential is revoked,
// signed out or expires; ended must not block. stop ends the following and is safe to call twice.
// An error says that the credential has ended since the caller came in: nothing is followed then.
//
// The record is read again after registering, so that a revocation between the two is not missed.
func (a *Authority) Follow(ctx context.Context, c Caller, ended func(text.Text)) (stop func(), err error) {
	if c.CredentialHash == (Hash{}) {
		return func() {}, nil // the owner's token and the window end with the process
	}
	f := &follower{ended: ended}
	a.mu.Lock()
	if a.followers[c.CredentialHash] == nil {
		a.followers[c.CredentialHash] = make(map[*follower]struct{})
	}
	a.followers[c.CredentialHash][f] = struct{}{}
	a.mu.Unlock()
	stop = func() { a.unfollow(c.CredentialHash, f) }

	row, found, err := a.store.Credential(ctx, c.CredentialHash)
	switch {
	case err != nil:
		err = fmt.Errorf("looking up a credential: %w", err)
	case !found:
		err = unauthenticated("door.credential-unknown")
	default:
		err = alive(row, time.Now())
	}
	if err != nil {
		stop()
		return nil, err
	}
	// A browser's sign-in ends only when it is not used, and a live connection uses it.
	if row.ExpiresAt != 0 && !sliding(row.Kind) {
		a.mu.Lock()
		if _, still := a.followers[c.CredentialHash][f]; still {
			f.timer = time.AfterFunc(time.Until(time.UnixMilli(row.ExpiresAt)), func() {
				if a.unfollow(c.CredentialHash, f) {
					ended(text.New("door.credential-expired"))
				}
			})
		}
		a.mu.Unlock()
	}
	return stop, nil
}

// unfollow reports whether f was still followed: whoever gets true is the one to call ended.
func (a *Authority) unfollow(hash Hash, f *follower) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, there := a.followers[hash][f]; !there {
		return false
	}
	delete(a.followers[hash], f)
	if len(a.followers[hash]) == 0 {
		delete(a.followers, hash)
	}
	if f.timer != nil {
		f.timer.Stop()
	}
	return true
}

// revoke ends a credential for new requests and for live connections alike.
func (a *Authority) revoke(ctx context.Context, hash Hash) error {
	// Taken to its end even when the request that asked is gone: a half-done revocation would leave
	// live connections with a credential that is refused elsewhere.
	if err := a.store.RevokeCredential(context.WithoutCancel(ctx), hash, time.Now().UnixMilli()); err != nil {
		return fmt.Errorf("revoking a credential: %w", err)
	}
	a.mu.Lock()
	ending := a.followers[hash]
	delete(a.followers, hash)
	a.mu.Unlock()
	for f := range ending {
		if f.timer != nil {
			f.timer.Stop()
		}
		f.ended(text.New("door.credential-revoked"))
	}
	return nil
}

// IsUnauthenticated gives the refusal in err, if that is what it is.
func IsUnauthenticated(err error) (*Unauthenticated, bool) {
	return errors.AsType[*Unauthenticated](err)
}
