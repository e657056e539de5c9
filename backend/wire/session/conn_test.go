package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/principal"
	"aalis/backend/wire/jsonrpc"
	"aalis/backend/wire/session"
)

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"0.2.0","client":{"name":"t","version":"1"}}}`

// compress is a compression service whose work is the test's.
type compress func(ctx context.Context, sessionID string) error

func (c compress) Compress(ctx context.Context, sessionID string) error { return c(ctx, sessionID) }

// line is a connection and what it was sent.
type line struct {
	*session.Conn
	mu     sync.Mutex // guards frames and ended
	frames []string
	ended  []string
}

func (l *line) sent() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.frames...)
}

// answer gives the one frame with this id.
func (l *line) answer(t *testing.T, id string) string {
	t.Helper()
	var found []string
	for _, frame := range l.sent() {
		if strings.HasPrefix(frame, `{"jsonrpc":"2.0","id":`+id+`,`) {
			found = append(found, frame)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d answers to %s: %v", len(found), id, found)
	}
	return found[0]
}

func serve(t *testing.T, o session.Options) *session.Server {
	t.Helper()
	s, err := session.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func dial(s *session.Server) *line { return dialAs(s, principal.Caller{Scopes: principal.AllScopes()}) }

func dialAs(s *session.Server, caller principal.Caller) *line {
	l := new(line)
	l.Conn = s.Connect(session.Peer{
		Caller:  caller,
		Surface: "webui",
		Disconnect: func(reason string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.ended = append(l.ended, reason)
		},
	}, func(frame string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.frames = append(l.frames, frame)
	})
	return l
}

func ask(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

// bubble runs a named test with a clock of its own.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func TestReceiveSurvivesHandlers(t *testing.T) {
	bubble(t, "SP-CONN-04 SP-FRAME-17 a handler that panics is answered -32603 with nothing of the inside, and the connection lives on", func(t *testing.T) {
		var log bytes.Buffer
		s := serve(t, session.Options{
			Log: slog.New(slog.NewTextHandler(&log, nil)),
			Services: session.Services{Compression: compress(func(context.Context, string) error {
				panic("a secret of the inside")
			})},
		})
		l := dial(s)
		defer l.Close()
		l.Receive(hello)
		l.Receive(ask("1", "session/compress", `{"sessionId":"s"}`))
		synctest.Wait()
		got := l.answer(t, "1")
		if want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Something went wrong inside Aalis. The log has the details."}}`; got != want {
			t.Error(got)
		}
		if n := strings.Count(log.String(), "a secret of the inside"); n != 1 {
			t.Errorf("logged %d times: %s", n, &log)
		}
		l.Receive(ask("2", "presence/update", `{"active":false}`))
		l.answer(t, "2")
		if len(l.ended) != 0 {
			t.Error(l.ended)
		}
	})
}

func TestReceiveSurvivesTransports(t *testing.T) {
	t.Run("SP-CONN-04 Receive returns also when send panics", func(t *testing.T) {
		s := serve(t, session.Options{})
		broken := true
		var got []string
		c := s.Connect(session.Peer{Disconnect: func(string) {}}, func(frame string) {
			if broken {
				panic("the socket is gone")
			}
			got = append(got, frame)
		})
		c.Receive(hello)
		broken = false
		c.Receive("x")
		if len(got) != 1 {
			t.Error(got)
		}
	})
}

func TestLongRequests(t *testing.T) {
	bubble(t, "SP-COMP-01 a long request is answered when it is over, and holds up no other", func(t *testing.T) {
		release := make(chan struct{})
		s := serve(t, session.Options{Services: session.Services{Compression: compress(func(context.Context, string) error {
			<-release
			return nil
		})}})
		l := dial(s)
		defer l.Close()
		l.Receive(hello)
		l.Receive(ask("1", "session/compress", `{"sessionId":"s"}`))
		l.Receive(ask("2", "presence/update", `{"active":true}`))
		synctest.Wait()
		l.answer(t, "2")
		if len(l.sent()) != 2 {
			t.Error(l.sent())
		}
		close(release)
		synctest.Wait()
		if got := l.answer(t, "1"); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Error(got)
		}
	})
}

