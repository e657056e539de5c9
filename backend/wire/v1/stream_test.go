package v1_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/wire/v1"
)

// rig is the protocol over a log of its own, without a model: what is said waits in its turn.
type rig struct {
	t    *testing.T
	loop *core.Loop
	url  string
}

func start(t *testing.T, beat time.Duration) *rig {
	t.Helper()
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	loop, err := core.New(core.Options{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- loop.Run(ctx) }()
	s := v1.New(v1.Options{
		Loop: loop, Digest: func(v1.Args) string { return "sha256:" }, Heartbeat: beat,
		Caller: func(context.Context) (principal.Caller, bool) { return principal.DesktopCaller(), true },
	})
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		stop()
		<-ran
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &rig{t, loop, server.URL}
}

func (r *rig) session() string {
	r.t.Helper()
	got, err := r.loop.Do(r.t.Context(), core.CreateSession{Actor: event.System()})
	if err != nil {
		r.t.Fatal(err)
	}
	return got.SessionID
}

func (r *rig) rename(id, title string) {
	r.t.Helper()
	if _, err := r.loop.Do(r.t.Context(), core.RenameSession{Actor: event.System(), Session: id, Title: title}); err != nil {
		r.t.Fatal(err)
	}
}

// open reads a stream's lines until the test ends or close is called.
func (r *rig) open(id string) (lines <-chan string, stop func()) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	request, err := http.NewRequestWithContext(ctx, "GET", r.url+"/v1/sessions/"+id+"/events", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	all := make(chan string, 1024)
	go func() {
		defer close(all)
		defer answer.Body.Close()
		for s := bufio.NewScanner(answer.Body); s.Scan(); {
			all <- s.Text()
		}
	}()
	r.t.Cleanup(cancel)
	return all, cancel
}

// next is the next frame.
func next(t *testing.T, lines <-chan string) string {
	t.Helper()
	var frame []string
	for {
		select {
		case line, open := <-lines:
			if !open {
				t.Fatal("the stream ended")
			}
			if line == "" {
				return strings.Join(frame, "\n")
			}
			frame = append(frame, line)
		case <-time.After(10 * time.Second):
			t.Fatalf("nothing came behind %q", frame)
		}
	}
}

func TestHeartbeats(t *testing.T) {
	t.Run("V1-107 V1-109 V1-149 while nothing happens a heartbeat comes, with the last number and without an id", func(t *testing.T) {
		r := start(t, 30*time.Millisecond)
		id := r.session()
		lines, _ := r.open(id)
		first := next(t, lines)
		if !strings.HasPrefix(first, "event: heartbeat\ndata: {\"v\":1,\"seq\":0,\"type\":\"heartbeat\"") || !strings.HasSuffix(first, `"data":{}}`) || strings.Contains(first, "\nid:") {
			t.Errorf("%s", first)
		}
		r.rename(id, "Named")
		for {
			frame := next(t, lines)
			if strings.HasPrefix(frame, "event: session.updated\nid: 1\n") {
				break
			}
			if !strings.HasPrefix(frame, "event: heartbeat") {
				t.Fatalf("%s", frame)
			}
		}
		if after := next(t, lines); !strings.Contains(after, `"seq":1,"type":"heartbeat"`) {
			t.Errorf("%s", after)
		}
	})
}

func TestConnections(t *testing.T) {
	t.Run("V1-087 V1-106 several streams get every event, each of its own session", func(t *testing.T) {
		r := start(t, time.Hour)
		one, other := r.session(), r.session()
		a, _ := r.open(one)
		b, _ := r.open(one)
		c, _ := r.open(other)
		r.rename(one, "First")
		r.rename(other, "Second")
		for i, want := range map[int]string{0: "First", 1: "First", 2: "Second"} {
			if got := next(t, []<-chan string{a, b, c}[i]); !strings.Contains(got, want) {
				t.Errorf("stream %d: %s", i, got)
			}
		}
	})
	t.Run("V1-088 a client that goes leaves nothing behind", func(t *testing.T) {
		r := start(t, time.Hour)
		id := r.session()
		_, stop := r.open(id)
		stop()
		http.DefaultClient.CloseIdleConnections()
		settled := func() int {
			n := -1
			for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				now := runtime.NumGoroutine()
				if now == n {
					return n
				}
				n = now
			}
			return n
		}
		before := settled()
		var stops []func()
		for range 50 {
			_, stop := r.open(id)
			stops = append(stops, stop)
		}
		for _, stop := range stops {
			stop()
		}
		http.DefaultClient.CloseIdleConnections()
		for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
			}
		}
	})
	t.Run("V1-090 V1-105 every number comes in order while somebody writes at full speed", func(t *testing.T) {
		r := start(t, time.Hour)
		id := r.session()
		const writes = 400
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := range writes {
				r.rename(id, strings.Repeat("x", n%50+1))
			}
		}()
		for range 5 {
			lines, stop := r.open(id)
			for want := 1; want <= writes; want++ {
				frame := next(t, lines)
				if !strings.Contains(frame, "\nid: ") {
					want--
					continue
				}
				if number := strings.Split(strings.SplitN(frame, "\nid: ", 2)[1], "\n")[0]; number != strconv.Itoa(want) {
					t.Fatalf("number %s where %d should be", number, want)
				}
			}
			stop()
		}
		<-done
	})
}
