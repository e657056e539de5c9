package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aalis/backend/fault"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

var errLost = errors.New("the connection has ended")

// incoming is any frame of the server: an answer has an id, a push a method.
type incoming struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	answer
}

// answer is what a request was answered.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
		Data    struct {
			Code fault.Code `json:"code"`
		} `json:"data"`
	} `json:"error"`
}

func (a answer) into(result any) error {
	if a.Error != nil {
		code := a.Error.Data.Code
		if code == "" {
			code = fault.Internal
		}
		return fault.New(code, text.Plain(a.Error.Message))
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return fmt.Errorf("reading an answer: %w", err)
	}
	return nil
}

// settledElsewhere tells an answer that came too late from one that failed.
func settledElsewhere(err error) bool {
	return fault.Is(err, fault.ApprovalSettled) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Expired)
}

// receive takes a frame; it never blocks. The server calls it under its own locks.
func (d *Desk) receive(frame string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inbox = append(d.inbox, frame)
	d.wakeLocked()
}

func (d *Desk) disconnected(string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lost = true
	d.wakeLocked()
}

// wakeLocked has the inbox read.
func (d *Desk) wakeLocked() {
	select {
	case d.mail <- struct{}{}:
	default:
	}
}

// read takes what comes until the connection or ctx ends, and tells of changes: together, a moment after
// the first of them.
func (d *Desk) read(ctx context.Context) {
	tell := time.NewTimer(time.Hour)
	tell.Stop()
	defer tell.Stop()
	pending := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tell.C:
			pending = false
			d.mu.Lock()
			state := d.book.state()
			d.mu.Unlock()
			d.o.Changed(state)
			continue
		case <-d.mail:
		}
		d.mu.Lock()
		frames, lost, changed := d.inbox, d.lost, d.stale
		d.inbox, d.stale = nil, false
		d.mu.Unlock()
		for _, frame := range frames {
			changed = d.take(frame) || changed
		}
		if changed && !pending {
			pending = true
			tell.Reset(gather)
		}
		if lost {
			return
		}
	}
}

// take reads one frame and reports whether it changed what is told.
func (d *Desk) take(frame string) (changed bool) {
	var in incoming
	if err := json.Unmarshal([]byte(frame), &in); err != nil {
		d.o.Log.Error("the tray cannot read a frame", "error", err)
		return false
	}
	if in.ID != nil {
		d.mu.Lock()
		waiting := d.calls[*in.ID]
		delete(d.calls, *in.ID)
		d.mu.Unlock()
		if waiting != nil {
			waiting <- in.answer
		}
		return false
	}
	ended, changed, err := d.push(in)
	if err != nil {
		d.o.Log.Error("the tray cannot read a push", "method", in.Method, "error", err)
	}
	for _, t := range ended {
		d.o.Ended(t)
	}
	return changed
}

func (d *Desk) push(in incoming) (ended []Turn, changed bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch in.Method {
	case "approval/requested":
		var p session.ApprovalRequested
		if err := json.Unmarshal(in.Params, &p); err != nil {
			return nil, false, err
		}
		d.book.ask(p.Approval)
		return nil, true, nil
	case "approval/settled":
		var p session.ApprovalSettled
		if err := json.Unmarshal(in.Params, &p); err != nil {
			return nil, false, err
		}
		return nil, d.book.settle(p.ApprovalID), nil
	case "sessions/changed":
		var p session.SessionsChanged
		if err := json.Unmarshal(in.Params, &p); err != nil {
			return nil, false, err
		}
		return d.book.change(p, time.Now()), true, nil
	}
	return nil, false, nil
}
