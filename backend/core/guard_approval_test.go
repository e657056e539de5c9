package core_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/testkit"
	"aalis/backend/text"
)

// settlement is where an approval stands: pending, or state/source.
func (r *rig) settlement(id string) (says string) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		a, found, err := tx.Action(id)
		if err == nil && !found {
			err = errors.New("no such action")
		}
		if says = a.State; err != nil || a.Resolved == "" {
			return err
		}
		e, _, err := tx.Event(a.Resolved)
		says += "/" + e.Payload.(event.Resolution).Source
		return err
	})
	return says
}

// result is how a call ended.
func (r *rig) result(session, call string) (res event.Result) {
	r.t.Helper()
	for _, e := range r.events(session) {
		if p, ok := e.Payload.(event.Result); ok && p.CallID == call {
			if res.CallID != "" {
				r.t.Errorf("call %s has two results", call)
			}
			res = p
		}
	}
	return res
}

// What her own turns may ask is counted over the whole tree: sub-sessions are no way around it
// (decisions H3).
func TestTheRateOfApprovalsIsTheTrees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		root := r.session()
		alone := func(session string) string {
			t.Helper()
			return r.do(core.SendInput{Actor: event.System(), Session: session, Source: "interval", Input: event.Input{Text: "tick", Speaker: event.Speaker{Source: "interval"}}}).TurnID
		}
		turns := []string{alone(root)}
		for range 2 {
			turns = append(turns, alone(r.do(core.CreateSession{Actor: owner, Parent: root}).SessionID))
		}
		elsewhere := alone(r.session())
		for i := range 5 {
			if a := r.ask(turns[i%3]); a.Done {
				t.Errorf("the approval number %d is %s", i+1, r.settlement(a.EventID))
			}
		}
		for _, turn := range turns {
			if got := r.settlement(r.ask(turn).EventID); got != "denied/rate-limit" {
				t.Errorf("the sixth is %s", got)
			}
		}
		if a := r.ask(elsewhere); a.Done {
			t.Error("another tree pays for it")
		}
	})
}

// The hash is over what was shown and what may be answered, in canonical JSON (decisions H8, kernel
// 5.2), so that anybody can compute it.
func TestTheContentHash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		turn := r.open(s)
		call := r.call(turn)
		a := r.do(core.RequestAction{Turn: turn, CallID: call, Tool: "run_command", Facts: json.RawMessage(`{"z":1e2, "params":{"b":"字", "a":12345678901234567890}}`)}).EventID
		canonical := fmt.Sprintf(`{"callId":"%s","facts":{"params":{"a":12345678901234567890,"b":"字"},"z":1e2},"id":"%s","options":["approve","deny"],`+
			`"origin":{"kind":"hand","participants":[{"platform":"webui","userId":"console"}]},"sessionId":"%s","tool":"run_command","turnId":"%s"}`, call, a, s, turn)
		sum := sha256.Sum256([]byte(canonical))
		if got, want := r.hash(a), hex.EncodeToString(sum[:]); got != want {
			t.Errorf("got %s, want %s of %s", got, want, canonical)
		}
	})
}

// The participants are the people of the turn, those who joined it too, each once (decisions H5).
func TestTheParticipantsOfAnApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		turn := r.open(s)
		for _, who := range []event.Speaker{{Platform: "im", UserID: "1"}, {Source: "interval"}, {Platform: "webui", UserID: "console"}, {Platform: "im", UserID: "2"}, {Platform: "im", UserID: "1", Nickname: "Ann"}} {
			r.do(core.SendInput{Actor: owner, Session: s, Input: event.Input{Text: "and", Speaker: who}})
		}
		r.do(core.JoinInputs{Turn: turn})
		r.ask(turn)
		want := event.Origin{Kind: "hand", Participants: []event.Participant{{Platform: "webui", UserID: "console"}, {Platform: "im", UserID: "1"}, {Platform: "im", UserID: "2"}}}
		for _, e := range r.events(s) {
			if a, ok := e.Payload.(event.Action); ok {
				if diff := cmp.Diff(want, a.Origin); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			}
		}
	})
}

