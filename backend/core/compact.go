package core

import (
	"errors"
	"slices"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/text"
)

// NoteCompress tells how a compression goes; Data is a CompressNote. Nothing of it is stored
// (decisions E6): what is left of a compression is the line its event draws.
const NoteCompress NoteKind = "compress"

// CompressNote is one state of the notice of a compression.
type CompressNote struct {
	SID    int64
	ID     string // of the notice
	At     int64  // when the compression began, ms
	Notice event.Notice
	Reason text.Text // of a failure: it becomes a fact in the words of the reader
	Done   bool      // nothing more comes
}

// CompactHistory puts a summary in the place of the beginning of a conversation, in front of the model
// only. Previous and Without of the summary say how the conversation stood when it was read, as Cleared
// does: whatever changed since then refuses it, and nothing is left half done (FAIL-F7). What was said
// in the meantime stands behind the summary and changes nothing.
type CompactHistory struct {
	Session string
	Cleared int64
	Summary event.Compacted
}

func (c CompactHistory) run(w *write) (Receipt, error) {
	changed := fault.New(fault.Internal, text.New("compress.changed"))
	s, err := w.session(c.Session)
	if fault.Is(err, fault.NotFound) {
		return Receipt{}, changed
	}
	if err != nil {
		return Receipt{}, err
	}
	h, err := w.Head(s.SID)
	if err != nil {
		return Receipt{}, err
	}
	dead, err := w.DeadBelow(s.SID, c.Summary.Through)
	if err != nil {
		return Receipt{}, err
	}
	if h.ClearedSeq != c.Cleared || h.CompactedSeq != c.Summary.Previous || !slices.Equal(dead, c.Summary.Without) {
		return Receipt{}, changed
	}
	got, err := w.append(s.SID, event.Draft{Actor: event.System(), Payload: c.Summary})
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{SessionID: s.ID, EventID: got[0].ID, Count: got[0].Seq}, nil
}

// ClearHistory empties a conversation, for people and for the model, together with its to-do list, while
// no turn runs. Files stay as they are. An empty conversation is left alone.
type ClearHistory struct {
	Actor   event.Actor
	Session string
}

func (c ClearHistory) run(w *write) (Receipt, error) {
	s, err := w.idle(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	h, err := w.Head(s.SID)
	if err != nil {
		return Receipt{}, err
	}
	through := h.LastSeq
	if _, err := (SetPlan{Actor: c.Actor, Session: s.ID}).run(w); err != nil {
		return Receipt{}, err
	}
	if empty, err := w.empty(s.SID, h.ClearedSeq); err != nil || empty {
		return Receipt{SessionID: s.ID}, err
	}
	_, err = w.append(s.SID, event.Draft{Actor: c.Actor, Payload: event.Cleared{Through: through}})
	return Receipt{SessionID: s.ID}, err
}

// empty reports whether nothing was said in a session behind a seq, by anybody.
func (w *write) empty(sid, behind int64) (bool, error) {
	said := errors.New("something was said")
	err := w.Forwards(sid, behind, []event.Kind{event.UserMessage, event.HostNotice, event.TurnStarted, event.ChatMessage}, func(event.Event) error { return said })
	if errors.Is(err, said) {
		return false, nil
	}
	return err == nil, err
}
