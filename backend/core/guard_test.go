package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/testkit"
)

// everything is a turn with one of each that can be open in it.
type everything struct{ session, turn, message, thought, proposed, called, asked, action string }

func (r *rig) everything() (e everything) {
	r.t.Helper()
	e.session = r.session()
	e.turn = r.do(core.SendInput{Actor: owner, Session: e.session, Input: say("go")}).TurnID
	e.message = r.do(core.StartMessage{Turn: e.turn, Step: 1}).ItemID
	e.thought = r.do(core.StartReasoning{Turn: e.turn, Step: 1}).ItemID
	e.proposed = r.do(core.ProposeTool{Turn: e.turn, Tool: "run_command", Step: 1}).ItemID
	e.called, e.asked = r.call(e.turn), r.call(e.turn)
	e.action = r.do(core.RequestAction{Turn: e.turn, CallID: e.asked, Tool: "run_command", Facts: json.RawMessage(`{"params":{}}`)}).EventID
	r.do(core.SendInput{Actor: owner, Session: e.session, Input: say("waits")})
	return e
}

// reports are all that an engine may say of its turn, but the end of a call.
func (e everything) reports() []core.Command {
	return []core.Command{
		core.JoinInputs{Turn: e.turn},
		core.StartMessage{Turn: e.turn, Step: 2},
		core.StartReasoning{Turn: e.turn, Step: 2},
		core.EndReasoning{Turn: e.turn, ItemID: e.thought},
		core.EndMessage{Turn: e.turn, Message: event.Message{MessageID: e.message, Text: "late"}},
		core.EndMessage{Turn: e.turn, Message: event.Message{MessageID: e.message, Text: "late"}, Last: true},
		core.EndSilent{Turn: e.turn},
		core.RecordModelCall{Turn: e.turn, Call: event.ModelCall{Step: 1, Prompt: 1}},
		core.ProposeTool{Turn: e.turn, Tool: "run_command", Step: 2},
		core.CallTool{Turn: e.turn, CallID: e.proposed, Tool: "run_command", Args: json.RawMessage(`{}`), Effect: "write", Step: 1},
		core.RequestAction{Turn: e.turn, CallID: e.called, Tool: "run_command", Facts: json.RawMessage(`{"params":{}}`)},
		core.AddNotice{Turn: e.turn, Notice: event.Notice{Topic: "event-marker"}},
	}
}

// over tries every report and holds each to being refused without a trace.
func (e everything) over(r *rig, saw func() []core.Entry, more ...core.Command) {
	r.t.Helper()
	synctest.Wait()
	rows, seen := len(r.events(e.session)), len(saw())
	for _, cmd := range append(e.reports(), more...) {
		if _, err := r.loop.Do(context.Background(), cmd); !errors.Is(err, core.ErrTurnOver) {
			r.t.Errorf("%T: %v, want ErrTurnOver", cmd, err)
		}
	}
	for _, item := range []string{e.message, e.thought, e.called, e.asked} {
		if err := r.loop.Text(item, "late"); !errors.Is(err, core.ErrItemClosed) {
			r.t.Errorf("text: %v, want ErrItemClosed", err)
		}
	}
	time.Sleep(time.Second)
	synctest.Wait()
	if n := len(r.events(e.session)); n != rows {
		r.t.Errorf("%d events were written", n-rows)
	}
	if n := len(saw()); n != seen {
		r.t.Errorf("%d entries were shown", n-seen)
	}
}

// Whatever an engine says behind the stop or the end of its turn is refused and leaves nothing, text
// too, so that it hears of the stop by its next word (kernel 0.10).
func TestNothingIsTakenOfATurnThatIsOver(t *testing.T) {
	late := func(e everything) core.Command {
		return core.CompleteTool{Turn: e.turn, Result: event.Result{CallID: e.called, Status: event.ResultSucceeded}}
	}
	t.Run("interrupted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			saw := watch(t, r.loop)
			e := r.everything()
			r.do(core.AbortTurn{Actor: owner, Session: e.session, Turn: e.turn})
			e.over(r, saw)
			r.do(late(e)) // what a tool said until it was stopped is kept
			r.do(core.StopTurn{Turn: e.turn})
			testkit.Check(t, r.st)
		})
	})
	t.Run("ended", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			saw := watch(t, r.loop)
			e := r.everything()
			r.do(core.StopTurn{Turn: e.turn, Failure: &event.Failure{Code: "server"}})
			e.over(r, saw, late(e))
			testkit.Check(t, r.st)
		})
	})
	t.Run("never opened", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			e := r.everything()
			e.turn = event.NewID()
			for _, cmd := range append(e.reports(), late(e)) {
				if _, err := r.loop.Do(context.Background(), cmd); !errors.Is(err, core.ErrTurnOver) {
					t.Errorf("%T: %v, want ErrTurnOver", cmd, err)
				}
			}
		})
	})
}

