package server_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/server"
)

// everywhere are paths of each kind: the interface, a file, the door's own, the transport, a mount
// that streams, and nothing at all.
var everywhere = []string{"/", "/signin", "/s/1", "/favicon.svg", "/auth", "/v1/health", "/session", "/stream/x", "/pair", "/pair/renew", "/internal/pair-code", "/internal/tokens", "/nothing.txt", "/a/../b", "*"}

func streaming(o *server.Options) {
	o.Mounts = map[string]server.Mount{"/stream/": {Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: 1\n\n"))
		w.(http.Flusher).Flush()
		if r.URL.Path == "/stream/live" {
			<-r.Context().Done()
		}
	})}}
}

func TestHost(t *testing.T) {
	r := start(t, streaming)
	upgrade := []string{"Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
	t.Run("SEC-03 another name is answered 421 on every path, whatever it brings", func(t *testing.T) {
		for _, host := range []string{
			"evil.example", "evil.example:" + r.port, "127.0.0.1", "127.0.0.1:1", "127.0.0.1.:" + r.port, "127.0.0.1:" + r.port + ".",
			"localhost", "localhost.:" + r.port, "LOCALHOST:" + r.port, "Localhost:" + r.port, "0.0.0.0:" + r.port, "2130706433:" + r.port,
			"0x7f000001:" + r.port, "127.1:" + r.port, "127.0.0.1.evil.tld:" + r.port, "[::]:" + r.port, "[0:0:0:0:0:0:0:1]:" + r.port,
			"[::ffff:127.0.0.1]:" + r.port, "::1:" + r.port, "aalis-ffffffff.localhost:" + r.port, "x." + r.own, strings.ToUpper(r.own),
			"aalis-" + installation + ".localhost", "aalis-" + installation + ":" + r.port, "127.0.0.1:0" + r.port, "127.0.0.1:" + r.port + ":" + r.port,
		} {
			for _, path := range everywhere {
				a := r.get(path, append(upgrade, "Host: "+host, r.bearer())...)
				if a.status != 421 || a.code() != "misdirected" {
					t.Errorf("Host %q, %s: %d %s", host, path, a.status, a.body)
				}
				if strings.Contains(a.body, installation) {
					t.Errorf("the refusal tells our own name: %s", a.body)
				}
			}
		}
	})
	t.Run("SEC-03 no Host, two, or a URL for a proxy never reach a handler", func(t *testing.T) {
		for name, lines := range map[string][]string{
			"HTTP/1.0 without":  {"GET / HTTP/1.0"},
			"HTTP/1.1 without":  {"GET / HTTP/1.1"},
			"two":               {"GET / HTTP/1.1", "Host: " + r.addr(), "Host: evil.example"},
			"proxy URL":         {"GET http://evil.example/ HTTP/1.1", "Host: " + r.addr()},
			"proxy URL to us":   {"GET http://" + r.addr() + "/ HTTP/1.1", "Host: evil.example"},
			"CONNECT":           {"CONNECT " + r.addr() + " HTTP/1.1", "Host: " + r.addr()},
			"OPTIONS *":         {"OPTIONS * HTTP/1.1", "Host: evil.example"},
			"HTTP/2 by surmise": {"PRI * HTTP/2.0", "", "SM", ""},
		} {
			if a := r.raw(lines...); a.status < 400 || a.status >= 500 {
				t.Errorf("%s: %+v", name, a)
			}
		}
	})
	t.Run("SEC-03 our four names are served with the port they came in on", func(t *testing.T) {
		for _, host := range []string{"127.0.0.1", "[::1]", "localhost", "aalis-" + installation + ".localhost"} {
			for path, want := range map[string]int{"/": 200, "/signin": 200, "/v1/health": 200, "/auth": 401, "/nothing.txt": 404, "/session": 401, "/stream/x": 401} {
				if a := r.get(path, "Host: "+host+":"+r.port); a.status != want {
					t.Errorf("%s%s: %d, want %d", host, path, a.status, want)
				}
			}
		}
	})
	t.Run("SEC-03 a name with the port of another listener of ours is not the one it came in on", func(t *testing.T) {
		two := start(t, func(o *server.Options) { o.Listen = []string{"127.0.0.1:0", "127.0.0.1:0"} })
		other := regexp.MustCompile(`addresses=(\d+)`).FindStringSubmatch(two.log.String())
		if other == nil || other[1] == "1" {
			t.Fatalf("not several listeners: %s", two.log)
		}
		if a := two.get("/", "Host: 127.0.0.1:"+r.port); a.status != 421 {
			t.Errorf("%+v", a)
		}
	})
}

func TestOrigin(t *testing.T) {
	r := start(t, streaming)
	cookie := "Cookie: " + r.cookie()
	foreign := []string{
		"null", "http://localhost:1", "http://localhost:" + r.port, "http://127.0.0.1:1", "http://127.0.0.1", "https://127.0.0.1:" + r.port,
		"file://", "https://127.0.0.1.evil.tld", "http://127.0.0.1.:" + r.port, "http://" + r.own + ".", "http://" + strings.ToUpper(r.own),
		"HTTP://" + r.own, "http://0.0.0.0:" + r.port, "http://2130706433:" + r.port, "http://" + r.own + "/", "http://x@" + r.own, "http://evil.example",
		"http://x." + r.own, "ws://" + r.own, "", " ", "http://" + r.own + " http://evil.example", "wails://wails", "chrome-extension://abc", "http://[::1]:" + r.port,
	}
	t.Run("SEC-04 a foreign Origin is refused on every path, with any credential", func(t *testing.T) {
		for _, origin := range foreign {
			for _, path := range []string{"/", "/signin", "/auth", "/session", "/v1/health", "/stream/x", "/nothing.txt"} {
				for _, credential := range []string{cookie, r.bearer(), "X-None: 1"} {
					a := r.get(path, "Host: "+r.own, "Origin: "+origin, credential)
					if a.status != 403 || a.code() != "forbidden" {
						t.Errorf("Origin %q, %s: %d %s", origin, path, a.status, a.body)
					}
				}
			}
		}
		if a := r.get("/auth", "Host: "+r.own, "Origin: http://"+r.own, "Origin: http://evil.example", cookie); a.status != 403 {
			t.Errorf("two Origins: %+v", a)
		}
	})
	t.Run("SEC-04 cross-site and same-site requests are refused", func(t *testing.T) {
		for _, site := range []string{"cross-site", "same-site", "Same-Origin", "unknown", "same-origin, cross-site"} {
			for _, mode := range []string{"no-cors", "cors", "navigate", "websocket"} {
				for _, path := range []string{"/auth", "/session", "/v1/health", "/stream/x"} {
					a := r.get(path, "Host: "+r.own, "Sec-Fetch-Site: "+site, "Sec-Fetch-Mode: "+mode, "Sec-Fetch-Dest: document", cookie, r.bearer())
					if a.status != 403 {
						t.Errorf("%s, %s, %s: %d", site, mode, path, a.status)
					}
				}
			}
		}
		if a := r.get("/favicon.svg", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"); a.status != 403 {
			t.Errorf("a foreign page's image: %d", a.status)
		}
	})
	t.Run("SEC-04 a cookie counts with our Origin, or with none and Sec-Fetch-Site same-origin", func(t *testing.T) {
		for name, tc := range map[string]struct {
			headers []string
			want    int
		}{
			"our Origin":                 {[]string{"Origin: http://" + r.own}, 200},
			"our Origin and same-origin": {[]string{"Origin: http://" + r.own, "Sec-Fetch-Site: same-origin"}, 200},
			"same-origin, no Origin":     {[]string{"Sec-Fetch-Site: same-origin"}, 200},
			"neither":                    {nil, 401},
			"typed into the address bar": {[]string{"Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"}, 401},
			"our Origin but cross-site":  {[]string{"Origin: http://" + r.own, "Sec-Fetch-Site: cross-site"}, 403},
		} {
			if a := r.get("/auth", append(tc.headers, "Host: "+r.own, cookie)...); a.status != tc.want {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
	})
	t.Run("SEC-04 with neither header only a bearer counts", func(t *testing.T) {
		if a := r.get("/auth", r.bearer()); a.status != 200 || strings.TrimSpace(a.body) != `{"signedIn":true}` {
			t.Errorf("%+v", a)
		}
	})
	t.Run("SEC-04 going to a page by a link works, in the whole window only", func(t *testing.T) {
		for _, site := range []string{"none", "cross-site", "same-site", "same-origin"} {
			for _, path := range []string{"/", "/signin", "/s/1"} {
				if a := r.get(path, "Host: "+r.own, "Sec-Fetch-Site: "+site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"); a.status != 200 {
					t.Errorf("%s to %s: %d", site, path, a.status)
				}
			}
		}
		for _, dest := range []string{"iframe", "frame", "embed", "object", ""} {
			if a := r.get("/", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: "+dest); a.status != 403 {
				t.Errorf("into %q: %d", dest, a.status)
			}
		}
		if a := r.send("POST", "/", "x=1", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"); a.status != 403 {
			t.Errorf("a form to /: %d", a.status)
		}
	})
}

func TestCORS(t *testing.T) {
	r := start(t, streaming)
	t.Run("SEC-05 preflights are refused, private network or not, and no header allows anything", func(t *testing.T) {
		for _, origin := range []string{"http://evil.example", "null", "http://" + r.addr(), "http://" + r.own} {
			for _, path := range everywhere {
				for _, extra := range []string{"X-A: 1", "Access-Control-Request-Private-Network: true", "Access-Control-Request-Local-Network: true", "Access-Control-Request-Headers: authorization"} {
					a := r.send("OPTIONS", path, "", "Origin: "+origin, "Access-Control-Request-Method: POST", extra, r.bearer())
					if a.status != 403 {
						t.Errorf("%s from %s: %d", path, origin, a.status)
					}
					noCORS(t, a)
				}
			}
		}
		for _, a := range []answer{r.get("/auth", r.bearer(), "Origin: http://"+r.addr()), r.get("/"), r.get("/v1/health"), r.get("/stream/x", r.bearer())} {
			noCORS(t, a)
		}
	})
}

func noCORS(t *testing.T, a answer) {
	t.Helper()
	for name := range a.header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s: %s in %+v", name, a.header.Get(name), a)
		}
	}
}

func TestCookie(t *testing.T) {
	r := start(t, streaming)
	origin := "Origin: http://" + r.own
	t.Run("SEC-06 the cookie has its attributes and no more", func(t *testing.T) {
		a := r.post("/signin", `{"code":"`+r.code()+`"}`, "Host: "+r.own, origin)
		if a.status != 200 || strings.TrimSpace(a.body) != `{"mode":"cookie"}` {
			t.Fatalf("%+v", a)
		}
		set := a.header.Get("Set-Cookie")
		if !regexp.MustCompile(`^ap_session=[0-9a-f]{64}; Path=/; Max-Age=\d+; HttpOnly; SameSite=Strict$`).MatchString(set) {
			t.Errorf("Set-Cookie: %s", set)
		}
	})
	t.Run("SEC-06 under other names a tab gets a bearer and never a cookie", func(t *testing.T) {
		for _, host := range []string{"127.0.0.1", "[::1]", "localhost"} {
			host += ":" + r.port
			a := r.post("/signin", `{"code":"`+r.code()+`"}`, "Host: "+host, "Origin: http://"+host)
			if a.status != 200 || a.header.Get("Set-Cookie") != "" || !strings.HasPrefix(a.body, `{"mode":"bearer","token":"`) {
				t.Fatalf("%s: %+v", host, a)
			}
			token := strings.Split(a.body, `"`)[7]
			if a := r.get("/auth", "Host: "+host, "Authorization: Bearer "+token); a.status != 200 {
				t.Errorf("the bearer under %s: %+v", host, a)
			}
		}
	})
	t.Run("SEC-06 a good cookie is not accepted under a name that all ports share", func(t *testing.T) {
		cookie := "Cookie: " + r.cookie()
		for _, host := range []string{"127.0.0.1", "[::1]", "localhost"} {
			host += ":" + r.port
			a := r.get("/auth", "Host: "+host, "Origin: http://"+host, "Sec-Fetch-Site: same-origin", cookie)
			if a.status != 401 || a.code() != "unauthenticated" {
				t.Errorf("%s: %+v", host, a)
			}
		}
	})
	t.Run("SEC-06 a write by cookie needs the exact Origin", func(t *testing.T) {
		cookie := "Cookie: " + r.cookie()
		if a := r.post("/stream/x", "{}", "Host: "+r.own, "Sec-Fetch-Site: same-origin", cookie); a.status != 403 {
			t.Errorf("no Origin: %+v", a)
		}
		if a := r.post("/stream/x", "{}", "Host: "+r.own, origin, cookie); a.status != 200 {
			t.Errorf("our Origin: %+v", a)
		}
	})
	t.Run("SEC-06 a cookie planted by another port neither signs in nor signs out", func(t *testing.T) {
		good := r.cookie()
		planted := "ap_session=" + strings.Repeat("ab", 32)
		if a := r.get("/auth", "Host: "+r.own, origin, "Cookie: "+planted); a.status != 401 {
			t.Errorf("planted alone: %+v", a)
		}
		if a := r.get("/auth", "Host: "+r.own, origin, "Cookie: "+planted+"; "+good); a.status != 200 {
			t.Errorf("planted before the good one: %+v", a)
		}
		if a := r.get("/auth", "Host: "+r.own, origin, "Cookie: "+strings.Repeat(planted+"; ", 300)+good); a.status < 400 {
			t.Errorf("300 planted ones were all tried: %+v", a)
		}
	})
	t.Run("SEC-06 a bearer decides even beside a good cookie", func(t *testing.T) {
		for _, bad := range []string{"Bearer wrong", "Bearer ", "Bearer", "Basic dTpw", "wrong"} {
			if a := r.get("/auth", "Host: "+r.own, origin, "Cookie: "+r.cookie(), "Authorization: "+bad); a.status != 401 {
				t.Errorf("%q: %+v", bad, a)
			}
		}
	})
	t.Run("SEC-06 signing out ends the cookie at once and deletes it", func(t *testing.T) {
		cookie := "Cookie: " + r.cookie()
		a := r.post("/signout", "", "Host: "+r.own, origin, cookie)
		if a.status != 200 || !strings.Contains(a.header.Get("Set-Cookie"), "Max-Age=0") {
			t.Fatalf("%+v", a)
		}
		if a := r.get("/auth", "Host: "+r.own, origin, cookie); a.status != 401 {
			t.Errorf("after signing out: %+v", a)
		}
	})
	t.Run("SEC-06 GET changes nothing", func(t *testing.T) {
		cookie := "Cookie: " + r.cookie()
		before := r.store.Rows()
		code := r.code()
		for _, path := range []string{"/signin?code=" + code, "/signin/" + code, "/signout", "/internal/signin-code", "/internal/tokens/x/revoke"} {
			for _, method := range []string{"GET", "HEAD"} {
				a := r.send(method, path, "", "Host: "+r.own, "Sec-Fetch-Site: same-origin", cookie)
				if strings.HasPrefix(path, "/signin") {
					continue // the page itself, or nothing
				}
				if a.status != 405 && a.status != 401 && a.status != 403 {
					t.Errorf("%s %s: %+v", method, path, a)
				}
			}
		}
		if diff := cmp.Diff(before, r.store.Rows()); diff != "" {
			t.Errorf("credentials (-before +after):\n%s", diff)
		}
		if _, err := r.auth.SignInCookie(context.Background(), code); err != nil {
			t.Errorf("the code was used up by a GET: %v", err)
		}
	})
}
