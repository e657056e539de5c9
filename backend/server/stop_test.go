package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"aalis/backend/principal"
	"aalis/backend/principal/principaltest"
	"aalis/backend/server"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("DOOR_TEST_SERVE"); dir != "" {
		if err := serveAlone(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serveAlone is a process with a server that echoes frames, until SIGTERM.
func serveAlone(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	owner, err := principal.CreateOwnerToken(dir)
	if err != nil {
		return err
	}
	echo := newBoard()
	echo.receive = func(p *pin, frame string) { p.send(frame) }
	s, err := server.New(server.Options{
		DataDir: dir, Installation: installation, Epoch: "e", Pages: testPages, Sessions: echo,
		Authority: principal.NewAuthority(principaltest.NewMemory(), principal.KeyFile(dir+"/key"), owner),
		Ready:     func(r server.Running) { fmt.Println(r.URL) },
	})
	if err != nil {
		return err
	}
	return errors.Join(s.Run(ctx), owner.Remove())
}

func TestStop(t *testing.T) {
	t.Run("FAIL-G6 with 100 clients attached, of all sorts, it stops in time and tells them", func(t *testing.T) {
		b := newBoard()
		streams := make(chan struct{}, 100)
		r := start(t, func(o *server.Options) {
			o.Sessions = b
			o.Mounts = map[string]server.Mount{"/live/": {Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(200)
				_ = http.NewResponseController(w).Flush()
				streams <- struct{}{}
				<-r.Context().Done()
			})}}
		})
		var told sync.WaitGroup
		for i := range 100 {
			switch i % 5 {
			case 0, 1: // reads, and answers the close
				c := r.dial()
				await(t, b.conns, "a connection")
				told.Go(func() { wantClose(t, c, websocket.StatusNormalClosure, "stopping") })
			case 2: // never reads, with its queue full
				r.upgrade()
				p := await(t, b.conns, "a stuck connection")
				for p.peer.Queued() < 2<<20 {
					p.send(strings.Repeat("x", 64<<10))
				}
			case 3: // follows a stream over HTTP
				c := hold(t, r.addr(), "GET /live/x HTTP/1.1\r\nHost: "+r.addr()+"\r\n"+r.bearer()+"\r\n\r\n")
				defer c.Close()
				await(t, streams, "a stream")
			case 4: // has only connected, or sends its headers for ever
				defer hold(t, r.addr(), "GET / HTTP/1.1\r\n"[:i/5%2*16]).Close()
			}
		}
		took, err := r.stop()
		if err != nil || took > 2*time.Second {
			t.Errorf("it took %v: %v", took, err)
		}
		if strings.Contains(r.log.String(), "cut off") {
			t.Error("clients were cut off that could have been parted from")
		}
		told.Wait()
		if _, err := net.Dial("tcp", r.addr()); err == nil {
			t.Error("it still accepts")
		}
	})
	t.Run("FAIL-G6 a handler that does not return holds nobody up", func(t *testing.T) {
		b := newBoard()
		entered, leave := make(chan struct{}), make(chan struct{})
		b.receive = func(*pin, string) {
			close(entered)
			<-leave
		}
		r := start(t, func(o *server.Options) { o.Sessions = b })
		c := r.dial()
		p := await(t, b.conns, "the connection")
		if err := c.Write(t.Context(), websocket.MessageText, []byte("x")); err != nil {
			t.Fatal(err)
		}
		await(t, entered, "the handler")
		took, err := r.stop()
		if err != nil || took > 2*time.Second {
			t.Errorf("it took %v: %v", took, err)
		}
		if !strings.Contains(r.log.String(), "cut off") {
			t.Error("nothing in the log about it")
		}
		close(leave)
		await(t, p.closed, "Close")
	})
	t.Run("FAIL-G6 streams over HTTP end at once", func(t *testing.T) {
		began := make(chan struct{})
		r := start(t, func(o *server.Options) {
			o.Mounts = map[string]server.Mount{"/live/": {Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				close(began)
				<-r.Context().Done()
			})}}
		})
		defer hold(t, r.addr(), "GET /live/x HTTP/1.1\r\nHost: "+r.addr()+"\r\n"+r.bearer()+"\r\n\r\n").Close()
		await(t, began, "the stream")
		if took, err := r.stop(); err != nil || took > time.Second {
			t.Errorf("it took %v: %v", took, err)
		}
	})
	t.Run("an idle server stops at once", func(t *testing.T) {
		r := start(t, nil)
		r.get("/v1/health")
		if took, err := r.stop(); err != nil || took > time.Second {
			t.Errorf("it took %v: %v", took, err)
		}
	})
	t.Run("being told to stop before it is ready is no failure", func(t *testing.T) {
		for range 20 {
			ctx, cancel := context.WithCancel(context.Background())
			s, err := server.New(server.Options{
				DataDir: t.TempDir(), Installation: installation, Authority: principal.NewAuthority(principaltest.NewMemory(), nil, nil),
				Log: nil, Ready: func(server.Running) { cancel() },
			})
			if err != nil {
				t.Fatal(err)
			}
			if rand.IntN(2) == 0 {
				cancel()
			}
			if err := s.Run(ctx); err != nil {
				t.Errorf("Run = %v", err)
			}
			cancel()
		}
		noneLeft(t)
	})
}

func hold(t *testing.T, addr, begin string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, begin); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTerminate starts the server as a process and terminates it at random moments of a load.
func TestTerminate(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // there is no SIGTERM
	}
	t.Run("FAIL-G6 SIGTERM at 100 random moments: exit 0 in under 3 s, nothing left behind", func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(3, 4))
		for range 100 {
			terminateOnce(t, time.Duration(rnd.IntN(60_000))*time.Microsecond)
		}
	})
}

func terminateOnce(t *testing.T, after time.Duration) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	// A build with the race detector otherwise sleeps for a second at its end.
	cmd.Env = append(os.Environ(), "DOOR_TEST_SERVE="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimPrefix(strings.TrimSpace(url), "http://")
	secret, err := principal.ReadOwnerToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var load sync.WaitGroup
	for i := range 4 {
		load.Go(func() { bother(ctx, addr, secret, i) })
	}
	timer := time.NewTimer(after)
	<-timer.C
	began := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	kill.Stop()
	if took := time.Since(began); err != nil || took > 3*time.Second {
		t.Errorf("terminated after %v: %v in %v", after, err, took)
	}
	cancel()
	load.Wait()
	if left, _ := os.ReadDir(dir + "/run"); len(left) != 0 {
		t.Errorf("left in run/: %v", left)
	}
}

// bother connects, sends, asks and leaves, as fast as it can, until it is told to stop.
func bother(ctx context.Context, addr, secret string, kind int) {
	for ctx.Err() == nil {
		if kind == 0 {
			if c, err := net.Dial("tcp", addr); err == nil {
				fmt.Fprintf(c, "GET /v1/health HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", addr)
				_, _ = io.Copy(io.Discard, c)
				c.Close()
			}
			continue
		}
		c, _, err := websocket.Dial(ctx, "ws://"+addr+"/session", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + secret}}})
		if err != nil {
			continue
		}
		for i := range 20 * kind {
			data, _ := json.Marshal(i)
			if c.Write(ctx, websocket.MessageText, data) != nil {
				break
			}
			if kind > 1 { // kind 1 never reads
				if _, _, err := c.Read(ctx); err != nil {
					break
				}
			}
		}
		_ = c.CloseNow()
	}
}