// Recovery is for what earlier starts left, whenever it runs: turns of this one go on.
func TestRecoveryLeavesTheTurnsOfThisStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		e := r.everything()
		if err := core.Recover(t.Context(), r.loop); err != nil {
			t.Fatal(err)
		}
		r.do(core.StartMessage{Turn: e.turn, Step: 2})
	})
}

// output streams into a call and gives its text as stored.
func (r *rig) output(call string, pieces ...string) (stored string) {
	r.t.Helper()
	for _, p := range pieces {
		if err := r.loop.Text(call, p); err != nil {
			r.t.Fatal(err)
		}
	}
	time.Sleep(time.Second)
	synctest.Wait()
	r.read(func(tx *store.ReadTx) error {
		sessions, err := tx.AllSessions()
		for _, s := range sessions {
			events, e := tx.Between(s.SID, -1, 1<<32-1)
			err = errors.Join(err, e)
			for _, ev := range events {
				if c, ok := ev.Payload.(event.Call); ok && c.CallID == call {
					stored, e = tx.Text(s.SID, ev.Seq, 1<<32-1)
					err = errors.Join(err, e)
				}
			}
		}
		return err
	})
	return stored
}

// The first 256 KiB of a call's output are streamed, then one line that says so (decisions D11).
func TestOutputIsCut(t *testing.T) {
	const limit = 256 << 10
	const line = "\n[output beyond 256 KiB is not shown here]\n"
	fits := strings.Repeat("a", limit)
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		saw := watch(t, r.loop)
		turn := r.do(core.SendInput{Actor: owner, Session: r.session(), Input: say("go")}).TurnID
		for name, c := range map[string]struct {
			pieces []string
			want   string
		}{
			"all of it fits":      {[]string{fits[:limit-1], "b"}, fits[:limit-1] + "b"},
			"one byte too much":   {[]string{fits, "b"}, fits + line},
			"within a character":  {[]string{fits[:limit-1], "字", "more"}, fits[:limit-1] + line},
			"nothing comes after": {[]string{fits + "b", "c", strings.Repeat("d", limit)}, fits + line},
		} {
			got := r.output(r.call(turn), c.pieces...)
			if got != c.want || !utf8.ValidString(got) {
				t.Errorf("%s: %d bytes, ending in %q; want %d", name, len(got), got[max(0, len(got)-60):], len(c.want))
			}
		}
		m := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
		if err := r.loop.Text(m, fits+"b"); err != nil {
			t.Fatal(err)
		}
		r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: m}})
		for _, e := range saw() {
			if p, ok := e.Fact, e.Fact != nil; ok && p.Kind == event.AgentMessage && p.Payload.(event.Message).Text != fits+"b" {
				t.Error("her words were cut")
			}
		}
		r.do(core.StopTurn{Turn: turn})
		testkit.Check(t, r.st)
		synctest.Wait()
		sameAsSeen(t, r, saw())
	})
}

// The alarm about text that cannot be written comes once, however much more comes, and again the next
// time (kernel 0.9).
func TestTheStorageAlarmComesOncePerFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		r := open(t, t.TempDir(), func(o *store.Options, _ *core.Options) {
			o.Inject = func(string) store.Failure {
				if full.Load() {
					return store.FailFull
				}
				return store.NoFailure
			}
		})
		saw := watch(t, r.loop)
		m := r.do(core.StartMessage{Turn: r.do(core.SendInput{Actor: owner, Session: r.session(), Input: say("go")}).TurnID, Step: 1}).ItemID
		flood := func(mib int) (alarms int) {
			t.Helper()
			for range mib {
				if err := r.loop.Text(m, strings.Repeat("x", 1<<20)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond)
			}
			synctest.Wait()
			for _, e := range saw() {
				if e.Note != nil && e.Note.Kind == core.NoteStorage {
					alarms++
				}
			}
			return alarms
		}
		full.Store(true)
		for _, step := range []struct{ mib, want int }{{8, 0}, {1, 1}, {3, 1}} {
			if got := flood(step.mib); got != step.want {
				t.Errorf("after %d MiB more: %d alarms, want %d", step.mib, got, step.want)
			}
		}
		full.Store(false)
		time.Sleep(6 * time.Second)
		full.Store(true)
		if got := flood(9); got != 2 {
			t.Errorf("the next time: %d alarms, want 2", got)
		}
		full.Store(false)
		time.Sleep(6 * time.Second)
	})
}

