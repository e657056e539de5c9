package turn_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/testkit"
)

func mismatch(t testing.TB, err error) {
	t.Helper()
	if !fault.Is(err, fault.ExpectedTurnMismatch) {
		t.Errorf("got %v, want expected-turn-mismatch", err)
	}
}

// rich is a turn with every kind of report, a little time between them, and a tool that asks.
const rich = `
call when=next
text fine
call when=go
reasoning "let me "
wait 5ms
reasoning see
text "I "
wait 60ms
text look
tool echo {"words":"a"}
tool ask
args "{\"words\":"
wait 5ms
args "\"b\"}"
tool boom {"words":"c"}
usage 10 5
call when=go
tool rest {"words":"d"}
`

func TestAbortAtEveryMoment(t *testing.T) {
	for at := time.Microsecond; at < 160*time.Millisecond; at += 3 * time.Millisecond {
		bubble(t, setup{script: rich}, func(r *rig) {
			s := r.session()
			id := r.send(s, "go")
			time.Sleep(at)
			if at > 100*time.Millisecond {
				r.answer(true, "")
				time.Sleep(time.Microsecond)
			}
			r.send(s, "next")
			start := time.Now()
			r.do(core.AbortTurn{Actor: owner, Session: s, Turn: id})
			r.until("the turn is over", func() bool { return len(r.outcomes(s)) > 0 })
			if took := time.Since(start); took > 100*time.Millisecond {
				t.Errorf("at %v: it took %v", at, took)
			}
			r.idle()
			ended := r.outcomes(s)
			if ended[0] != event.Aborted || len(ended) != 2 {
				t.Errorf("at %v: %v", at, ended)
			}
			if ran := r.tools.Ran(); slices.Contains(ran, "rest d") && !slices.Contains(ran, "stopped d") {
				t.Errorf("at %v the tool still runs: %v", at, ran)
			}
			for _, res := range payloads[event.Result](r, s) {
				if res.Status == event.ResultSucceeded && res.Text != "echo a" && res.Text != "did b" {
					t.Errorf("at %v: %+v", at, res)
				}
			}
			if n := r.log.count("ERROR"); n > 1 { // the tool that panics says so
				t.Errorf("at %v: %d errors logged", at, n)
				r.dump()
			}
		})
	}
}

func TestAbortedCalls(t *testing.T) {
	t.Run("SP-TOOL-09 SP-TOOL-10 SP-TOOL-13 running and proposed calls end as aborted", func(t *testing.T) {
		bubble(t, setup{script: "call\ntext words\ntool rest {\"words\":\"a\"}\ntool echo {\"words\":\"b\"}"}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			settle()
			time.Sleep(time.Second)
			r.do(core.AbortTurn{Actor: owner, Session: s})
			r.idle()
			res, ends := payloads[event.Result](r, s), payloads[event.TurnEnd](r, s)
			if len(res) != 1 || res[0].Status != event.ResultCancelled || res[0].ExitCode != nil {
				t.Errorf("%+v", res)
			}
			if len(ends) != 1 || ends[0].Outcome != event.Aborted || len(ends[0].Unexecuted) != 1 || ends[0].Unexecuted[0].Tool != "echo" {
				t.Errorf("%+v", ends)
			}
			same(t, "ran", r.tools.Ran(), "rest a", "stopped a")
		})
	})
	t.Run("E16 what she had said is kept", func(t *testing.T) {
		bubble(t, setup{script: "call\ntext par\ntext tial\nhang"}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			settle() // the text is in no row yet
			r.do(core.AbortTurn{Actor: owner, Session: s})
			r.idle()
			m := payloads[event.Message](r, s)
			if len(m) != 1 || m[0].Text != "partial" || !m[0].Aborted || m[0].Final || m[0].Finish != "aborted" {
				t.Errorf("%+v", m)
			}
		})
	})
	t.Run("a tool that reports after the stop keeps what it said, as cancelled", func(t *testing.T) {
		e := script(func(ctx contextOf, h hostOf) error {
			c, err := h.ProposeTool(ctx, "echo")
			if err != nil {
				return err
			}
			if err := h.CallTool(ctx, engine.ToolCall{CallID: c, Name: "echo", Args: []byte(`{}`), Effect: "read", Step: 1}); err != nil {
				return err
			}
			<-ctx.Done()
			if err := h.CompleteTool(ctx, engine.ToolResult{CallID: c, Status: engine.ToolSucceeded, Text: "half of it"}); err != nil {
				t.Error(err)
			}
			_, err = h.StartMessage(ctx, 2)
			return err
		})
		bubble(t, setup{engines: engines("aalis", e)}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			settle()
			r.do(core.AbortTurn{Actor: owner, Session: s})
			r.idle()
			if res := payloads[event.Result](r, s); len(res) != 1 || res[0].Status != event.ResultCancelled || res[0].Text != "half of it" {
				t.Errorf("%+v", res)
			}
		})
	})
}

// An engine that does not listen is left behind: the session goes on within two seconds.
func TestAnEngineThatIgnoresTheStop(t *testing.T) {
	got := make(chan error, 2)
	bubble(t, setup{engines: engines("aalis", deaf(10*time.Second, got)), script: ""}, func(r *rig) {
		s := r.session()
		r.send(s, "hi")
		time.Sleep(time.Second)
		start := time.Now()
		r.do(core.AbortTurn{Actor: owner, Session: s})
		r.until("the turn is over", func() bool { return len(r.outcomes(s)) == 1 })
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		if n := r.log.count("left behind"); n != 1 {
			t.Errorf("logged %d times", n)
		}
		r.until("it is not under way any more", func() bool { return r.reactor.Running() == 0 })
		time.Sleep(20 * time.Second)
		for _, what := range []string{"text", "a report"} {
			if err := <-got; !errors.Is(err, engine.ErrStopped) {
				t.Errorf("%s of an engine left behind: %v", what, err)
			}
		}
		if m := payloads[event.Message](r, s); len(m) != 1 || !m[0].Aborted {
			t.Errorf("%+v", m)
		}
	})
}

// A stop against a finish at the same instant: one of the two happened, never both, 200 times.
func TestAbortAgainstFinish(t *testing.T) {
	aborted, finished := 0, 0
	synctest.Test(t, func(t *testing.T) {
		r := open(t, setup{})
		defer r.stop()
		for n := range 200 {
			s := r.session()
			r.model.Add(short...)
			id := r.send(s, "go")
			time.Sleep(10 * time.Millisecond) // the model's last word comes now
			for range n % 4 {                 // a little later each time
				r.do(core.RenameSession{Actor: owner, Session: s, Title: "t"})
			}
			if _, err := r.loop.Do(r.t.Context(), core.AbortTurn{Actor: owner, Session: s, Turn: id}); err != nil {
				mismatch(t, err)
			}
			r.idle()
			ends, m := payloads[event.TurnEnd](r, s), payloads[event.Message](r, s)
			if len(ends) != 1 || len(m) != 1 || (ends[0].Outcome == event.Aborted) == m[0].Final {
				t.Fatalf("run %d: %+v, %+v", n, ends, m)
			}
			if m[0].Final {
				finished++
			} else {
				aborted++
			}
		}
		testkit.Check(t, r.st)
	})
	t.Logf("%d aborted, %d finished", aborted, finished)
	if aborted == 0 || finished == 0 {
		t.Errorf("the race shows nothing: %d aborted, %d finished", aborted, finished)
	}
}
