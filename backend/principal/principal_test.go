package principal_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/principal"
	"aalis/backend/principal/principaltest"
	"aalis/backend/text"
)

var testKey = bytes.Repeat([]byte{7}, 32)

func newAuthority(t *testing.T) (*principal.Authority, *principaltest.Memory) {
	t.Helper()
	store := principaltest.NewMemory()
	return principal.NewAuthority(store, func() ([]byte, error) { return testKey, nil }, nil), store
}

func newCode(t *testing.T, a *principal.Authority) string {
	t.Helper()
	code, err := a.NewCode(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func wantRefusal(t *testing.T, err error, key text.Key) {
	t.Helper()
	refusal, ok := principal.IsUnauthenticated(err)
	if !ok || refusal.Message.Key != key {
		t.Errorf("error = %v, want the refusal %s", err, key)
	}
}

func TestSignInCode(t *testing.T) {
	t.Run("SEC-02 a code works once, whoever is faster", func(t *testing.T) {
		a, _ := newAuthority(t)
		code := newCode(t, a)
		var won atomic.Int32
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				exchange := a.SignInCookie
				if i%2 == 0 {
					exchange = a.SignInTab
				}
				if _, err := exchange(context.Background(), code); err == nil {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d of 50 got in with one code", won.Load())
		}
	})
	t.Run("SEC-02 a code waits 60 s and no longer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, _ := newAuthority(t)
			early, late := newCode(t, a), newCode(t, a)
			time.Sleep(60*time.Second - time.Millisecond)
			if _, err := a.SignInCookie(t.Context(), early); err != nil {
				t.Errorf("at 59.999 s: %v", err)
			}
			time.Sleep(time.Millisecond)
			_, err := a.SignInCookie(t.Context(), late)
			wantRefusal(t, err, "door.code-unknown")
		})
	})
	t.Run("SEC-09 at most 16 codes wait, the oldest goes first", func(t *testing.T) {
		a, _ := newAuthority(t)
		var codes []string
		for range 17 {
			codes = append(codes, newCode(t, a))
		}
		_, err := a.SignInTab(t.Context(), codes[0])
		wantRefusal(t, err, "door.code-unknown")
		for _, code := range codes[1:] {
			if _, err := a.SignInTab(t.Context(), code); err != nil {
				t.Errorf("a younger code: %v", err)
			}
		}
	})
	t.Run("no code, an unknown one and a very long one are refused", func(t *testing.T) {
		a, _ := newAuthority(t)
		for _, code := range []string{"", "0123", strings.Repeat("x", 1<<20)} {
			_, err := a.SignInCookie(t.Context(), code)
			wantRefusal(t, err, "door.code-unknown")
		}
	})
}

