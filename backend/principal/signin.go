package principal

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// CodeLifetime is how long a sign-in code waits for its browser.
	CodeLifetime = 60 * time.Second
	// maxCodes bounds the codes that wait at once; a further one ends the oldest.
	maxCodes = 16
	// UnusedLifetime is how long a browser's sign-in lasts without being used.
	UnusedLifetime = 30 * 24 * time.Hour
	// touchEvery is how seldom the use of a sign-in is written down.
	touchEvery = time.Hour
)

// codes are one-time codes of this process, all of one lifetime. They are kept as hashes, so that a dump of
// the process's structures does not hold what a link in flight is worth.
type codes struct {
	mu      sync.Mutex // guards waiting
	waiting []waitingCode
}

// waitingCode is a code and what it is worth. Only device tokens have scopes and a life to choose.
type waitingCode struct {
	hash        Hash
	ends        time.Time
	principalID string
	scopes      Scopes
	lifetime    time.Duration
}

func (c *codes) add(code waitingCode, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire(now)
	if len(c.waiting) == maxCodes {
		c.waiting = c.waiting[1:]
	}
	c.waiting = append(c.waiting, code)
}

// take uses a code up: the first of several that ask at once gets true.
func (c *codes) take(hash Hash, now time.Time) (waitingCode, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire(now)
	for i, w := range c.waiting {
		if w.hash == hash {
			c.waiting = append(c.waiting[:i:i], c.waiting[i+1:]...)
			return w, true
		}
	}
	return waitingCode{}, false
}

// expire drops the codes whose time is over; they stand in the order of their ends.
func (c *codes) expire(now time.Time) {
	for len(c.waiting) > 0 && !now.Before(c.waiting[0].ends) {
		c.waiting = c.waiting[1:]
	}
}

// NewCode makes a code that signs one browser tab in as whom the login says, once, within CodeLifetime.
// It may stand in the fragment of a URL: by the time a history keeps it, it is worth nothing.
func (a *Authority) NewCode(ctx context.Context) (string, error) {
	who, err := a.login.Login(ctx)
	if err != nil {
		return "", fmt.Errorf("asking the login whose a sign-in code is: %w", err)
	}
	code, now := newSecret(), time.Now()
	a.codes.add(waitingCode{hash: hashOf(code), ends: now.Add(CodeLifetime), principalID: who}, now)
	return code, nil
}

// SignInCookie exchanges a code for the value of ap_session. Only its hash is kept.
func (a *Authority) SignInCookie(ctx context.Context, code string) (string, error) {
	return a.signIn(ctx, code, ViaCookie)
}

// SignInTab exchanges a code for a bearer that the tab keeps in memory, for browsers that do not
// resolve the program's own name and would share a cookie with every port of 127.0.0.1.
func (a *Authority) SignInTab(ctx context.Context, code string) (string, error) {
	return a.signIn(ctx, code, ViaTab)
}

func (a *Authority) signIn(ctx context.Context, code string, kind CredentialKind) (string, error) {
	now := time.Now()
	if len(code) > maxSecretLength {
		return "", unauthenticated("door.code-unknown")
	}
	taken, ok := a.codes.take(hashOf(code), now)
	if !ok {
		return "", unauthenticated("door.code-unknown")
	}
	secret := newSecret()
	err := a.store.PutCredential(ctx, Credential{
		TokenHash:   hashOf(secret),
		PrincipalID: taken.principalID,
		Kind:        kind,
		Roles:       AllScopes().words(),
		CreatedAt:   now.UnixMilli(),
		ExpiresAt:   now.Add(UnusedLifetime).UnixMilli(),
	})
	if err != nil {
		return "", fmt.Errorf("keeping a sign-in: %w", err)
	}
	return secret, nil
}

// SignOut ends the browser sign-in the caller came in with, for its live connections too. Callers
// with another kind of credential have nothing to sign out of, and nothing happens.
func (a *Authority) SignOut(ctx context.Context, c Caller) error {
	if !sliding(c.Via) {
		return nil
	}
	return a.revoke(ctx, c.CredentialHash)
}

// Seen notes that a live connection still uses its sign-in. Calls are cheap to repeat: what is
// written down is at most one use per hour.
func (a *Authority) Seen(ctx context.Context, c Caller) error {
	if !sliding(c.Via) {
		return nil
	}
	row, found, err := a.store.Credential(ctx, c.CredentialHash)
	if err != nil {
		return fmt.Errorf("looking up a credential: %w", err)
	}
	if !found {
		return nil
	}
	return a.touch(ctx, row)
}

func sliding(kind CredentialKind) bool { return kind == ViaCookie || kind == ViaTab }

func (a *Authority) touch(ctx context.Context, row Credential) error {
	if !sliding(row.Kind) {
		return nil
	}
	ends := time.Now().Add(UnusedLifetime).UnixMilli()
	if ends-row.ExpiresAt < touchEvery.Milliseconds() {
		return nil
	}
	if err := a.store.TouchCredential(ctx, row.TokenHash, ends); err != nil {
		return fmt.Errorf("noting the use of a sign-in: %w", err)
	}
	return nil
}
