package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/wire/session"
)

// move is one thing that happens in a random story.
type move struct{ What, Who, N int }

func moves(n int) *rapid.Generator[[]move] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
		return move{rapid.IntRange(0, 99).Draw(t, "what"), rapid.IntRange(0, 2).Draw(t, "who"), rapid.IntRange(0, 9).Draw(t, "n")}
	}), 1, n)
}

// story plays random moves of an engine and of clients that come and go.
type story struct {
	t        *testing.T
	k        *kernel
	server   *session.Server
	sessions []string
	turns    map[string]*engine
	watchers []*watcher
	words    int
}

func newStory(t *testing.T, ring int) *story {
	t.Helper()
	k := startKernel(t, t.TempDir(), func(o *core.Options) { o.RingBytes = ring })
	st := &story{t: t, k: k, turns: make(map[string]*engine)}
	st.server = serve(t, session.Options{Loop: k.loop, Services: session.Services{Display: displays}})
	for range 2 {
		id := k.session("")
		st.sessions = append(st.sessions, id)
		st.turns[id] = &engine{session: id, step: 1}
	}
	// One from the beginning, subscribed to both; two that come and go.
	for range 3 {
		st.watchers = append(st.watchers, watch(t, st.server))
	}
	for _, id := range st.sessions {
		st.watchers[0].request("session/subscribe", id, "")
	}
	synctest.Wait()
	return st
}

// try runs a command; that the log refuses it is part of the story.
func (st *story) try(cmd core.Command) core.Receipt {
	r, _ := st.k.loop.Do(context.Background(), cmd)
	return r
}

func (st *story) word() string {
	st.words++
	return fmt.Sprintf("w%d ", st.words)
}

func (st *story) play(m move) {
	id := st.sessions[min(m.Who, 1)]
	e := st.turns[id]
	turn := st.k.running(id)
	if turn != "" && turn != e.turn { // an engine has nothing left of the turn before
		*e = engine{session: id, step: 1, turn: turn}
	}
	switch what := m.What; {
	case what < 8:
		st.try(core.SendInput{Actor: console, Session: id, Input: said(st.word())})
	case what < 11:
		st.try(core.SendInput{Actor: console, Session: id, Input: said(st.word()), Swallow: true})
	case what < 13:
		st.try(core.AddNotice{Session: id, Notice: event.Notice{Topic: "event-marker", NoticeID: st.word()}})
	case what < 16:
		time.Sleep([]time.Duration{time.Millisecond, 9 * time.Millisecond, 60 * time.Millisecond}[m.N%3])
	case what < 17:
		synctest.Wait()
	case what < 18:
		st.try(core.RewindTurn{Actor: console, Session: id, Turn: e.turn})
	case what < 34:
		st.client(st.watchers[m.Who], st.sessions[m.N%2], m.N)
	case turn == "":
	case what < 38:
		st.try(core.JoinInputs{Turn: turn})
	case what < 60:
		st.say(turn, e, m.N)
	case what < 90:
		st.work(turn, e, m.N)
	default:
		st.end(turn, e, m.N)
	}
}

func (st *story) client(w *watcher, id string, n int) {
	switch {
	case n < 5:
		w.request("session/subscribe", id, "")
	case n == 5 && w != st.watchers[0]:
		w.request("session/unsubscribe", id, "")
		w.forget(id)
	case n == 6:
		w.block(true)
	default:
		w.block(false)
	}
}

func (st *story) say(turn string, e *engine, n int) {
	switch {
	case n < 2:
		e.item = st.try(core.StartMessage{Turn: turn, Step: e.step}).ItemID
		e.items = append(e.items, e.item)
	case n < 3:
		e.item = st.try(core.StartReasoning{Turn: turn, Step: e.step}).ItemID
		e.items = append(e.items, e.item)
	case n < 4:
		st.try(core.EndMessage{Turn: turn, Message: event.Message{MessageID: e.item, Model: "m"}})
		st.try(core.EndReasoning{Turn: turn, ItemID: e.item})
	default:
		_ = st.k.loop.Text(e.item, st.word())
	}
}

