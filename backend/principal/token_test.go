package principal_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/text"
)

func createToken(t *testing.T, a *principal.Authority, r principal.TokenRequest) (string, principal.Token) {
	t.Helper()
	signed, token, err := a.CreateToken(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return signed, token
}

func TestTokens(t *testing.T) {
	ctx := context.Background()
	t.Run("SEC-08 a token of another client cannot approve unless that was asked for", func(t *testing.T) {
		a, _ := newAuthority(t)
		signed, token := createToken(t, a, principal.TokenRequest{Name: "editor"})
		caller, err := a.Bearer(ctx, signed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(principal.Scopes{principal.Read, principal.Chat}, caller.Scopes); diff != "" {
			t.Errorf("scopes (-want +got):\n%s", diff)
		}
		if caller.Surface != "client" || caller.CredentialID != token.ID || caller.Principal.ID != principal.OwnerID {
			t.Errorf("caller = %+v", caller)
		}
		signed, _ = createToken(t, a, principal.TokenRequest{Name: "phone", Scopes: principal.Scopes{principal.Approve, principal.Read}})
		if caller, err = a.Bearer(ctx, signed); err != nil || caller.Scopes.String() != "read,approve" {
			t.Errorf("scopes = %v, %v", caller.Scopes, err)
		}
	})
	t.Run("SEC-08 scopes come from the record, not from what the token says", func(t *testing.T) {
		a, _ := newAuthority(t)
		signed, _ := createToken(t, a, principal.TokenRequest{Name: "editor"})
		forged := resign(t, signed, jwt.SigningMethodHS256, testKey, func(c jwt.MapClaims) { c["scope"] = "read chat approve admin" })
		caller, err := a.Bearer(ctx, forged)
		if err != nil || caller.Scopes.String() != "read,chat" {
			t.Errorf("scopes = %v, %v", caller.Scopes, err)
		}
	})
	t.Run("SEC-08 tampered, foreign, expired and unknown tokens are refused", func(t *testing.T) {
		a, _ := newAuthority(t)
		signed, _ := createToken(t, a, principal.TokenRequest{Name: "editor"})
		parts := strings.Split(signed, ".")
		none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))
		same := func(jwt.MapClaims) {}
		for name, tc := range map[string]struct {
			token string
			want  text.Key
		}{
			"alg none":            {none + "." + parts[1] + ".", "door.token-invalid"},
			"alg none, signature": {none + "." + parts[1] + "." + parts[2], "door.token-invalid"},
			"alg HS512":           {resign(t, signed, jwt.SigningMethodHS512, testKey, same), "door.token-invalid"},
			"alg HS384":           {resign(t, signed, jwt.SigningMethodHS384, testKey, same), "door.token-invalid"},
			"another key":         {resign(t, signed, jwt.SigningMethodHS256, bytes.Repeat([]byte{8}, 32), same), "door.token-invalid"},
			"payload changed":     {parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"owner"}`)) + "." + parts[2], "door.token-invalid"},
			"signature changed":   {signed[:len(signed)-5] + "AAAAA", "door.token-invalid"},
			"no exp":              {resign(t, signed, jwt.SigningMethodHS256, testKey, func(c jwt.MapClaims) { delete(c, "exp") }), "door.token-invalid"},
			"no jti":              {resign(t, signed, jwt.SigningMethodHS256, testKey, func(c jwt.MapClaims) { delete(c, "jti") }), "door.token-invalid"},
			"another issuer":      {resign(t, signed, jwt.SigningMethodHS256, testKey, func(c jwt.MapClaims) { c["iss"] = "else" }), "door.token-invalid"},
			"exp in the past":     {resign(t, signed, jwt.SigningMethodHS256, testKey, func(c jwt.MapClaims) { c["exp"] = time.Now().Add(-time.Second).Unix() }), "door.credential-expired"},
			"unknown jti":         {resign(t, signed, jwt.SigningMethodHS256, testKey, func(c jwt.MapClaims) { c["jti"] = "other" }), "door.credential-unknown"},
			"another subject":     {resign(t, signed, jwt.SigningMethodHS256, testKey, func(c jwt.MapClaims) { c["sub"] = "root" }), "door.credential-unknown"},
			"not a token":         {"a.b.c", "door.token-invalid"},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := a.Bearer(ctx, tc.token)
				wantRefusal(t, err, tc.want)
			})
		}
		if _, err := a.Bearer(ctx, signed); err != nil {
			t.Errorf("the token itself: %v", err)
		}
	})
	t.Run("the jti is no secret of its own", func(t *testing.T) {
		a, _ := newAuthority(t)
		signed, _ := createToken(t, a, principal.TokenRequest{Name: "editor"})
		var jti string
		resign(t, signed, jwt.SigningMethodHS256, testKey, func(c jwt.MapClaims) { jti = c["jti"].(string) })
		_, err := a.Bearer(ctx, jti)
		wantRefusal(t, err, "door.credential-unknown")
		_, err = a.Cookie(ctx, jti)
		wantRefusal(t, err, "door.credential-unknown")
	})
	t.Run("SEC-08 revoking ends a token for live connections and new ones", func(t *testing.T) {
		a, _ := newAuthority(t)
		signed, token := createToken(t, a, principal.TokenRequest{Name: "editor"})
		_, other := createToken(t, a, principal.TokenRequest{Name: "other"})
		caller, err := a.Bearer(ctx, signed)
		if err != nil {
			t.Fatal(err)
		}
		var told atomic.Int32
		for range 3 {
			if _, err := a.Follow(ctx, caller, func(text.Text) { told.Add(1) }); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.RevokeToken(ctx, other.ID); err != nil {
			t.Fatal(err)
		}
		if told.Load() != 0 {
			t.Error("revoking another token ended this one's connections")
		}
		if err := a.RevokeToken(ctx, token.ID); err != nil {
			t.Fatal(err)
		}
		if told.Load() != 3 {
			t.Errorf("%d of 3 connections were told", told.Load())
		}
		_, err = a.Bearer(ctx, signed)
		wantRefusal(t, err, "door.credential-revoked")
		if err := a.RevokeToken(ctx, token.ID); err != nil {
			t.Errorf("again: %v", err)
		}
		if err := a.RevokeToken(ctx, "ffff"); !fault.Is(err, fault.NotFound) {
			t.Errorf("an unknown id: %v", err)
		}
	})
	t.Run("SEC-08 a revocation between signing in and following is not missed", func(t *testing.T) {
		a, _ := newAuthority(t)
		for range 200 {
			signed, token := createToken(t, a, principal.TokenRequest{Name: "editor"})
			caller, err := a.Bearer(ctx, signed)
			if err != nil {
				t.Fatal(err)
			}
			var told atomic.Bool
			var refused error
			var wg sync.WaitGroup
			wg.Go(func() { _, refused = a.Follow(ctx, caller, func(text.Text) { told.Store(true) }) })
			wg.Go(func() {
				if err := a.RevokeToken(ctx, token.ID); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
			if refused == nil && !told.Load() {
				t.Fatal("the connection goes on with a revoked token")
			}
		}
	})
	t.Run("SEC-08 a token ends at its time, live connections included", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, _ := newAuthority(t)
			signed, token := createToken(t, a, principal.TokenRequest{Name: "editor", Lifetime: time.Hour})
			caller, err := a.Bearer(ctx, signed)
			if err != nil {
				t.Fatal(err)
			}
			var at time.Time
			if _, err := a.Follow(ctx, caller, func(text.Text) { at = time.Now() }); err != nil {
				t.Fatal(err)
			}
			left, err := a.Follow(ctx, caller, func(text.Text) { t.Error("told a connection that had left") })
			if err != nil {
				t.Fatal(err)
			}
			left()
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			if !at.Equal(token.ExpiresAt) {
				t.Errorf("told at %v, the token ended at %v", at, token.ExpiresAt)
			}
			_, err = a.Bearer(ctx, signed)
			wantRefusal(t, err, "door.credential-expired")
		})
	})
	t.Run("the list shows names, scopes and ends, never the secret", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, _ := newAuthority(t)
			_, first := createToken(t, a, principal.TokenRequest{Name: "编辑器"})
			time.Sleep(time.Minute)
			_, second := createToken(t, a, principal.TokenRequest{Name: "phone", Scopes: principal.Scopes{principal.Approve}, Lifetime: time.Hour})
			if err := a.RevokeToken(ctx, first.ID); err != nil {
				t.Fatal(err)
			}
			first.RevokedAt = time.Now()
			got, err := a.Tokens(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]principal.Token{first, second}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	})
	t.Run("bad requests are named and make nothing", func(t *testing.T) {
		a, store := newAuthority(t)
		for name, r := range map[string]principal.TokenRequest{
			"no name":             {},
			"blank name":          {Name: "  "},
			"control in name":     {Name: "a\x1b[31m"},
			"invisible name":      {Name: "a\u200bb"},
			"long name":           {Name: strings.Repeat("n", 65)},
			"unknown scope":       {Name: "x", Scopes: principal.Scopes{"root"}},
			"negative life":       {Name: "x", Lifetime: -time.Hour},
			"no life to speak of": {Name: "x", Lifetime: time.Millisecond},
			"endless life":        {Name: "x", Lifetime: 1 << 62},
		} {
			if _, _, err := a.CreateToken(ctx, r); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if rows := store.Rows(); len(rows) != 0 {
			t.Errorf("kept: %+v", rows)
		}
	})
}

// resign changes a token's claims and signs them with the given method and key.
func resign(t *testing.T, signed string, method jwt.SigningMethod, key []byte, edit func(jwt.MapClaims)) string {
	t.Helper()
	c := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(signed, c); err != nil {
		t.Fatal(err)
	}
	edit(c)
	out, err := jwt.NewWithClaims(method, c).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestParseScopes(t *testing.T) {
	for list, want := range map[string]string{
		"": "read,chat", " ": "read,chat", "read": "read", "admin, read": "read,admin", "chat,chat": "chat",
	} {
		if got, err := principal.ParseScopes(list); err != nil || got.String() != want {
			t.Errorf("ParseScopes(%q) = %v, %v, want %s", list, got, err, want)
		}
	}
	for _, list := range []string{"write", "read,", "READ", "read chat"} {
		if got, err := principal.ParseScopes(list); !fault.Is(err, fault.Invalid) {
			t.Errorf("ParseScopes(%q) = %v, %v", list, got, err)
		}
	}
}
