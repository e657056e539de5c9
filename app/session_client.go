package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	// The commands are clients of the instance that runs; only package server accepts connections.
	"github.com/coder/websocket"

	"aalis/backend/fault"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// link is a connection that speaks the session protocol as a client. Its methods belong to one
// goroutine; a second one, ended by close, only reads.
type link struct {
	ws     *websocket.Conn
	next   int
	queue  []push      // pushes that came while a call waited for its answer
	frames chan []byte // closed when the connection has ended
	ended  error       // why; read after frames is closed
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// push is a notification of the server.
type push struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// answer is a response; one without a method.
type answer struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
		Data    struct {
			Code fault.Code `json:"code"`
		} `json:"data"`
	} `json:"error"`
}

const (
	dialWithin = 10 * time.Second
	readLimit  = 256 << 20 // a snapshot's items are ours; the server bounds them
)

// dial opens a connection and shakes hands.
func (r *remote) dial(ctx context.Context) (*link, error) {
	opening, done := context.WithTimeout(ctx, dialWithin)
	defer done()
	ws, _, err := websocket.Dial(opening, "ws"+strings.TrimPrefix(r.running.URL, "http")+"/session", &websocket.DialOptions{
		HTTPClient:      r.http,
		Subprotocols:    []string{"aalis.session", "aalis.bearer." + r.token},
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, r.unreachable(ctx, err)
	}
	ws.SetReadLimit(readLimit)
	reading, cancel := context.WithCancel(ctx)
	l := &link{ws: ws, frames: make(chan []byte), cancel: cancel}
	l.wg.Go(func() { l.read(reading) })
	var hello session.InitializeResult
	err = l.call(opening, "initialize", session.InitializeParams{
		ProtocolVersion: session.Version, Client: session.ClientInfo{Name: "aalis-cli", Version: Version},
	}, &hello)
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *link) read(ctx context.Context) {
	defer close(l.frames)
	for {
		_, frame, err := l.ws.Read(ctx)
		if err != nil {
			l.ended = err
			return
		}
		select {
		case l.frames <- frame:
		case <-ctx.Done():
			l.ended = context.Cause(ctx)
			return
		}
	}
}

func (l *link) close() {
	l.cancel()
	_ = l.ws.CloseNow()
	l.wg.Wait()
}

// call sends a request and waits for its answer; pushes that come before it are kept for later.
func (l *link) call(ctx context.Context, method string, params, result any) error {
	l.next++
	id := l.next
	frame, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("encoding a request: %w", err)
	}
	if err := l.ws.Write(ctx, websocket.MessageText, frame); err != nil {
		return l.end(ctx)
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case frame, open := <-l.frames:
			if !open {
				return l.end(ctx)
			}
			got, err := l.parse(frame)
			if err != nil {
				return err
			}
			if got.ID != float64(id) {
				continue
			}
			if got.Error != nil {
				return fault.New(orCode(got.Error.Data.Code), text.Plain(visible(got.Error.Message)))
			}
			if err := json.Unmarshal(got.Result, result); err != nil {
				return fmt.Errorf("reading the answer to %s: %w", method, err)
			}
			return nil
		}
	}
}

func orCode(code fault.Code) fault.Code {
	if code == "" {
		return fault.Internal
	}
	return code
}

// parse sorts a frame: a push goes to the queue, an answer is returned.
func (l *link) parse(frame []byte) (answer, error) {
	var got answer
	if err := json.Unmarshal(frame, &got); err != nil {
		return answer{}, fmt.Errorf("reading a frame: %w", err)
	}
	if got.Method != "" {
		var p push
		if err := json.Unmarshal(frame, &p); err != nil {
			return answer{}, fmt.Errorf("reading a push: %w", err)
		}
		l.queue = append(l.queue, p)
	}
	return got, nil
}

// pending takes what is in the queue.
func (l *link) pending() []push {
	taken := l.queue
	l.queue = nil
	return taken
}

// end says why the connection is over.
func (l *link) end(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	l.close() // the reason is the reader's to tell
	message := text.New("client.ended")
	if closed, ok := errors.AsType[websocket.CloseError](l.ended); ok && closed.Reason != "" {
		message = text.New("client.ended-why", "reason", visible(closed.Reason))
	}
	return fault.Wrap(fault.Unsupported, message, l.ended)
}
