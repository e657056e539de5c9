//go:build desktop || dev

package app

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

func TestDrops(t *testing.T) {
	place := t.TempDir()
	file := filepath.Join(place, "a b #1.txt")
	if err := os.WriteFile(file, []byte("the words"), 0o600); err != nil {
		t.Fatal(err)
	}
	uri := (&url.URL{Scheme: "file", Path: file}).String()
	d := &drops{}
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		d.before(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })).
			ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	t.Run("a dropped file is read once, by its id", func(t *testing.T) {
		files := d.take([]string{uri, "https://example.org/", "file://elsewhere" + file, (&url.URL{Scheme: "file", Path: place}).String(), "file:///no/where", ""})
		if len(files) != 1 || files[0].Name != "a b #1.txt" || files[0].Size != 9 {
			t.Fatalf("taken: %+v", files)
		}
		if w := get(dropped + files[0].ID); w.Code != http.StatusOK || w.Body.String() != "the words" {
			t.Errorf("%d %q", w.Code, w.Body)
		}
		if w := get(dropped + files[0].ID); w.Code != http.StatusNotFound {
			t.Errorf("a second time: %d", w.Code)
		}
	})
	t.Run("SEC-11 nothing else is read", func(t *testing.T) {
		d.take([]string{uri})
		for _, path := range []string{dropped, dropped + "x", dropped + "..%2f..%2fetc%2fpasswd", dropped + url.PathEscape(file)} {
			if w := get(path); w.Code != http.StatusNotFound {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
		if w := get("/api/session-file"); w.Code != http.StatusTeapot {
			t.Errorf("what is not ours: %d", w.Code)
		}
	})
	t.Run("the next drop ends the one before", func(t *testing.T) {
		first := d.take([]string{uri})
		d.take([]string{uri})
		if w := get(dropped + first[0].ID); w.Code != http.StatusNotFound {
			t.Errorf("of before: %d", w.Code)
		}
	})
}
