package server_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"aalis/backend/principal"
	"aalis/backend/server"
)

// shelf has one file and one picture in session "s", and some that claim to be shown.
type shelf struct{}

// content is a file of these tests; it has no end to forget.
type content struct{ *bytes.Reader }

func (content) Close() error { return nil }

func (shelf) File(_ context.Context, sessionID, handle string) (server.Stored, bool) {
	names := map[string]string{"h.1": "page.html", "h.2": "漂亮 \"x\".txt"}
	name, ok := names[handle]
	return server.Stored{Name: name, Type: "text/html", Content: content{bytes.NewReader([]byte("<script>1</script>"))}}, ok && sessionID == "s"
}

func (shelf) Media(_ context.Context, sessionID, itemID string, n int) (server.Stored, bool) {
	types := []string{"image/png", "image/svg+xml", "text/html", "application/octet-stream", "video/mp4"}
	if sessionID != "s" || itemID != "i" || n < 0 || n >= len(types) {
		return server.Stored{}, false
	}
	return server.Stored{Name: "x", Type: types[n], Content: content{bytes.NewReader([]byte("0123456789"))}}, true
}

const (
	aFile  = "/api/session-file?sessionId=s&handle=h.1"
	aMedia = "/api/session-media?sessionId=s&itemId=i&n="
)

func TestFiles(t *testing.T) {
	r := start(t, func(o *server.Options) { o.Files = shelf{} })
	t.Run("SP-FILE-03 SP-FILE-04 SP-FILE-09 SEC-11 a handle's file is something to be kept, whatever it is", func(t *testing.T) {
		a := r.get(aFile, r.bearer())
		if a.status != 200 || a.body != "<script>1</script>" {
			t.Fatalf("%+v", a)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/octet-stream", "Content-Disposition": `attachment; filename="page.html"`, "X-Content-Type-Options": "nosniff",
			"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Content-Length": "18",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
	t.Run("a name of any letters comes through, and none ends the header", func(t *testing.T) {
		a := r.get("/api/session-file?sessionId=s&handle=h.2", r.bearer())
		if got := a.header.Get("Content-Disposition"); got != `attachment; filename="__ _x_.txt"; filename*=utf-8''%E6%BC%82%E4%BA%AE%20%22x%22.txt` {
			t.Error(got)
		}
	})
	t.Run("SP-FILE-05 SP-FILE-10 what no handle stands for is not found, and storage addresses are no parameter", func(t *testing.T) {
		for path, status := range map[string]int{
			"/api/session-file?sessionId=other&handle=h.1":           404,
			"/api/session-file?sessionId=s&handle=h.9":               404,
			"/api/session-file?sessionId=s&uri=attachments:/00":      400,
			"/api/session-file?sessionId=s":                          400,
			"/api/session-file?sessionId=s&handle=h.1&handle=h.1":    400,
			"/api/session-file?sessionId=s&handle=":                  400,
			"/api/session-file":                                      400,
			"/api/session-file?%zz":                                  400,
			"/api/session-media?sessionId=s&itemId=i":                400,
			"/api/session-media?sessionId=s&uri=attachments:/00&n=0": 400,
			aMedia + "9": 404, aMedia + "-1": 404, aMedia + "x": 404, "/api/session-media?sessionId=other&itemId=i&n=0": 404,
		} {
			if a := r.get(path, r.bearer()); a.status != status || a.code() == "" || strings.Contains(a.body, "script") {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
	})
	t.Run("SEC-11 media is shown as what it is, can do nothing, and comes in parts", func(t *testing.T) {
		a := r.get(aMedia+"0", r.bearer())
		if a.status != 200 || a.body != "0123456789" || a.header.Get("Content-Type") != "image/png" || a.header.Get("Content-Disposition") != "inline" ||
			!strings.HasPrefix(a.header.Get("Content-Security-Policy"), "sandbox; default-src 'none'") || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%+v", a)
		}
		if got := a.header.Get("Cache-Control"); got != "private, max-age=600" {
			t.Error(got)
		}
		a = r.get(aMedia+"4", r.bearer(), "Range: bytes=2-4")
		if a.status != 206 || a.body != "234" || a.header.Get("Content-Range") != "bytes 2-4/10" || a.header.Get("Content-Type") != "video/mp4" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("SEC-11 what can hold a script is never shown", func(t *testing.T) {
		for _, n := range []string{"1", "2", "3"} {
			if a := r.get(aMedia+n, r.bearer()); a.status != 404 || strings.Contains(a.body, "0123") || a.header.Get("Content-Type") != "application/json; charset=utf-8" {
				t.Errorf("%s: %+v", n, a)
			}
		}
	})
	t.Run("SEC-04 SEC-08 only who may read has files, and no other page can ask", func(t *testing.T) {
		blind, _ := r.token(principal.TokenRequest{Name: "x", Scopes: principal.Scopes{principal.Chat}})
		for _, path := range []string{aFile, aMedia + "0"} {
			for what, tc := range map[string]struct {
				headers []string
				status  int
			}{
				"nothing":         {nil, 401},
				"no right":        {[]string{"Authorization: Bearer " + blind}, 403},
				"a page of ours":  {[]string{"Host: " + r.own, "Cookie: " + r.cookie(), "Sec-Fetch-Site: same-origin"}, 200},
				"another page":    {[]string{"Host: " + r.own, "Cookie: " + r.cookie(), "Sec-Fetch-Site: cross-site"}, 403},
				"a link to it":    {[]string{"Host: " + r.own, "Cookie: " + r.cookie(), "Sec-Fetch-Site: none"}, 401},
				"a rebound name":  {[]string{"Host: evil.example:" + r.port, r.bearer()}, 421},
				"another's cover": {[]string{"Origin: http://evil.example", r.bearer()}, 403},
			} {
				if a := r.get(path, tc.headers...); a.status != tc.status {
					t.Errorf("%s, %s: %d %s", path, what, a.status, a.body)
				}
			}
		}
	})
	t.Run("without the service it is unavailable", func(t *testing.T) {
		if a := start(t, nil).get(aFile, "Authorization: Bearer x"); a.status != 401 {
			t.Errorf("%+v", a)
		}
		other := start(t, nil)
		if a := other.get(aFile, other.bearer()); a.status != 503 || a.code() != "unavailable" {
			t.Errorf("%+v", a)
		}
	})
}

func TestFilesOfTheWindow(t *testing.T) {
	t.Run("SEC-11 the window is served the same under the same rules, and nothing else", func(t *testing.T) {
		h := server.FilesHandler(shelf{})
		for path, status := range map[string]int{
			aFile: 200, aMedia + "0": 200, aMedia + "1": 404, "/api/session-file?sessionId=other&handle=h.1": 404, "/api/models/llm": 404, "/auth": 404, "/": 404,
		} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			if w.Code != status {
				t.Errorf("%s: %d", path, w.Code)
			}
			if status == 200 && w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %v", path, w.Header())
			}
		}
	})
}
