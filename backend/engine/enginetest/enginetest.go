package enginetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/engine"
	"aalis/backend/provider"
	"aalis/backend/tool"
)

// Model is the scripted model behind the engine under test.
type Model interface {
	Open(gate string)
	Requests() []provider.Request
}

// Suite runs the conformance suite over engines that New makes of a script in the format of
// provider/scripted.
type Suite struct {
	New func(t *testing.T, script string, tools ...tool.Definition) (engine.Engine, Model)
}

// Run is one turn of a test and what came of it.
type Run struct {
	Host  *Host
	Tools *Tools
	Model Model
	Err   error
	Took  time.Duration
}

// Do runs one turn on a fresh engine and checks that its reports are well-formed. Call it in a
// bubble.
func (s Suite) Do(t *testing.T, ctx context.Context, script string, turn engine.Turn, host *Host) Run {
	t.Helper()
	r := Run{Host: host, Tools: &Tools{}}
	var e engine.Engine
	e, r.Model = s.New(t, script, r.Tools.Definitions()...)
	if host.Entries == nil {
		host.Entries = []engine.Entry{{Kind: engine.EntryUser, TurnID: "turn", Text: "hello"}}
	}
	turn.SessionID, turn.TurnID = "session", "turn"
	if turn.Place.Root == "" {
		turn.Place = engine.Place{Key: "place", Root: t.TempDir()}
	}
	start := time.Now()
	r.Err = e.Run(ctx, turn, host)
	r.Took = time.Since(start)
	for _, wrong := range host.Check(r.Err) {
		t.Errorf("not well-formed: %s", wrong)
	}
	if t.Failed() {
		t.Logf("reports:\n%s\nRun: %v", strings.Join(host.Log(), "\n"), r.Err)
	}
	return r
}

// rich touches every kind of report, for stops at every point.
const rich = `
call
error server retryable
call
reasoning "let me "
wait 5ms
reasoning see
text "I "
wait 5ms
text look
tool echo {"words":"a"}
tool ask
args "{\"words\":"
args "\"b\"}"
tool boom {"words":"c"}
tool nope {}
tool ask broken
usage 10 5
call
tool rest {"words":"d"}
`

// Run proves what every engine keeps.
func (s Suite) Run(t *testing.T) {
	t.Run("every stop of the host ends the turn at once, reports well-formed", s.stopsOfHost)
	t.Run("every cancel ends the turn within two seconds, reports well-formed", s.cancels)
	t.Run("a cancel does not wait for a tool that does not stop", s.stubborn)
	t.Run("nothing runs before it is approved", s.approvals)
	t.Run("inputs join before the next model call", s.joins)
	t.Run("an input that came too late keeps the turn open", s.waits)
	t.Run("an input that was taken back does not", s.takenBack)
}

func (s Suite) stopsOfHost(t *testing.T) {
	all := 0
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		all = s.Do(t, ctx, rich, engine.Turn{}, &Host{}).Host.Calls()
	})
	if all < 20 {
		t.Fatalf("the rich turn makes only %d reports", all)
	}
	for at := 1; at <= all; at++ {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r := s.Do(t, ctx, rich, engine.Turn{}, &Host{StopAt: at})
			// A refused piece of a tool's output is met by the tool's next report or its end.
			if !errors.Is(r.Err, engine.ErrStopped) || r.Took > 2*time.Second {
				t.Errorf("stop at %d: %v after %v", at, r.Err, r.Took)
			}
		})
	}
}

func (s Suite) cancels(t *testing.T) {
	for at := time.Duration(0); at < 60*time.Millisecond; at += 500 * time.Microsecond {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second+at-30*time.Millisecond, func() { cancel(errors.New("aborted")) })
			r := s.Do(t, ctx, rich, engine.Turn{}, &Host{Delay: time.Millisecond})
			late := r.Took - (time.Second + at - 30*time.Millisecond)
			if !errors.Is(r.Err, context.Canceled) || late > 100*time.Millisecond {
				t.Errorf("cancel at %v: %v, %v late", at, r.Err, late)
			}
			if ran := r.Tools.Ran(); slices.Contains(ran, "rest d") && !slices.Contains(ran, "stopped d") {
				t.Errorf("the tool still runs: %v", ran)
			}
		})
	}
}

