package server_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"aalis/backend/principal"
	"aalis/backend/server"
)

func upgradeHeaders(more ...string) []string {
	return append([]string{"Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}, more...)
}

func withHeader(name, value string) func(*websocket.DialOptions) {
	return func(o *websocket.DialOptions) { o.HTTPHeader = http.Header{name: {value}} }
}

func TestSessionCredentials(t *testing.T) {
	b := newBoard()
	r := start(t, func(o *server.Options) { o.Sessions = b })
	t.Run("SP-TRANS-01 FAIL-H14 without a credential the upgrade is 401 and says how to get one", func(t *testing.T) {
		for name, headers := range map[string][]string{
			"none": nil, "unknown bearer": {"Authorization: Bearer x"}, "unknown cookie": {"Cookie: ap_session=x", "Host: " + r.own, "Origin: http://" + r.own},
			"unknown subprotocol": {"Sec-WebSocket-Protocol: aalis.bearer.x"}, "token in another subprotocol": {"Sec-WebSocket-Protocol: " + r.owner},
		} {
			a := r.get("/session", upgradeHeaders(headers...)...)
			if a.status != 401 || a.code() != "unauthenticated" || !strings.Contains(a.body, "aalis open") || a.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: %+v", name, a)
			}
		}
		select {
		case <-b.conns:
			t.Error("the session protocol saw a connection")
		default:
		}
	})
	t.Run("SEC-02 a token in the URL counts for nothing", func(t *testing.T) {
		for _, path := range []string{"/session?token=", "/session?access_token=", "/session?authorization=Bearer%20", "/auth?token=", "/session/"} {
			if a := r.get(path+r.owner, upgradeHeaders()...); a.status != 401 && a.status != 404 {
				t.Errorf("%s: %d", path, a.status)
			}
		}
	})
	t.Run("SP-TRANS-02 SEC-02 /session takes the owner's token as a header and as a subprotocol", func(t *testing.T) {
		r.dial()
		p := await(t, b.conns, "the connection by header")
		if p.peer.Surface != "cli" || p.peer.Caller.Principal.ID != principal.OwnerID {
			t.Errorf("peer = %+v", p.peer)
		}
		c := r.dial(func(o *websocket.DialOptions) {
			o.HTTPHeader, o.Subprotocols = nil, []string{"aalis.bearer." + r.owner}
		})
		await(t, b.conns, "the connection by subprotocol")
		if c.Subprotocol() != "aalis.bearer."+r.owner {
			t.Errorf("a browser would drop the connection: answered %q", c.Subprotocol())
		}
		c = r.dial(func(o *websocket.DialOptions) {
			o.HTTPHeader, o.Subprotocols = nil, []string{"aalis.bearer." + r.owner, "aalis.session"}
		})
		if c.Subprotocol() != "aalis.session" {
			t.Errorf("the secret was repeated: %q", c.Subprotocol())
		}
		await(t, b.conns, "the connection by both")
	})
	t.Run("SEC-04 the browser's cookie opens it with the exact Origin only", func(t *testing.T) {
		cookie := r.cookie()
		open := func(origin string) (*http.Response, error) {
			c, res, err := websocket.Dial(t.Context(), "ws://"+r.addr()+"/session", &websocket.DialOptions{
				Host: r.own, HTTPHeader: http.Header{"Cookie": {cookie}, "Origin": {origin}},
			})
			if err == nil {
				_ = c.CloseNow()
			}
			return res, err
		}
		if _, err := open("http://" + r.own); err != nil {
			t.Fatal(err)
		}
		if p := await(t, b.conns, "the browser's connection"); p.peer.Surface != "webui" {
			t.Errorf("surface %q", p.peer.Surface)
		}
		for _, origin := range []string{"null", "http://evil.example", "http://" + r.addr(), "http://localhost:" + r.port, "https://" + r.own, "file://"} {
			if res, err := open(origin); err == nil || res.StatusCode != 403 {
				t.Errorf("Origin %q: %v, %v", origin, res, err)
			}
		}
		if a := r.get("/session", upgradeHeaders("Host: "+r.own, "Cookie: "+cookie)...); a.status != 401 {
			t.Errorf("no Origin: %+v", a)
		}
	})
	t.Run("SEC-08 SP-PRES-02 a client cannot name its user, surface or scopes", func(t *testing.T) {
		signed, token := r.token(principal.TokenRequest{Name: "editor"})
		r.dial(func(o *websocket.DialOptions) {
			o.HTTPHeader = http.Header{
				"Authorization": {"Bearer " + signed}, "X-Surface": {"webui"}, "X-User": {"root"}, "X-Scopes": {"admin"},
				"X-Forwarded-User": {"root"}, "X-Forwarded-For": {"127.0.0.1"},
			}
		})
		p := await(t, b.conns, "the connection")
		if p.peer.Surface != "client" || p.peer.Caller.CredentialID != token.ID || p.peer.Caller.Can(principal.Approve) || p.peer.Caller.Scopes.String() != "read,chat" {
			t.Errorf("peer = %+v", p.peer)
		}
	})
	t.Run("SEC-08 scopes and kinds that have no business here are 403", func(t *testing.T) {
		signed, _ := r.token(principal.TokenRequest{Name: "x", Scopes: principal.Scopes{principal.Approve}})
		if a := r.get("/session", upgradeHeaders("Authorization: Bearer "+signed)...); a.status != 403 || !strings.Contains(a.body, "read") {
			t.Errorf("no read: %+v", a)
		}
		r.store.AddPrincipal(principal.Principal{ID: "app1", Kind: principal.App})
		if err := r.store.PutCredential(t.Context(), principal.Credential{TokenHash: sha("ak_1"), PrincipalID: "app1", Kind: principal.ViaAppKey, Roles: []string{"read"}}); err != nil {
			t.Fatal(err)
		}
		if a := r.get("/session", upgradeHeaders("Authorization: Bearer ak_1")...); a.status != 403 {
			t.Errorf("an app's key: %+v", a)
		}
	})
	t.Run("what is no upgrade is told so", func(t *testing.T) {
		if a := r.get("/session", r.bearer()); a.status != 426 || a.code() != "upgrade_required" {
			t.Errorf("%+v", a)
		}
		if a := r.post("/session", "{}", r.bearer()); a.status != 405 || a.header.Get("Allow") != "GET" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("SEC-08 revoking a token ends its live connections and no others", func(t *testing.T) {
		signed, token := r.token(principal.TokenRequest{Name: "editor"})
		other, _ := r.token(principal.TokenRequest{Name: "other"})
		c1, c2 := r.dial(withHeader("Authorization", "Bearer "+signed)), r.dial(withHeader("Authorization", "Bearer "+signed))
		await(t, b.conns, "one")
		await(t, b.conns, "two")
		kept := r.dial(withHeader("Authorization", "Bearer "+other))
		keptPin := await(t, b.conns, "three")
		a := r.post("/internal/tokens/"+token.ID+"/revoke", "{}", r.bearer())
		if a.status != 200 {
			t.Fatalf("%+v", a)
		}
		wantClose(t, c1, websocket.StatusPolicyViolation, "revoked")
		wantClose(t, c2, websocket.StatusPolicyViolation, "revoked")
		if a := r.get("/auth", "Authorization: Bearer "+signed); a.status != 401 {
			t.Errorf("%+v", a)
		}
		keptPin.send("still here")
		if _, data, err := kept.Read(t.Context()); err != nil || string(data) != "still here" {
			t.Errorf("the other token's connection: %q, %v", data, err)
		}
	})
	t.Run("SEC-08 a token's end comes to its live connections", func(t *testing.T) {
		signed, _ := r.token(principal.TokenRequest{Name: "brief", Lifetime: time.Second})
		c := r.dial(withHeader("Authorization", "Bearer "+signed))
		wantClose(t, c, websocket.StatusPolicyViolation, "expired")
		await(t, b.conns, "the connection")
	})
	t.Run("SEC-06 signing out ends the tab's live connection", func(t *testing.T) {
		cookie := r.cookie()
		c := r.dial(func(o *websocket.DialOptions) {
			o.Host, o.HTTPHeader = r.own, http.Header{"Cookie": {cookie}, "Origin": {"http://" + r.own}}
		})
		await(t, b.conns, "the connection")
		if a := r.post("/signout", "", "Host: "+r.own, "Origin: http://"+r.own, "Cookie: "+cookie); a.status != 200 {
			t.Fatalf("%+v", a)
		}
		wantClose(t, c, websocket.StatusPolicyViolation, "signed out")
	})
}

func TestTransport(t *testing.T) {
	t.Run("SP-TRANS-04 without a session service it is closed with 1013 and the fixed reason", func(t *testing.T) {
		r := start(t, nil)
		wantClose(t, r.dial(), websocket.StatusTryAgainLater, "会话服务不在")
	})
	b := newBoard()
	b.greeted = true
	r := start(t, func(o *server.Options) { o.Sessions = b })
	t.Run("SP-TRANS-03 SP-CONN-02 a connection's surface is its credential's, the same for each", func(t *testing.T) {
		for range 2 {
			r.dial()
			if p := await(t, b.conns, "a connection"); p.peer.Surface != principal.SurfaceCLI || p.peer.Caller.Identity != (principal.Identity{Platform: "cli", UserID: "console"}) {
				t.Errorf("peer = %+v", p.peer)
			}
		}
	})
	t.Run("SP-TRANS-05 disconnecting closes with 1000 and the reason, after what was sent", func(t *testing.T) {
		c := r.dial()
		p := await(t, b.conns, "the connection")
		p.send(`{"error":1}`)
		p.peer.Disconnect("incompatible version 9.9")
		p.peer.Disconnect("a second time")
		p.send("too late")
		if _, data, err := c.Read(t.Context()); err != nil || string(data) != `{"error":1}` {
			t.Errorf("read %q, %v", data, err)
		}
		wantClose(t, c, websocket.StatusNormalClosure, "incompatible version 9.9")
		await(t, p.closed, "Close")
	})
	t.Run("SP-TRANS-06 a long reason is cut to 123 bytes of whole characters", func(t *testing.T) {
		for _, tc := range []struct{ reason, want string }{
			{strings.Repeat("a", 123), strings.Repeat("a", 123)},
			{strings.Repeat("a", 124), strings.Repeat("a", 123)},
			{strings.Repeat("版", 50), strings.Repeat("版", 41)},
			{"a" + strings.Repeat("版", 50), "a" + strings.Repeat("版", 40)},
			{strings.Repeat("😀", 40), strings.Repeat("😀", 30)},
			{"bad \xff byte", "bad \uFFFD byte"},
		} {
			c := r.dial()
			await(t, b.conns, "the connection").peer.Disconnect(tc.reason)
			_, _, err := c.Read(t.Context())
			var closed websocket.CloseError
			if !asClose(err, &closed) || closed.Code != 1000 || closed.Reason != tc.want {
				t.Errorf("reason of %d bytes: %v", len(tc.reason), err)
			}
		}
	})
	t.Run("SP-TRANS-07 each message is one string to Receive, and closing is one Close", func(t *testing.T) {
		c := r.dial()
		p := await(t, b.conns, "the connection")
		want := []string{`{"a":1}`, "", "汉字 😀 \u0000", strings.Repeat("x", 200_000)}
		for _, frame := range want {
			if err := c.Write(t.Context(), websocket.MessageText, []byte(frame)); err != nil {
				t.Fatal(err)
			}
		}
		w, err := c.Writer(t.Context(), websocket.MessageText) // in several fragments, a character split
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"one \xe6", "\xb1", "\x89", " message"} {
			if _, err := io.WriteString(w, part); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want = append(want, "one 汉 message")
		var got []string
		for range want {
			got = append(got, await(t, p.frames, "a frame"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if err := c.Close(websocket.StatusNormalClosure, "bye"); err != nil {
			t.Errorf("closing: %v", err)
		}
		await(t, p.closed, "Close")
		p.send("to nobody")
		p.peer.Disconnect("gone already")
		// The session hears of the end a moment before the queue is let go.
		for end := time.Now().Add(5 * time.Second); p.peer.Queued() != 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if p.peer.Room(t.Context()) || p.peer.Queued() != 0 || p.closes.Load() != 1 {
			t.Errorf("after the end: room, %d queued, %d closes", p.peer.Queued(), p.closes.Load())
		}
	})
	t.Run("SP-TRANS-07 a connection that breaks off is closed too", func(t *testing.T) {
		c := r.dial()
		p := await(t, b.conns, "the connection")
		_ = c.CloseNow()
		await(t, p.closed, "Close")
	})
	t.Run("a binary message is 1003, text that is no UTF-8 is 1007", func(t *testing.T) {
		c := r.dial()
		p := await(t, b.conns, "the connection")
		if err := c.Write(t.Context(), websocket.MessageBinary, []byte("x")); err != nil {
			t.Fatal(err)
		}
		wantClose(t, c, websocket.StatusUnsupportedData, "text")
		await(t, p.closed, "Close")
		c = r.dial()
		p = await(t, b.conns, "the connection")
		if err := c.Write(t.Context(), websocket.MessageText, []byte("a\xffb")); err != nil {
			t.Fatal(err)
		}
		wantClose(t, c, websocket.StatusInvalidFramePayloadData, "UTF-8")
		if len(p.frames) != 0 {
			t.Error("the frame reached the session protocol")
		}
	})
	t.Run("frames arrive whole and in order whatever their size and number", func(t *testing.T) {
		c := r.dial()
		p := await(t, b.conns, "the connection")
		rnd := rand.New(rand.NewPCG(1, 2))
		var want []string
		for i := range 3000 {
			size := rnd.IntN(300)
			if i%500 == 0 {
				size = 300_000
			}
			want = append(want, fmt.Sprintf("%d:", i)+strings.Repeat("é", size))
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for _, frame := range want {
				if !p.peer.Room(t.Context()) {
					t.Error("the connection ended")
					return
				}
				p.send(frame)
			}
		})
		for i := range want {
			if _, data, err := c.Read(t.Context()); err != nil || string(data) != want[i] {
				t.Fatalf("frame %d: %.40q, %v", i, data, err)
			}
		}
		wg.Wait()
	})
	t.Run("a handler that panics ends its own connection with 1011", func(t *testing.T) {
		broken := newBoard()
		broken.receive = func(*pin, string) { panic("boom") }
		r := start(t, func(o *server.Options) { o.Sessions = broken })
		c, other := r.dial(), r.dial()
		p := await(t, broken.conns, "the connection")
		q := await(t, broken.conns, "the other")
		if err := c.Write(t.Context(), websocket.MessageText, []byte("x")); err != nil {
			t.Fatal(err)
		}
		wantClose(t, c, websocket.StatusInternalError, "")
		select {
		case <-p.closed:
			q.send("fine")
		case <-q.closed:
			p.send("fine")
		case <-time.After(10 * time.Second):
			t.Fatal("Close was not called")
		}
		if _, data, err := other.Read(t.Context()); err != nil || string(data) != "fine" {
			t.Errorf("the other connection: %q, %v", data, err)
		}
		if !strings.Contains(r.log.String(), "boom") {
			t.Error("nothing in the log")
		}
	})
}

func asClose(err error, into *websocket.CloseError) bool {
	if websocket.CloseStatus(err) == -1 {
		return false
	}
	for ; err != nil; err = unwrap(err) {
		if ce, ok := err.(websocket.CloseError); ok {
			*into = ce
			return true
		}
	}
	return false
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}
