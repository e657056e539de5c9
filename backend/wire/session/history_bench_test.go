package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/wire/session"
)

// longSession writes a session with that many items, past the commands: one transaction, because only
// its length matters.
func longSession(tb testing.TB, st *store.Store, items int) string {
	tb.Helper()
	tick := int64(0)
	tx, err := st.Begin(time.Now().UnixMilli(), func() int64 { tick++; return tick })
	if err != nil {
		tb.Fatal(err)
	}
	defer tx.Rollback()
	e, err := tx.Create(event.Created{ID: event.NewID(), Origin: "sp", SessionKind: "owner", Tenant: "local", Initiator: event.OwnerID, Place: core.DefaultPlace, Harness: "aalis", HarnessV: 1, Environment: "local"}, console)
	if err != nil {
		tb.Fatal(err)
	}
	put := func(d event.Draft) event.Event {
		d.Actor = event.Agent()
		got, err := tx.Append(e.SID, d)
		if err != nil {
			tb.Fatal(err)
		}
		return got[0]
	}
	for n := 0; n < items; n += 5 { // a question, her thinking, a call, her answer, the turn
		turn := event.NewID()
		in := put(event.Draft{Turn: turn, Payload: event.Input{Text: fmt.Sprint("question ", n), State: event.InputOpened}})
		start := put(event.Draft{Turn: turn, Payload: event.TurnStart{TurnID: turn, Trigger: in.ID, Harness: "aalis"}})
		thought := put(event.Draft{Turn: turn, Parent: start.ID, Payload: event.ReasoningStart{ItemID: event.NewID(), Step: 1}})
		put(event.Draft{Turn: turn, Parent: thought.ID, Payload: event.Reasoning{ItemID: thought.ID, Step: 1, Text: "thinking of it for a while"}})
		call := event.Call{CallID: event.NewID(), Tool: "run_command", Args: json.RawMessage(`{"command":"ls"}`), Effect: "read", ExecutionID: event.NewID(), Step: 1}
		called := put(event.Draft{Turn: turn, Parent: start.ID, Payload: call})
		if err := tx.AppendText(store.Piece{SID: e.SID, StartSeq: called.Seq, Kind: event.OutputDelta, Text: "a\nb\n"}); err != nil {
			tb.Fatal(err)
		}
		put(event.Draft{Turn: turn, Parent: called.ID, Payload: event.Result{CallID: call.CallID, Status: event.ResultSucceeded, Text: "a\nb", Card: &event.Card{Tool: call.Tool, Args: call.Args, Step: 1}}})
		words := put(event.Draft{Turn: turn, Parent: start.ID, Payload: event.MessageStart{MessageID: event.NewID(), Step: 2}})
		put(event.Draft{Turn: turn, Parent: words.ID, Payload: event.Message{MessageID: words.ID, Step: 2, Text: "There are two files, a and b.", Final: true, Model: "m"}})
		put(event.Draft{Turn: turn, Parent: start.ID, Payload: event.TurnEnd{TurnID: turn, Outcome: event.Replied}})
	}
	if err := tx.Commit(); err != nil {
		tb.Fatal(err)
	}
	return e.Session
}

// BenchmarkOpen opens sessions: the cost must not depend on how long they are.
func BenchmarkOpen(b *testing.B) {
	for _, items := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			st, err := store.Open(store.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			id := longSession(b, st, items)
			loop, err := core.New(core.Options{Store: st})
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error)
			go func() { done <- loop.Run(ctx) }()
			s, err := session.NewServer(session.Options{Loop: loop})
			if err != nil {
				b.Fatal(err)
			}
			c := s.Connect(session.Peer{
				Caller: principal.Caller{Scopes: principal.AllScopes()}, Disconnect: func(reason string) { b.Error(reason) },
			}, func(string) {})
			c.Receive(hello)
			frame := ask("1", "session/subscribe", fmt.Sprintf(`{"sessionId":%q}`, id))
			for b.Loop() {
				c.Receive(frame)
			}
			b.StopTimer()
			c.Close()
			_ = s.Close(ctx)
			cancel()
			<-done
			_ = st.Close()
		})
	}
}
