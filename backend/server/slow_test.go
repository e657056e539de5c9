package server_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"aalis/backend/principal"
	"aalis/backend/server"
)

func TestSlowClients(t *testing.T) {
	t.Run("SEC-09 clients that never read are parted from at 4 MiB, and cost no more", func(t *testing.T) {
		b := newBoard()
		r := start(t, func(o *server.Options) { o.Sessions, o.Limits.QueueAge = b, time.Hour })
		const stuck = 10
		var clients []*websocket.Conn
		var pins []*pin
		for range stuck {
			clients = append(clients, r.dial())
			pins = append(pins, await(t, b.conns, "a connection"))
		}
		healthy := r.dial()
		healthyPin := await(t, b.conns, "the healthy one")
		var wg sync.WaitGroup
		const pieces = 1500
		wg.Go(func() {
			for i := range pieces {
				if _, data, err := healthy.Read(context.Background()); err != nil || !strings.HasPrefix(string(data), fmt.Sprintf("%d ", i)) {
					t.Errorf("the healthy client at %d: %.20q, %v", i, data, err)
					return
				}
			}
		})
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		most := 0
		for i := range pieces { // 1,500 × 16 KiB = 24 MB to each
			for _, p := range append(pins, healthyPin) {
				if p == healthyPin && !p.peer.Room(t.Context()) {
					t.Fatal("the healthy client was parted from")
				}
				p.send(fmt.Sprintf("%d %s", i, strings.Repeat("x", 16<<10)))
				most = max(most, p.peer.Queued())
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		wg.Wait()
		if most > 4<<20 {
			t.Errorf("%d bytes waited for one client", most)
		}
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 24<<20 {
			t.Errorf("%d stuck clients hold %d MiB", stuck, grown>>20)
		}
		for i, p := range pins { // whoever reads again in time learns why
			wantClose(t, clients[i], websocket.StatusTryAgainLater, "slowly")
			await(t, p.closed, "Close of a stuck client")
		}
		if n := strings.Count(r.log.String(), "too slow"); n != stuck {
			t.Errorf("%d lines about slow clients, want %d", n, stuck)
		}
	})
	t.Run("SEC-09 a client that takes nothing for the age is parted from, however little waits", func(t *testing.T) {
		b := newBoard()
		r := start(t, func(o *server.Options) { o.Sessions, o.Limits.QueueAge = b, 300*time.Millisecond })
		c := r.dial()
		p := await(t, b.conns, "the connection")
		// Little beside the bound, but more than the kernel takes: our buffer, and the client's.
		for p.peer.Queued() < 1<<20 {
			p.send(strings.Repeat("x", 64<<10))
		}
		for p.peer.Room(t.Context()) { // until it has ended; what waits stays far below the bound
			p.send(strings.Repeat("x", 64<<10))
		}
		wantClose(t, c, websocket.StatusTryAgainLater, "slowly")
		await(t, p.closed, "Close")
	})
	t.Run("SEC-09 one that never reads again is cut off soon after", func(t *testing.T) {
		b := newBoard()
		r := start(t, func(o *server.Options) { o.Sessions, o.Limits.QueueAge = b, 200*time.Millisecond })
		r.dial()
		p := await(t, b.conns, "the connection")
		began := time.Now()
		for range 300 {
			p.send(strings.Repeat("x", 64<<10))
		}
		await(t, p.closed, "Close")
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
	t.Run("SEC-09 a burst does not part from a client that reads", func(t *testing.T) {
		b := newBoard()
		r := start(t, func(o *server.Options) { o.Sessions = b })
		c := r.dial()
		p := await(t, b.conns, "the connection")
		const burst = 6000
		for i := range burst {
			p.send(fmt.Sprintf("%d %s", i, strings.Repeat("x", 219)))
		}
		for i := range burst {
			if _, data, err := c.Read(t.Context()); err != nil || !strings.HasPrefix(string(data), fmt.Sprintf("%d ", i)) {
				t.Fatalf("at %d: %.20q, %v", i, data, err)
			}
		}
	})
	t.Run("SEC-09 a single frame larger than the bound still arrives, however long it takes, and what follows too", func(t *testing.T) {
		b := newBoard()
		r := start(t, func(o *server.Options) { o.Sessions, o.Limits.QueueAge = b, 500*time.Millisecond })
		c := r.upgrade()
		p := await(t, b.conns, "the connection")
		const size = 12 << 20
		p.send(strings.Repeat("x", size-(10<<10)))
		p.send(strings.Repeat("y", 1<<10)) // waits behind it
		got := 0
		for part := make([]byte, 1<<20); got < size-(9<<10); {
			n, err := c.Read(part)
			if err != nil {
				t.Fatalf("after %d bytes: %v", got, err)
			}
			got += n
			time.Sleep(time.Duration(n) * 200 * time.Millisecond / (1 << 20)) // 5 MiB a second
		}
	})
	t.Run("SEC-09 a stream over HTTP whose client does not read is cut off", func(t *testing.T) {
		ended := make(chan error, 1)
		r := start(t, func(o *server.Options) {
			o.Limits.WriteTime = 200 * time.Millisecond
			o.Mounts = map[string]server.Mount{"/stream/": {Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for {
					if _, err := w.Write(bytes.Repeat([]byte("x"), 64<<10)); err != nil {
						ended <- err
						return
					}
				}
			})}}
		})
		c, err := net.Dial("tcp", r.addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /stream/x HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", r.addr(), r.bearer())
		await(t, ended, "the handler's write to fail")
	})
}

func TestSilence(t *testing.T) {
	quick := func(b *board) func(*server.Options) {
		return func(o *server.Options) {
			o.Sessions, o.Limits.PingEvery, o.Limits.SilenceAtMost = b, 50*time.Millisecond, 200*time.Millisecond
		}
	}
	t.Run("a client that answers pings stays, one that does not is dead", func(t *testing.T) {
		b := newBoard()
		r := start(t, quick(b))
		c := r.dial()
		lively := await(t, b.conns, "the lively one")
		ctx := c.CloseRead(t.Context()) // reads, and so answers pings
		// The dead one is a bare connection: after the upgrade it says nothing.
		dead, err := net.Dial("tcp", r.addr())
		if err != nil {
			t.Fatal(err)
		}
		defer dead.Close()
		fmt.Fprintf(dead, "GET /session HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", r.addr(), strings.Join(upgradeHeaders(r.bearer()), "\r\n"))
		p := await(t, b.conns, "the dead one")
		began := time.Now()
		await(t, p.closed, "the dead one's Close")
		if took := time.Since(began); took < 150*time.Millisecond {
			t.Errorf("after %v already", took)
		}
		select {
		case <-lively.closed:
			t.Error("the lively one was ended")
		case <-ctx.Done():
			t.Error("the lively one lost its connection")
		default:
		}
	})
	t.Run("a long handler is not the client's silence", func(t *testing.T) {
		b := newBoard()
		handled := make(chan struct{})
		b.receive = func(p *pin, _ string) {
			time.Sleep(time.Second)
			p.send("done")
			close(handled)
		}
		r := start(t, quick(b))
		c := r.dial()
		await(t, b.conns, "the connection")
		if err := c.Write(t.Context(), websocket.MessageText, []byte("work")); err != nil {
			t.Fatal(err)
		}
		if _, data, err := c.Read(t.Context()); err != nil || string(data) != "done" {
			t.Errorf("%q, %v", data, err)
		}
		<-handled
	})
}

func TestLog(t *testing.T) {
	t.Run("SEC-02 SEC-15 no credential, code, query or body reaches the log", func(t *testing.T) {
		b := newBoard()
		r := start(t, func(o *server.Options) { o.Sessions = b })
		cookie := r.cookie()
		signed, _ := r.token(principal.TokenRequest{Name: "x"})
		code := r.code()
		r.get("/auth?token="+signed, r.bearer())
		r.get("/auth", "Authorization: Bearer "+signed)
		r.get("/auth", "Authorization: Bearer wrongsecretwrongsecret")
		r.get("/auth", "Host: "+r.own, "Origin: http://"+r.own, "Cookie: "+cookie)
		r.post("/signin", `{"code":"`+code+`"}`)
		made := r.post("/internal/signin-code", "", r.bearer())
		c := r.dial(func(o *websocket.DialOptions) {
			o.HTTPHeader, o.Subprotocols = nil, []string{"aalis.bearer." + r.owner}
		})
		p := await(t, b.conns, "the connection")
		if err := c.Write(t.Context(), websocket.MessageText, []byte("privatewords")); err != nil {
			t.Fatal(err)
		}
		await(t, p.frames, "the frame")
		if _, err := r.stop(); err != nil {
			t.Fatal(err)
		}
		log := r.log.String()
		if !strings.Contains(log, "path=/auth status=200") || !strings.Contains(log, "path=/session status=101") {
			t.Fatalf("no access log:\n%s", log)
		}
		fragment := made.body[strings.Index(made.body, "#")+1:]
		for name, secret := range map[string]string{
			"owner's token": r.owner, "cookie": strings.TrimPrefix(cookie, "ap_session="), "JWT": signed, "JWT's signature": signed[strings.LastIndex(signed, ".")+1:],
			"code": code, "made code": fragment[:64], "wrong secret": "wrongsecret", "query": "token=", "frame": "privatewords",
		} {
			if strings.Contains(log, secret) {
				t.Errorf("the %s is in the log", name)
			}
		}
	})
}
