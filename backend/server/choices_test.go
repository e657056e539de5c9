package server_test

import (
	"context"
	"errors"
	"testing"

	"aalis/backend/principal"
	"aalis/backend/server"
	"aalis/backend/settings/field"
	"aalis/backend/text"
)

func TestChoices(t *testing.T) {
	r := start(t, func(o *server.Options) {
		o.Choices = func(_ context.Context, service, dependency string) (field.Listing, error) {
			if service == "broken" {
				return field.Listing{}, errors.New("it is down")
			}
			return field.Choices{Choices: []field.Choice{{Value: service}, {Value: dependency, Label: text.Plain("it")}}}.In(text.English), nil
		}
	})
	t.Run("SP-CONF-34 SP-CONF-36 the source and what it depends on are handed over", func(t *testing.T) {
		a := r.get("/api/models/llm-thinking?dependency=a%2Fb%26c", r.bearer())
		want := `{"models":["llm-thinking","a/b\u0026c"],"details":[{"value":"llm-thinking","label":"llm-thinking"},{"value":"a/b\u0026c","label":"it"}]}` + "\n"
		if a.status != 200 || a.body != want {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("a browser's cookie will do, nothing will not", func(t *testing.T) {
		if a := r.get("/api/models/llm", "Host: "+r.own, "Cookie: "+r.cookie(), "Sec-Fetch-Site: same-origin"); a.status != 200 {
			t.Errorf("cookie: %+v", a)
		}
		if a := r.get("/api/models/llm"); a.status != 401 {
			t.Errorf("nothing: %+v", a)
		}
	})
	t.Run("SEC-08 a credential without the right to read sees no choices", func(t *testing.T) {
		signed, _ := r.token(principal.TokenRequest{Name: "x", Scopes: principal.Scopes{principal.Chat}})
		if a := r.get("/api/models/llm", "Authorization: Bearer "+signed); a.status != 403 || a.code() != "forbidden" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("what fails is not told in its own words", func(t *testing.T) {
		if a := r.get("/api/models/broken", r.bearer()); a.status != 500 || a.code() != "internal" {
			t.Errorf("%+v", a)
		}
	})
}
