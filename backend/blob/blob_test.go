package blob_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"aalis/backend/blob"
)

func open(t *testing.T, dir string) *blob.Store {
	t.Helper()
	s, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func kept(t *testing.T, s *blob.Store) map[blob.Hash]int64 {
	t.Helper()
	all := map[blob.Hash]int64{}
	if err := s.Each(func(h blob.Hash, n int64) error { all[h] = n; return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestStore(t *testing.T) {
	const abc = blob.Hash("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
	t.Run("bytes come back under their hash, once", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "blobs")
		s := open(t, dir)
		for range 2 {
			if h, n, err := s.Put(strings.NewReader("abc"), 3); h != abc || n != 3 || err != nil {
				t.Fatal(h, n, err)
			}
		}
		file, err := s.Open(abc)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if got, _ := io.ReadAll(file); string(got) != "abc" {
			t.Errorf("%q", got)
		}
		if all := kept(t, s); len(all) != 1 || all[abc] != 3 {
			t.Error(all)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Error(info, err)
		}
	})
	t.Run("what is too large, or breaks off, leaves nothing", func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir)
		if _, _, err := s.Put(strings.NewReader("abcd"), 3); !errors.Is(err, blob.ErrTooLarge) {
			t.Error(err)
		}
		broken := errors.New("broken")
		if _, _, err := s.Put(io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(broken)), 9); !errors.Is(err, broken) {
			t.Error(err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Error(left)
		}
	})
	t.Run("the name of bytes can be made to last, once they are there", func(t *testing.T) {
		s := open(t, t.TempDir())
		if err := s.Settle(abc); err == nil && runtime.GOOS != "windows" {
			t.Error("no error for bytes that are not here")
		}
		h, _, _ := s.Put(strings.NewReader("abc"), 3)
		if err := s.Settle(h); err != nil {
			t.Error(err)
		}
	})
	t.Run("what is removed is gone, and may be removed again", func(t *testing.T) {
		s := open(t, t.TempDir())
		h, _, _ := s.Put(strings.NewReader("abc"), 3)
		for range 2 {
			if err := s.Remove(h); err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Open(h); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
	t.Run("a name from outside cannot leave the folder", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "secret"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, filepath.Join(dir, "blobs"))
		for _, h := range []blob.Hash{"", "../secret", "..", abc[:10], blob.Hash(strings.ToUpper(string(abc)))} {
			if file, err := s.Open(h); err == nil {
				file.Close()
				t.Errorf("%q was opened", h)
			}
		}
	})
	t.Run("half-written bytes of a dead process are cleared away", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "0011.tmp"), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		open(t, dir)
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Error(left)
		}
	})
	t.Run("many may keep the same at once", func(t *testing.T) {
		s := open(t, t.TempDir())
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, _, err := s.Put(bytes.NewReader(make([]byte, 1<<16)), 1<<20); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := kept(t, s); len(got) != 1 {
			t.Error(got)
		}
	})
}
