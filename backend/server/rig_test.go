package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/coder/websocket"

	"aalis/backend/principal"
	"aalis/backend/principal/principaltest"
	"aalis/backend/server"
)

const installation = "0a1b2c3d"

// rig is a running server on real loopback listeners, with everything that surrounds it.
type rig struct {
	t       testing.TB
	dir     string
	running server.Running
	port    string
	own     string // our own name with the port
	owner   string // the owner's token
	auth    *principal.Authority
	store   *principaltest.Memory
	log     *syncBuffer
	stop    func() (time.Duration, error)
}

var testPages = fstest.MapFS{
	"index.html":         {Data: []byte("<!doctype html><title>Aalis</title>")},
	"assets/app-1a2b.js": {Data: []byte("export {}")},
	"favicon.svg":        {Data: []byte("<svg/>")},
}

func start(t testing.TB, edit func(*server.Options)) *rig {
	t.Helper()
	dir := t.TempDir()
	owner, err := principal.CreateOwnerToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := principal.ReadOwnerToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := principaltest.NewMemory()
	r := &rig{t: t, dir: dir, owner: secret, store: store, log: &syncBuffer{}}
	r.auth = principal.NewAuthority(store, principal.KeyFile(dir+"/jwt_key"), owner)
	ready := make(chan server.Running, 1)
	o := server.Options{
		DataDir: dir, Installation: installation, Version: "test", Epoch: "e1", Authority: r.auth, Pages: testPages,
		Log:   slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Ready: func(run server.Running) { ready <- run },
	}
	if edit != nil {
		edit(&o)
	}
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	var wg sync.WaitGroup
	alive.Add(1)
	wg.Go(func() {
		defer alive.Add(-1)
		done <- s.Run(ctx)
	})
	select {
	case r.running = <-ready:
	case err := <-done:
		cancel()
		t.Fatalf("Run ended before it was ready: %v", err)
	}
	u, err := url.Parse(r.running.URL)
	if err != nil {
		t.Fatal(err)
	}
	r.port = u.Port()
	r.own = "aalis-" + installation + ".localhost:" + r.port
	r.stop = sync.OnceValues(func() (time.Duration, error) {
		began := time.Now()
		cancel()
		wg.Wait()
		return time.Since(began), <-done
	})
	t.Cleanup(func() {
		if took, err := r.stop(); err != nil || took > 2*time.Second {
			t.Errorf("Run took %v to stop: %v", took, err)
		}
		noneLeft(t)
	})
	return r
}

// code is a one-time code for a browser.
func (r *rig) code() string {
	r.t.Helper()
	code, err := r.auth.NewCode(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	return code
}

// alive counts the servers that run, for noneLeft.
var alive atomic.Int32

// noneLeft fails when a goroutine of the server still runs although no server does.
func noneLeft(t testing.TB) {
	t.Helper()
	if alive.Load() > 0 {
		return
	}
	var stacks string
	for range 200 {
		buf := make([]byte, 1<<20)
		stacks = string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(stacks, "aalis/backend/server.") {
			return
		}
		time.Sleep(5 * time.Millisecond) // a goroutine that has done its work may not have returned yet
	}
	t.Errorf("goroutines of the server are left:\n%s", stacks)
}

type syncBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (r *rig) addr() string { return "127.0.0.1:" + r.port }

// answer is what came back to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) code() string {
	var body struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal([]byte(a.body), &body) != nil || body.Error.Message == "" {
		return ""
	}
	return body.Error.Code
}

// raw writes a request byte for byte, as a browser with any header or an attacker would.
func (r *rig) raw(lines ...string) answer {
	r.t.Helper()
	return rawTo(r.t, r.addr(), strings.Join(lines, "\r\n"))
}

func rawTo(t testing.TB, addr, request string) answer {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if !strings.Contains(request, "\r\n\r\n") {
		request += "\r\n\r\n"
	}
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("no answer to %q: %v", request, err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusSwitchingProtocols {
		return answer{res.StatusCode, res.Header, ""}
	}
	body, _ := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(body)}
}

// get asks with the given headers ("Name: value"); a Host among them replaces 127.0.0.1.
func (r *rig) get(path string, headers ...string) answer { return r.send("GET", path, "", headers...) }

func (r *rig) post(path, body string, headers ...string) answer {
	return r.send("POST", path, body, append(headers, "Content-Type: application/json")...)
}

func (r *rig) send(method, path, body string, headers ...string) answer {
	r.t.Helper()
	lines := []string{method + " " + path + " HTTP/1.1"}
	host := "Host: " + r.addr()
	for _, h := range headers {
		if strings.HasPrefix(h, "Host:") {
			host = h
			continue
		}
		lines = append(lines, h)
	}
	lines = append(lines, host, "Connection: close")
	if body != "" {
		lines = append(lines, fmt.Sprintf("Content-Length: %d", len(body)))
	}
	return rawTo(r.t, r.addr(), strings.Join(lines, "\r\n")+"\r\n\r\n"+body)
}

func (r *rig) bearer() string { return "Authorization: Bearer " + r.owner }

