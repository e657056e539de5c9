package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"aalis/backend/principal"
	"aalis/backend/server"
)

func TestSizes(t *testing.T) {
	b := newBoard()
	r := start(t, func(o *server.Options) { o.Sessions = b })
	write := func(t *testing.T, c *websocket.Conn, size int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_ = c.Write(ctx, websocket.MessageText, bytes.Repeat([]byte("x"), size)) // the server may close under it
	}
	t.Run("SEC-09 64 KiB before the handshake, 1009 beyond", func(t *testing.T) {
		c := r.dial()
		p := await(t, b.conns, "the connection")
		write(t, c, 64<<10)
		if n := len(await(t, p.frames, "64 KiB")); n != 64<<10 {
			t.Errorf("%d bytes", n)
		}
		write(t, c, 64<<10+1)
		wantClose(t, c, websocket.StatusMessageTooBig, "65536")
		if len(p.frames) != 0 {
			t.Error("the frame reached the session protocol")
		}
	})
	t.Run("SEC-09 72 MiB after it, 1009 beyond", func(t *testing.T) {
		c := r.upgrade()
		p := await(t, b.conns, "the connection")
		p.greeted.Store(true)
		c.write(72 << 20)
		if n := len(await(t, p.frames, "72 MiB")); n != 72<<20 {
			t.Errorf("%d bytes", n)
		}
		c.write(72<<20 + 1)
		if code, reason := c.readClose(); code != 1009 || !strings.Contains(reason, "75497472") {
			t.Errorf("closed with %d %q", code, reason)
		}
	})
	t.Run("SEC-09 two large messages are read at a time, small ones pass", func(t *testing.T) {
		var now, most atomic.Int32
		entered, leave := make(chan struct{}, 16), make(chan struct{})
		slow := newBoard()
		slow.greeted = true
		slow.receive = func(p *pin, frame string) {
			if len(frame) <= 1<<20 {
				p.frames <- frame
				return
			}
			n := now.Add(1)
			for {
				if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
					break
				}
			}
			entered <- struct{}{}
			<-leave
			now.Add(-1)
		}
		r := start(t, func(o *server.Options) { o.Sessions = slow })
		var wg sync.WaitGroup
		for range 5 {
			c := r.dial()
			await(t, slow.conns, "a connection")
			wg.Go(func() { write(t, c, 2<<20) })
		}
		await(t, entered, "the first")
		await(t, entered, "the second")
		c := r.dial()
		p := await(t, slow.conns, "the small one's connection")
		write(t, c, 1<<20)
		await(t, p.frames, "the small one, while both places are taken")
		close(leave)
		for range 3 {
			await(t, entered, "the others")
		}
		wg.Wait()
		if most.Load() != 2 {
			t.Errorf("%d large messages at once", most.Load())
		}
	})
	t.Run("SEC-09 a message that does not go on is ended with 1008", func(t *testing.T) {
		r := start(t, func(o *server.Options) {
			o.Sessions = b
			o.Limits.MessageTime = 200 * time.Millisecond
		})
		c := r.dial()
		p := await(t, b.conns, "the connection")
		w, err := c.Writer(t.Context(), websocket.MessageText)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(bytes.Repeat([]byte("x"), 8000)); err != nil {
			t.Fatal(err)
		}
		wantClose(t, c, websocket.StatusPolicyViolation, "in time")
		await(t, p.closed, "Close")
	})
	t.Run("SEC-09 bodies are bounded with 413, said or unsaid", func(t *testing.T) {
		big := strings.Repeat("x", 64<<10+1)
		if a := r.post("/signin", big); a.status != 413 || a.code() != "payload_too_large" {
			t.Errorf("said: %+v", a)
		}
		chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(big), big)
		a := rawTo(t, r.addr(), "POST /signin HTTP/1.1\r\nHost: "+r.addr()+"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"+chunked)
		if a.status != 413 {
			t.Errorf("unsaid: %+v", a)
		}
		s := start(t, streaming)
		if a := s.post("/stream/x", strings.Repeat("x", 1<<20), s.bearer()); a.status != 200 {
			t.Errorf("1 MiB to a mount: %+v", a)
		}
		if a := s.post("/stream/x", strings.Repeat("x", 1<<20+1), s.bearer()); a.status != 413 {
			t.Errorf("more to a mount: %+v", a)
		}
	})
	t.Run("SEC-09 a body that does not come is ended", func(t *testing.T) {
		r := start(t, func(o *server.Options) { o.Limits.BodyTime = 200 * time.Millisecond })
		a := rawTo(t, r.addr(), "POST /signin HTTP/1.1\r\nHost: "+r.addr()+"\r\nContent-Length: 10\r\n\r\n{")
		if a.status != 408 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("SEC-09 headers are bounded", func(t *testing.T) {
		if a := r.get("/", "X: "+strings.Repeat("x", 64<<10)); a.status != 431 {
			t.Errorf("%d", a.status)
		}
	})
}

func TestRates(t *testing.T) {
	t.Run("SEC-09 a credential that asks too often waits, another does not", func(t *testing.T) {
		r := start(t, func(o *server.Options) { o.Limits.Rate, o.Limits.Burst = 0.5, 5 })
		other, _ := r.token(principal.TokenRequest{Name: "x"})
		for range 5 {
			if a := r.get("/auth", r.bearer()); a.status != 200 {
				t.Fatalf("%+v", a)
			}
		}
		a := r.get("/auth", r.bearer())
		if a.status != 429 || a.code() != "rate_limited" || a.header.Get("Retry-After") != "2" {
			t.Errorf("%+v", a)
		}
		if a := r.get("/auth", "Authorization: Bearer "+other); a.status != 200 {
			t.Errorf("another credential: %+v", a)
		}
	})
	t.Run("SEC-09 a foreign page cannot use up what the sign-in needs", func(t *testing.T) {
		r := start(t, func(o *server.Options) { o.Limits.Rate, o.Limits.Burst = 0.01, 6 })
		for range 50 {
			if a := r.get("/v1/health", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"); a.status != 403 {
				t.Fatalf("%+v", a)
			}
		}
		r.cookie()
	})
	t.Run("SEC-09 sockets are bounded for each credential and together", func(t *testing.T) {
		b := newBoard()
		r := start(t, func(o *server.Options) { o.Sessions, o.Limits.SocketsEach, o.Limits.Sockets = b, 2, 3 })
		first, _ := r.dial(), r.dial()
		p := await(t, b.conns, "a connection")
		q := await(t, b.conns, "a connection")
		a := r.get("/session", upgradeHeaders(r.bearer())...)
		if a.status != 429 || a.header.Get("Retry-After") == "" {
			t.Errorf("the owner's third: %+v", a)
		}
		signed, _ := r.token(principal.TokenRequest{Name: "x"})
		r.dial(withHeader("Authorization", "Bearer "+signed))
		if a := r.get("/session", upgradeHeaders("Authorization: Bearer "+signed)...); a.status != 429 {
			t.Errorf("the fourth of all: %+v", a)
		}
		_ = first.Close(websocket.StatusNormalClosure, "")
		select {
		case <-p.closed:
		case <-q.closed:
		}
		for range 100 { // the place is given back just after Close
			if a = r.get("/session", upgradeHeaders(r.bearer())...); a.status == 101 {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Errorf("a place that was left is not given out: %+v", a)
	})
	t.Run("SEC-09 frames that come too fast are slowed down, and none is lost", func(t *testing.T) {
		b := newBoard()
		r := start(t, func(o *server.Options) { o.Sessions, o.Limits.Rate, o.Limits.Burst = b, 50, 10 })
		c := r.dial()
		p := await(t, b.conns, "the connection")
		began := time.Now()
		for i := range 30 {
			if err := c.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, "%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 30 {
			if got := await(t, p.frames, "a frame"); got != fmt.Sprint(i) {
				t.Fatalf("frame %q at %d", got, i)
			}
		}
		if took := time.Since(began); took < 300*time.Millisecond {
			t.Errorf("30 frames in %v at 50 a second", took)
		}
	})
	t.Run("SEC-09 TCP connections are bounded", func(t *testing.T) {
		r := start(t, func(o *server.Options) { o.Limits.Connections = 8 })
		var open []net.Conn
		for range 20 {
			c, err := net.Dial("tcp", r.addr())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			open = append(open, c)
		}
		ended := 0
		for _, c := range open {
			_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); err == io.EOF || err != nil && strings.Contains(err.Error(), "reset") {
				ended++
			}
		}
		if ended != 12 {
			t.Errorf("%d of 20 were ended, 8 may stay", ended)
		}
		for _, c := range open {
			c.Close()
		}
		for range 100 {
			if c, err := net.Dial("tcp", r.addr()); err == nil {
				_, _ = io.WriteString(c, "GET /v1/health HTTP/1.0\r\nHost: "+r.addr()+"\r\n\r\n")
				_ = c.SetReadDeadline(time.Now().Add(time.Second))
				n, _ := c.Read(make([]byte, 1))
				c.Close()
				if n == 1 {
					return
				}
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Error("the places were not given back")
	})
}
