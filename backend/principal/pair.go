package principal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"aalis/backend/fault"
	"aalis/backend/text"
)

const (
	// PairCodeLifetime is how long a pairing code waits: long enough to carry it to another window.
	PairCodeLifetime = 5 * time.Minute
	// DefaultDeviceLifetime is the life of a device token until it is renewed. Spec V1-022.
	DefaultDeviceLifetime = time.Hour
	maxDeviceLifetime     = 24 * time.Hour
	maxDeviceID           = 64
)

// Login is where the people of this program come from: it says whose a one-time code is to be. A
// business system's own login stands behind it; what that system gives out stays there, because only
// the id of a principal comes back (Spec V1-025).
type Login interface {
	// Login gives the id of a row of principals, or why nobody is logged in; the words of its error go
	// to the log, so they hold no secret.
	Login(ctx context.Context) (principalID string, err error)
}

// LocalLogin is the login of a program on its owner's machine: whoever may ask for a code is the owner.
type LocalLogin struct{}

// Login implements Login.
func (LocalLogin) Login(context.Context) (string, error) { return OwnerID, nil }

// PairRequest says what a pairing code is worth. Zero fields mean the defaults.
type PairRequest struct {
	Approve  bool          // the right to decide approvals, beside DefaultScopes
	Lifetime time.Duration // of the token
}

// codeAlphabet has no letter that is taken for a digit or another letter (Crockford's base 32).
const codeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// PairCode makes a code like 7K3M-9QZD that one device exchanges for its token, once, until ends.
// Its 40 random bits are enough for a code that lives minutes in memory only, behind a door that lets
// through few tries: 60 of them in its life, against 2^40.
func (a *Authority) PairCode(ctx context.Context, r PairRequest) (code string, ends time.Time, err error) {
	if r.Lifetime == 0 {
		r.Lifetime = DefaultDeviceLifetime
	}
	if r.Lifetime < time.Second || r.Lifetime > maxDeviceLifetime {
		return "", time.Time{}, fault.New(fault.Invalid, text.New("door.device-lifetime", "max", maxDeviceLifetime.String()))
	}
	who, err := a.login.Login(ctx)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("asking the login whose a pairing code is: %w", err)
	}
	scopes := DefaultScopes()
	if r.Approve {
		scopes = append(scopes, Approve)
	}
	var symbols [8]byte
	_, _ = rand.Read(symbols[:]) // never fails: crypto/rand ends the program instead
	for i, b := range symbols {
		symbols[i] = codeAlphabet[int(b)%len(codeAlphabet)] // 256 is a multiple of 32
	}
	now := time.Now()
	ends = now.Add(PairCodeLifetime)
	a.pairings.add(waitingCode{hash: hashOf(string(symbols[:])), ends: ends, principalID: who, scopes: scopes, lifetime: r.Lifetime}, now)
	return string(symbols[:4]) + "-" + string(symbols[4:]), ends, nil
}

// asTyped gives a code as it was made: people leave the dash out, write small letters and mistake O for 0.
var asTyped = strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1")

var deviceID = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)

// Pair exchanges a code for the token of this device, which is bound to the device from then on. A bad
// device is a fault of code invalid and uses no code up (Spec V1-021, V1-024).
func (a *Authority) Pair(ctx context.Context, code, device string) (string, Token, error) {
	if len(device) > maxDeviceID || !deviceID.MatchString(device) {
		return "", Token{}, fault.New(fault.Invalid, text.New("door.device-id", "max", maxDeviceID))
	}
	if len(code) > maxSecretLength {
		return "", Token{}, unauthenticated("door.pair-unknown")
	}
	taken, ok := a.pairings.take(hashOf(asTyped.Replace(strings.ToUpper(code))), time.Now())
	if !ok {
		return "", Token{}, unauthenticated("door.pair-unknown")
	}
	return a.deviceToken(ctx, Credential{PrincipalID: taken.principalID, DeviceID: device, Roles: taken.scopes.words()}, taken.lifetime)
}

func (a *Authority) deviceToken(ctx context.Context, row Credential, lifetime time.Duration) (string, Token, error) {
	secret, now := newSecret(), time.Now()
	row.TokenHash, row.Kind = hashOf(secret), ViaDevice
	row.CreatedAt, row.ExpiresAt = now.UnixMilli(), now.Add(lifetime).UnixMilli()
	if err := a.store.PutCredential(ctx, row); err != nil {
		return "", Token{}, fmt.Errorf("keeping a device token: %w", err)
	}
	return secret, tokenOf(row), nil
}

// Renew gives the device that the caller came in from a new token with the rights and the life of the
// old one. The old one is left to its end, so that an answer that is lost on its way locks nobody out.
func (a *Authority) Renew(ctx context.Context, c Caller) (string, Token, error) {
	row, found, err := a.store.Credential(ctx, c.CredentialHash)
	switch {
	case err != nil:
		return "", Token{}, fmt.Errorf("looking up a device token: %w", err)
	case !found || row.Kind != ViaDevice:
		return "", Token{}, unauthenticated("door.device-only")
	}
	if err := alive(row, time.Now()); err != nil {
		return "", Token{}, err
	}
	secret, token, err := a.deviceToken(ctx, Credential{PrincipalID: row.PrincipalID, DeviceID: row.DeviceID, Roles: row.Roles},
		time.Duration(row.ExpiresAt-row.CreatedAt)*time.Millisecond)
	if err != nil {
		return "", Token{}, err
	}
	// Read again: revokeDevice may have looked for the last time before the new row stood, but then the
	// old one was revoked already.
	row, _, err = a.store.Credential(ctx, c.CredentialHash)
	if err == nil {
		err = alive(row, time.Now())
	}
	if err != nil {
		return "", Token{}, errors.Join(err, a.revoke(ctx, hashOf(secret)))
	}
	return secret, token, nil
}

// revokeDevice ends every token of a device, until none is left that a renewal could have come from.
func (a *Authority) revokeDevice(ctx context.Context, device string) error {
	for {
		rows, err := a.store.ListCredentials(ctx, ViaDevice)
		if err != nil {
			return fmt.Errorf("listing device tokens: %w", err)
		}
		left := 0
		for _, row := range rows {
			if row.DeviceID != device || row.RevokedAt != 0 {
				continue
			}
			left++
			if err := a.revoke(ctx, row.TokenHash); err != nil {
				return err
			}
		}
		if left == 0 {
			return nil
		}
	}
}
