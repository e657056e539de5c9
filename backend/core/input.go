package core

import (
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// SendInput says something to her. It opens a turn, or waits to join the one that runs; it is never
// lost, because both are rows. A repeated Key answers as the first time did.
type SendInput struct {
	Actor   event.Actor
	Session string
	Input   event.Input
	Key     string // idempotency key with its protocol's prefix, "" for none
	Source  string // what sent it when no person did
	Swallow bool   // keep it, but let it enter no turn (rooms)
	EventID string // "" for a new id
	Model   string // entry id the turn runs with, "" for the session's
}

func (c SendInput) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	if c.Key != "" {
		if e, found, err := w.EventByKey(s.SID, c.Key); err != nil || found {
			return Receipt{SessionID: s.ID, EventID: e.ID, TurnID: e.Turn, Repeated: found}, err
		}
	}
	if err := gate(s); err != nil {
		return Receipt{}, err
	}
	h, err := w.Head(s.SID)
	if err != nil {
		return Receipt{}, err
	}
	id := orElse(c.EventID, event.NewID())
	message := event.Draft{ID: id, Actor: c.Actor, Payload: c.Input, IdemKey: c.Key}
	switch {
	case c.Swallow:
		message.Payload = withState(c.Input, event.InputSwallowed)
		_, err = w.append(s.SID, message)
		return Receipt{SessionID: s.ID, EventID: id}, err
	case h.RunningTurn != "":
		message.Payload = withState(c.Input, event.InputPending)
		_, err = w.append(s.SID, message)
		return Receipt{SessionID: s.ID, EventID: id, TurnID: h.RunningTurn, Waiting: true}, err
	}
	message.Payload = withState(c.Input, event.InputOpened)
	message.Turn = event.NewID()
	_, err = w.append(s.SID, message, w.started(s, event.TurnStart{TurnID: message.Turn, Trigger: id, Source: c.Source, Model: c.Model, Platform: c.Actor.Platform}))
	return Receipt{SessionID: s.ID, EventID: id, TurnID: message.Turn}, err
}

func withState(in event.Input, state string) event.Input {
	in.State = state
	return in
}

// gate refuses input to sessions that are locked or closed. It is a rule of commands, not of the
// store: what the kernel itself still has to say passes.
func gate(s store.Session) error {
	switch s.Gate {
	case "locked":
		return fault.New(fault.Conflict, text.New("session.locked"))
	case "closed":
		return fault.New(fault.Conflict, text.New("session.closed"))
	}
	return nil
}

// started drafts the opening of a turn.
func (w *write) started(s store.Session, t event.TurnStart) event.Draft {
	t.Harness, t.Epoch = s.Harness, w.loop.epoch
	w.record(&t, s)
	d := event.Draft{Turn: t.TurnID, Actor: event.System(), Payload: t}
	if t.Trigger != "" {
		d.IdemKey = "k:run:trigger:" + t.Trigger
	}
	return d
}

// dispatch opens the next turn from the queue: the oldest input opens it, the others join it
// (decisions F3). Without a queue nothing happens.
func (w *write) dispatch(sid int64) (turn string, err error) {
	waiting, err := w.PendingInputs(sid)
	if err != nil || len(waiting) == 0 {
		return "", err
	}
	s, err := w.SessionBySID(sid)
	if err != nil {
		return "", err
	}
	turn = event.NewID()
	oldest := &waiting[0]
	got, err := w.append(sid, w.started(s, event.TurnStart{
		TurnID: turn, Trigger: oldest.EventID, Source: oldest.Speaker.Source, Input: oldest, Platform: oldest.Speaker.Platform,
	}))
	if err != nil {
		return "", err
	}
	return turn, w.join(sid, turn, got[0].ID, waiting[1:])
}

func (w *write) join(sid int64, turn, started string, inputs []event.Waiting) error {
	for _, in := range inputs {
		_, err := w.append(sid, event.Draft{
			Turn: turn, Parent: started, Actor: event.System(), Payload: event.InputJoin{InputID: in.EventID, Input: in},
			RejectIfParentHas: []event.Kind{event.TurnEnded, event.UserInterrupt},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropInputs empties the queue; the inputs enter no turn.
func (w *write) dropInputs(sid int64, reason string, by event.Actor) error {
	waiting, err := w.PendingInputs(sid)
	if err != nil {
		return err
	}
	for _, in := range waiting {
		if _, err := w.append(sid, event.Draft{Parent: in.EventID, Actor: by, Payload: event.InputDrop{InputID: in.EventID, Reason: reason, Input: in}}); err != nil {
			return err
		}
	}
	return nil
}

// JoinInputs takes everything that waits into the running turn. Receipt.Inputs has it in order. It
// stands before every call of a model: Receipt.Spent says that there may be none, and nothing joined.
type JoinInputs struct{ Turn string }

func (c JoinInputs) run(w *write) (Receipt, error) {
	t, err := w.live(c.Turn)
	if err != nil {
		return Receipt{}, err
	}
	if spent, err := w.spent(t); err != nil || spent {
		return Receipt{TurnID: t.ID, Spent: spent}, err
	}
	waiting, err := w.PendingInputs(t.SID)
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{TurnID: t.ID, Inputs: waiting}, w.join(t.SID, t.ID, t.StartedEvent, waiting)
}

// DispatchPending opens the next turn of a session whose queue waits though nothing runs.
type DispatchPending struct{ SID int64 }

func (c DispatchPending) run(w *write) (Receipt, error) {
	h, err := w.Head(c.SID)
	if err != nil || h.RunningTurn != "" || h.List == store.ListDeleted {
		return Receipt{}, err
	}
	turn, err := w.dispatch(c.SID)
	return Receipt{TurnID: turn}, err
}

// AddNotice says something in the program's own name, inside a running turn or outside any.
type AddNotice struct {
	Session string
	Turn    string // "" outside
	Notice  event.Notice
}

func (c AddNotice) run(w *write) (Receipt, error) {
	var sid int64
	if c.Turn != "" {
		t, err := w.live(c.Turn)
		if err != nil {
			return Receipt{}, err
		}
		sid = t.SID
	} else {
		s, err := w.session(c.Session)
		if err != nil {
			return Receipt{}, err
		}
		sid = s.SID
	}
	got, err := w.append(sid, event.Draft{Turn: c.Turn, Actor: event.System(), Payload: c.Notice})
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{SessionID: got[0].Session, EventID: got[0].ID}, nil
}

// StopDescendants stops the running turns of everything below a session and empties their queues;
// the session's own turn goes on. Spec SP-BG-30, SP-BG-31.
type StopDescendants struct {
	Actor   event.Actor
	Session string
}

func (c StopDescendants) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	tree, err := w.Subtree(s.SID)
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{SessionID: s.ID}
	for _, child := range tree[1:] {
		if err := w.dropInputs(child.SID, "stopped", c.Actor); err != nil {
			return Receipt{}, err
		}
		_, running, err := w.stopRunning(child.SID, c.Actor, "stopped")
		if err != nil {
			return Receipt{}, err
		}
		if running {
			r.Count++
		}
	}
	return r, nil
}
