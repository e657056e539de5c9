package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// conduct takes one turn to its end. ctx is the turn's own; write outlives it.
func (r *Reactor) conduct(ctx, write context.Context, t *running, end ending) {
	h, err := r.open(ctx, t)
	if err == nil && h == nil {
		return // it ended before we came to it
	}
	if err == nil {
		err = r.drive(ctx, t, h, end)
		if h.ended() {
			if err != nil {
				r.log.Warn("engine failed behind the end of its turn", "turn", t.id, "err", err)
			}
			return
		}
		r.awaitCause(ctx, err)
	}
	stop := core.StopTurn{Turn: t.id}
	switch cause := context.Cause(ctx); {
	case cause == nil:
		stop.Failure = r.failure(t, err)
	case errors.Is(cause, ErrStorage):
		stop.Failure = &event.Failure{Code: "storage", Message: text.New("turn.storage"), Retryable: true}
	}
	r.end(write, end, stop)
}

// open reads what the engine is told; nil when the turn is over already.
func (r *Reactor) open(ctx context.Context, t *running) (*host, error) {
	var row store.Turn
	var session store.Session
	var begun event.Event
	var size int
	if err := r.loop.Read(ctx, func(tx *store.ReadTx) (err error) {
		if row, err = tx.Turn(t.id); err != nil {
			return err
		}
		if session, err = tx.SessionBySID(row.SID); err != nil {
			return err
		}
		if begun, _, err = tx.EventAt(row.SID, row.StartedSeq); err != nil {
			return err
		}
		size, err = counted(tx, row.SID)
		return err
	}); err != nil {
		return nil, fmt.Errorf("reading the turn: %w", err)
	}
	if row.Status != "running" {
		return nil, nil
	}
	if row.CancelSeq != 0 {
		t.end(ErrAborted)
	}
	start, _ := begun.Payload.(event.TurnStart) // erased with its session, which stops the turn
	h := &host{reactor: r, turn: t, sid: row.SID, harness: session.Harness, step: 1}
	h.told = r.told(session, start.Platform)
	h.told.TurnID, h.told.Continue, h.told.Context = t.id, start.Resume, size
	h.told.Model = start.Model
	return h, nil
}

// counted is the tokens of a session's newest call and its answer, 0 when no provider counted them.
func counted(tx *store.ReadTx, sid int64) (int, error) {
	head, err := tx.Head(sid)
	if err != nil || head.UsageSeq == 0 {
		return 0, err
	}
	e, _, err := tx.EventAt(sid, head.UsageSeq)
	if call, ok := e.Payload.(event.ModelCall); ok && !call.Estimated {
		return call.Prompt + call.Completion, err
	}
	return 0, err
}

// told is what an engine is told of a session, whatever the turn.
func (r *Reactor) told(s store.Session, platform string) engine.Turn {
	t := engine.Turn{
		SessionID: s.ID, Subtask: s.Origin == "task", Place: r.options.Place(s.Place), ToolLimit: r.options.ToolLimit, Room: roomWords(s), Guests: core.IsWindow(s.Place),
	}
	if r.options.Settings != nil {
		t.Settings = settings{reactor: r, session: s.ID, harness: s.Harness, platform: platform}
	}
	return t
}

// settings are those of one session, read whenever its engine asks.
type settings struct {
	reactor                    *Reactor
	session, harness, platform string
}

// Current reads them. See engine.Settings.
func (s settings) Current(ctx context.Context) (map[string]json.RawMessage, error) {
	return s.reactor.options.Settings(ctx, s.session, s.harness, s.platform)
}

// drive runs the turn's engine and waits for it, but not for one that does not stop when told.
func (r *Reactor) drive(ctx context.Context, t *running, h *host, end ending) error {
	conductor := r.options.Engines[h.harness]
	if conductor == nil {
		return &engine.Failure{Code: "no_engine", Message: text.New("turn.no-engine", "harness", h.harness)}
	}
	done := make(chan error, 1)
	r.engines.Go(func() {
		err := errUnwound
		defer func() {
			if v := recover(); v != nil {
				err = &panicked{value: v, stack: debug.Stack()}
			}
			done <- err
		}()
		err = conductor.Run(ctx, h.told, h)
		if err == nil && !h.ended() {
			err = errNoEnd
		}
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(stopWithin)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
	case <-end.leave:
	}
	r.log.Error("engine does not stop and is left behind", "turn", t.id, "harness", h.harness, "cause", context.Cause(ctx))
	return context.Cause(ctx)
}

var (
	errNoEnd   = errors.New("the engine returned before it had ended the turn")
	errUnwound = errors.New("the engine's goroutine ended without returning")
)

// panicked is the error of an engine that panicked.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string {
	return fmt.Sprintf("the engine panicked: %v\n%s", p.value, p.stack)
}

// awaitCause waits until we too have seen why an engine was stopped: it hears of it from its own
// refused report, which may be before the entry that tells us.
func (r *Reactor) awaitCause(ctx context.Context, err error) {
	if !errors.Is(err, engine.ErrStopped) {
		return
	}
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// failure makes of an engine's error what the owner reads. What a person can act on keeps its
// words; everything else is ours to find in the log.
func (r *Reactor) failure(t *running, err error) *event.Failure {
	if f, ok := errors.AsType[*engine.Failure](err); ok {
		r.log.Warn("turn failed", "turn", t.id, "code", f.Code, "err", err)
		return &event.Failure{
			Code: f.Code, Message: f.Message, Retryable: f.Retryable, Status: f.Status, Provider: f.Provider, LatencyMS: f.LatencyMS, Raw: f.Raw,
		}
	}
	r.log.Error("turn broke", "turn", t.id, "err", err)
	return &event.Failure{Code: string(fault.Internal), Message: fault.Of(err).Message}
}

// end writes the end of a turn, until it is written: a turn without an end would block its session.
// At the end of the process turns end as interrupted, so that their queues wait for the next start.
func (r *Reactor) end(write context.Context, end ending, stop core.StopTurn) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		if over(end.quit) {
			stop = core.StopTurn{Turn: stop.Turn, Interrupted: true}
		}
		_, err := r.loop.Do(write, stop)
		if err == nil {
			return
		}
		if write.Err() != nil || errors.Is(err, core.ErrClosed) {
			r.log.Error("turn is left as running for the next start", "turn", stop.Turn, "err", err)
			return
		}
		if pause == firstPause {
			r.log.Error("the end of a turn cannot be written, trying again", "turn", stop.Turn, "err", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-write.Done():
			timer.Stop()
		}
	}
}

// The pauses between tries to write an end, as the loop makes them for text (kernel 0.9).
const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

func over(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
