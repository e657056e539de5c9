//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Every piece has one length, so that a count of characters tells how many have arrived, however they
// were merged on their way.
const (
	pieceForm = "piece %06d and "
	lastForm  = "piece %06d end "
	pieceSize = len("piece 000000 and ")
)

// script is one answer of the model.
type script struct {
	pieces int
	every  time.Duration // between two pieces; 0: as fast as they are taken
	sent   []time.Time   // when each piece was written; read it once after has been called
	before func()        // called when the stream stands and its reader is at rest
	after  func()        // called behind the last piece, before the answer's end
}

func (s *script) piece(i int) string {
	if i == s.pieces-1 {
		return fmt.Sprintf(lastForm, i)
	}
	return fmt.Sprintf(pieceForm, i)
}

// last is the last piece's text, by which a reader knows that it has everything.
func (s *script) last() string { return s.piece(s.pieces - 1) }

func (s *script) text() string {
	var b strings.Builder
	for i := range s.pieces {
		b.WriteString(s.piece(i))
	}
	return b.String()
}

// model is an OpenAI-compatible endpoint on loopback that answers with the scripts it is given.
type model struct {
	url     string // base URL
	scripts chan *script
	server  *http.Server
}

func openModel() (*model, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &model{url: "http://" + listener.Addr().String() + "/v1", scripts: make(chan *script, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.answer)
	m.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = m.server.Serve(listener) }()
	return m, nil
}

func (m *model) close() { _ = m.server.Close() }

// settle is how long a stream stands before its first piece: what its reader has to do for the
// beginning of a turn is done by then.
const settle = 200 * time.Millisecond

// The parts of a chunk around its text, with everything that the common endpoints send.
const (
	chunkHead = `data: {"id":"chatcmpl-9abcdefghijklmnopqrstuvwx","object":"chat.completion.chunk","created":1764430000,"model":"bench",` +
		`"system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"content":"`
	chunkTail  = `"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	answerTail = `data: {"id":"chatcmpl-9abcdefghijklmnopqrstuvwx","object":"chat.completion.chunk","created":1764430000,"model":"bench",` +
		`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":100}}` + "\n\ndata: [DONE]\n\n"
)

func (m *model) answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	var s *script
	select {
	case s = <-m.scripts:
	default:
		http.Error(w, `{"error":{"message":"no script waits"}}`, http.StatusInternalServerError)
		return
	}
	flush := http.NewResponseController(w).Flush
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if flush() != nil || !wait(r.Context(), time.Now().Add(settle)) {
		return
	}
	chunks := make([][]byte, s.pieces)
	for i := range chunks {
		chunks[i] = []byte(chunkHead + s.piece(i) + chunkTail)
	}
	s.before()
	began := time.Now()
	for i, chunk := range chunks {
		if s.every > 0 && !wait(r.Context(), began.Add(time.Duration(i)*s.every)) {
			return
		}
		s.sent[i] = time.Now()
		_, err := w.Write(chunk)
		if err != nil || flush() != nil {
			return
		}
	}
	s.after()
	_, _ = io.WriteString(w, answerTail)
}

// wait is false when ctx ends first.
func wait(ctx context.Context, until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
