//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
)

// seedBatch is how many sessions or turns are written in one transaction.
const seedBatch = 1000

var owner = event.Actor{Kind: "owner", Principal: event.OwnerID, Owner: true, Via: "session"}

// seeder writes a log past the commands, because only its length matters.
type seeder struct {
	store *store.Store
	tick  int64
	at    int64 // ms
}

// open makes a database for write; it is closed again when write returns.
func open(dir string, write func(s *seeder) error) (err error) {
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return write(&seeder{store: st, at: time.Now().Add(-time.Hour).UnixMilli()})
}

// sessions files n sessions with a turn each, as an interface would list them.
func (s *seeder) sessions(n int) error {
	var root string
	return s.batches(n, func(tx *store.Tx, n int) error {
		c := created(fmt.Sprintf("Conversation %d about the garden", n))
		switch {
		case n%50 == 49:
			c.SessionKind, c.Origin, c.Platform, c.Account = "room", "im", "onebot", "10001"
			c.Instance, c.ExtKey = fmt.Sprintf("onebot-%d", n%4), fmt.Sprintf("onebot:10001:group:%d", n)
		case n%10 == 7:
			c.SessionKind, c.Origin, c.Parent = "task", "task", root
		default:
			root = c.ID
		}
		e, err := tx.Create(c, owner)
		if err != nil {
			return err
		}
		outcome := []string{event.Replied, event.Silent, event.Silent, event.Errored}[n%4]
		turn := event.NewID()
		input := event.Draft{ID: event.NewID(), Turn: turn, Actor: owner, Payload: event.Input{Text: "hello", State: event.InputOpened}}
		_, err = tx.Append(
			e.SID, input,
			event.Draft{Turn: turn, Actor: event.System(), Payload: event.TurnStart{TurnID: turn, Trigger: input.ID, Harness: "aalis"}},
			event.Draft{Turn: turn, Actor: event.Agent(), Payload: event.ModelCall{Prompt: 100, Completion: 20}},
			event.Draft{Turn: turn, Actor: event.System(), Payload: event.TurnEnd{TurnID: turn, Outcome: outcome}},
		)
		return err
	})
}

func created(name string) event.Created {
	return event.Created{
		ID: event.NewID(), Name: name, Origin: "sp", SessionKind: "owner", Tenant: "local", Initiator: event.OwnerID,
		Place: core.DefaultPlace, Harness: "aalis", HarnessV: 1, Environment: "local",
	}
}

// batches calls one for every number below n, many in a transaction.
func (s *seeder) batches(n int, one func(tx *store.Tx, i int) error) error {
	for i := 0; i < n; {
		tx, err := s.store.Begin(s.at, func() int64 { s.tick++; return s.tick })
		if err != nil {
			return err
		}
		for end := min(n, i+seedBatch); i < end; i++ {
			tx.Now++
			if err := one(tx, i); err != nil {
				tx.Rollback()
				return err
			}
		}
		s.at = tx.Now
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// turnItems is what one turn of the long session shows: a question, her thinking, a call, her answer,
// and the turn.
const turnItems = 5

// long files one session with that many items and gives its id.
func (s *seeder) long(items int) (id string, err error) {
	var sid int64
	err = s.batches(items/turnItems, func(tx *store.Tx, n int) error {
		if n == 0 {
			e, err := tx.Create(created("A long talk"), owner)
			if err != nil {
				return err
			}
			sid, id = e.SID, e.Session
		}
		return writeTurn(tx, sid, n)
	})
	return id, err
}

// writeTurn writes the rows that a turn of the engine leaves, its streamed text among them.
func writeTurn(tx *store.Tx, sid int64, n int) error {
	turn, trigger, thought, words := event.NewID(), event.NewID(), event.NewID(), event.NewID()
	call := event.Call{
		CallID: event.NewID(), Tool: "run_command", Args: json.RawMessage(`{"command":"ls"}`), Effect: "read", ExecutionID: event.NewID(), Step: 1,
	}
	mine := func(id, parent string, p event.Payload) event.Draft {
		return event.Draft{ID: id, Turn: turn, Parent: parent, Actor: event.Agent(), Payload: p}
	}
	const thinking, says, prints = "thinking of it for a while", "There are two files, a and b.", "a\nb\n"
	parts := []part{
		{event.ReasoningDelta, thinking, []event.Draft{
			{ID: trigger, Turn: turn, Actor: owner, Payload: event.Input{Text: fmt.Sprint("question ", n), State: event.InputOpened}},
			{Turn: turn, Actor: event.System(), Payload: event.TurnStart{TurnID: turn, Trigger: trigger, Harness: "aalis"}},
			mine(thought, "", event.ReasoningStart{ItemID: thought, Step: 1}),
		}},
		{event.OutputDelta, prints, []event.Draft{
			mine("", thought, event.Reasoning{ItemID: thought, Step: 1, Text: thinking}),
			mine(call.CallID, "", call),
		}},
		{event.TextDelta, says, []event.Draft{
			mine("", call.CallID, event.Result{
				CallID: call.CallID, Status: event.ResultSucceeded, Text: prints, Card: &event.Card{Tool: call.Tool, Args: call.Args, Step: 1},
			}),
			mine(words, "", event.MessageStart{MessageID: words, Step: 2}),
		}},
		{0, "", []event.Draft{
			mine("", words, event.Message{MessageID: words, Step: 2, Text: says, Final: true, Model: "m"}),
			mine("", "", event.ModelCall{Step: 2, Prompt: 100, Completion: 20, Window: 8000}),
			{Turn: turn, Actor: event.System(), Payload: event.TurnEnd{TurnID: turn, Outcome: event.Replied}},
		}},
	}
	for _, p := range parts {
		if err := p.write(tx, sid); err != nil {
			return err
		}
	}
	return nil
}

// part is events, and the text that was streamed into the last of them.
type part struct {
	kind   event.DeltaKind
	text   string
	drafts []event.Draft
}

func (p part) write(tx *store.Tx, sid int64) error {
	wrote, err := tx.Append(sid, p.drafts...)
	if err != nil || p.text == "" {
		return err
	}
	return tx.AppendText(store.Piece{SID: sid, StartSeq: wrote[len(wrote)-1].Seq, Kind: p.kind, Text: p.text})
}
