package core

import (
	"errors"
	"fmt"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// ErrTurnOver refuses what an engine reports of a turn that was interrupted or has ended.
var ErrTurnOver = errors.New("the turn has been interrupted or is over")

// live finds a turn that runs and was not interrupted.
func (w *write) live(id string) (store.Turn, error) {
	t, err := w.Turn(id)
	if errors.Is(err, store.ErrNotFound) || err == nil && (t.Status != "running" || t.CancelSeq != 0) {
		return t, ErrTurnOver
	}
	return t, err
}

// AbortTurn asks the running turn to stop, and cancels what it is waiting for. Without a turn id it
// stops whatever runs; with one, only that. Spec SP-TURN-12 to 16.
type AbortTurn struct {
	Actor   event.Actor
	Session string
	Turn    string
	Reason  string
}

func (c AbortTurn) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	h, err := w.Head(s.SID)
	if err != nil {
		return Receipt{}, err
	}
	if c.Turn != "" && c.Turn != h.RunningTurn {
		return Receipt{}, fault.New(fault.ExpectedTurnMismatch, text.New("turn.mismatch", "id", c.Turn))
	}
	if h.RunningTurn == "" {
		return Receipt{SessionID: s.ID}, nil
	}
	t, err := w.Turn(h.RunningTurn)
	if err != nil || t.CancelSeq != 0 {
		return Receipt{SessionID: s.ID, TurnID: t.ID, Repeated: err == nil}, err
	}
	return Receipt{SessionID: s.ID, TurnID: t.ID}, w.interrupt(t, c.Actor, c.Reason)
}

func (w *write) interrupt(t store.Turn, by event.Actor, reason string) error {
	if _, err := w.append(t.SID, event.Draft{
		Turn: t.ID, Parent: t.StartedEvent, Actor: by, Payload: event.Interrupt{Turn: t.ID, Reason: reason},
		RejectIfParentHas: []event.Kind{event.TurnEnded, event.UserInterrupt},
	}); err != nil {
		return err
	}
	return w.cancelActions(t, event.StateCancelled, event.SourceTurnEnded)
}

// stopRunning interrupts a session's running turn, if there is one that nobody has interrupted yet.
func (w *write) stopRunning(sid int64, by event.Actor, reason string) (t store.Turn, running bool, err error) {
	h, err := w.Head(sid)
	if err != nil || h.RunningTurn == "" {
		return t, false, err
	}
	if t, err = w.Turn(h.RunningTurn); err == nil && t.CancelSeq == 0 {
		err = w.interrupt(t, by, reason)
	}
	return t, true, err
}

// cancelActions settles everything a turn still asks.
func (w *write) cancelActions(t store.Turn, state, source string) error {
	pending, err := w.PendingActions(t.SID)
	if err != nil {
		return err
	}
	for _, a := range pending {
		if a.Turn != t.ID {
			continue
		}
		if err := w.settle(a, event.Resolution{Settlement: event.Settlement{State: state, Source: source}}, event.System()); err != nil {
			return err
		}
	}
	return nil
}

// idle gives a session in which no turn runs; fault.Conflict while one does.
func (w *write) idle(id string) (store.Session, error) {
	s, err := w.session(id)
	if err != nil {
		return s, err
	}
	h, err := w.Head(s.SID)
	if err == nil && h.RunningTurn != "" {
		err = fault.New(fault.Conflict, text.New("turn.running"))
	}
	return s, err
}

// ContinueTurn goes on after the tool-call limit, with a fresh budget (decisions F8).
type ContinueTurn struct {
	Actor   event.Actor
	Session string
}