// An input is taken once under its key, whatever has become of the session since (kernel 5.5).
func TestAnInputIsTakenOncePerKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		own := event.NewID()
		c := core.SendInput{Actor: owner, Session: s, Input: say("hello"), Key: "s:owner:1", EventID: own}
		first := r.do(c)
		if first.EventID != own {
			t.Errorf("its id is %s, not its own", first.EventID)
		}
		c.EventID = ""
		again := func(when string) {
			t.Helper()
			rows := len(r.events(s))
			got := r.do(c)
			if got.EventID != first.EventID || got.TurnID != first.TurnID || !got.Repeated {
				t.Errorf("%s: got %+v, first %+v", when, got, first)
			}
			if n := len(r.events(s)); n != rows {
				t.Errorf("%s: %d events more", when, n-rows)
			}
		}
		again("while its turn runs")
		r.do(core.StopTurn{Turn: first.TurnID})
		again("when its turn is over")
		r = r.gated(s, "closed")
		again("in a closed session")
		c.Key = "s:owner:2"
		if _, err := r.loop.Do(context.Background(), c); !fault.Is(err, fault.Conflict) {
			t.Errorf("a new one in a closed session: %v", err)
		}
	})
}

// gated opens the same log again with a session's gate changed, as no command does yet.
func (r *rig) gated(session, gate string) *rig {
	r.t.Helper()
	sid := r.sid(session)
	r.stop()
	st, err := store.Open(store.Options{Dir: r.dir})
	if err != nil {
		r.t.Fatal(err)
	}
	tx, err := st.Begin(time.Now().UnixMilli(), func() int64 { return 1 << 20 })
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := tx.Append(sid, event.Draft{Actor: event.System(), Payload: event.Updated{Gate: &gate}}); err != nil {
		r.t.Fatal(err)
	}
	if err := errors.Join(tx.Commit(), st.Close()); err != nil {
		r.t.Fatal(err)
	}
	return open(r.t, r.dir)
}

// A gate stops what people say, not what is still to be written of a turn (kernel 2).
func TestAGateStopsInputsOnly(t *testing.T) {
	for _, gate := range []string{"locked", "closed"} {
		t.Run(gate, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := open(t, t.TempDir())
				s, turn, m := r.message()
				r = r.gated(s, gate)
				for _, cmd := range []core.Command{
					core.SendInput{Actor: owner, Session: s, Input: say("more")},
					core.SendInput{Actor: owner, Session: s, Input: say("more"), Swallow: true},
					core.ContinueTurn{Actor: owner, Session: s},
				} {
					if _, err := r.loop.Do(context.Background(), cmd); !fault.Is(err, fault.Conflict) {
						t.Errorf("%T: %v", cmd, err)
					}
				}
				r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: m, Text: "done"}, Last: true, Limit: true})
				if _, err := r.loop.Do(context.Background(), core.ContinueTurn{Actor: owner, Session: s}); !fault.Is(err, fault.Conflict) {
					t.Errorf("continuing: %v", err)
				}
				r = r.gated(s, "open")
				r.do(core.ContinueTurn{Actor: owner, Session: s})
			})
		})
	}
}

// What is swallowed enters no turn, not even when it is the only thing said while one ran.
func TestASwallowedInputEntersNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		aside := func() {
			t.Helper()
			if got := r.do(core.SendInput{Actor: owner, Session: s, Input: say("aside"), Swallow: true}); got.TurnID != "" || got.Waiting {
				t.Errorf("got %+v", got)
			}
		}
		aside()
		turn := r.open(s)
		aside()
		if got := r.do(core.JoinInputs{Turn: turn}); len(got.Inputs) != 0 {
			t.Errorf("joined %+v", got.Inputs)
		}
		if got := r.do(core.EndSilent{Turn: turn}); got.Waiting {
			t.Error("the turn waits for what was swallowed")
		}
		next := r.open(s)
		r.do(core.StopTurn{Turn: next})
		for _, e := range r.events(s) {
			if e.Kind == event.TurnStarted && e.Turn != turn && e.Turn != next {
				t.Error("it opened a turn")
			}
		}
	})
}

