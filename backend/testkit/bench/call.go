//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/coder/websocket"
)

// callID names every request: a connection has one under way at most.
const callID = 1

func request(method string, params any) ([]byte, error) {
	return json.Marshal(map[string]any{"jsonrpc": "2.0", "id": callID, "method": method, "params": params})
}

// answered is how long a request took, until its answer was read whole, and how large that was.
type answered struct {
	took  time.Duration
	bytes int
}

// call makes a request of the session protocol and decodes its result; pushes that come before the
// answer are passed over, and decoding does not count.
func call(ctx context.Context, ws *websocket.Conn, method string, params, result any) (answered, error) {
	frame, err := request(method, params)
	if err != nil {
		return answered{}, err
	}
	began := time.Now()
	if err := ws.Write(ctx, websocket.MessageText, frame); err != nil {
		return answered{}, fmt.Errorf("%s: %w", method, err)
	}
	for {
		_, frame, err := ws.Read(ctx)
		took := time.Since(began)
		if err != nil {
			return answered{}, fmt.Errorf("%s: %w", method, err)
		}
		var got struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(frame, &got); err != nil {
			return answered{}, fmt.Errorf("%s: %w", method, err)
		}
		if got.ID != callID {
			continue
		}
		if got.Error != nil {
			return answered{}, fmt.Errorf("%s: %s", method, got.Error)
		}
		if result != nil {
			err = json.Unmarshal(got.Result, result)
		}
		return answered{took, len(frame)}, err
	}
}

// bytes asks the floor for a frame of n bytes: what an answer of that size costs by itself.
func (f *floorSubject) bytes(ctx context.Context, ws *websocket.Conn, n int) (time.Duration, int, error) {
	began := time.Now()
	if err := ws.Write(ctx, websocket.MessageText, fmt.Appendf(nil, "bytes %d", n)); err != nil {
		return 0, 0, err
	}
	_, frame, err := ws.Read(ctx)
	return time.Since(began), len(frame), err
}