// cookie signs a tab in under our own name, as a browser does, and gives the Cookie header's value.
func (r *rig) cookie() string {
	r.t.Helper()
	code := r.code()
	a := r.post("/signin", `{"code":"`+code+`"}`, "Host: "+r.own, "Origin: http://"+r.own, "Sec-Fetch-Site: same-origin")
	if a.status != 200 {
		r.t.Fatalf("signing in: %+v", a)
	}
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Name == "ap_session" {
			return "ap_session=" + c.Value
		}
	}
	r.t.Fatalf("no cookie in %+v", a)
	return ""
}

func (r *rig) token(req principal.TokenRequest) (string, principal.Token) {
	r.t.Helper()
	signed, token, err := r.auth.CreateToken(context.Background(), req)
	if err != nil {
		r.t.Fatal(err)
	}
	return signed, token
}

// dial opens a WebSocket as the owner.
func (r *rig) dial(edit ...func(*websocket.DialOptions)) *websocket.Conn {
	r.t.Helper()
	o := &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + r.owner}}}
	for _, e := range edit {
		e(o)
	}
	c, res, err := websocket.Dial(r.t.Context(), "ws://"+r.addr()+"/session", o)
	if err != nil {
		r.t.Fatalf("dialling: %v (%+v)", err, res)
	}
	c.SetReadLimit(-1)
	r.t.Cleanup(func() { _ = c.CloseNow() })
	return c
}

// bare is a WebSocket connection without a library, for what a library would not do or is slow at.
type bare struct {
	t testing.TB
	net.Conn
	in *bufio.Reader
}

// upgrade opens one as the owner.
func (r *rig) upgrade() *bare {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprintf(c, "GET /session HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", r.addr(), strings.Join(upgradeHeaders(r.bearer()), "\r\n"))
	b := &bare{r.t, c, bufio.NewReader(c)}
	res, err := http.ReadResponse(b.in, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		r.t.Fatalf("upgrading: %+v, %v", res, err)
	}
	return b
}

// write sends a text frame of zero bytes, which the mask of zeros leaves as they are. The server may
// close under it.
func (b *bare) write(size int) {
	head := binary.BigEndian.AppendUint64([]byte{0x81, 0x80 | 127}, uint64(size))
	_, _ = b.Write(append(head, 0, 0, 0, 0))
	_, _ = b.Write(make([]byte, size))
}

// readClose skips what else comes and gives the close frame's code and reason.
func (b *bare) readClose() (code int, reason string) {
	b.t.Helper()
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(b.in, head); err != nil {
			b.t.Fatalf("no close frame: %v", err)
		}
		size := int(head[1])
		switch size {
		case 126:
			wide := make([]byte, 2)
			_, _ = io.ReadFull(b.in, wide)
			size = int(binary.BigEndian.Uint16(wide))
		case 127:
			wide := make([]byte, 8)
			_, _ = io.ReadFull(b.in, wide)
			size = int(binary.BigEndian.Uint64(wide))
		}
		payload := make([]byte, size)
		if _, err := io.ReadFull(b.in, payload); err != nil {
			b.t.Fatalf("a frame broke off: %v", err)
		}
		if head[0] == 0x88 && size >= 2 {
			return int(binary.BigEndian.Uint16(payload)), string(payload[2:])
		}
	}
}

// wantClose reads until the server closes, and checks how.
func wantClose(t *testing.T, c *websocket.Conn, code websocket.StatusCode, reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		_, _, err := c.Read(ctx)
		if err == nil {
			continue
		}
		var closed websocket.CloseError
		if closed.Code = websocket.CloseStatus(err); closed.Code != code {
			t.Fatalf("closed with %v (%v), want %v", closed.Code, err, code)
		}
		if reason != "" && !strings.Contains(err.Error(), reason) {
			t.Fatalf("close reason in %q, want %q", err, reason)
		}
		return
	}
}

// board is a protocol server for tests: it shows its connections and does what a test says.
type board struct {
	conns   chan *pin
	receive func(p *pin, frame string) // nil: note the frame
	greeted bool                       // connections begin with the handshake done
}

func newBoard() *board { return &board{conns: make(chan *pin, 1024)} }

type pin struct {
	peer    server.Peer
	send    func(string)
	frames  chan string
	closed  chan struct{}
	closes  atomic.Int32
	greeted atomic.Bool
	b       *board
}

func (b *board) Connect(peer server.Peer, send func(string)) server.Connection {
	p := &pin{peer: peer, send: send, frames: make(chan string, 1024), closed: make(chan struct{}), b: b}
	p.greeted.Store(b.greeted)
	b.conns <- p
	return p
}

func (p *pin) Receive(frame string) {
	if p.b.receive != nil {
		p.b.receive(p, frame)
		return
	}
	p.frames <- frame
}

func (p *pin) Close() {
	if p.closes.Add(1) == 1 {
		close(p.closed)
	}
}

func (p *pin) Initialized() bool { return p.greeted.Load() }

func sha(secret string) principal.Hash { return sha256.Sum256([]byte(secret)) }

func await[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatalf("waited in vain for %s", what)
	}
	panic("unreachable")
}
