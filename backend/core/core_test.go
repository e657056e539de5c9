package core_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
)

// there is an Admission with somebody in front of the screen.
type there struct{}

func (there) Admit(event.Policy) string { return "" }

// rig is an open store with a running loop.
type rig struct {
	t    testing.TB
	dir  string
	st   *store.Store
	loop *core.Loop
	stop func()
}

func open(t testing.TB, dir string, change ...func(*store.Options, *core.Options)) *rig {
	t.Helper()
	so, co := store.Options{Dir: dir}, core.Options{Admission: there{}}
	for _, c := range change {
		c(&so, &co)
	}
	st, err := store.Open(so)
	if err != nil {
		t.Fatal(err)
	}
	co.Store = st
	loop, err := core.New(co)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- loop.Run(ctx) }()
	r := &rig{t: t, dir: dir, st: st, loop: loop}
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		<-done
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(r.stop)
	return r
}

func (r *rig) do(cmd core.Command) core.Receipt {
	r.t.Helper()
	got, err := r.loop.Do(context.Background(), cmd)
	if err != nil {
		r.t.Fatalf("%T: %v", cmd, err)
	}
	return got
}

func (r *rig) session() string { return r.do(core.CreateSession{Actor: owner}).SessionID }

var owner = event.Actor{Kind: "owner", Principal: event.OwnerID, Platform: "webui", UserID: "console", Owner: true, Via: "session"}

func say(text string) event.Input {
	return event.Input{Text: text, Speaker: event.Speaker{Platform: "webui", UserID: "console", Owner: true}}
}

// read reads one instant.
func (r *rig) read(fn func(tx *store.ReadTx) error) {
	r.t.Helper()
	if err := r.st.Read(context.Background(), fn); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) sid(session string) (sid int64) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		s, err := tx.SessionOrTomb(session)
		sid = s.SID
		return err
	})
	return sid
}

func (r *rig) events(session string) (all []event.Event) {
	r.t.Helper()
	sid := r.sid(session)
	r.read(func(tx *store.ReadTx) (err error) {
		all, err = tx.Between(sid, -1, 1<<32-1)
		return err
	})
	return all
}

func kinds(events []event.Event) []event.Kind {
	var k []event.Kind
	for _, e := range events {
		k = append(k, e.Kind)
	}
	return k
}

// call opens a message, a call and an approval in a running turn.
func (r *rig) call(turn string) (callID string) {
	r.t.Helper()
	callID = r.do(core.ProposeTool{Turn: turn, Tool: "run_command", Step: 1}).ItemID
	r.do(core.CallTool{Turn: turn, CallID: callID, Tool: "run_command", Args: json.RawMessage(`{"command":"ls"}`), Effect: "write", Step: 1})
	return callID
}

func TestATurnThroughTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		turn := r.do(core.SendInput{Actor: owner, Session: s, Input: say("hello")}).TurnID
		msg := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
		for _, piece := range []string{"Hel", "lo", " there"} {
			if err := r.loop.Text(msg, piece); err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * time.Millisecond)
		}
		r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: msg}, Last: true})
		events := r.events(s)
		want := []event.Kind{event.SessionCreated, event.UserMessage, event.TurnStarted, event.MessageStarted, event.AgentMessage, event.TurnEnded}
		if got := kinds(events); len(got) != len(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for _, e := range events {
			if m, ok := e.Payload.(event.Message); ok && (m.Text != "Hello there" || !m.Final) {
				t.Errorf("message %+v", m)
			}
		}
		var rows []store.Row
		r.read(func(tx *store.ReadTx) (err error) { rows, err = tx.Rows(r.sid(s), -1, 100); return err })
		for i, w := range rows {
			if w.Seq != int64(i) {
				t.Errorf("row %d has seq %d", i, w.Seq)
			}
		}
		if len(rows) != len(want)+2 {
			t.Errorf("%d rows, want two of text beside the events", len(rows))
		}
	})
}

func TestAnApprovalThroughTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		turn := r.do(core.SendInput{Actor: owner, Session: s, Input: say("ls")}).TurnID
		call := r.call(turn)
		a := r.do(core.RequestAction{Turn: turn, CallID: call, Tool: "run_command", Facts: json.RawMessage(`{"command":"ls","params":{}}`)})
		var hash string
		r.read(func(tx *store.ReadTx) error {
			row, _, err := tx.Action(a.EventID)
			hash = row.Hash
			return err
		})
		r.do(core.AnswerAction{Actor: owner, ActionID: a.EventID, Approve: true, Hash: hash, May: true, By: event.Answerer{Platform: "webui", Owner: true}})
		if err := r.loop.Text(call, "out\n"); err != nil {
			t.Fatal(err)
		}
		r.do(core.CompleteTool{Turn: turn, Result: event.Result{CallID: call, Status: event.ResultSucceeded, Text: "out"}})
		r.do(core.EndSilent{Turn: turn})
		before, err := r.st.Projections()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.st.Rebuild(time.Now().UnixMilli()); err != nil {
			t.Fatal(err)
		}
		after, err := r.st.Projections()
		if err != nil {
			t.Fatal(err)
		}
		compare(t, before, after)
	})
}

func compare(t testing.TB, live, rebuilt map[string][]string) {
	t.Helper()
	for table, rows := range live {
		for i, row := range rows {
			if i >= len(rebuilt[table]) || rebuilt[table][i] != row {
				var got string
				if i < len(rebuilt[table]) {
					got = rebuilt[table][i]
				}
				t.Errorf("%s differs\n   live %s\nrebuilt %s", table, row, got)
			}
		}
		if len(rebuilt[table]) > len(rows) {
			t.Errorf("%s has %d rows after the rebuild, %d before", table, len(rebuilt[table]), len(rows))
		}
	}
}
