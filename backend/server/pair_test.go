package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"aalis/backend/principal"
)

func TestPairAtTheDoor(t *testing.T) {
	code := func(r *rig, body string) string {
		t.Helper()
		a := r.post("/internal/pair-code", body, r.bearer())
		var made struct {
			Code, URL string
			ExpiresAt time.Time
		}
		if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != 200 || !strings.HasSuffix(made.URL, ":"+r.port+"/pair") || time.Until(made.ExpiresAt) > 5*time.Minute {
			t.Fatalf("%+v, %v", a, err)
		}
		return made.Code
	}
	t.Run("V1-021 V1-023 V1-024 code and device make a token that counts with its device's header", func(t *testing.T) {
		r := start(t, nil)
		one := code(r, `{}`)
		if a := r.post("/pair", `{"code":"`+one+`"}`); a.status != 400 || !strings.Contains(a.body, "deviceId") {
			t.Errorf("without a device: %+v", a)
		}
		a := r.post("/pair", `{"code":"`+one+`","deviceId":"laptop"}`)
		var made struct {
			Token, DeviceID string
			Scopes          []string
			ExpiresAt       time.Time
		}
		if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != 200 || made.DeviceID != "laptop" || strings.Join(made.Scopes, ",") != "read,chat" {
			t.Fatalf("%+v, %v", a, err)
		}
		if left := time.Until(made.ExpiresAt); left > time.Hour || left < 59*time.Minute {
			t.Errorf("it lives %v", left)
		}
		if a := r.post("/pair", `{"code":"`+one+`","deviceId":"laptop"}`); a.status != 401 || !strings.Contains(a.body, "aalis pair") {
			t.Errorf("again: %+v", a)
		}
		bearer := "Authorization: Bearer " + made.Token
		for _, c := range []struct {
			headers []string
			status  int
		}{
			{[]string{bearer, "X-Aalis-Device: laptop"}, 200},
			{[]string{bearer}, 401},
			{[]string{bearer, "X-Aalis-Device: phone"}, 401},
			{[]string{bearer, "X-Aalis-Device: laptop", "X-Aalis-Device: phone"}, 401},
			{[]string{"X-Aalis-Device: laptop"}, 401},
		} {
			if a := r.get("/auth", c.headers...); a.status != c.status {
				t.Errorf("%v: %+v", c.headers[1:], a)
			}
		}
		renewed := r.post("/pair/renew", "", bearer, "X-Aalis-Device: laptop")
		if renewed.status != 200 || strings.Contains(renewed.body, made.Token) || !strings.Contains(renewed.body, `"deviceId":"laptop"`) {
			t.Errorf("renewing: %+v", renewed)
		}
		if a := r.post("/pair/renew", "", r.bearer()); a.status != 403 || !strings.Contains(a.body, "aalis pair") {
			t.Errorf("renewing the owner's token: %+v", a)
		}
		if log := r.log.String(); strings.Contains(log, made.Token) || strings.Contains(log, one) {
			t.Error("the log holds a secret")
		}
	})
	t.Run("a code cannot be guessed: the eleventh try in a row waits, the right one too", func(t *testing.T) {
		r := start(t, nil)
		right := code(r, `{}`)
		for n := range 10 {
			if a := r.post("/pair", `{"code":"0000-0000","deviceId":"x"}`); a.status != 401 {
				t.Fatalf("%d: %+v", n, a)
			}
		}
		if a := r.post("/pair", `{"code":"`+right+`","deviceId":"x"}`); a.status != 429 || a.header.Get("Retry-After") == "" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("SEC-04 SEC-08 only the owner's token makes codes, and no page of elsewhere exchanges one", func(t *testing.T) {
		r := start(t, nil)
		signed, _ := r.token(principal.TokenRequest{Name: "x", Scopes: principal.AllScopes()})
		for _, headers := range [][]string{{"Authorization: Bearer " + signed}, {"Host: " + r.own, "Origin: http://" + r.own, "Sec-Fetch-Site: same-origin", "Cookie: " + r.cookie()}} {
			if a := r.post("/internal/pair-code", `{}`, headers...); a.status != 403 {
				t.Errorf("%+v", a)
			}
		}
		if a := r.post("/pair", `{"code":"`+code(r, `{}`)+`","deviceId":"x"}`, "Origin: http://evil.example"); a.status != 403 {
			t.Errorf("%+v", a)
		}
		for _, body := range []string{"", "[]", `{"ttlSeconds":-1}`, `{"ttlSeconds":90000}`, `{"ttlSeconds":9000000000000000000}`} {
			if a := r.post("/internal/pair-code", body, r.bearer()); a.status != 400 {
				t.Errorf("%s: %+v", body, a)
			}
		}
	})
}