// The oldest of a queue opens the next turn, with the source it has; the others join it in order.
func TestAQueueOpensOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		turn := r.open(s)
		tick := event.Input{Text: "tick", Speaker: event.Speaker{Source: "interval"}}
		var sent []string
		for _, in := range []event.Input{tick, say("two"), say("three")} {
			got := r.do(core.SendInput{Actor: owner, Session: s, Input: in})
			if got.TurnID != turn || !got.Waiting {
				t.Errorf("got %+v", got)
			}
			sent = append(sent, got.EventID)
		}
		r.do(core.StopTurn{Turn: turn, Failure: &event.Failure{Code: "server"}})
		var entered []string
		for _, e := range r.events(s) {
			switch p := e.Payload.(type) {
			case event.TurnStart:
				if e.Turn != turn {
					entered = append(entered, p.Trigger)
					if p.Source != "interval" || p.Input == nil || p.Input.Text != "tick" {
						t.Errorf("opened by %+v", p)
					}
				}
			case event.InputJoin:
				entered = append(entered, p.InputID)
			}
		}
		if !slices.Equal(entered, sent) {
			t.Errorf("entered %v, sent %v", entered, sent)
		}
	})
}

// A turn goes on after the tool limit only: not a running one, not one that ended otherwise, and none
// that there never was (decisions F8).
func TestOnlyATurnAtItsLimitIsContinued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		refused := func(when string) {
			t.Helper()
			if _, err := r.loop.Do(context.Background(), core.ContinueTurn{Actor: owner, Session: s}); !fault.Is(err, fault.Conflict) {
				t.Errorf("%s: %v", when, err)
			}
		}
		refused("before any turn")
		turn := r.open(s)
		refused("while one runs")
		r.do(core.EndSilent{Turn: turn, Limit: true})
		next := r.do(core.ContinueTurn{Actor: owner, Session: s}).TurnID
		refused("while it goes on")
		for _, e := range r.events(s) {
			if p, ok := e.Payload.(event.TurnStart); ok && e.Turn == next && (!p.Resume || p.Source != "" || p.Trigger != "") {
				t.Errorf("opened as %+v", p)
			}
		}
		r.do(core.EndSilent{Turn: next})
		refused("after an ordinary end")
	})
}

// A stop comes once and stays the reason: what fails behind it changes neither outcome nor words.
func TestAStoppedTurnIsAbortedWhateverFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		turn := r.open(s)
		if got := r.do(core.AbortTurn{Actor: owner, Session: s, Turn: turn}); got.Repeated || got.TurnID != turn {
			t.Errorf("got %+v", got)
		}
		if got := r.do(core.AbortTurn{Actor: owner, Session: s, Turn: turn}); !got.Repeated {
			t.Errorf("again: %+v", got)
		}
		r.do(core.StopTurn{Turn: turn, Failure: &event.Failure{Code: "server"}})
		if got := r.do(core.StopTurn{Turn: turn, Failure: &event.Failure{Code: "server"}}); !got.Repeated {
			t.Errorf("ended again: %+v", got)
		}
		want := []event.Kind{event.SessionCreated, event.UserMessage, event.TurnStarted, event.UserInterrupt, event.TurnEnded}
		if got := r.events(s); !slices.Equal(kinds(got), want) || got[4].Payload.(event.TurnEnd).Outcome != event.Aborted {
			t.Errorf("got %v", kinds(got))
		}
	})
}

// A turn does not end by itself while an input waits: the engine is told, and goes on with it.
func TestATurnGoesOnWhileAnInputWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s, turn, m := r.message()
		r.do(core.SendInput{Actor: owner, Session: s, Input: say("one more")})
		if got := r.do(core.EndSilent{Turn: turn}); !got.Waiting {
			t.Error("it ended in silence")
		}
		if got := r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: m, Text: "done"}, Last: true}); !got.Waiting {
			t.Error("it ended with a reply")
		}
		if got := r.do(core.JoinInputs{Turn: turn}); len(got.Inputs) != 1 || got.Inputs[0].Text != "one more" {
			t.Errorf("joined %+v", got.Inputs)
		}
		if got := r.do(core.EndSilent{Turn: turn}); got.Waiting {
			t.Error("it waits for what has joined")
		}
		for _, e := range r.events(s) {
			if p, ok := e.Payload.(event.Message); ok && (p.Final || p.Aborted || p.Text != "done") {
				t.Errorf("the reply that was not the last is %+v", p)
			}
		}
	})
}
