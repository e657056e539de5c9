// Command floor is the least a program can do between a model and its listeners: it reads a model's
// stream and forwards every piece of text to every WebSocket client, one after the other. It has no
// log, no protocol and no limits. The bench measures it beside the server, in the same run, so that a
// ratio says more than a number that belongs to one machine.
//
// It takes the model's base URL, listens on loopback, and writes {"url":…} to file descriptor 3 when
// it accepts. Clients of /session send "stream" to begin a stream, or "bytes N" to get a frame of N bytes.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/coder/websocket"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("want the base URL of a model")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving := make(chan error, 1)
	go func() { serving <- http.Serve(listener, newFloor(ctx, args[0])) }()
	ready := os.NewFile(3, "ready")
	if _, err := fmt.Fprintf(ready, "{\"url\":\"http://%s\"}\n", listener.Addr()); err != nil {
		return err
	}
	if err := ready.Close(); err != nil {
		return err
	}
	select {
	case err := <-serving:
		return err
	case <-ctx.Done():
		return nil
	}
}

// floor forwards what a model says.
type floor struct {
	ctx   context.Context // of the process
	model string

	mu      sync.Mutex // guards clients; held while a piece is forwarded, so that pieces keep their order
	clients []*websocket.Conn
}

func newFloor(ctx context.Context, model string) http.Handler {
	f := &floor{ctx: ctx, model: model}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/health", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	mux.HandleFunc("GET /session", f.accept)
	return mux
}

func (f *floor) accept(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = ws.CloseNow() }()
	f.mu.Lock()
	f.clients = append(f.clients, ws)
	f.mu.Unlock()
	for {
		_, frame, err := ws.Read(f.ctx)
		if err != nil {
			return
		}
		var n int
		if _, err := fmt.Sscanf(string(frame), "bytes %d", &n); err == nil {
			err = ws.Write(f.ctx, websocket.MessageText, bytes.Repeat([]byte{'x'}, n))
			if err != nil {
				return
			}
			continue
		}
		go f.stream()
	}
}

// chunk is what of an event of a stream matters here.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
}

func (f *floor) stream() {
	ask, err := http.NewRequestWithContext(f.ctx, http.MethodPost, f.model+"/chat/completions", strings.NewReader(`{"stream":true}`))
	if err != nil {
		f.broken(err)
		return
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		f.broken(err)
		return
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		data, isData := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !isData || string(data) == "[DONE]" {
			continue
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			f.broken(err)
			return
		}
		if len(c.Choices) > 0 && c.Choices[0].Delta.Content != "" {
			f.forward([]byte(c.Choices[0].Delta.Content))
		}
	}
	if err := lines.Err(); err != nil {
		f.broken(err)
	}
}

func (f *floor) forward(piece []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ws := range f.clients {
		// A client that has left fails its own reading; the others go on.
		_ = ws.Write(context.Background(), websocket.MessageText, piece)
	}
}

// broken says on standard error what was wrong, and lets the clients see that no more comes.
func (f *floor) broken(err error) {
	fmt.Fprintln(os.Stderr, "floor: reading the model:", err)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ws := range f.clients {
		_ = ws.CloseNow()
	}
}
