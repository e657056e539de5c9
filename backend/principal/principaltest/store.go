package principaltest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/principal"
)

// RunStore checks an implementation of principal.Store. open gives a fresh one that holds the
// principal `owner` and no credential.
func RunStore(t *testing.T, open func(t *testing.T) principal.Store) {
	row := func(b byte, kind principal.CredentialKind, created int64) principal.Credential {
		return principal.Credential{
			TokenHash: principal.Hash{b}, PrincipalID: principal.OwnerID, Kind: kind, DeviceID: "phone",
			Roles: []string{"read", "chat"}, CreatedAt: created, ExpiresAt: created + 1000,
		}
	}
	put := func(t *testing.T, s principal.Store, rows ...principal.Credential) {
		t.Helper()
		for _, r := range rows {
			if err := s.PutCredential(t.Context(), r); err != nil {
				t.Fatalf("PutCredential: %v", err)
			}
		}
	}
	get := func(t *testing.T, s principal.Store, hash principal.Hash) principal.Credential {
		t.Helper()
		got, found, err := s.Credential(context.Background(), hash)
		if err != nil || !found {
			t.Fatalf("Credential = found %v, %v", found, err)
		}
		return got
	}

	t.Run("the owner is there", func(t *testing.T) {
		p, found, err := open(t).Principal(t.Context(), principal.OwnerID)
		if err != nil || !found || p.Kind != principal.Owner || p.TenantID != "local" {
			t.Fatalf("Principal(owner) = %+v, %v, %v", p, found, err)
		}
	})
	t.Run("an absent row is no error", func(t *testing.T) {
		s := open(t)
		if _, found, err := s.Principal(t.Context(), "nobody"); found || err != nil {
			t.Errorf("Principal(nobody) = %v, %v", found, err)
		}
		if _, found, err := s.Credential(t.Context(), principal.Hash{9}); found || err != nil {
			t.Errorf("Credential(absent) = %v, %v", found, err)
		}
		if err := s.TouchCredential(t.Context(), principal.Hash{9}, 5); err != nil {
			t.Errorf("TouchCredential(absent) = %v", err)
		}
		if err := s.RevokeCredential(t.Context(), principal.Hash{9}, 5); err != nil {
			t.Errorf("RevokeCredential(absent) = %v", err)
		}
	})
	t.Run("every field of every kind comes back", func(t *testing.T) {
		s := open(t)
		for i, kind := range kinds {
			want := row(byte(i), kind, int64(1000+i))
			if i%2 == 0 { // NULL and '[]'
				want.DeviceID, want.ExpiresAt, want.Roles = "", 0, []string{}
			}
			put(t, s, want)
			if diff := cmp.Diff(want, get(t, s, want.TokenHash)); diff != "" {
				t.Errorf("%s (-put +got):\n%s", kind, diff)
			}
		}
	})
	t.Run("a hash stands once", func(t *testing.T) {
		s := open(t)
		put(t, s, row(1, principal.ViaCookie, 1))
		if err := s.PutCredential(t.Context(), row(1, principal.ViaTab, 2)); err == nil {
			t.Error("the second row with the same hash was taken")
		}
	})
	t.Run("an unknown principal or kind is refused", func(t *testing.T) {
		s := open(t)
		stranger := row(1, principal.ViaCookie, 1)
		stranger.PrincipalID = "nobody"
		if err := s.PutCredential(t.Context(), stranger); err == nil {
			t.Error("a credential of nobody was taken")
		}
		if err := s.PutCredential(t.Context(), row(2, "master_key", 1)); err == nil {
			t.Error("a credential of an unknown kind was taken")
		}
	})
	t.Run("touching moves the end of a row that is not revoked", func(t *testing.T) {
		s := open(t)
		put(t, s, row(1, principal.ViaCookie, 1))
		if err := s.TouchCredential(t.Context(), principal.Hash{1}, 7777); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, principal.Hash{1}).ExpiresAt; got != 7777 {
			t.Errorf("ExpiresAt = %d, want 7777", got)
		}
		if err := s.RevokeCredential(t.Context(), principal.Hash{1}, 50); err != nil {
			t.Fatal(err)
		}
		if err := s.TouchCredential(t.Context(), principal.Hash{1}, 9999); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, principal.Hash{1}).ExpiresAt; got != 7777 {
			t.Errorf("ExpiresAt of a revoked row = %d, want 7777", got)
		}
	})
	t.Run("the first revocation stands", func(t *testing.T) {
		s := open(t)
		put(t, s, row(1, principal.ViaJWT, 1))
		for _, at := range []int64{50, 60} {
			if err := s.RevokeCredential(t.Context(), principal.Hash{1}, at); err != nil {
				t.Fatal(err)
			}
		}
		if got := get(t, s, principal.Hash{1}).RevokedAt; got != 50 {
			t.Errorf("RevokedAt = %d, want 50", got)
		}
	})
	t.Run("a list has one kind, oldest first", func(t *testing.T) {
		s := open(t)
		put(t, s, row(3, principal.ViaJWT, 30), row(1, principal.ViaCookie, 10), row(2, principal.ViaJWT, 20), row(4, principal.ViaJWT, 20))
		got, err := s.ListCredentials(t.Context(), principal.ViaJWT)
		if err != nil {
			t.Fatal(err)
		}
		want := []principal.Credential{row(2, principal.ViaJWT, 20), row(4, principal.ViaJWT, 20), row(3, principal.ViaJWT, 30)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
