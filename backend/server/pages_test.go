package server_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"aalis/backend/server"
)

func TestPages(t *testing.T) {
	r := start(t, nil)
	t.Run("SEC-07 every page has the policy, and nothing inline is allowed", func(t *testing.T) {
		for _, path := range []string{"/", "/signin", "/s/01890a5d", "/assets/app-1a2b.js", "/favicon.svg"} {
			a := r.get(path)
			csp := a.header.Get("Content-Security-Policy")
			for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
				if !strings.Contains(csp, want) {
					t.Errorf("%s: no %s in %q", path, want, csp)
				}
			}
			if strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") || strings.Contains(csp, "*") {
				t.Errorf("%s: %q", path, csp)
			}
			if a.status != 200 {
				t.Errorf("%s: %d", path, a.status)
			}
		}
	})
	t.Run("SEC-07 every answer, refusals included, keeps others away from it", func(t *testing.T) {
		for name, a := range map[string]answer{
			"page": r.get("/"), "file": r.get("/favicon.svg"), "health": r.get("/v1/health"), "401": r.get("/auth"), "404": r.get("/no.txt"),
			"403": r.get("/", "Origin: null"), "421": r.get("/", "Host: evil.example"), "405": r.post("/auth", "{}"),
		} {
			for header, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
				"Cross-Origin-Opener-Policy": "same-origin", "X-Frame-Options": "DENY",
			} {
				if got := a.header.Get(header); got != want {
					t.Errorf("%s: %s is %q", name, header, got)
				}
			}
			if !strings.Contains(a.header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
				t.Errorf("%s: %q", name, a.header.Get("Content-Security-Policy"))
			}
		}
	})
	t.Run("files have their type, hashed ones last, the page is asked for again", func(t *testing.T) {
		for path, want := range map[string][2]string{
			"/":                   {"text/html; charset=utf-8", "no-cache"},
			"/assets/app-1a2b.js": {"text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
			"/favicon.svg":        {"image/svg+xml", "no-cache"},
			"/v1/health":          {"application/json; charset=utf-8", "no-store"},
		} {
			a := r.get(path)
			if got := [2]string{a.header.Get("Content-Type"), a.header.Get("Cache-Control")}; got != want {
				t.Errorf("%s: %q", path, got)
			}
		}
	})
	t.Run("the interface's own routes are its page, what programs ask for is not", func(t *testing.T) {
		for _, path := range []string{"/s/qq:group.1", "/signin", "/"} {
			if a := r.get(path); !strings.Contains(a.body, "<title>Aalis") {
				t.Errorf("%s: %+v", path, a)
			}
		}
		if a := r.get("/settings", "Accept: text/html,*/*"); a.status != 200 {
			t.Errorf("/settings as a page: %d", a.status)
		}
		for _, path := range []string{"/v2/sessions", "/assets/gone.js", "/assets", "/.env"} {
			if a := r.get(path, "Accept: */*"); a.status != 404 || a.code() != "not_found" {
				t.Errorf("%s: %+v", path, a)
			}
		}
	})
	t.Run("a path cannot leave the interface's files", func(t *testing.T) {
		for _, path := range []string{"/../go.mod", "/assets/../../go.mod", "/%2e%2e/go.mod", "/assets/%2e%2e/%2e%2e/go.mod", "//etc/passwd", "/assets//app-1a2b.js", "/./index.html", "/..%5c..%5cgo.mod"} {
			if a := r.get(path); a.status != 404 {
				t.Errorf("%s: %+v", path, a)
			}
		}
	})
	t.Run("a build without an interface says so", func(t *testing.T) {
		bare := start(t, func(o *server.Options) { o.Pages = nil })
		if a := bare.get("/"); a.status != 404 || a.code() != "not_found" {
			t.Errorf("%+v", a)
		}
	})
}

func TestHealth(t *testing.T) {
	var sick error
	r := start(t, func(o *server.Options) { o.Health = func(context.Context) error { return sick } })
	t.Run("V1-042 V1-043 health needs nothing and says ok", func(t *testing.T) {
		a := r.get("/v1/health")
		if a.status != 200 || !regexp.MustCompile(`^\{"status":"ok","protocol":"/v1","eventVersion":1,"serverVersion":"test","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"\}\n$`).MatchString(a.body) {
			t.Errorf("%+v", a)
		}
	})
	t.Run("V1-044 V1-045 a broken store is 503 in the same shape, and nothing is told about it", func(t *testing.T) {
		sick = errors.New("/home/me/aalis.db: disk I/O error")
		a := r.get("/v1/health")
		if a.status != 503 || !strings.HasPrefix(a.body, `{"status":"degraded","protocol":"/v1"`) || strings.Contains(a.body, "aalis.db") {
			t.Errorf("%+v", a)
		}
	})
}
