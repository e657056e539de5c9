package server

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"time"

	"aalis/backend/principal"
)

// decode reads a JSON body. Another content type is refused, because the types that a form can send
// need no permission to be sent from elsewhere.
func decode(r *http.Request, into any, example string) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && kind == "application/json" {
		d := json.NewDecoder(r.Body)
		if d.Decode(into) == nil && !d.More() {
			return nil
		}
	}
	return refuse(http.StatusBadRequest, "invalid_request", "door.body-invalid", "example", example)
}

// signIn exchanges a one-time code. Under our own name the answer is a cookie; elsewhere, where a
// cookie would be shared with every port, it is a bearer for the tab to keep in memory (SEC-06).
func (d *door) signIn(w http.ResponseWriter, r *http.Request, _ principal.Caller) error {
	var asked struct {
		Code string `json:"code"`
	}
	if err := decode(r, &asked, `{"code":"…"}`); err != nil {
		return err
	}
	type signedIn struct {
		Mode  string `json:"mode"`
		Token string `json:"token,omitempty"`
	}
	if !d.underOwnName(r) {
		token, err := d.auth.SignInTab(r.Context(), asked.Code)
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, signedIn{Mode: "bearer", Token: token})
		return nil
	}
	value, err := d.auth.SignInCookie(r.Context(), asked.Code)
	if err != nil {
		return err
	}
	http.SetCookie(w, sessionCookie(value))
	writeJSON(w, http.StatusOK, signedIn{Mode: "cookie"})
	return nil
}

func (d *door) underOwnName(r *http.Request) bool {
	return r.Host == d.own || strings.HasPrefix(r.Host, d.own+":")
}

// cookieLifetime is the longest that browsers keep; what counts is the record, which ends earlier.
const cookieLifetime = 400 * 24 * time.Hour

// sessionCookie is never Secure, because loopback has no TLS (Spec V1-019), and has no Domain, so that
// it belongs to exactly our name.
func sessionCookie(value string) *http.Cookie {
	c := &http.Cookie{
		Name: cookieName, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(cookieLifetime.Seconds()),
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

func (d *door) showAuth(w http.ResponseWriter, _ *http.Request, _ principal.Caller) error {
	writeJSON(w, http.StatusOK, map[string]bool{"signedIn": true})
	return nil
}

func (d *door) signOut(w http.ResponseWriter, r *http.Request, c principal.Caller) error {
	if err := d.auth.SignOut(r.Context(), c); err != nil {
		return err
	}
	if d.underOwnName(r) {
		http.SetCookie(w, sessionCookie(""))
	}
	writeJSON(w, http.StatusOK, map[string]bool{"signedIn": false})
	return nil
}

// showHealth is Spec V1-042 to V1-045: it needs no credential and tells nothing about anybody.
func (d *door) showHealth(w http.ResponseWriter, r *http.Request, _ principal.Caller) error {
	status, word := http.StatusOK, "ok"
	if d.o.Health != nil {
		if err := d.o.Health(r.Context()); err != nil {
			d.log.ErrorContext(r.Context(), "unhealthy", "error", err)
			status, word = http.StatusServiceUnavailable, "degraded"
		}
	}
	writeJSON(w, status, struct {
		Status        string `json:"status"`
		Protocol      string `json:"protocol"`
		EventVersion  int    `json:"eventVersion"`
		ServerVersion string `json:"serverVersion"`
		Time          string `json:"time"`
	}{word, "/v1", 1, d.o.Version, time.Now().UTC().Format("2006-01-02T15:04:05.000Z")})
	return nil
}