// The clock of the whole wait speaks from its end on, whoever is absent then (SP-APPR-16), and nothing
// settles an approval twice.
func TestExpiring(t *testing.T) {
	for name, c := range map[string]struct {
		after  time.Duration
		absent bool
		want   string
	}{
		"alone before the end":        {300*time.Second - time.Millisecond, true, "denied/absent"},
		"SP-APPR-16 alone at the end": {300 * time.Second, true, "expired/timeout"},
		"in company":                  {300 * time.Second, false, "expired/timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := open(t, t.TempDir())
				s := r.session()
				a := r.ask(r.open(s)).EventID
				time.Sleep(c.after)
				if got := r.do(core.ExpireAction{ActionID: a, Absent: c.absent}); got.Repeated {
					t.Error("told as done before")
				}
				rows := len(r.events(s))
				for _, absent := range []bool{true, false} {
					if got := r.do(core.ExpireAction{ActionID: a, Absent: absent}); !got.Repeated {
						t.Error("settled twice")
					}
				}
				if got := r.settlement(a); got != c.want || len(r.events(s)) != rows {
					t.Errorf("got %s, want %s", got, c.want)
				}
			})
		})
	}
}

// A call has one question at a time, which holds it until it is answered, and one result.
func TestACallWaitsForItsAnswerAndEndsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		turn := r.open(s)
		call := r.call(turn)
		request := core.RequestAction{Turn: turn, CallID: call, Tool: "run_command", Facts: json.RawMessage(`{"params":{}}`)}
		done := core.CompleteTool{Turn: turn, Result: event.Result{CallID: call, Status: event.ResultSucceeded, Text: "first"}}
		a := r.do(request).EventID
		for _, cmd := range []core.Command{request, done} {
			if _, err := r.loop.Do(context.Background(), cmd); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%T while it waits: %v", cmd, err)
			}
		}
		r.do(core.AnswerAction{Actor: owner, ActionID: a, Approve: true, Hash: r.hash(a), May: true})
		if got := r.do(done); got.Repeated {
			t.Errorf("got %+v", got)
		}
		done.Result.Status, done.Result.Text = event.ResultFailed, "second"
		if got := r.do(done); !got.Repeated {
			t.Errorf("again: %+v", got)
		}
		if _, err := r.loop.Do(context.Background(), request); err == nil {
			t.Error("a call that is over was asked about")
		}
		if got := r.result(s, call); got.Status != event.ResultSucceeded || got.Text != "first" {
			t.Errorf("got %+v", got)
		}
		r.do(core.StopTurn{Turn: turn})
		testkit.Check(t, r.st)
	})
}

// How a call ends that nobody completed depends on why its turn does.
func TestHowCallsEndWithTheirTurn(t *testing.T) {
	type how struct {
		status, kind string
		notExecuted  bool
	}
	for name, c := range map[string]struct {
		end                    func(r *rig, e everything)
		running, asking, wrong how
	}{
		"stopped": {
			func(r *rig, e everything) {
				r.do(core.AbortTurn{Actor: owner, Session: e.session})
				r.do(core.StopTurn{Turn: e.turn})
			},
			how{event.ResultCancelled, "cancelled", false},
			how{event.ResultDenied, "rejected", true},
			how{event.ResultDenied, "", false},
		},
		"cut off": {
			func(r *rig, e everything) { r.do(core.StopTurn{Turn: e.turn, Interrupted: true}) },
			how{event.ResultFailed, "unknown", false},
			how{event.ResultFailed, "unknown", true},
			how{event.ResultDenied, "", false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := open(t, t.TempDir())
				e := r.everything()
				denied := r.ask(e.turn)
				r.do(core.AnswerAction{Actor: owner, ActionID: denied.EventID, Hash: r.hash(denied.EventID), May: true})
				if name == "stopped" { // the tool runner tells of the denial behind the stop
					r.do(core.AbortTurn{Actor: owner, Session: e.session})
				}
				r.do(core.CompleteTool{Turn: e.turn, Result: event.Result{CallID: denied.ItemID, Status: event.ResultDenied}})
				c.end(r, e)
				for call, want := range map[string]how{e.called: c.running, e.asked: c.asking, denied.ItemID: c.wrong} {
					if got := r.result(e.session, call); got.Status != want.status || got.ErrorKind != want.kind || got.NotExecuted != want.notExecuted {
						t.Errorf("got %+v, want %+v", got, want)
					}
				}
				testkit.Check(t, r.st)
			})
		})
	}
}