func TestBrowserSignIn(t *testing.T) {
	ctx := context.Background()
	signIn := func(t *testing.T, a *principal.Authority) string {
		t.Helper()
		value, err := a.SignInCookie(ctx, newCode(t, a))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	t.Run("SEC-06 only the hash of the cookie's 256 bits is kept", func(t *testing.T) {
		a, store := newAuthority(t)
		value := signIn(t, a)
		if raw, err := hex.DecodeString(value); err != nil || len(raw) != 32 {
			t.Errorf("value %q is not 256 bits", value)
		}
		rows := store.Rows()
		if len(rows) != 1 || rows[0].TokenHash != sha256.Sum256([]byte(value)) {
			t.Fatalf("rows = %+v", rows)
		}
		kept, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(kept, []byte(value)) {
			t.Error("the value itself is kept")
		}
	})
	t.Run("SEC-08 the caller is the owner on the surface webui", func(t *testing.T) {
		a, _ := newAuthority(t)
		caller, err := a.Cookie(ctx, signIn(t, a))
		if err != nil {
			t.Fatal(err)
		}
		if caller.Principal.ID != principal.OwnerID || caller.Surface != "webui" || caller.Identity != (principal.Identity{Platform: "webui", UserID: "console"}) {
			t.Errorf("caller = %+v", caller)
		}
	})
	t.Run("SEC-06 a cookie is no bearer and a tab's bearer no cookie", func(t *testing.T) {
		a, _ := newAuthority(t)
		_, err := a.Bearer(ctx, signIn(t, a))
		wantRefusal(t, err, "door.credential-unknown")
		tab, err := a.SignInTab(ctx, newCode(t, a))
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Cookie(ctx, tab)
		wantRefusal(t, err, "door.credential-unknown")
		if caller, err := a.Bearer(ctx, tab); err != nil || caller.Surface != "webui" {
			t.Errorf("tab's caller = %+v, %v", caller, err)
		}
	})
	t.Run("SEC-06 30 days unused end it, and use keeps it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, _ := newAuthority(t)
			used, unused := signIn(t, a), signIn(t, a)
			time.Sleep(29 * 24 * time.Hour)
			if _, err := a.Cookie(ctx, used); err != nil {
				t.Fatal(err)
			}
			time.Sleep(24 * time.Hour)
			if _, err := a.Cookie(ctx, used); err != nil {
				t.Errorf("used a day ago: %v", err)
			}
			_, err := a.Cookie(ctx, unused)
			wantRefusal(t, err, "door.credential-expired")
		})
	})
	t.Run("a live connection counts as use", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, _ := newAuthority(t)
			value := signIn(t, a)
			caller, err := a.Cookie(ctx, value)
			if err != nil {
				t.Fatal(err)
			}
			for range 40 {
				time.Sleep(24 * time.Hour)
				if err := a.Seen(ctx, caller); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := a.Cookie(ctx, value); err != nil {
				t.Errorf("after 40 days of a live connection: %v", err)
			}
		})
	})
	t.Run("SEC-06 signing out ends it at once, live connections included", func(t *testing.T) {
		a, _ := newAuthority(t)
		value := signIn(t, a)
		caller, err := a.Cookie(ctx, value)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		stop, err := a.Follow(ctx, caller, func(m text.Text) { said = append(said, string(m.Key)) })
		if err != nil {
			t.Fatal(err)
		}
		if err := a.SignOut(ctx, caller); err != nil {
			t.Fatal(err)
		}
		_, err = a.Cookie(ctx, value)
		wantRefusal(t, err, "door.credential-revoked")
		_, err = a.Follow(ctx, caller, func(text.Text) {})
		wantRefusal(t, err, "door.credential-revoked")
		if err := a.SignOut(ctx, caller); err != nil {
			t.Fatal(err)
		}
		stop()
		stop()
		if diff := cmp.Diff([]string{"door.credential-revoked"}, said); diff != "" {
			t.Errorf("told the connection (-want +got):\n%s", diff)
		}
	})
	t.Run("a failing store is not a refusal", func(t *testing.T) {
		a, store := newAuthority(t)
		value := signIn(t, a)
		broken := errors.New("disk full")
		store.Break(broken)
		_, err := a.Cookie(ctx, value)
		if _, refusal := principal.IsUnauthenticated(err); refusal || !errors.Is(err, broken) {
			t.Errorf("error = %v", err)
		}
	})
}

func TestOtherPrincipals(t *testing.T) {
	a, store := newAuthority(t)
	store.AddPrincipal(principal.Principal{ID: "app1", Kind: principal.App, TenantID: "local", AppID: "crm"})
	if err := store.PutCredential(t.Context(), principal.Credential{
		TokenHash: sha256.Sum256([]byte("ak_secret")), PrincipalID: "app1", Kind: principal.ViaAppKey, Roles: []string{"read", "from-the-future"},
	}); err != nil {
		t.Fatal(err)
	}
	caller, err := a.Bearer(t.Context(), "ak_secret")
	if err != nil {
		t.Fatal(err)
	}
	if caller.Principal.Kind != principal.App || caller.Scopes.String() != "read" || caller.Identity.UserID != "app1" {
		t.Errorf("caller = %+v", caller)
	}
	if err := store.PutCredential(t.Context(), principal.Credential{
		TokenHash: sha256.Sum256([]byte("device")), PrincipalID: principal.OwnerID, Kind: principal.ViaDevice, DeviceID: "d1", Roles: []string{"read"},
	}); err != nil {
		t.Fatal(err)
	}
	_, err = a.Bearer(t.Context(), "device")
	wantRefusal(t, err, "door.device-other")
}
