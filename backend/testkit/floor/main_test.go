package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestForward holds the floor to what makes it one: every client gets every piece, once, in order and
// unmerged, and nothing else.
func TestForward(t *testing.T) {
	const pieces, clients = 300, 3
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprint(w, ": a comment\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n")
		for i := range pieces {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"piece %d \\\"\"}}]}\n\n", i)
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[]}\n\ndata: [DONE]\n\n")
	}))
	defer model.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	server := httptest.NewServer(newFloor(ctx, model.URL+"/v1"))
	defer server.Close()

	all := make([]*websocket.Conn, clients)
	for i := range all {
		ws, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(server.URL, "http")+"/session", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = ws.CloseNow() }()
		// Once it answers, it is among those that pieces are forwarded to.
		if err := ws.Write(ctx, websocket.MessageText, []byte("bytes 70000")); err != nil {
			t.Fatal(err)
		}
		ws.SetReadLimit(1 << 20)
		if _, frame, err := ws.Read(ctx); err != nil || len(frame) != 70000 {
			t.Fatalf("%d bytes, %v", len(frame), err)
		}
		all[i] = ws
	}
	// Twice, so that anything behind a stream's last piece would stand before the next one's first.
	for range 2 {
		if err := all[0].Write(ctx, websocket.MessageText, []byte("stream")); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, ws := range all {
			wg.Go(func() {
				for i := range pieces {
					_, frame, err := ws.Read(ctx)
					if want := fmt.Sprintf("piece %d \"", i); err != nil || string(frame) != want {
						t.Errorf("got %q, %v; want %q", frame, err, want)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}
