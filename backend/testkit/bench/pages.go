//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"aalis/backend/wire/session"
)

// starts measures how long a start with stored sessions takes, and what the process then keeps.
func (b *bench) starts(ctx context.Context, rounds int) error {
	for round := range rounds + 1 {
		for _, s := range b.subjects(round) {
			process, err := s.launch(ctx, b.data.starts)
			if err != nil {
				return err
			}
			wait(ctx, time.Now().Add(b.idle))
			resident, proportional, err := process.memory()
			if err := errors.Join(err, process.stop(), ctx.Err()); err != nil {
				return err
			}
			if round == 0 { // programs and files are read from the disk
				continue
			}
			b.sheet.of(fmt.Sprintf("start to ready, %d sessions", storedSessions), "ms", 60).add(s.name(), milliseconds(process.ready))
			b.sheet.of("resident memory, idle", "MB", 30).add(s.name(), resident)
			b.sheet.of("proportional memory, idle", "MB", 30).add(s.name(), proportional)
		}
	}
	return nil
}

// askEach is how often one round asks for each page: with all pages, below what a client may ask at once.
const askEach = 40

// pages measures the answers that open an interface, over WebSocket.
func (b *bench) pages(ctx context.Context, rounds int) error {
	long := session.SessionParams{SessionID: b.data.longID}
	for _, part := range []struct {
		dir       string
		questions []question
	}{
		{b.data.list, []question{
			{fmt.Sprintf("first page of %d sessions", listedSessions), 5, "sessions/list", session.SessionsListParams{}, ""},
		}},
		{b.data.long, []question{
			{fmt.Sprintf("snapshot of %d items", longItems), 20, "session/subscribe", long, "session/unsubscribe"},
			{fmt.Sprintf("page of history of %d items", longItems), 20, "session/history", session.SessionHistoryParams{SessionID: long.SessionID}, ""},
		}},
	} {
		if err := b.askAll(ctx, part.dir, part.questions, rounds); err != nil {
			return err
		}
	}
	return nil
}

// askAll asks a server on a data folder, and the floor for as many bytes.
func (b *bench) askAll(ctx context.Context, dir string, questions []question, rounds int) (err error) {
	var connections []*websocket.Conn
	for _, s := range b.subjects(0) {
		process, err := s.launch(ctx, dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, process.stop()) }()
		ws, err := s.dial(ctx, process)
		if err != nil {
			return err
		}
		defer func() { _ = ws.CloseNow() }()
		connections = append(connections, ws)
	}
	for range rounds {
		for _, q := range questions {
			if err := b.ask(ctx, q, connections[0], connections[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// question is one kind of page, and how it is undone.
type question struct {
	name   string
	aim    float64 // ms
	method string
	params any
	undo   string // a method with the same params
}

func (b *bench) ask(ctx context.Context, q question, ours, theirs *websocket.Conn) error {
	var took, base []float64
	for range askEach {
		got, err := call(ctx, ours, q.method, q.params, nil)
		if err != nil {
			return err
		}
		took = append(took, milliseconds(got.took))
		if q.undo != "" {
			if _, err := call(ctx, ours, q.undo, q.params, nil); err != nil {
				return err
			}
		}
		least, _, err := b.floor.bytes(ctx, theirs, got.bytes)
		if err != nil {
			return err
		}
		base = append(base, milliseconds(least))
	}
	line := b.sheet.of(q.name, "ms", q.aim)
	line.add(serverName, median(took))
	line.add(floorName, median(base))
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
