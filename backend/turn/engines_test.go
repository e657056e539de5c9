package turn_test

import (
	"context"
	"encoding/json"
	"runtime"
	"time"

	"aalis/backend/engine"
	"aalis/backend/provider/scripted"
	words "aalis/backend/text"
)

// script is an engine written in Go.
type script func(ctx context.Context, h hostOf) error

// hostOf is the host with what the engine was told.
type hostOf struct {
	engine.Host
	told engine.Turn
}

// Run is engine.Engine.
func (s script) Run(ctx context.Context, t engine.Turn, h engine.Host) error {
	return s(ctx, hostOf{h, t})
}

func engines(id string, s script) map[string]engine.Engine { return map[string]engine.Engine{id: s} }

var (
	errStopped = engine.ErrStopped
	hang       = scripted.MustParse("call\ntext a\nhang")
	asks       = scripted.MustParse("call\ntool ask {\"words\":\"a\"}")
	short      = scripted.MustParse("call\ntext a\nwait 10ms")
)

type contextOf = context.Context

func text(s string) words.Text { return words.Plain(s) }

func goexit() { runtime.Goexit() }

func result(call string) engine.ToolResult {
	return engine.ToolResult{CallID: call, Status: engine.ToolSucceeded, Text: "x"}
}

// leaveOpen opens one of everything and breaks.
func leaveOpen(ctx context.Context, h hostOf) error {
	m, _ := h.StartMessage(ctx, 1)
	th, _ := h.StartReasoning(ctx, 1)
	_ = h.Text(m, "a")
	_ = h.Text(th, "b")
	_, _ = h.ProposeTool(ctx, "echo")
	c, _ := h.ProposeTool(ctx, "echo")
	_ = h.CallTool(ctx, engine.ToolCall{CallID: c, Name: "echo", Args: json.RawMessage(`{}`), Effect: "read", Step: 1})
	_ = h.Text(c, "out")
	return context.DeadlineExceeded
}

// deaf ignores its context and goes on reporting for a while; got receives what Text answered last.
func deaf(d time.Duration, got chan<- error) script {
	return func(_ context.Context, h hostOf) error {
		ctx := context.Background()
		m, err := h.StartMessage(ctx, 1)
		if err != nil {
			return err
		}
		for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			err = h.Text(m, "la ")
		}
		_, err2 := h.StartMessage(ctx, 2)
		got <- err
		got <- err2
		return nil
	}
}