// What a turn leaves behind says how it went: what was open in it, why it failed, what it was opened by.
func TestWhatTheEndOfATurnSays(t *testing.T) {
	why := &event.Failure{Code: "server", Message: text.Plain("down"), Retryable: true, Status: 503}
	for name, c := range map[string]struct {
		finish, outcome string
		failure         *event.Failure
	}{
		"failed":  {"error", event.Errored, why},
		"stopped": {"aborted", event.Aborted, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := open(t, t.TempDir())
				s := r.session()
				begun := time.Now().UnixMilli()
				turn := r.do(core.SendInput{Actor: event.System(), Session: s, Source: "interval", Input: event.Input{Text: "tick", Speaker: event.Speaker{Source: "interval"}}}).TurnID
				m, th := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID, r.do(core.StartReasoning{Turn: turn, Step: 1}).ItemID
				for item, words := range map[string]string{m: "half", th: "hm"} {
					if err := r.loop.Text(item, words); err != nil {
						t.Fatal(err)
					}
				}
				proposed := r.do(core.ProposeTool{Turn: turn, Tool: "run_command", Step: 1}).ItemID
				time.Sleep(time.Second)
				call := r.do(core.ProposeTool{Turn: turn, Tool: "run_command", Step: 1}).ItemID
				at := time.Now().UnixMilli()
				time.Sleep(time.Second)
				r.do(core.CallTool{Turn: turn, CallID: call, Tool: "run_command", Args: json.RawMessage(`{}`), Effect: "write", Step: 1})
				time.Sleep(time.Second)
				code := 0
				done := event.Result{CallID: call, Status: event.ResultSucceeded, ExitCode: &code, Text: "out"}
				if c.failure == nil {
					r.do(core.AbortTurn{Actor: owner, Session: s})
				}
				r.do(core.CompleteTool{Turn: turn, Result: done})
				r.do(core.StopTurn{Turn: turn, Failure: c.failure})

				var kept []event.Failure
				var end event.TurnEnd
				for _, e := range r.events(s) {
					switch p := e.Payload.(type) {
					case event.Message:
						if p.Text != "half" || p.Finish != c.finish || !p.Aborted || p.Final {
							t.Errorf("the message is %+v", p)
						}
					case event.Reasoning:
						if p.Text != "hm" {
							t.Errorf("the thought is %+v", p)
						}
					case event.Result:
						if (p.Status == event.ResultSucceeded) != (p.ExitCode != nil) || p.Text != "out" || p.Card.At != at {
							t.Errorf("the result is %+v, its card %+v", p, p.Card)
						}
					case event.Failure:
						kept = append(kept, p)
					case event.TurnEnd:
						end = p
					}
				}
				if end.Outcome != c.outcome || end.Source != "interval" || end.StartedAt != begun || end.Cause != "" ||
					len(end.Unexecuted) != 1 || end.Unexecuted[0].CallID != proposed {
					t.Errorf("the end is %+v", end)
				}
				if c.failure == nil && (len(kept) > 0 || end.Reason != nil) {
					t.Errorf("a stopped turn failed: %+v", kept)
				}
				if c.failure != nil && (len(kept) != 1 || kept[0].Status != 503 || end.Reason == nil || end.Reason.String() != "down") {
					t.Errorf("it failed by %+v, %v", kept, end.Reason)
				}
				testkit.Check(t, r.st)
			})
		})
	}
}

// A turn that the end of the process cut off says so, in words that invite another try (kernel 9).
func TestACutOffTurnSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		r.open(s)
		r.stop()
		r = open(t, r.dir)
		if err := core.Recover(t.Context(), r.loop); err != nil {
			t.Fatal(err)
		}
		events := r.events(s)
		failure, _ := events[len(events)-2].Payload.(event.Failure)
		end, _ := events[len(events)-1].Payload.(event.TurnEnd)
		if failure.Code != "interrupted" || !failure.Retryable || end.Outcome != event.Errored || end.Cause != event.CauseInterrupted || end.Reason == nil {
			t.Errorf("it failed by %+v and ended with %+v", failure, end)
		}
	})
}

// An approved call is accepted in the same commit, one that is denied is not; an item belongs to its
// own turn.
func TestWhatAnAnswerMeansForTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s, turn, m := r.message()
		for _, approve := range []bool{true, false} {
			a := r.ask(turn).EventID
			rows := len(r.events(s))
			r.do(core.AnswerAction{Actor: owner, ActionID: a, Approve: approve, Hash: r.hash(a), May: true})
			want := []event.Kind{event.ActionResolved}
			if approve {
				want = append(want, event.ExecutionUpdated)
			}
			after := r.events(s)[rows:]
			if got := kinds(after); !slices.Equal(got, want) {
				t.Errorf("approved is %v: %v", approve, got)
			}
			if x, ok := after[len(after)-1].Payload.(event.Execution); ok && x.Status != "accepted" {
				t.Errorf("the execution is %+v", x)
			}
		}
		other := r.open(r.session())
		for _, cmd := range []core.Command{
			core.EndMessage{Turn: other, Message: event.Message{MessageID: m}}, core.EndReasoning{Turn: turn, ItemID: m}, core.EndMessage{Turn: turn, Message: event.Message{MessageID: turn}},
		} {
			if _, err := r.loop.Do(context.Background(), cmd); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%+v: %v", cmd, err)
			}
		}
	})
}
