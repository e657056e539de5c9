package turn_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
)

func TestToolCalls(t *testing.T) {
	bubble(t, setup{script: "call\ntool echo\nargs \"{\\\"words\\\":\"\nwait 1s\nargs \"\\\"a\\\"}\"\ntool echo {}\ntool exit {\"words\":\"b\"}\ntool late {\"words\":\"c\"}\ncall\ntext done"}, func(r *rig) {
		s := r.session()
		r.send(s, "hi")
		settle()
		t.Run("SP-TOOL-05 the card is there while the arguments are written", func(t *testing.T) {
			p := payloads[event.Proposal](r, s)
			if len(p) != 1 || p[0].Tool != "echo" || p[0].Step != 1 || len(payloads[event.Call](r, s)) != 0 {
				t.Errorf("%+v", p)
			}
		})
		r.idle()
		proposals, calls, results := payloads[event.Proposal](r, s), payloads[event.Call](r, s), payloads[event.Result](r, s)
		if len(proposals) != 4 || len(calls) != 4 || len(results) != 4 {
			t.Fatalf("%d proposals, %d calls, %d results", len(proposals), len(calls), len(results))
		}
		t.Run("SP-TOOL-01 SP-TOOL-06 one id from proposal to result", func(t *testing.T) {
			for i := range calls {
				if proposals[i].CallID != calls[i].CallID || calls[i].CallID != results[i].CallID {
					t.Errorf("%q, %q, %q", proposals[i].CallID, calls[i].CallID, results[i].CallID)
				}
			}
			if string(calls[0].Args) != `{"words":"a"}` {
				t.Errorf("%s", calls[0].Args)
			}
		})
		t.Run("SP-TOOL-07 SP-TOOL-08 SP-TOOL-15 how calls end", func(t *testing.T) {
			var ends []string
			for _, res := range results {
				ends = append(ends, res.Status+" "+res.ErrorKind)
			}
			same(t, "ends", ends, "succeeded ", "failed invalid", "failed internal", "timed_out unknown")
			if results[0].Text != "echo a" || !results[1].NotExecuted || results[2].ExitCode == nil || *results[2].ExitCode != 2 || !results[2].Truncated {
				t.Errorf("%+v", results)
			}
		})
		t.Run("the output is streamed into the log", func(t *testing.T) {
			if out := r.output(s, calls[0].CallID); out != "a" {
				t.Errorf("%q", out)
			}
		})
	})
}

// output is the streamed text of an item.
func (r *rig) output(session, item string) string {
	r.t.Helper()
	var b strings.Builder
	start := int64(-1)
	for _, row := range r.rows(session) {
		if row.Event != nil {
			if c, ok := row.Event.Payload.(event.Call); ok && c.CallID == item || row.Event.ID == item {
				start = row.Seq
			}
		} else if row.Start == start {
			b.WriteString(row.Text)
		}
	}
	return b.String()
}

const askScript = "call\ntool ask {\"words\":\"a\"}\ntool echo {\"words\":\"b\"}\ncall\ntext done"

func TestApprovals(t *testing.T) {
	for name, tc := range map[string]struct {
		admit   string
		act     func(r *rig, s string)
		status  string
		kind    string
		says    string
		settled string
		took    time.Duration
	}{
		"approved": {
			act: func(r *rig, _ string) { time.Sleep(time.Minute); r.answer(true, "") }, status: "succeeded", says: "did a", settled: "approved answer", took: time.Minute,
		},
		"SP-TOOL-20 denied, with the owner's words": {
			act: func(r *rig, _ string) { r.answer(false, "not today") }, status: "denied", kind: "rejected", says: "not today", settled: "denied answer",
		},
		"SP-TOOL-19 SP-TOOL-20 SP-REFR-12 absent, settled at launch": {
			admit: "absent", act: func(*rig, string) {}, status: "denied", kind: "rejected", says: "nobody", settled: "denied absent",
		},
		"ineligible": {
			admit: "ineligible", act: func(*rig, string) {}, status: "denied", kind: "rejected", says: "may not be asked", settled: "denied ineligible",
		},
		"timeout": {
			act: func(r *rig, _ string) {
				time.Sleep(300 * time.Second)
				r.do(core.ExpireAction{ActionID: r.pending().ID})
			},
			status: "denied", kind: "expired", says: "in time", settled: "expired timeout", took: 300 * time.Second,
		},
		"everybody left": {
			act:    func(r *rig, _ string) { r.do(core.ExpireAction{ActionID: r.pending().ID, Absent: true}) },
			status: "denied", kind: "rejected", says: "nobody", settled: "denied absent",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, setup{script: askScript, core: core.Options{Admission: admission(tc.admit)}}, func(r *rig) {
				s := r.session()
				r.send(s, "hi")
				tc.act(r, s)
				r.idle()
				res := payloads[event.Result](r, s)
				if len(res) != 2 || res[0].Status != tc.status || res[0].ErrorKind != tc.kind || !strings.Contains(res[0].Text, tc.says) {
					t.Fatalf("%+v", res)
				}
				if res[0].NotExecuted == (tc.status == "succeeded") || slices.Contains(r.tools.Ran(), "ask a") != (tc.status == "succeeded") {
					t.Errorf("%+v, ran %v", res[0], r.tools.Ran())
				}
				if took := time.Duration(res[0].DurationMS) * time.Millisecond; took < tc.took || took > tc.took+time.Second {
					t.Errorf("E4: the wait counts: %v", took)
				}
				card := res[0].Card
				if card.Approval == "" || card.Settlement == nil || card.Settlement.State+" "+card.Settlement.Source != tc.settled {
					t.Errorf("%+v", card.Settlement)
				}
				if res[1].Status != "succeeded" {
					t.Errorf("the next call: %+v", res[1])
				}
				same(t, "outcomes", r.outcomes(s), event.Replied)
			})
		})
	}
	t.Run("SP-TOOL-21 stopping the turn cancels the question and denies the call", func(t *testing.T) {
		bubble(t, setup{script: askScript}, func(r *rig) {
			s := r.session()
			id := r.send(s, "hi")
			r.pending()
			r.do(core.AbortTurn{Actor: owner, Session: s, Turn: id})
			settle()
			res := payloads[event.Result](r, s)
			if len(res) != 1 || res[0].Status != "denied" || !res[0].NotExecuted || res[0].Card.Settlement.Source != event.SourceTurnEnded {
				t.Errorf("%+v", res)
			}
			same(t, "ran", r.tools.Ran())
			same(t, "outcomes", r.outcomes(s), event.Aborted)
		})
	})
	t.Run("FAIL-B2 a question nobody got to see: stopping works, a restart settles it", func(t *testing.T) {
		dir := t.TempDir()
		var s string
		bubble(t, setup{dir: dir, script: "call when=hi\ntool ask {\"words\":\"a\"}\ncall when=again\ntool ask {\"words\":\"a\"}"}, func(r *rig) {
			s = r.session()
			r.send(s, "hi")
			r.pending()
			r.do(core.AbortTurn{Actor: owner, Session: s})
			r.idle()
			r.send(s, "again")
			r.pending() // and nobody ever answers
		})
		bubble(t, setup{dir: dir}, func(r *rig) {
			r.idle()
			same(t, "pending", r.runningTurns())
			var settled []string
			for _, res := range payloads[event.Resolution](r, s) {
				settled = append(settled, res.State+" "+res.Source)
			}
			same(t, "settled", settled, "cancelled turn-ended", "cancelled shutdown")
		})
	})
}

