package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"aalis/backend/principal"
	"aalis/backend/server"
)

// TestTheft plays the attacks of a web page that the owner has open in the browser they are signed in
// with. The page can make the browser send what browsers send for it, cookies included where SameSite
// would not stop them, and can do no more. Every attempt must fail, and leave nothing behind.
func TestTheft(t *testing.T) {
	b := newBoard()
	touched := 0
	r := start(t, func(o *server.Options) {
		o.Sessions = b
		o.Mounts = map[string]server.Mount{"/v1/": {Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { touched++ })}}
	})
	cookie := "Cookie: " + r.cookie()
	page := "Origin: https://evil.example"
	fetch := []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: empty"}
	code := r.code()
	before := r.store.Rows()

	attempts := map[string]struct {
		send func() answer
		want int
	}{
		"WebSocket from the page": {func() answer {
			return r.get("/session", upgradeHeaders("Host: "+r.own, page, cookie)...)
		}, 403},
		"WebSocket from a sandboxed frame": {func() answer {
			return r.get("/session", upgradeHeaders("Host: "+r.own, "Origin: null", cookie)...)
		}, 403},
		"WebSocket from another local server": {func() answer {
			return r.get("/session", upgradeHeaders("Host: "+r.own, "Origin: http://"+strings.Split(r.own, ":")[0]+":3000", cookie)...)
		}, 403},
		"WebSocket from a file": {func() answer {
			return r.get("/session", upgradeHeaders("Host: "+r.addr(), "Origin: file://", cookie)...)
		}, 403},
		"WebSocket over a rebound name": {func() answer {
			return r.get("/session", upgradeHeaders("Host: evil.example:"+r.port, "Origin: http://evil.example:"+r.port)...)
		}, 421},
		"WebSocket over a rebound name that looks local": {func() answer {
			return r.get("/session", upgradeHeaders("Host: localhost.evil.example:"+r.port, "Origin: http://localhost.evil.example:"+r.port)...)
		}, 421},
		"fetch over a rebound name, same-origin to the browser": {func() answer {
			return r.get("/v1/me", "Host: evil.example:"+r.port, "Sec-Fetch-Site: same-origin")
		}, 421},
		"guessing the owner's token by subprotocol": {func() answer {
			return r.get("/session", upgradeHeaders("Host: "+r.addr(), page, "Sec-WebSocket-Protocol: aalis.bearer."+r.owner)...)
		}, 403},
		"no-cors fetch with the cookie": {func() answer {
			return r.get("/v1/sessions", append(fetch, "Host: "+r.own, cookie)...)
		}, 403},
		"no-cors POST of text": {func() answer {
			return r.send("POST", "/v1/sessions", "{}", append(fetch, "Host: "+r.own, page, cookie, "Content-Type: text/plain")...)
		}, 403},
		"form sent into the window": {func() answer {
			return r.send("POST", "/v1/approvals/1", "decision=approve", "Host: "+r.own, page, cookie, "Content-Type: application/x-www-form-urlencoded",
				"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
		}, 403},
		"form from an old browser without Origin": {func() answer {
			return r.send("POST", "/v1/approvals/1", "decision=approve", "Host: "+r.own, cookie, "Content-Type: application/x-www-form-urlencoded")
		}, 401},
		"cors fetch with a header": {func() answer {
			return r.send("OPTIONS", "/v1/sessions", "", "Host: "+r.own, page, "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: authorization")
		}, 403},
		"image": {func() answer {
			return r.get("/v1/sessions", "Host: "+r.own, cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image")
		}, 403},
		"script": {func() answer {
			return r.get("/assets/app-1a2b.js", "Host: "+r.own, cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script")
		}, 403},
		"frame": {func() answer {
			return r.get("/", "Host: "+r.own, cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe")
		}, 403},
		"link to an address that answers data": {func() answer {
			return r.get("/v1/sessions", "Host: "+r.own, cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
		}, 403},
		"signing the browser in as somebody else": {func() answer {
			return r.post("/signin", `{"code":"`+code+`"}`, append(fetch, "Host: "+r.own, page)...)
		}, 403},
		"signing the owner out": {func() answer {
			return r.post("/signout", "{}", append(fetch, "Host: "+r.own, page, cookie)...)
		}, 403},
		"asking for a code with the cookie": {func() answer {
			return r.post("/internal/signin-code", "{}", "Host: "+r.own, "Origin: http://"+r.own, "Sec-Fetch-Site: same-origin", cookie)
		}, 403},
		"making a token with the cookie": {func() answer {
			return r.post("/internal/tokens", `{"name":"x"}`, "Host: "+r.own, "Origin: http://"+r.own, "Sec-Fetch-Site: same-origin", cookie)
		}, 403},
		"cookie on the shared name": {func() answer {
			return r.get("/v1/me", cookie, "Origin: http://"+r.addr(), "Sec-Fetch-Site: same-origin")
		}, 401},
		"cookie planted from another port": {func() answer {
			return r.get("/v1/me", "Host: "+r.own, "Origin: http://"+r.own, "Cookie: ap_session="+strings.Repeat("0", 64))
		}, 401},
		"session fixed by a planted, later signed-in value": {func() answer {
			r.post("/signin", `{"code":"`+r.code()+`"}`, "Host: "+r.own, "Origin: http://"+r.own, "Cookie: ap_session="+strings.Repeat("0", 64))
			return r.get("/v1/me", "Host: "+r.own, "Origin: http://"+r.own, "Cookie: ap_session="+strings.Repeat("0", 64))
		}, 401},
		"smuggling a second request": {func() answer {
			return rawTo(t, r.addr(), "POST /signin HTTP/1.1\r\nHost: "+r.addr()+"\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: "+r.addr()+"\r\n\r\n")
		}, 400},
	}
	for name, attempt := range attempts {
		t.Run("SEC-04 "+name, func(t *testing.T) {
			a := attempt.send()
			if a.status != attempt.want {
				t.Errorf("%d %s, want %d", a.status, a.body, attempt.want)
			}
			noCORS(t, a)
			for _, secret := range []string{r.owner, code, installation} {
				if strings.Contains(a.body, secret) {
					t.Errorf("the answer tells %s", secret)
				}
			}
		})
	}
	t.Run("SEC-04 nothing was reached and nothing was changed", func(t *testing.T) {
		if touched != 0 || len(b.conns) != 0 {
			t.Errorf("%d requests and %d connections came through", touched, len(b.conns))
		}
		after := r.store.Rows()
		if len(after) != len(before)+1 { // the one real sign-in above
			t.Errorf("%d credentials before, %d after", len(before), len(after))
		}
		if a := r.get("/auth", "Host: "+r.own, "Origin: http://"+r.own, cookie); a.status != 200 {
			t.Errorf("the owner is signed out: %+v", a)
		}
	})
	t.Run("SEC-02 the way in that is meant: command, link, code, cookie, connection", func(t *testing.T) {
		a := r.post("/internal/signin-code", "", r.bearer())
		var made struct{ Code, URL string }
		if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != 200 {
			t.Fatalf("%+v", a)
		}
		if want := "http://" + r.own + "/signin#" + made.Code; made.URL != want || r.running.TabURL != "http://"+r.own {
			t.Errorf("url %q, want %q", made.URL, want)
		}
		if a := r.get("/signin", "Host: "+r.own, "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"); a.status != 200 {
			t.Fatalf("the page: %+v", a)
		}
		a = r.post("/signin", `{"code":"`+made.Code+`"}`, "Host: "+r.own, "Origin: http://"+r.own, "Sec-Fetch-Site: same-origin")
		value, _, _ := strings.Cut(strings.TrimPrefix(a.header.Get("Set-Cookie"), "ap_session="), ";")
		if a.status != 200 || len(value) != 64 {
			t.Fatalf("%+v", a)
		}
		c := r.dial(func(o *websocket.DialOptions) {
			o.Host, o.HTTPHeader = r.own, http.Header{"Cookie": {"ap_session=" + value}, "Origin": {"http://" + r.own}}
		})
		p := await(t, b.conns, "the connection")
		p.send("welcome")
		if _, data, err := c.Read(t.Context()); err != nil || string(data) != "welcome" {
			t.Errorf("%q, %v", data, err)
		}
		if a := r.post("/signin", `{"code":"`+made.Code+`"}`, "Host: "+r.own, "Origin: http://"+r.own); a.status != 401 || a.code() != "unauthenticated" {
			t.Errorf("the code again: %+v", a)
		}
	})
}

func TestInternal(t *testing.T) {
	r := start(t, nil)
	t.Run("SEC-08 only the owner's token manages tokens, whatever scopes another has", func(t *testing.T) {
		signed, _ := r.token(principal.TokenRequest{Name: "x", Scopes: principal.AllScopes()})
		tab, err := r.auth.SignInTab(t.Context(), r.code())
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{signed, tab} {
			for _, path := range []string{"/internal/tokens", "/internal/signin-code", "/internal/tokens/x/revoke", "/internal/activate"} {
				if a := r.post(path, `{"name":"y"}`, "Authorization: Bearer "+secret); a.status != 403 {
					t.Errorf("%s: %+v", path, a)
				}
			}
			if a := r.get("/internal/tokens", "Authorization: Bearer "+secret); a.status != 403 {
				t.Errorf("the list: %+v", a)
			}
		}
	})
	t.Run("a token is made, listed without its secret, used and revoked", func(t *testing.T) {
		a := r.post("/internal/tokens", `{"name":"editor","ttlSeconds":60}`, r.bearer())
		var made struct {
			ID, Name, Token string
			Scopes          []string
		}
		if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != 200 || made.Name != "editor" || strings.Join(made.Scopes, " ") != "read chat" {
			t.Fatalf("%+v", a)
		}
		if a := r.get("/auth", "Authorization: Bearer "+made.Token); a.status != 200 {
			t.Errorf("using it: %+v", a)
		}
		list := r.get("/internal/tokens", r.bearer())
		if !strings.Contains(list.body, made.ID) || strings.Contains(list.body, made.Token) {
			t.Errorf("the list: %+v", list)
		}
		if a := r.post("/internal/tokens/"+made.ID+"/revoke", "", r.bearer()); a.status != 200 {
			t.Errorf("revoking: %+v", a)
		}
		if a := r.get("/auth", "Authorization: Bearer "+made.Token); a.status != 401 || !strings.Contains(a.body, "revoked") {
			t.Errorf("afterwards: %+v", a)
		}
		if a := r.post("/internal/tokens/nope/revoke", "", r.bearer()); a.status != 404 || a.code() != "not_found" {
			t.Errorf("an unknown id: %+v", a)
		}
	})
	t.Run("bad requests say what would be right", func(t *testing.T) {
		for body, want := range map[string]string{
			"": "name", "{": "name", "[]": "name", `{"name":1}`: "name", `{"name":"x"} {}`: "name", `{}`: "name", `{"name":"x","scopes":["root"]}`: "read,chat,approve,admin",
			`{"name":"x","ttlSeconds":-1}`: "second", `{"name":"x","ttlSeconds":9000000000000000000}`: "second",
		} {
			if a := r.post("/internal/tokens", body, r.bearer()); a.status != 400 || a.code() != "invalid_request" || !strings.Contains(a.body, want) {
				t.Errorf("%s: %+v", body, a)
			}
		}
		if a := r.send("POST", "/signin", `{"code":"x"}`, "Content-Type: text/plain"); a.status != 400 || !strings.Contains(a.body, "application/json") {
			t.Errorf("text/plain: %+v", a)
		}
	})
	t.Run("a second start shows the window of the first, where there is one", func(t *testing.T) {
		if a := r.post("/internal/activate", "{}", r.bearer()); a.status != 200 || strings.TrimSpace(a.body) != `{"raised":false}` {
			t.Errorf("no window: %+v", a)
		}
		var shown []string
		windowed := start(t, func(o *server.Options) {
			o.Activate = func(link string) bool { shown = append(shown, link); return true }
		})
		for _, body := range []string{"{}", `{"link":"aalis://new"}`} {
			if a := windowed.post("/internal/activate", body, windowed.bearer()); a.status != 200 || strings.TrimSpace(a.body) != `{"raised":true}` {
				t.Errorf("%s: %+v", body, a)
			}
		}
		if want := []string{"", "aalis://new"}; !slices.Equal(shown, want) {
			t.Errorf("shown at %q, want %q", shown, want)
		}
	})
	t.Run("a failing store is no 401", func(t *testing.T) {
		signed, _ := r.token(principal.TokenRequest{Name: "x"})
		r.store.Break(http.ErrBodyNotAllowed)
		defer r.store.Break(nil)
		if a := r.get("/auth", "Authorization: Bearer "+signed); a.status != 500 || strings.Contains(a.body, http.ErrBodyNotAllowed.Error()) {
			t.Errorf("%+v", a)
		}
	})
}

func TestMounts(t *testing.T) {
	var seen principal.Caller
	var known bool
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen, known = server.CallerOf(r.Context())
		w.WriteHeader(204)
	})
	ended := make(chan struct{})
	r := start(t, func(o *server.Options) {
		o.Mounts = map[string]server.Mount{
			"/v1/":   {Handler: handler},
			"/open/": {Handler: handler, Public: true},
			"/api/": {Handler: handler, Refuse: func(w http.ResponseWriter, _ *http.Request, status int, _, message string) {
				w.WriteHeader(status)
				_, _ = w.Write([]byte("own form: " + message))
			}},
			"/live/": {Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(200)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				close(ended)
			})},
		}
	})
	t.Run("V1-027 a handler gets the caller, from one place", func(t *testing.T) {
		for name, headers := range map[string][]string{
			"bearer": {r.bearer()}, "cookie": {"Host: " + r.own, "Origin: http://" + r.own, "Cookie: " + r.cookie()},
		} {
			seen, known = principal.Caller{}, false
			if a := r.get("/v1/me", headers...); a.status != 204 || !known || seen.Principal.ID != principal.OwnerID {
				t.Errorf("%s: %+v, caller %+v", name, a, seen)
			}
		}
	})
	t.Run("V1-031 without a credential it is not reached, unless public", func(t *testing.T) {
		if a := r.get("/v1/me"); a.status != 401 || a.code() != "unauthenticated" {
			t.Errorf("%+v", a)
		}
		known = true
		if a := r.get("/open/x"); a.status != 204 || known {
			t.Errorf("%+v, known %v", a, known)
		}
		if a := r.get("/open/x", "Authorization: Bearer wrong"); a.status != 401 {
			t.Errorf("a wrong one: %+v", a)
		}
	})
	t.Run("a protocol may refuse in its own form", func(t *testing.T) {
		if a := r.get("/api/x"); a.status != 401 || !strings.HasPrefix(a.body, "own form: ") {
			t.Errorf("%+v", a)
		}
	})
	t.Run("SEC-08 a stream ends with its credential", func(t *testing.T) {
		signed, token := r.token(principal.TokenRequest{Name: "x"})
		c, err := net.Dial("tcp", r.addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /live/x HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", r.addr(), signed)
		if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := r.auth.RevokeToken(t.Context(), token.ID); err != nil {
			t.Fatal(err)
		}
		await(t, ended, "the stream's end")
	})
}
