package core

import (
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/text"
)

// ChangeInput gives a queued input other words; its id and its place in the queue stay. Words that
// are the same change nothing. fault.Invalid for none where no files stand for them, fault.Conflict once it has left the queue, and for words that are
// not the owner's.
type ChangeInput struct {
	Actor   event.Actor
	Session string
	InputID string
	Text    string
}

func (c ChangeInput) run(w *write) (Receipt, error) {
	sid, in, err := w.queued(c.Session, c.InputID)
	if err != nil {
		return Receipt{}, err
	}
	switch {
	case in == nil:
		return Receipt{}, fault.New(fault.Conflict, text.New("queue.gone"))
	case !in.Speaker.Owner:
		return Receipt{}, fault.New(fault.Conflict, text.New("queue.not-yours"))
	case in.Text == c.Text:
		return Receipt{EventID: c.InputID}, nil
	case c.Text == "" && len(in.Attachments) == 0:
		return Receipt{}, fault.New(fault.Invalid, text.New("wire.content-blank"))
	}
	_, err = w.append(sid, event.Draft{Parent: c.InputID, Actor: c.Actor, Payload: event.InputChange{InputID: c.InputID, Text: c.Text}})
	return Receipt{EventID: c.InputID}, err
}

// RemoveInput takes an input out of the queue: it enters no turn and leaves nothing behind. What was
// removed before stays so. fault.Conflict once it has entered a turn.
type RemoveInput struct {
	Actor   event.Actor
	Session string
	InputID string
}

func (c RemoveInput) run(w *write) (Receipt, error) {
	sid, in, err := w.queued(c.Session, c.InputID)
	if err != nil {
		return Receipt{}, err
	}
	if in == nil {
		if _, state, _, err := w.InputState(c.InputID); err != nil || state == "dropped" {
			return Receipt{EventID: c.InputID, Repeated: true}, err
		}
		return Receipt{}, fault.New(fault.Conflict, text.New("queue.gone"))
	}
	_, err = w.append(sid, event.Draft{Parent: c.InputID, Actor: c.Actor, Payload: event.InputDrop{InputID: c.InputID, Reason: event.DropRemoved, Input: *in}})
	return Receipt{EventID: c.InputID}, err
}

// queued finds an input of a session; nil when it has left the queue.
func (w *write) queued(session, inputID string) (sid int64, in *event.Waiting, err error) {
	s, err := w.session(session)
	if err != nil {
		return 0, nil, err
	}
	if at, _, found, err := w.InputState(inputID); err != nil || !found || at != s.SID {
		if err == nil {
			err = fault.New(fault.NotFound, text.New("queue.not-found", "id", inputID))
		}
		return 0, nil, err
	}
	waiting, err := w.PendingInputs(s.SID)
	for i := range waiting {
		if waiting[i].EventID == inputID {
			in = &waiting[i]
		}
	}
	return s.SID, in, err
}
