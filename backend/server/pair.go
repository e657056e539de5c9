package server

import (
	"net/http"
	"time"

	"aalis/backend/principal"
)

// deviceHeader is where a paired device says which it is. Spec V1-023.
const deviceHeader = "X-Aalis-Device"

// How often a pairing code may be tried, by everybody together: codes are short, so that a person can
// type them, and this is what keeps them from being guessed. 60 tries fit into the life of a code.
const (
	pairRate  = 1.0 / 6
	pairBurst = 10
)

// pairedView is a device's token, in the answer to its creation only; times are RFC 3339.
type pairedView struct {
	Token     string    `json:"token"`
	DeviceID  string    `json:"deviceId"`
	Scopes    []string  `json:"scopes"`
	ExpiresAt time.Time `json:"expiresAt"`
}

func writePaired(w http.ResponseWriter, secret string, t principal.Token) {
	writeJSON(w, http.StatusOK, pairedView{secret, t.DeviceID, viewOf(t).Scopes, t.ExpiresAt.UTC()})
}

// makePairCode gives a code for one other client of this machine, and where it exchanges it.
func (d *door) makePairCode(w http.ResponseWriter, r *http.Request, _ principal.Caller) error {
	var asked struct {
		Approve    bool  `json:"approve"`
		TTLSeconds int64 `json:"ttlSeconds"`
	}
	if err := decode(r, &asked, `{"approve":false,"ttlSeconds":3600}`); err != nil {
		return err
	}
	code, ends, err := d.auth.PairCode(r.Context(), principal.PairRequest{Approve: asked.Approve, Lifetime: seconds(asked.TTLSeconds)})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, struct {
		Code      string    `json:"code"`
		URL       string    `json:"url"`
		ExpiresAt time.Time `json:"expiresAt"`
	}{code, "http://" + r.Host + "/pair", ends.UTC()})
	return nil
}

// pair exchanges a code and a device for the device's token. Spec V1-021, V1-024.
func (d *door) pair(w http.ResponseWriter, r *http.Request, _ principal.Caller) error {
	var asked struct {
		Code     string `json:"code"`
		DeviceID string `json:"deviceId"`
	}
	if err := decode(r, &asked, `{"code":"7K3M-9QZD","deviceId":"laptop-1"}`); err != nil {
		return err
	}
	if err := paceOf(d.pairing, "codes"); err != nil {
		return err
	}
	secret, token, err := d.auth.Pair(r.Context(), asked.Code, asked.DeviceID)
	if err != nil {
		return err
	}
	writePaired(w, secret, token)
	return nil
}

// renew gives a device its next token. The pace bounds the rows that one device can make.
func (d *door) renew(w http.ResponseWriter, r *http.Request, c principal.Caller) error {
	if c.Via != principal.ViaDevice {
		return refuse(http.StatusForbidden, "forbidden", "door.device-only")
	}
	if err := paceOf(d.pairing, "device "+c.DeviceID); err != nil {
		return err
	}
	secret, token, err := d.auth.Renew(r.Context(), c)
	if err != nil {
		return err
	}
	writePaired(w, secret, token)
	return nil
}
