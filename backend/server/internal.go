package server

import (
	"net"
	"net/http"
	"time"

	"aalis/backend/principal"
)

// makeCode gives a code and the address to open with it, on the port that was asked. The code stands
// in the fragment, which no browser sends, logs or passes on.
func (d *door) makeCode(w http.ResponseWriter, r *http.Request, _ principal.Caller) error {
	code, err := d.auth.NewCode(r.Context())
	if err != nil {
		return err
	}
	host := d.own
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		host = net.JoinHostPort(d.own, port)
	}
	writeJSON(w, http.StatusOK, map[string]string{"code": code, "url": "http://" + host + "/signin#" + code})
	return nil
}

// activate shows the window of this instance, where it has one, at what a second start was asked for.
func (d *door) activate(w http.ResponseWriter, r *http.Request, _ principal.Caller) error {
	var asked struct {
		Link string `json:"link"`
	}
	if err := decode(r, &asked, `{"link":"aalis://session/…"}`); err != nil {
		return err
	}
	raised := d.o.Activate != nil && d.o.Activate(asked.Link)
	writeJSON(w, http.StatusOK, map[string]bool{"raised": raised})
	return nil
}

// tokenView is a token as the command line sees it; times are RFC 3339.
type tokenView struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	DeviceID  string     `json:"deviceId,omitempty"`
	Scopes    []string   `json:"scopes"`
	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt time.Time  `json:"expiresAt"`
	RevokedAt *time.Time `json:"revokedAt,omitempty"`
	Token     string     `json:"token,omitempty"` // the secret, in the answer to its creation only
}

func viewOf(t principal.Token) tokenView {
	v := tokenView{ID: t.ID, Name: t.Name, DeviceID: t.DeviceID, Scopes: []string{}, CreatedAt: t.CreatedAt.UTC(), ExpiresAt: t.ExpiresAt.UTC()}
	for _, scope := range t.Scopes {
		v.Scopes = append(v.Scopes, string(scope))
	}
	if !t.RevokedAt.IsZero() {
		at := t.RevokedAt.UTC()
		v.RevokedAt = &at
	}
	return v
}

func (d *door) listTokens(w http.ResponseWriter, r *http.Request, _ principal.Caller) error {
	tokens, err := d.auth.Tokens(r.Context())
	if err != nil {
		return err
	}
	views := make([]tokenView, len(tokens))
	for i, t := range tokens {
		views[i] = viewOf(t)
	}
	writeJSON(w, http.StatusOK, map[string][]tokenView{"tokens": views})
	return nil
}

func (d *door) createToken(w http.ResponseWriter, r *http.Request, _ principal.Caller) error {
	var asked struct {
		Name       string           `json:"name"`
		Scopes     principal.Scopes `json:"scopes"`
		TTLSeconds int64            `json:"ttlSeconds"`
	}
	if err := decode(r, &asked, `{"name":"editor","scopes":["read","chat"],"ttlSeconds":2592000}`); err != nil {
		return err
	}
	signed, token, err := d.auth.CreateToken(r.Context(), principal.TokenRequest{Name: asked.Name, Scopes: asked.Scopes, Lifetime: seconds(asked.TTLSeconds)})
	if err != nil {
		return err
	}
	view := viewOf(token)
	view.Token = signed
	writeJSON(w, http.StatusOK, view)
	return nil
}

// seconds is a lifetime as it was asked for; one too long for a Duration is -1, which is refused like every
// other impossible one.
func seconds(n int64) time.Duration {
	d := time.Duration(n) * time.Second
	if d/time.Second != time.Duration(n) {
		return -1
	}
	return d
}

func (d *door) revokeToken(w http.ResponseWriter, r *http.Request, _ principal.Caller) error {
	if err := d.auth.RevokeToken(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]bool{"revoked": true})
	return nil
}