func TestToolLimit(t *testing.T) {
	const round = "call\ntool echo {\"words\":\"a\"}\n"
	t.Run("SP-NOTICE-08 SP-TURN-10 at the limit the turn can be continued", func(t *testing.T) {
		bubble(t, setup{limit: 2, script: round + round + "call\ntext Shall I go on?\ntool echo {\"words\":\"b\"}\n" + round + "call\ntext done"}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			r.idle()
			notices, ends := payloads[event.Notice](r, s), payloads[event.TurnEnd](r, s)
			if len(notices) != 1 || notices[0].Topic != "tool-limit" || !notices[0].CanContinue || !strings.Contains(notices[0].Text.String(), "2") {
				t.Errorf("%+v", notices)
			}
			if len(ends) != 1 || ends[0].Outcome != event.Replied || !ends[0].Limit || len(ends[0].Unexecuted) != 1 {
				t.Errorf("%+v", ends)
			}
			r.do(core.ContinueTurn{Actor: owner, Session: s})
			r.idle()
			same(t, "outcomes", r.outcomes(s), event.Replied, event.Replied)
			if ends := payloads[event.TurnEnd](r, s); ends[1].Limit {
				t.Errorf("%+v", ends[1])
			}
			told := r.toldInCall(3)
			if last := told[len(told)-1]; !strings.Contains(last, "go on") || strings.Contains(strings.Join(told, "\n"), "which is the limit") {
				t.Errorf("%q", told)
			}
		})
	})
	t.Run("without words it ends silent", func(t *testing.T) {
		bubble(t, setup{limit: 1, script: round + round}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			r.idle()
			if ends := payloads[event.TurnEnd](r, s); len(ends) != 1 || ends[0].Outcome != event.Silent || !ends[0].Limit {
				t.Errorf("%+v", ends)
			}
		})
	})
	t.Run("an input that waits goes on instead, and what follows is no turn at its limit", func(t *testing.T) {
		bubble(t, setup{limit: 1, script: round + "call\ngate go\ntext More?\ntool echo {\"words\":\"b\"}\ncall when=yes\ntext done"}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			r.until("the second call", func() bool { return len(r.model.Requests()) == 2 })
			r.send(s, "yes")
			r.model.Open("go")
			r.idle()
			if ends := payloads[event.TurnEnd](r, s); len(ends) != 1 || ends[0].Outcome != event.Replied || ends[0].Limit {
				t.Errorf("%+v", ends)
			}
		})
	})
}

// SP-TOOL-03: the arguments of a card are JSON as the model wrote it.
func TestArgumentsAreKept(t *testing.T) {
	bubble(t, setup{script: "call\ntool echo {\"words\":\"<&>\", \"n\": 12345678901234567890}\ncall\ntext x"}, func(r *rig) {
		s := r.session()
		r.send(s, "hi")
		r.idle()
		calls := payloads[event.Call](r, s)
		var args struct{ N json.Number }
		if err := json.Unmarshal(calls[0].Args, &args); err != nil || args.N != "12345678901234567890" {
			t.Errorf("%s %v", calls[0].Args, err)
		}
	})
}