func (c ContinueTurn) run(w *write) (Receipt, error) {
	s, err := w.idle(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	if err := gate(s); err != nil {
		return Receipt{}, err
	}
	last, found, err := w.LastTurn(s.SID)
	if err != nil {
		return Receipt{}, err
	}
	if !found || !last.Limited {
		return Receipt{}, fault.New(fault.Conflict, text.New("turn.not-continuable"))
	}
	turn := event.NewID()
	d := w.started(s, event.TurnStart{TurnID: turn, Resume: true, Platform: c.Actor.Platform})
	d.Actor = c.Actor
	_, err = w.append(s.SID, d)
	return Receipt{SessionID: s.ID, TurnID: turn}, err
}

// StartMessage opens a message of hers; Receipt.ItemID is its id.
type StartMessage struct {
	Turn string
	Step int
}

func (c StartMessage) run(w *write) (Receipt, error) {
	id := event.NewID()
	return w.report(c.Turn, id, event.MessageStart{MessageID: id, Step: c.Step})
}

// StartReasoning opens a stretch of thinking; Receipt.ItemID is its id.
type StartReasoning struct {
	Turn string
	Step int
}

func (c StartReasoning) run(w *write) (Receipt, error) {
	id := event.NewID()
	return w.report(c.Turn, id, event.ReasoningStart{ItemID: id, Step: c.Step})
}

// report appends one event of a live turn. The event has the item's id.
func (w *write) report(turn, item string, p event.Payload) (Receipt, error) {
	t, err := w.live(turn)
	if err != nil {
		return Receipt{}, err
	}
	got, err := w.append(t.SID, event.Draft{
		ID: item, Turn: t.ID, Parent: t.StartedEvent, Actor: event.Agent(), Payload: p,
		RejectIfParentHas: []event.Kind{event.UserInterrupt, event.TurnEnded},
	})
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{SessionID: got[0].Session, TurnID: t.ID, EventID: got[0].ID, ItemID: item}, nil
}

// RecordModelCall accounts for one call of a model.
type RecordModelCall struct {
	Turn string
	Call event.ModelCall
}

func (c RecordModelCall) run(w *write) (Receipt, error) { return w.report(c.Turn, "", c.Call) }

// EndReasoning completes a stretch of thinking; its text is what was streamed.
type EndReasoning struct{ Turn, ItemID string }

func (c EndReasoning) run(w *write) (Receipt, error) {
	t, err := w.live(c.Turn)
	if err != nil {
		return Receipt{}, err
	}
	d, err := w.reasoningEnd(t, c.ItemID)
	if err != nil {
		return Receipt{}, err
	}
	_, err = w.append(t.SID, d)
	return Receipt{TurnID: t.ID, ItemID: c.ItemID}, err
}

func (w *write) reasoningEnd(t store.Turn, item string) (event.Draft, error) {
	start, p, err := opened[event.ReasoningStart](w, t, item)
	if err != nil {
		return event.Draft{}, err
	}
	said, err := w.Text(t.SID, start.Seq, seqMax)
	return event.Draft{
		Turn: t.ID, Parent: start.ID, Actor: event.Agent(),
		Payload:           event.Reasoning{ItemID: item, Step: p.Step, Text: said, StartedAt: start.At},
		RejectIfParentHas: []event.Kind{event.AgentReasoning},
	}, err
}

const seqMax = 1<<32 - 1

// opened finds the event that opened an item of a turn. It has the item's id.
func opened[P event.Payload](w *write, t store.Turn, item string) (event.Event, P, error) {
	e, found, err := w.Event(item)
	if err != nil {
		return e, *new(P), err
	}
	p, ok := e.Payload.(P)
	if !found || e.SID != t.SID || e.Turn != t.ID || !ok {
		return e, p, fmt.Errorf("item %s was not opened in turn %s: %w", item, t.ID, store.ErrInvalid)
	}
	return e, p, nil
}

// EndMessage completes a message. Its text is what was streamed; Message.Text is used only when
// nothing was. With Last it ends the turn as replied in the same transaction, unless an input
// waits: then Receipt.Waiting is true and the turn goes on.
type EndMessage struct {
	Turn    string
	Message event.Message
	Last    bool
	Limit   bool // with Last: the turn reached its tool-call limit
}

func (c EndMessage) run(w *write) (Receipt, error) {
	t, err := w.live(c.Turn)
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{TurnID: t.ID, ItemID: c.Message.MessageID}
	if c.Last {
		if r.Waiting, err = w.hasPending(t.SID); err != nil {
			return Receipt{}, err
		}
	}
	c.Message.Final = c.Last && !r.Waiting
	d, err := w.messageEnd(t, c.Message, r.Waiting)
	if err != nil {
		return Receipt{}, err
	}
	got, err := w.append(t.SID, d)
	if err != nil {
		return Receipt{}, err
	}
	m, _ := d.Payload.(event.Message)
	if m.Sent {
		if _, err := w.append(t.SID, w.pending(got[0].ID, t.ID, event.Delivery{Kind: event.DeliversMessage})); err != nil {
			return Receipt{}, err
		}
	}
	switch {
	case m.Fleeting:
		err = w.closeTurn(t, ending{outcome: event.Silent, limit: c.Limit})
	case m.Final:
		err = w.closeTurn(t, ending{outcome: event.Replied, limit: c.Limit})
	}
	return r, err
}

// messageEnd completes a message. In a room the last of a turn goes out, unless she has nothing to say;
// all others are kept back. overtaken: it would have been the last, had nothing been said meanwhile.
func (w *write) messageEnd(t store.Turn, m event.Message, overtaken bool) (event.Draft, error) {
	start, p, err := opened[event.MessageStart](w, t, m.MessageID)
	if err != nil {
		return event.Draft{}, err
	}
	s, err := w.SessionBySID(t.SID)
	if err != nil {
		return event.Draft{}, err
	}
	said, err := w.Text(t.SID, start.Seq, seqMax)
	if err != nil {
		return event.Draft{}, err
	}
	if said == "" && m.Text != "" {
		// A reply without streaming gets its one delta, so that a message is always the sum of its
		// deltas (I2).
		if err := w.AppendText(store.Piece{SID: t.SID, StartSeq: start.Seq, Kind: event.TextDelta, Idx: w.loop.number(t.ID), Text: m.Text}); err != nil {
			return event.Draft{}, err
		}
		said = m.Text
	}
	m.Text, m.Step, m.StartedAt = said, p.Step, start.At
	if s.Kind == "room" && m.Final {
		m.Fleeting = silent(m)
		m.Final = !m.Fleeting
		m.Sent = m.Final && w.loop.ruling != nil
	}
	withhold(s, &m, overtaken)
	d := event.Draft{Turn: t.ID, Parent: start.ID, Actor: event.Agent(), Payload: m, RejectIfParentHas: []event.Kind{event.AgentMessage}}
	if m.Final {
		d.IdemKey = "k:run:" + t.ID + ":agent:message"
		d.RejectIfHas = []event.Guard{{Event: t.StartedEvent, Kinds: []event.Kind{event.UserInterrupt, event.TurnEnded}}}
	}
	return d, nil
}

func (w *write) hasPending(sid int64) (bool, error) {
	waiting, err := w.PendingInputs(sid)
	return len(waiting) > 0, err
}

// EndSilent ends a turn in which she said nothing; Receipt.Waiting as for EndMessage.
type EndSilent struct {
	Turn  string
	Limit bool
}

func (c EndSilent) run(w *write) (Receipt, error) {
	t, err := w.live(c.Turn)
	if err != nil {
		return Receipt{}, err
	}
	waiting, err := w.hasPending(t.SID)
	if err != nil || waiting {
		return Receipt{TurnID: t.ID, Waiting: waiting}, err
	}
	return Receipt{TurnID: t.ID}, w.closeTurn(t, ending{outcome: event.Silent, limit: c.Limit})
}

// StopTurn ends a turn that was aborted, failed or cut off: what is open is closed, and the queue
// opens the next turn. A turn that has already ended is left alone.
type StopTurn struct {
	Turn    string
	Failure *event.Failure // outcome error; nil: aborted
	// Interrupted is set when the end of the process cut the turn off.
	Interrupted bool
}

func (c StopTurn) run(w *write) (Receipt, error) {
	t, err := w.Turn(c.Turn)
	if errors.Is(err, store.ErrNotFound) || err == nil && t.Status != "running" {
		return Receipt{TurnID: c.Turn, Repeated: true}, nil
	}
	if err != nil {
		return Receipt{}, err
	}
	e := ending{outcome: event.Aborted, failure: c.Failure}
	switch {
	case t.CancelSeq != 0: // stopped before it failed or was cut off
		e.failure = nil
	case c.Interrupted:
		e = interruptedEnding()
	case c.Failure != nil:
		e.outcome = event.Errored
	}
	if err := w.closeTurn(t, e); err != nil {
		return Receipt{}, err
	}
	if c.Interrupted { // the queue is taken up at the next start
		return Receipt{TurnID: t.ID}, nil
	}
	_, err = w.dispatch(t.SID)
	return Receipt{TurnID: t.ID}, err
}

func interruptedEnding() ending {
	return ending{
		outcome: event.Errored, cause: event.CauseInterrupted, source: event.SourceShutdown,
		failure: &event.Failure{Code: "interrupted", Message: text.New("turn.interrupted"), Retryable: true},
	}
}
