// Package core owns the domain's rules and the order of things: commands, their decisions, the one
// loop that writes, and the cursors everybody reads from. Effects (turns, clocks, tools, wires)
// follow the log with a cursor and answer with commands; nothing calls them. core knows no protocol
// and starts no effect.
//
//	Loop.Do(ctx, command)                  waits for the outcome
//	Loop.Text(item, piece)                 streamed text of an open item
//	Loop.Note(note)                        seen once, never stored
//	Loop.Run                               the writer, one goroutine
//	  take everything that waits
//	    pieces and notes → tick → ring     seen at once
//	    commands: BEGIN, waiting pieces → rows, SAVEPOINT per command: run → Append; COMMIT
//	    facts → ring → cursors; replies
//	Loop.Cursor().Next(ctx)                entries in tick order
//	Loop.Rows(session, after).Next(ctx)    rows by number, replay and live alike
//
// The rules of the order are kernel.md section 0.
package core

import (
	"errors"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// Command is one decision about the domain, made inside the write transaction. A refused command
// writes nothing. Every command is a struct of this package.
type Command interface {
	run(w *write) (Receipt, error)
}

// Receipt is what a command did.
type Receipt struct {
	SessionID string // the session it was about, its internal id
	EventID   string // its main event
	TurnID    string // the turn it opened, joined or ended
	ItemID    string // the item it opened
	Repeated  bool   // it had been done before, under the same key
	Waiting   bool   // an input waits: the turn must go on
	Inputs    []event.Waiting
	Subtasks  []Subtask
	Spent     bool // the turn may call no more model: its tree has used the tokens it may
	Failures  []Failure
	Done      bool
	Count     int64
}

// Failure is one id of a batch that could not be done.
type Failure struct {
	SessionID string
	Message   text.Text
}

// write is the transaction as one command sees it.
type write struct {
	*store.Tx
	loop   *Loop
	events []event.Event
	after  []Note // to publish behind the facts
}

// append adds drafts to a session and remembers what was written.
func (w *write) append(sid int64, drafts ...event.Draft) ([]event.Event, error) {
	got, err := w.Append(sid, drafts...)
	if err != nil {
		return nil, err
	}
	for _, e := range got {
		if !e.Repeated {
			w.events = append(w.events, e)
		}
	}
	return got, nil
}

// session finds a living session or says which is missing.
func (w *write) session(id string) (store.Session, error) {
	s, err := w.Session(id)
	if errors.Is(err, store.ErrNotFound) {
		return s, NoSession(id)
	}
	return s, err
}

// NoSession is the fault for an id that names no living session.
func NoSession(id string) *fault.Fault {
	return fault.New(fault.NotFound, text.New("session.not-found", "id", id))
}

// asFault gives the store's guards their words.
func asFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrDeleted), errors.Is(err, store.ErrNotFound):
		return fault.Wrap(fault.NotFound, text.New("session.gone"), err)
	case errors.Is(err, store.ErrConflict):
		return fault.Wrap(fault.Conflict, text.New("precondition"), err)
	case errors.Is(err, store.ErrInvalid):
		return fault.Wrap(fault.Invalid, text.New("invalid-event"), err)
	}
	return err
}