func TestCloseEndsRequests(t *testing.T) {
	bubble(t, "SP-CONN-05 SP-CONN-06 a request under way is told that its connection has ended; nothing is sent then or later", func(t *testing.T) {
		var cause error
		s := serve(t, session.Options{Services: session.Services{Compression: compress(func(ctx context.Context, _ string) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return cause
		})}})
		l := dial(s)
		l.Receive(hello)
		l.Receive(ask("1", "session/compress", `{"sessionId":"s"}`))
		synctest.Wait()
		l.Close()
		synctest.Wait()
		if cause == nil || len(l.sent()) != 1 {
			t.Errorf("cause %v, sent %v", cause, l.sent())
		}
		l.Receive(ask("2", "presence/update", `{"active":true}`))
		l.Receive("x")
		l.Close()
		if len(l.sent()) != 1 {
			t.Error(l.sent())
		}
	})
}

// TestConcurrentRequestsAreBounded lets one connection ask for more than it may have under way.
func TestConcurrentRequestsAreBounded(t *testing.T) {
	bubble(t, "the 17th waits", func(t *testing.T) {
		var mu sync.Mutex
		running, most := 0, 0
		release := make(chan struct{})
		s := serve(t, session.Options{Services: session.Services{Compression: compress(func(context.Context, string) error {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			<-release
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		})}})
		l := dial(s)
		l.Receive(hello)
		var sender sync.WaitGroup
		sender.Go(func() {
			for i := range 40 {
				l.Receive(ask(fmt.Sprint(i+1), "session/compress", `{"sessionId":"s"}`))
			}
		})
		synctest.Wait()
		mu.Lock()
		if running != 16 {
			t.Errorf("%d under way", running)
		}
		mu.Unlock()
		close(release)
		sender.Wait()
		synctest.Wait()
		if most != 16 || len(l.sent()) != 41 {
			t.Errorf("at most %d under way, %d frames", most, len(l.sent()))
		}
		l.Close()
	})
}

