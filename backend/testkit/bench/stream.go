//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// restAfter is how long a stream's cost is counted behind its last piece: text that was shown is
	// written to the log within 50 ms.
	restAfter = 150 * time.Millisecond
	// streamWithin bounds a stream beyond the time its pieces take.
	streamWithin = 30 * time.Second
	// warmPieces of a first stream, at warmEvery, let connections and code paths be made. No other stream
	// has as many: what still comes of this one must not be taken for the end of the next.
	warmPieces = 100
	warmEvery  = 2 * time.Millisecond
)

// pace is one way to stream.
type pace struct {
	subscribers int
	pieces      int
	every       time.Duration // 0: as fast as they are taken
}

// streamed is what one stream cost.
type streamed struct {
	delays []float64 // ms, of every piece at every subscriber
	cpu    float64   // µs of the process's time a piece
	wire   float64   // bytes a piece for one subscriber: frames with their headers
}

// stream measures one stream of a fresh process.
func (b *bench) stream(ctx context.Context, s subject, p pace) (out streamed, err error) {
	dir, err := os.MkdirTemp(b.temp, "stream")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	process, err := s.launch(ctx, dir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, process.stop()) }()
	all := make([]*websocket.Conn, p.subscribers)
	for i := range all {
		if all[i], err = s.dial(ctx, process); err != nil {
			return out, err
		}
		defer func() { _ = all[i].CloseNow() }()
	}
	if _, err := b.play(ctx, s, process, all, pace{p.subscribers, warmPieces, warmEvery}); err != nil {
		return out, fmt.Errorf("warming up: %w", err)
	}
	return b.play(ctx, s, process, all, p)
}

// play has the model speak once and measures how that arrives.
func (b *bench) play(ctx context.Context, s subject, process *process, all []*websocket.Conn, p pace) (streamed, error) {
	ctx, cancel := context.WithTimeout(ctx, streamWithin+time.Duration(p.pieces)*p.every)
	defer cancel()
	if err := s.follow(ctx, all); err != nil {
		return streamed{}, err
	}
	received, done := make(chan struct{}), make(chan struct{})
	var before, after time.Duration
	var beforeErr, afterErr error
	script := &script{pieces: p.pieces, every: p.every, sent: make([]time.Time, p.pieces)}
	script.before = func() { before, beforeErr = process.cpu() }
	script.after = func() {
		defer close(done)
		select {
		case <-received:
			wait(ctx, time.Now().Add(restAfter))
		case <-ctx.Done():
		}
		after, afterErr = process.cpu()
	}
	b.model.scripts <- script
	arrivals := make([][]arrival, len(all))
	failures := make([]error, len(all))
	var wg sync.WaitGroup
	for i, ws := range all {
		wg.Go(func() { arrivals[i], failures[i] = listen(ctx, ws, []byte(script.last())) })
	}
	if err := s.ask(ctx, all[0]); err != nil {
		return streamed{}, err
	}
	wg.Wait()
	close(received)
	if err := errors.Join(failures...); err != nil {
		return streamed{}, fmt.Errorf("%w\n%s", err, process.said)
	}
	select {
	case <-done:
	case <-ctx.Done():
		return streamed{}, context.Cause(ctx)
	}
	if err := errors.Join(beforeErr, afterErr); err != nil {
		return streamed{}, err
	}
	out := streamed{cpu: float64((after - before).Nanoseconds()) / 1e3 / float64(p.pieces)}
	for _, got := range arrivals {
		delays, wire, err := compare(got, script, s.piece)
		if err != nil {
			return streamed{}, err
		}
		out.delays = append(out.delays, delays...)
		out.wire += float64(wire) / float64(p.pieces*len(all))
	}
	return out, nil
}

// arrival is a frame and when it was read.
type arrival struct {
	at    time.Time
	frame []byte
}

// listen reads up to the frame that has the last piece. Nothing is decoded meanwhile: that would keep the other
// subscribers waiting for a processor.
func listen(ctx context.Context, ws *websocket.Conn, last []byte) ([]arrival, error) {
	var all []arrival
	for {
		_, frame, err := ws.Read(ctx)
		at := time.Now()
		if err != nil {
			return nil, fmt.Errorf("after %d frames: %w", len(all), err)
		}
		all = append(all, arrival{at, frame})
		if bytes.Contains(frame, last) {
			return all, nil
		}
	}
}

// compare gives each piece's delay in ms and the bytes of all frames that carried text. What arrived
// must be what was sent, in its order.
func compare(got []arrival, s *script, piece func([]byte) (string, bool)) (delays []float64, wire int, err error) {
	var text strings.Builder
	for _, a := range got {
		part, carries := piece(a.frame)
		if !carries {
			continue
		}
		text.WriteString(part)
		wire += frameSize(len(a.frame))
		for (len(delays)+1)*pieceSize <= text.Len() && len(delays) < s.pieces {
			delays = append(delays, float64(a.at.Sub(s.sent[len(delays)]).Nanoseconds())/1e6)
		}
	}
	if text.String() != s.text() {
		return nil, 0, fmt.Errorf("a subscriber got %d characters that are not the %d that were sent", text.Len(), len(s.text()))
	}
	return delays, wire, nil
}

// frameSize adds the header of a WebSocket frame to a client, which has no mask.
func frameSize(n int) int {
	switch {
	case n < 126:
		return n + 2
	case n < 1<<16:
		return n + 4
	}
	return n + 10
}
