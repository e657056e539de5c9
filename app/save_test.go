package app

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

func TestSave(t *testing.T) {
	files := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/session-file" || r.URL.Query().Get("handle") != "a.b" {
			http.Error(w, "gone", http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte("the bytes"))
	})
	dir := t.TempDir()
	where := filepath.Join(dir, "kept.txt")
	var offered string
	b := &Bridge{files: files, ask: func(name string) (string, error) { offered = name; return where, nil }}
	const address = "/api/session-file?sessionId=s&handle=a.b"

	if saved, err := b.Save(address, `..\x/report.txt`); !saved || err != nil || offered != "report.txt" {
		t.Fatal(saved, err, offered)
	}
	read := func() string {
		t.Helper()
		data, err := os.ReadFile(where)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := read(); got != "the bytes" {
		t.Error(got)
	}
	t.Run("what is not there leaves what stands in its place", func(t *testing.T) {
		for _, bad := range []string{"/api/session-file?sessionId=s&handle=x", "https://example.org/", "", ":"} {
			if _, err := b.Save(bad, "x"); !errors.Is(err, errNotSaved) {
				t.Errorf("%q: %v", bad, err)
			}
		}
		if all, _ := os.ReadDir(dir); read() != "the bytes" || len(all) != 1 {
			t.Error(all)
		}
	})
	t.Run("a person may think better of it", func(t *testing.T) {
		b := &Bridge{files: files, ask: func(string) (string, error) { return "", nil }}
		if saved, err := b.Save(address, "x"); saved || err != nil {
			t.Error(saved, err)
		}
	})
	t.Run("a place that cannot be written is told", func(t *testing.T) {
		b := &Bridge{files: files, ask: func(string) (string, error) { return filepath.Join(dir, "none", "x"), nil }}
		if _, err := b.Save(address, "x"); err == nil {
			t.Error("no error")
		}
		if _, err := (&Bridge{}).Save(address, "x"); !errors.Is(err, errBridgeClosed) {
			t.Error(err)
		}
	})
}
