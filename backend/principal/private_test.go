package principal_test

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"aalis/backend/principal"
	"aalis/backend/principal/principaltest"
)

func TestOwnerToken(t *testing.T) {
	dir := t.TempDir()
	token, err := principal.CreateOwnerToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := principal.ReadOwnerToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "run", "owner.token")

	t.Run("SEC-02 it has 256 random bits of this start", func(t *testing.T) {
		if raw, err := hex.DecodeString(secret); err != nil || len(raw) != 32 {
			t.Errorf("token %q is not 32 bytes of hexadecimal digits", secret)
		}
		other, err := principal.CreateOwnerToken(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if other.Matches(secret) {
			t.Error("two starts have the same token")
		}
	})
	t.Run("SEC-01 its file is 0600 in a folder of 0700", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			return // modes mean nothing there; the profile folder's ACL protects it
		}
		for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != want {
				t.Errorf("mode of %s is %04o, want %04o", name, info.Mode().Perm(), want)
			}
		}
	})
	t.Run("it names the owner with every scope, on the surface cli", func(t *testing.T) {
		a := principal.NewAuthority(principaltest.NewMemory(), nil, token)
		caller, err := a.Bearer(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		if caller.Principal.ID != principal.OwnerID || caller.Surface != principal.SurfaceCLI || !caller.Can(principal.Approve) || !caller.Can(principal.Admin) {
			t.Errorf("caller = %+v", caller)
		}
		for _, wrong := range []string{"", secret[:63], secret + "0", strings.ToUpper(secret) + " ", strings.Repeat("a", 64)} {
			_, err := a.Bearer(t.Context(), wrong)
			wantRefusal(t, err, "door.credential-unknown")
		}
	})
	t.Run("it is removed at the end, but not the one of a later start", func(t *testing.T) {
		later, err := principal.CreateOwnerToken(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := token.Remove(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("the later start's file is gone: %v", err)
		}
		for range 2 {
			if err := later.Remove(); err != nil {
				t.Fatal(err)
			}
		}
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 0 {
			t.Errorf("left in run/: %v", entries)
		}
	})
}

func TestPrivateFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // links and modes are what is tested
	}
	t.Run("SEC-01 a link planted in place of the token is replaced, not followed", func(t *testing.T) {
		dir := t.TempDir()
		victim := filepath.Join(dir, "victim")
		if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := principal.RunDir(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(victim, filepath.Join(dir, "run", "owner.token")); err != nil {
			t.Fatal(err)
		}
		if _, err := principal.CreateOwnerToken(dir); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(victim); string(got) != "mine" {
			t.Errorf("the link's target now holds %q", got)
		}
	})
	t.Run("SEC-01 a link in place of the run folder is refused", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink(t.TempDir(), filepath.Join(dir, "run")); err != nil {
			t.Fatal(err)
		}
		if _, err := principal.CreateOwnerToken(dir); err == nil {
			t.Error("a token was written through a link")
		}
	})
	t.Run("SEC-01 an open run folder is closed", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "run"), 0o755); err != nil {
			t.Fatal(err)
		}
		run, err := principal.RunDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Stat(run); info.Mode().Perm() != 0o700 {
			t.Errorf("mode is %04o", info.Mode().Perm())
		}
	})
	t.Run("SEC-15 a secret that others can read is not used", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, []byte(strings.Repeat("ab", 32)), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := principal.KeyFile(path)(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("error = %v, want one that says chmod 600", err)
		}
	})
}

func TestKeyFile(t *testing.T) {
	t.Run("SEC-15 the key has 256 bits and is made once, whoever asks first", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "deep", "jwt_key")
		keys := make([][]byte, 8)
		var wg sync.WaitGroup
		for i := range keys {
			wg.Go(func() {
				key, err := principal.KeyFile(path)()
				if err != nil {
					t.Error(err)
				}
				keys[i] = key
			})
		}
		wg.Wait()
		for _, key := range keys {
			if len(key) != 32 || !bytes.Equal(key, keys[0]) {
				t.Fatalf("keys differ or are short: %x", keys)
			}
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("stat = %v, %v", info.Mode(), err)
		}
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
			t.Errorf("left beside the key: %v", entries)
		}
	})
	t.Run("a damaged key is named and not replaced", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "jwt_key")
		if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := principal.KeyFile(path)(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("error = %v", err)
		}
		if got, _ := os.ReadFile(path); string(got) != "abc" {
			t.Errorf("file now holds %q", got)
		}
	})
	t.Run("a short key signs nothing", func(t *testing.T) {
		a := principal.NewAuthority(principaltest.NewMemory(), func() ([]byte, error) { return []byte("short"), nil }, nil)
		if _, _, err := a.CreateToken(t.Context(), principal.TokenRequest{Name: "x"}); err == nil {
			t.Error("a token was signed")
		}
	})
}
