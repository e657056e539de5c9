package core

import (
	"errors"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// RecordFiles keeps what a turn changed in files, or what a rewind is about to replace. Nothing of it
// stands in the session's log.
type RecordFiles struct {
	Checkpoint store.Checkpoint // SID may be 0: the session of Turn
	Files      []store.FileChange
}

func (c RecordFiles) run(w *write) (Receipt, error) {
	if c.Checkpoint.SID == 0 {
		t, err := w.Turn(c.Checkpoint.Turn)
		if err != nil {
			return Receipt{}, err
		}
		c.Checkpoint.SID = t.SID
	}
	return Receipt{}, w.PutCheckpoint(c.Checkpoint, c.Files)
}

// ForgetFiles drops what checkpoints know, and keeps why: their turns' files can be put back no more.
type ForgetFiles struct {
	IDs []string
	Why text.Text
}

func (c ForgetFiles) run(w *write) (Receipt, error) {
	for _, id := range c.IDs {
		if err := w.ForgetCheckpoint(id, c.Why); err != nil {
			return Receipt{}, err
		}
	}
	return Receipt{Count: int64(len(c.IDs))}, nil
}

// RewindTurn undoes a turn that is over, while no turn runs in its session (kernel 8). Files tells what
// was done to files before, nil for nothing. Unless KeepChat, the turn becomes dead: its messages leave
// every conversation, the model's included. Receipt.Count is the number of messages.
type RewindTurn struct {
	Actor    event.Actor
	Session  string
	Turn     string
	UndoID   string
	Files    *event.Restored
	KeepChat bool
}

func (c RewindTurn) run(w *write) (Receipt, error) {
	s, t, err := w.rewindable(c.Session, c.Turn)
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{SessionID: s.ID, TurnID: t.ID}
	if c.Files != nil {
		if _, err := w.append(s.SID, event.Draft{Actor: c.Actor, Payload: *c.Files}); err != nil {
			return Receipt{}, err
		}
		if err := w.UndoneCheckpoint(t.ID, true); err != nil {
			return Receipt{}, err
		}
	}
	if c.KeepChat {
		return r, nil
	}
	events, err := w.TurnEvents(t)
	if err != nil {
		return Receipt{}, err
	}
	n := 1
	for _, e := range events {
		if e.Kind == event.AgentMessage || e.Kind == event.TurnInputJoined {
			n++
		}
	}
	r.Count = int64(n)
	_, err = w.append(s.SID, event.Draft{Actor: c.Actor, Payload: event.Rewound{Turn: t.ID, Scope: event.RewindChat, DeletedMessages: n, UndoID: c.UndoID}})
	return r, err
}

// rewindable gives a session and one of its turns that lives and is over; fault.Conflict while any runs.
func (w *write) rewindable(session, turn string) (s store.Session, t store.Turn, err error) {
	if s, err = w.idle(session); err != nil {
		return s, t, err
	}
	dead, err := w.DeadTurns(s.SID)
	if err != nil {
		return s, t, err
	}
	t, err = w.Turn(turn)
	if errors.Is(err, store.ErrNotFound) || err == nil && (t.SID != s.SID || dead[t.ID]) {
		return s, t, fault.New(fault.NotFound, text.New("turn.not-found", "id", turn))
	}
	return s, t, err
}

// UndoRewind takes a rewind back: the turn lives again. Files tells what was done to files before.
type UndoRewind struct {
	Actor   event.Actor
	Session string
	UndoID  string
	Files   event.Restored
}

func (c UndoRewind) run(w *write) (Receipt, error) {
	s, err := w.idle(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	undo, found, err := w.Checkpoint(c.UndoID)
	if err != nil {
		return Receipt{}, err
	}
	if !found || undo.SID != s.SID || undo.ID == undo.Turn || undo.UndoneAt != 0 {
		return Receipt{}, fault.New(fault.NotFound, text.New("rewind.no-undo", "id", c.UndoID))
	}
	if _, err := w.append(s.SID, event.Draft{Actor: c.Actor, Payload: c.Files}); err != nil {
		return Receipt{}, err
	}
	dead, err := w.DeadTurns(s.SID)
	if err != nil {
		return Receipt{}, err
	}
	if dead[undo.Turn] {
		back := event.Rewound{Turn: undo.Turn, Scope: event.RewindUndone, UndoID: undo.ID}
		if _, err := w.append(s.SID, event.Draft{Actor: c.Actor, Payload: back}); err != nil {
			return Receipt{}, err
		}
	}
	return Receipt{SessionID: s.ID, TurnID: undo.Turn}, errors.Join(w.UndoneCheckpoint(undo.ID, true), w.UndoneCheckpoint(undo.Turn, false))
}