func (s Suite) stubborn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := s.Do(t, ctx, "call\ntool stubborn {\"words\":\"x\"}", engine.Turn{}, &Host{})
		if !errors.Is(r.Err, context.DeadlineExceeded) || r.Took > 3*time.Second {
			t.Errorf("%v after %v", r.Err, r.Took)
		}
		time.Sleep(10 * time.Second) // the bubble's time, in which the tool ends
		if got := r.Host.Output("tool-1"); got != "too late" {
			t.Errorf("the test shows nothing: the tool wrote %q", got)
		}
	})
}

func (s Suite) approvals(t *testing.T) {
	for source, tc := range map[string]struct {
		decision engine.Decision
		says     string
	}{
		"approved":   {engine.Decision{Approved: true, Source: "answer"}, "did x"},
		"denied":     {engine.Decision{Source: "answer", Note: "not on Fridays"}, "not on Fridays"},
		"absent":     {engine.Decision{Source: "absent"}, "present"},
		"timeout":    {engine.Decision{Source: "timeout"}, "in time"},
		"ineligible": {engine.Decision{Source: "ineligible"}, "here"},
		"rate-limit": {engine.Decision{Source: "rate-limit"}, "too many"},
		"turn-ended": {engine.Decision{Source: "turn-ended"}, "withdrawn"},
	} {
		t.Run(source, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := &Host{}
				var before []string
				host.Decide = func(ctx context.Context, _ engine.ApprovalRequest) (engine.Decision, error) {
					time.Sleep(time.Minute)
					before = host.Log()
					return tc.decision, ctx.Err()
				}
				r := s.Do(t, t.Context(), "call\ntool ask {\"words\":\"x\"}\ncall\ntext ok", engine.Turn{}, host)
				done := host.Done()
				if r.Err != nil || len(done) != 1 || !strings.Contains(done[0].Text, tc.says) {
					t.Fatalf("%v, %+v", r.Err, done)
				}
				if got := len(r.Tools.Ran()) == 1; got != tc.decision.Approved || done[0].NotExecuted == tc.decision.Approved || (done[0].Status == engine.ToolDenied) == tc.decision.Approved {
					t.Errorf("ran %v, %+v", r.Tools.Ran(), done[0])
				}
				if done[0].DurationMS != 60_000 {
					t.Errorf("the wait for the answer counts: %d ms", done[0].DurationMS)
				}
				if slices.ContainsFunc(before, func(line string) bool { return strings.HasPrefix(line, "complete") }) {
					t.Errorf("completed before the answer: %v", before)
				}
				if told := r.Model.Requests()[1].Messages; told[len(told)-1].Text != done[0].Text {
					t.Errorf("the model reads %q", told[len(told)-1].Text)
				}
			})
		})
	}
}

func (s Suite) joins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &Host{}
		host.OnText = func(_, piece string) {
			if piece == "a" { // the tool's output
				host.Send("wait")
				host.Send("and stop")
			}
		}
		r := s.Do(t, t.Context(), "call\ntool echo {\"words\":\"a\"}\ncall\ntext fine", engine.Turn{}, host)
		told := r.Model.Requests()[1].Messages
		if last := told[len(told)-1]; r.Err != nil || last.Role != provider.RoleUser || !strings.Contains(last.Text, "wait") || !strings.Contains(last.Text, "and stop") {
			t.Errorf("%v: the model reads %+v", r.Err, told)
		}
	})
}

func (s Suite) waits(t *testing.T) {
	for name, first := range map[string]string{"after a message": "text one", "after silence": "usage 1 1"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host, sent := &Host{}, false
				host.OnEnd = func() {
					if !sent {
						sent = true
						host.Send("more")
					}
				}
				r := s.Do(t, t.Context(), "call\n"+first+"\ncall\ntext two", engine.Turn{}, host)
				ends := host.Ends()
				if r.Err != nil || len(ends) == 0 || ends[len(ends)-1].Text != "two" || !slices.Contains(host.Log(), "join more") {
					t.Errorf("%v, %+v", r.Err, ends)
				}
			})
		})
	}
}

func (s Suite) takenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, sent := &Host{TakeBack: true}, false
		host.OnEnd = func() {
			if !sent {
				sent = true
				host.Send("more")
			}
		}
		r := s.Do(t, t.Context(), "call\ntext one", engine.Turn{}, host)
		if log := host.Log(); r.Err != nil || log[len(log)-1] != "silent" {
			t.Errorf("%v, %v", r.Err, log)
		}
	})
}