func (st *story) work(turn string, e *engine, n int) {
	switch n {
	case 0:
		st.step(turn, e)
	case 1, 2:
		e.call = st.try(core.ProposeTool{Turn: turn, Tool: "run_command", Step: e.step}).ItemID
		e.items = append(e.items, e.call)
	case 3, 4:
		if e.call == "" {
			return
		}
		st.try(core.CallTool{Turn: turn, CallID: e.call, Tool: "run_command", Args: json.RawMessage(`{"command":"ls"}`), Effect: "write", Step: e.step})
	case 5:
		e.action = st.try(core.RequestAction{Turn: turn, CallID: e.call, Tool: "run_command"}).EventID
	case 6:
		st.try(core.ExpireAction{ActionID: e.action})
	case 7:
		code := n % 3
		st.try(core.CompleteTool{Turn: turn, Result: event.Result{CallID: e.call, Status: event.ResultSucceeded, Text: "done", ExitCode: &code}})
	case 8:
		st.try(core.RecordModelCall{Turn: turn, Call: event.ModelCall{Prompt: st.words, Window: 1000}})
	default:
		_ = st.k.loop.Text(e.call, st.word())
	}
}

// step goes on to the model's next call; all that came of the one before is completed first.
func (st *story) step(turn string, e *engine) {
	for _, item := range e.items {
		st.try(core.EndMessage{Turn: turn, Message: event.Message{MessageID: item}})
		st.try(core.EndReasoning{Turn: turn, ItemID: item})
		st.try(core.CompleteTool{Turn: turn, Result: event.Result{CallID: item, Status: event.ResultFailed}})
	}
	*e = engine{session: e.session, step: e.step + 1, turn: turn}
}

func (st *story) end(turn string, e *engine, n int) {
	switch n {
	case 0, 1, 2:
		st.try(core.EndMessage{Turn: turn, Message: event.Message{MessageID: e.item}, Last: true})
	case 3:
		st.try(core.EndSilent{Turn: turn})
	case 4:
		st.try(core.StopTurn{Turn: turn, Failure: &event.Failure{Code: "model"}})
	case 5:
		st.try(core.StopTurn{Turn: turn, Interrupted: true})
	case 6:
		st.try(core.AddNotice{Turn: turn, Notice: event.Notice{Topic: session.TopicToolLimit, CanContinue: true}})
		st.try(core.EndSilent{Turn: turn, Limit: true})
	case 7:
		st.try(core.ContinueTurn{Actor: console, Session: e.session})
	default:
		st.try(core.AbortTurn{Actor: console, Session: e.session})
		st.try(core.StopTurn{Turn: turn})
	}
}

// rest lets everything arrive; clients come back after a resync.
func (st *story) rest() {
	for _, w := range st.watchers {
		w.block(false)
	}
	time.Sleep(time.Second)
	synctest.Wait()
	for _, w := range st.watchers {
		for _, id := range st.sessions {
			if w.stale(id) {
				w.request("session/subscribe", id, "")
			}
		}
	}
	time.Sleep(time.Second)
	synctest.Wait()
}

// disagreement compares what every client knows with what one is told that comes only now.
func (st *story) disagreement() string {
	late := watch(st.t, st.server)
	defer late.Close()
	for _, id := range st.sessions {
		late.request("session/subscribe", id, "")
	}
	synctest.Wait()
	for i, w := range append(st.watchers, late) {
		w.mu.Lock()
		wrong := w.wrong
		w.mu.Unlock()
		if len(wrong) > 0 {
			return fmt.Sprintf("client %d: %s", i, wrong[0])
		}
		for n, id := range st.sessions {
			if !w.subscribed(id) {
				continue
			}
			if diff := cmp.Diff(late.state(id), w.state(id)); diff != "" {
				return fmt.Sprintf("client %d, session %d: -snapshot +client:\n%s", i, n, diff)
			}
		}
	}
	return ""
}

func (st *story) close() {
	for _, w := range st.watchers {
		w.Close()
	}
	if err := st.server.Close(context.Background()); err != nil {
		st.t.Error(err)
	}
}

func TestSnapshotAndPushes(t *testing.T) {
	check := func(ring int) func(*rapid.T) {
		return func(rt *rapid.T) {
			all := moves(120).Draw(rt, "moves")
			var wrong string
			synctest.Test(t, func(t *testing.T) {
				st := newStory(t, ring)
				defer st.close()
				for _, m := range all {
					st.play(m)
				}
				st.rest()
				wrong = st.disagreement()
			})
			if wrong != "" {
				rt.Fatal(wrong)
			}
		}
	}
	t.Run("FAIL-A7 SP-SUB-09 SP-SUB-14 SP-SUB-15 SP-SUB-17 SP-SUB-33 SP-REFR-01 a snapshot at any moment and the pushes after it are what a client has that saw everything, and what the log holds", func(t *testing.T) {
		rapid.Check(t, check(0))
	})
	t.Run("SP-SUB-35 the same for clients that are too slow for the ring and are told to read again", func(t *testing.T) {
		rapid.Check(t, check(4000))
	})
}
