package principal_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/principal/principaltest"
	"aalis/backend/text"
)

func pairCode(t *testing.T, a *principal.Authority, r principal.PairRequest) string {
	t.Helper()
	code, _, err := a.PairCode(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func pair(t *testing.T, a *principal.Authority, device string) (string, principal.Token) {
	t.Helper()
	secret, token, err := a.Pair(context.Background(), pairCode(t, a, principal.PairRequest{}), device)
	if err != nil {
		t.Fatal(err)
	}
	return secret, token
}

func TestPairing(t *testing.T) {
	ctx := context.Background()
	t.Run("V1-024 a code is exchanged once, whoever is faster", func(t *testing.T) {
		a, store := newAuthority(t)
		code := pairCode(t, a, principal.PairRequest{})
		var won atomic.Int32
		var at sync.WaitGroup
		for range 50 {
			at.Go(func() {
				if _, _, err := a.Pair(ctx, code, "laptop"); err == nil {
					won.Add(1)
				}
			})
		}
		at.Wait()
		if won.Load() != 1 || len(store.Rows()) != 1 {
			t.Errorf("%d exchanged it, %d rows", won.Load(), len(store.Rows()))
		}
		_, _, err := a.Pair(ctx, code, "laptop")
		wantRefusal(t, err, "door.pair-unknown")
	})
	t.Run("V1-021 without a device there is no token, and the code is not used up", func(t *testing.T) {
		a, _ := newAuthority(t)
		code := pairCode(t, a, principal.PairRequest{})
		for _, device := range []string{"", " ", "a b", "Gerät", "a\nb", strings.Repeat("d", 65)} {
			if _, _, err := a.Pair(ctx, code, device); !fault.Is(err, fault.Invalid) {
				t.Errorf("%q: %v", device, err)
			}
		}
		if _, _, err := a.Pair(ctx, code, "laptop"); err != nil {
			t.Error(err)
		}
	})
	t.Run("a code ends after five minutes, counts however it is typed, and nowhere else", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, _ := newAuthority(t)
			early := pairCode(t, a, principal.PairRequest{})
			time.Sleep(principal.PairCodeLifetime - time.Second)
			late := pairCode(t, a, principal.PairRequest{})
			if _, err := a.SignInCookie(ctx, late); err == nil {
				t.Error("a pairing code signed a browser in")
			}
			if _, _, err := a.Pair(ctx, newCode(t, a), "laptop"); err == nil {
				t.Error("a browser's code made a device token")
			}
			if len(early) != 9 || early[4] != '-' {
				t.Errorf("code %q", early)
			}
			time.Sleep(time.Second)
			_, _, err := a.Pair(ctx, early, "laptop")
			wantRefusal(t, err, "door.pair-unknown")
			typed := strings.NewReplacer("0", "o", "1", "l", "-", " ").Replace(strings.ToLower(late))
			if _, _, err := a.Pair(ctx, typed, "laptop"); err != nil {
				t.Errorf("%q for %q: %v", typed, late, err)
			}
		})
	})
	t.Run("V1-020 V1-023 a token counts from its device only, as a bearer only, and its hash alone is kept", func(t *testing.T) {
		a, store := newAuthority(t)
		secret, _ := pair(t, a, "laptop")
		caller, err := a.BearerFrom(ctx, secret, "laptop")
		if err != nil || caller.DeviceID != "laptop" || caller.Via != principal.ViaDevice || caller.Scopes.String() != "read,chat" || caller.Surface != "client" {
			t.Errorf("%+v, %v", caller, err)
		}
		for _, device := range []string{"", "phone", "Laptop", "laptop "} {
			_, err := a.BearerFrom(ctx, secret, device)
			wantRefusal(t, err, "door.device-other")
		}
		_, err = a.Cookie(ctx, secret)
		wantRefusal(t, err, "door.credential-unknown")
		kept, err := json.Marshal(store.Rows())
		if err != nil || strings.Contains(string(kept), secret) {
			t.Errorf("kept: %s, %v", kept, err)
		}
	})
	t.Run("SEC-08 approving is a right that is asked for; a life is one second to a day", func(t *testing.T) {
		a, _ := newAuthority(t)
		_, token, err := a.Pair(ctx, pairCode(t, a, principal.PairRequest{Approve: true}), "laptop")
		if err != nil || token.Scopes.String() != "read,chat,approve" {
			t.Errorf("%+v, %v", token, err)
		}
		for _, life := range []time.Duration{-1, time.Millisecond, 25 * time.Hour} {
			if _, _, err := a.PairCode(ctx, principal.PairRequest{Lifetime: life}); !fault.Is(err, fault.Invalid) {
				t.Errorf("%v: %v", life, err)
			}
		}
	})
	t.Run("V1-022 V1-035 a token ends after an hour, live connections too; a renewal goes on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, _ := newAuthority(t)
			secret, token := pair(t, a, "laptop")
			caller, err := a.BearerFrom(ctx, secret, "laptop")
			if err != nil || !caller.ExpiresAt.Equal(time.Now().Add(time.Hour)) {
				t.Fatalf("%+v, %v", caller, err)
			}
			var ended time.Time
			if _, err := a.Follow(ctx, caller, func(text.Text) { ended = time.Now() }); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Minute)
			next, renewed, err := a.Renew(ctx, caller)
			if err != nil || renewed.DeviceID != "laptop" || renewed.Scopes.String() != "read,chat" || !renewed.ExpiresAt.Equal(time.Now().Add(time.Hour)) {
				t.Fatalf("%+v, %v", renewed, err)
			}
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if !ended.Equal(token.ExpiresAt) {
				t.Errorf("ended at %v, the token at %v", ended, token.ExpiresAt)
			}
			_, err = a.BearerFrom(ctx, secret, "laptop")
			wantRefusal(t, err, "door.credential-expired")
			_, _, err = a.Renew(ctx, caller)
			wantRefusal(t, err, "door.credential-expired")
			if _, err := a.BearerFrom(ctx, next, "laptop"); err != nil {
				t.Error(err)
			}
			_, err = a.BearerFrom(ctx, next, "phone")
			wantRefusal(t, err, "door.device-other")
			if all, err := a.Tokens(ctx); err != nil || len(all) != 1 || all[0].ID != renewed.ID {
				t.Errorf("listed: %+v, %v", all, err)
			}
		})
	})
	t.Run("revoking a device's token ends all of that device, and no renewal gets away", func(t *testing.T) {
		for range 100 {
			a, _ := newAuthority(t)
			secret, token := pair(t, a, "laptop")
			other, _ := pair(t, a, "phone")
			caller, err := a.BearerFrom(ctx, secret, "laptop")
			if err != nil {
				t.Fatal(err)
			}
			second, _, err := a.Renew(ctx, caller)
			if err != nil {
				t.Fatal(err)
			}
			from, err := a.BearerFrom(ctx, second, "laptop")
			if err != nil {
				t.Fatal(err)
			}
			made := make(chan string, 64)
			var at sync.WaitGroup
			for range 8 {
				at.Go(func() {
					if third, _, err := a.Renew(ctx, from); err == nil {
						made <- third
					}
				})
			}
			at.Go(func() {
				if err := a.RevokeToken(ctx, token.ID); err != nil {
					t.Error(err)
				}
			})
			at.Wait()
			close(made)
			for _, gone := range []string{secret, second} {
				_, err := a.BearerFrom(ctx, gone, "laptop")
				wantRefusal(t, err, "door.credential-revoked")
			}
			for third := range made {
				_, err := a.BearerFrom(ctx, third, "laptop")
				wantRefusal(t, err, "door.credential-revoked")
			}
			if _, err := a.BearerFrom(ctx, other, "phone"); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("a revocation between a renewal's look and its writing ends what it wrote", func(t *testing.T) {
		store := &slowToPut{Memory: principaltest.NewMemory(), before: func() {}}
		a := principal.NewAuthority(store, nil, nil)
		secret, token := pair(t, a, "laptop")
		caller, err := a.BearerFrom(ctx, secret, "laptop")
		if err != nil {
			t.Fatal(err)
		}
		store.before = func() {
			if err := a.RevokeToken(ctx, token.ID); err != nil {
				t.Error(err)
			}
		}
		_, _, err = a.Renew(ctx, caller)
		wantRefusal(t, err, "door.credential-revoked")
		for _, row := range store.Rows() {
			if row.RevokedAt == 0 {
				t.Errorf("it counts on: %+v", row)
			}
		}
	})
}

// slowToPut is a store in which something happens before a row is written.
type slowToPut struct {
	*principaltest.Memory
	before func()
}

func (s *slowToPut) PutCredential(ctx context.Context, c principal.Credential) error {
	s.before()
	return s.Memory.PutCredential(ctx, c)
}

// business is a login elsewhere, which gives out a token of its own.
type business struct{ token, who string }

func (b *business) Login(context.Context) (string, error) {
	if b.who == "" {
		return "", errors.New("nobody is logged in there")
	}
	b.token = "sentinel-upstream-91c4"
	return b.who, nil
}

func TestUpstreamLogin(t *testing.T) {
	ctx := context.Background()
	store := principaltest.NewMemory()
	store.AddPrincipal(principal.Principal{ID: "u7", Kind: principal.User, TenantID: "acme", Platform: "jms", UserID: "7"})
	upstream := &business{who: "u7"}
	a := principal.NewAuthorityWith(upstream, store, func() ([]byte, error) { return testKey, nil }, nil)

	t.Run("V1-025 V1-026 V1-028 cookie and device are the upstream's person, and its token goes nowhere", func(t *testing.T) {
		code := newCode(t, a)
		cookie, err := a.SignInCookie(ctx, code)
		if err != nil {
			t.Fatal(err)
		}
		short := pairCode(t, a, principal.PairRequest{})
		secret, token, err := a.Pair(ctx, short, "laptop")
		if err != nil {
			t.Fatal(err)
		}
		browser, err := a.Cookie(ctx, cookie)
		if err != nil {
			t.Fatal(err)
		}
		device, err := a.BearerFrom(ctx, secret, "laptop")
		if err != nil {
			t.Fatal(err)
		}
		if browser.Principal != device.Principal || device.Principal.ID != "u7" || device.Principal.TenantID != "acme" {
			t.Errorf("%+v and %+v", browser.Principal, device.Principal)
		}
		all, err := json.Marshal([]any{code, cookie, short, secret, token, browser, device, store.Rows()})
		if err != nil || upstream.token == "" || strings.Contains(string(all), upstream.token) {
			t.Errorf("%s, %v", all, err)
		}
	})
	t.Run("without a login there is no code", func(t *testing.T) {
		upstream.who = ""
		if code, err := a.NewCode(ctx); err == nil {
			t.Errorf("a code %q", code)
		}
		if code, _, err := a.PairCode(ctx, principal.PairRequest{}); err == nil {
			t.Errorf("a code %q", code)
		}
	})
}