func TestServerClose(t *testing.T) {
	bubble(t, "SP-CONN-08 SP-CONN-07 every open connection is disconnected, once, whether it shook hands or not", func(t *testing.T) {
		under := 0
		s := serve(t, session.Options{Services: session.Services{Compression: compress(func(ctx context.Context, _ string) error {
			under++
			<-ctx.Done()
			under--
			return nil
		})}})
		a, b := dial(s), dial(s)
		a.Receive(hello)
		a.Receive(ask("1", "session/compress", `{"sessionId":"s"}`))
		synctest.Wait()
		if under != 1 {
			t.Error("no request under way")
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(a.ended) != 1 || len(b.ended) != 1 || under != 0 {
			t.Error(a.ended, b.ended, under)
		}
	})
	bubble(t, "a request that does not end is waited for as long as the context allows", func(t *testing.T) {
		stuck := make(chan struct{})
		s := serve(t, session.Options{Services: session.Services{Compression: compress(func(context.Context, string) error {
			<-stuck
			return nil
		})}})
		l := dial(s)
		l.Receive(hello)
		l.Receive(ask("1", "session/compress", `{"sessionId":"s"}`))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Close(ctx); err == nil {
			t.Error("Close did not say that a request is left")
		}
		close(stuck)
	})
}

func TestHandshakeComesFirst(t *testing.T) {
	t.Run("SP-INIT-18 SP-FEAT-05 a service that comes during the handshake is told of after its result", func(t *testing.T) {
		var s *session.Server
		s = serve(t, session.Options{AppName: func() string {
			s.Update(func(all *session.Services) { all.Settings = service{} })
			return "Mia"
		}})
		l := dial(s)
		defer l.Close()
		l.Receive(hello)
		sent := l.sent()
		if len(sent) != 2 || !strings.Contains(sent[0], `"settings":false`) || !strings.Contains(sent[0], `"appName":"Mia"`) ||
			!strings.Contains(sent[1], `"features/changed"`) || !strings.Contains(sent[1], `"settings":true`) {
			t.Error(sent)
		}
	})
}

func TestLargeFrames(t *testing.T) {
	s := serve(t, session.Options{})
	padded := func(id, method string, size int) string {
		frame := ask(id, method, `{"active":true,"pad":"`)
		frame = frame[:len(frame)-1]
		return frame + strings.Repeat("x", size-len(frame)-len(`"}}`)) + `"}}`
	}
	l := dial(s)
	code := func(id string) int {
		var f jsonrpc.ErrorFrame
		if err := json.Unmarshal([]byte(l.answer(t, id)), &f); err != nil {
			t.Fatal(err)
		}
		return f.Error.Code
	}
	t.Run("SEC-09 a frame over 64 KiB before the handshake is not read", func(t *testing.T) {
		l.Receive(padded("1", "initialize", session.FirstFrame+1))
		if code("null") != jsonrpc.InvalidRequest {
			t.Error(l.sent())
		}
	})
	l.Receive(hello)
	t.Run("SEC-09 a frame of 1 MiB is served", func(t *testing.T) {
		l.Receive(padded("2", "presence/update", session.LargeFrame))
		if code("2") != 0 {
			t.Error(l.answer(t, "2"))
		}
	})
	t.Run("SEC-09 a larger one is -32600 unless it is turn/send", func(t *testing.T) {
		l.Receive(padded("3", "presence/update", session.LargeFrame+1))
		if code("3") != jsonrpc.InvalidRequest {
			t.Error(l.answer(t, "3"))
		}
	})
	l.Close()
}

func TestFramesAreWhole(t *testing.T) {
	t.Run("SP-FRAME-18 each send hands over one frame, on one line", func(t *testing.T) {
		s := serve(t, session.Options{Services: session.Services{Settings: service{}}})
		l := dial(s)
		l.Receive(hello)
		for _, frame := range []string{"x", `[]`, ask("1", "session/config/get", `{"sessionId":"a\nb"}`), ask("2", "no/\u2028", `{}`)} {
			l.Receive(frame)
		}
		l.Close()
		for _, frame := range l.sent() {
			if !json.Valid([]byte(frame)) || strings.ContainsAny(frame, "\n\r") {
				t.Errorf("%q", frame)
			}
		}
	})
}

// The service interface as transports use it.
//
// Spec SP-CONN-02, -03.
var _ interface {
	Receive(frame string)
	Close()
	Initialized() bool
} = (*session.Conn)(nil)

// FuzzReceive sends anything at all: never a panic, always valid JSON out, one answer at most, under
// the request's own id.
func FuzzReceive(f *testing.F) {
	for _, seed := range []string{
		hello, ask("1", "session/config/update", `{"sessionId":"s","plugin":"p","key":"k","value":[1]}`),
		ask(`"x"`, "turn/rewind", `{"sessionId":"s","turnId":"t","scope":"code"}`), `[]`, `{`, `{"id":1}`,
		ask("2", "background/output", `{"taskId":"t","after":1e400}`), ask("3", "session/config/layer/get", `{"layer":{"scope":"place"}}`),
	} {
		f.Add(seed)
	}
	k := startKernel(f, f.TempDir())
	id := k.session("one")
	for _, params := range []string{`{"sessionId":"` + id + `"}`, `{"sessionId":"` + id + `","content":"hi","limit":1,"title":"t","ids":["` + id + `"],"op":"archive"}`} {
		for _, method := range methods {
			f.Add(ask("1", method, params))
		}
	}
	s, err := session.NewServer(session.Options{Loop: k.loop, Services: session.Services{Agent: stopper{k.loop}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, frame string) {
		sent := make(chan string, 64)
		c := s.Connect(session.Peer{
			Caller:     principal.Caller{Scopes: principal.AllScopes()},
			Disconnect: func(string) {},
		}, func(frame string) {
			if !strings.Contains(frame, `"method":`) { // pushes come as they like
				sent <- frame
			}
		})
		defer c.Close()
		c.Receive(hello)
		<-sent
		c.Receive(frame)
		answer := <-sent
		var reply struct {
			ID     jsonrpc.ID
			Result json.RawMessage
			Error  *jsonrpc.ErrorBody
		}
		if err := json.Unmarshal([]byte(answer), &reply); err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		if (reply.Result == nil) == (reply.Error == nil) {
			t.Fatalf("neither result nor error, or both: %s", answer)
		}
		if req, fail := jsonrpc.Parse([]byte(frame)); fail == nil && req.ID != reply.ID {
			t.Fatalf("id %s answered under %s", req.ID, reply.ID)
		}
		if reply.Error != nil && reply.Error.Code == jsonrpc.InternalError {
			t.Fatalf("an internal error: %s", answer)
		}
		if len(sent) != 0 {
			t.Fatalf("a second answer: %s", <-sent)
		}
	})
}
