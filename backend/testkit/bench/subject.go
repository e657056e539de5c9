//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/coder/websocket"

	"aalis/backend/principal"
	"aalis/backend/wire/session"
)

// subject is a program under measurement: the server, or the floor.
type subject interface {
	name() string
	// launch starts it; dir is a data folder, made if need be.
	launch(ctx context.Context, dir string) (*process, error)
	dial(ctx context.Context, p *process) (*websocket.Conn, error)
	// follow lets every connection get what the model says next.
	follow(ctx context.Context, all []*websocket.Conn) error
	// ask makes it read the model's next answer; what comes back is not waited for.
	ask(ctx context.Context, ws *websocket.Conn) error
	// piece gives the text of a frame, false for a frame that carries none.
	piece(frame []byte) (string, bool)
}

const (
	serverName = "server"
	floorName  = "floor"
	// readLimit is above every frame that is asked for here.
	readLimit = 64 << 20
)

func connect(ctx context.Context, p *process, protocols ...string) (*websocket.Conn, error) {
	ws, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(p.url, "http")+"/session", &websocket.DialOptions{
		Subprotocols: protocols, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(readLimit)
	return ws, nil
}

// serverSubject is `aalis-server serve` with the scripted model as its only one.
type serverSubject struct {
	program string
	model   string // base URL
	session string // the one that was followed last
}

func (s *serverSubject) name() string { return serverName }

func (s *serverSubject) launch(ctx context.Context, dir string) (*process, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	config := fmt.Sprintf("language: en\nproviders:\n  - {id: bench, type: openai, base_url: %q, models: [bench]}\ndefault_model: bench/bench\n", s.model)
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	return launch(ctx, dir, s.program, "--data-dir", dir, "serve", "--listen", "127.0.0.1:0", "--ready-fd", "3")
}

func (s *serverSubject) dial(ctx context.Context, p *process) (*websocket.Conn, error) {
	token, err := principal.ReadOwnerToken(p.dir)
	if err != nil {
		return nil, err
	}
	ws, err := connect(ctx, p, "aalis.session", "aalis.bearer."+token)
	if err != nil {
		return nil, err
	}
	hello := session.InitializeParams{ProtocolVersion: session.Version, Client: session.ClientInfo{Name: "bench", Version: "1"}}
	if _, err := call(ctx, ws, "initialize", hello, nil); err != nil {
		_ = ws.CloseNow()
		return nil, err
	}
	return ws, nil
}

func (s *serverSubject) follow(ctx context.Context, all []*websocket.Conn) error {
	var made session.SessionCreateResult
	if _, err := call(ctx, all[0], "session/create", session.SessionCreateParams{Name: "Bench"}, &made); err != nil {
		return err
	}
	s.session = made.Session.ID
	for _, ws := range all {
		if _, err := call(ctx, ws, "session/subscribe", session.SessionParams{SessionID: s.session}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *serverSubject) ask(ctx context.Context, ws *websocket.Conn) error {
	frame, err := request("turn/send", session.TurnSendParams{SessionID: s.session, Content: "Speak."})
	if err != nil {
		return err
	}
	return ws.Write(ctx, websocket.MessageText, frame)
}

func (s *serverSubject) piece(frame []byte) (string, bool) {
	var push struct {
		Method string            `json:"method"`
		Params session.ItemDelta `json:"params"`
	}
	if json.Unmarshal(frame, &push) != nil || push.Method != "item/delta" {
		return "", false
	}
	return push.Params.Text, push.Params.SessionID == s.session
}

// floorSubject is the floor program beside it, which forwards the same model.
type floorSubject struct {
	program string
	model   string
}

func (f *floorSubject) name() string { return floorName }

func (f *floorSubject) launch(ctx context.Context, _ string) (*process, error) {
	return launch(ctx, "", f.program, f.model)
}

func (f *floorSubject) dial(ctx context.Context, p *process) (*websocket.Conn, error) {
	ws, err := connect(ctx, p)
	if err != nil {
		return nil, err
	}
	// Once it has answered, it forwards to this connection too.
	if _, _, err := f.bytes(ctx, ws, 1); err != nil {
		_ = ws.CloseNow()
		return nil, err
	}
	return ws, nil
}

func (f *floorSubject) follow(context.Context, []*websocket.Conn) error { return nil }

func (f *floorSubject) ask(ctx context.Context, ws *websocket.Conn) error {
	return ws.Write(ctx, websocket.MessageText, []byte("stream"))
}

func (f *floorSubject) piece(frame []byte) (string, bool) { return string(frame), true }
