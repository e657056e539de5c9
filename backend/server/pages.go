package server

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"aalis/backend/text"
)

// policy is what the interface's pages may do (SEC-07): their own files, their own server, images they
// made themselves. No inline script and no inline style; what React sets through the style object is
// no inline style to the browser.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"media-src 'self' blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// barePolicy is for answers that are no pages.
const barePolicy = "default-src 'none'; frame-ancestors 'none'"

// setHeaders puts on every answer what keeps other origins away from it.
func setHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Content-Security-Policy", barePolicy)
	h.Set("Cache-Control", "no-store")
}

// pages serves the built interface. It needs no credential: there is nothing in it but the program.
type pages struct{ files fs.FS }

func newPages(files fs.FS) http.Handler { return pages{files} }

// contentTypes is fixed, because the system's table is somebody else's to change, and a script with
// the wrong type is not run under nosniff.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".json": "application/json", ".map": "application/json", ".svg": "image/svg+xml",
	".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp", ".ico": "image/x-icon", ".woff2": "font/woff2",
	".webmanifest": "application/manifest+json", ".txt": "text/plain; charset=utf-8", ".wasm": "application/wasm",
}

func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if changes(r.Method) {
		h.Set("Allow", "GET, HEAD")
		p.no(w, http.StatusMethodNotAllowed, "method_not_allowed", text.New("door.method", "allow", "GET, HEAD"))
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if isRoute(r) {
		name = "index.html"
	}
	data, err := p.read(name)
	if err != nil {
		p.no(w, http.StatusNotFound, "not_found", text.New("door.not-found"))
		return
	}
	kind, known := contentTypes[path.Ext(name)]
	if !known {
		kind = "application/octet-stream"
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, "assets/") { // their names carry a hash of their content
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// isRoute reports whether a path is one of the interface's own, which its script reads: /, /signin,
// /s/<id>, and any other without an extension that a browser goes to as a page. What programs ask
// for at an unknown address stays not found.
func isRoute(r *http.Request) bool {
	at := r.URL.Path
	return at == "/" || at == "/signin" || strings.HasPrefix(at, "/s/") ||
		path.Ext(at) == "" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

var errNoPages = errors.New("no interface is built in")

// read gives a file, never a folder's listing, and nothing outside: fs.FS refuses names with "..".
func (p pages) read(name string) ([]byte, error) {
	if p.files == nil {
		return nil, errNoPages
	}
	return fs.ReadFile(p.files, name)
}

func (p pages) no(w http.ResponseWriter, status int, code string, message text.Text) {
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	body.Error.Code, body.Error.Message = code, message.String()
	writeJSON(w, status, body)
}
