package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
)

// kinds lists a session's log, but for accounting.
func (r *rig) kinds(session string) (all []event.Kind) {
	r.t.Helper()
	for _, e := range r.events(session) {
		if e.Kind != event.ModelCalled && e.Kind != event.ExecutionUpdated {
			all = append(all, e.Kind)
		}
	}
	return all
}

func TestATextTurn(t *testing.T) {
	bubble(t, setup{script: "call\nreasoning hm\ntext Hel\nwait 80ms\ntext lo\nusage 12 3"}, func(r *rig) {
		s := r.session()
		r.send(s, "hi")
		r.idle()
		same(t, "the log", r.kinds(s), event.SessionCreated, event.UserMessage, event.TurnStarted, event.ReasoningStarted, event.AgentReasoning,
			event.MessageStarted, event.AgentMessage, event.TurnEnded)
		m := payloads[event.Message](r, s)[0]
		if !m.Final || m.Text != "Hello" || m.Provider != "test" || m.Model != "m" || m.Finish != "stop" || m.Step != 1 {
			t.Errorf("%+v", m)
		}
		t.Run("SP-TURNI-02 the turn ends as replied", func(t *testing.T) { same(t, "outcomes", r.outcomes(s), event.Replied) })
		t.Run("SP-REAS-01 the thinking is streamed and stored", func(t *testing.T) {
			if got := payloads[event.Reasoning](r, s); len(got) != 1 || got[0].Text != "hm" {
				t.Errorf("%+v", got)
			}
		})
	})
}

func TestUsage(t *testing.T) {
	reply := strings.Repeat("four", 10)
	bubble(t, setup{script: "call\ntext " + reply, engines: engines("other", nil)}, func(r *rig) {
		s := r.session()
		r.send(s, "four")
		r.idle()
		t.Run("SP-SUB-07 a context is measured as the next call would send it", func(t *testing.T) {
			sent := payloads[event.ModelCall](r, s)[0]
			got, err := r.reactor.Usage(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			if got.Prompt != sent.Prompt+10 || !got.Estimated || got.Window != 4096 || got.Completion != 0 || len(got.Parts) != len(sent.Parts) {
				t.Errorf("got %+v after %+v", got, sent)
			}
		})
		if _, err := r.reactor.Usage(context.Background(), "nobody"); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		foreign := r.do(core.CreateSession{Actor: owner, Harness: "other"}).SessionID
		if _, err := r.reactor.Usage(context.Background(), foreign); !fault.Is(err, fault.Unsupported) {
			t.Error(err)
		}
	})
}

func TestTokens(t *testing.T) {
	bubble(t, setup{script: "call\ntext first\ntool echo {\"words\":\"a\"}\nusage 100 20\ncall\ntext second\nusage 150 7\ncall\ntext unknown"}, func(r *rig) {
		s := r.session()
		r.send(s, "hi")
		r.idle()
		r.send(s, "again")
		r.idle()
		m := payloads[event.Message](r, s)
		t.Run("SP-AMSG-02 SP-AMSG-03 the prompt of the last call, the completions of all", func(t *testing.T) {
			if len(m) != 3 || m[1].Prompt != 150 || m[1].Completion != 27 || m[1].Model != "m" || m[1].Provider != "test" {
				t.Errorf("%+v", m)
			}
			if m[2].Prompt != 0 || m[2].Completion != 0 {
				t.Errorf("not reported, and yet %+v", m[2])
			}
		})
		calls := payloads[event.ModelCall](r, s)
		if len(calls) != 3 || calls[0].Prompt != 100 || calls[1].Step != 2 || calls[1].Window != 4096 || !calls[2].Estimated || len(calls[0].Parts) != 3 {
			t.Errorf("%+v", calls)
		}
	})
}

// The model is told what was said, as it was said; and what was undone or cleared is not said.
func TestHistory(t *testing.T) {
	script := `
call
reasoning let me see
text I look
tool echo {"words":"a"}
call
text Found it
call
text Second
call
text Third
`
	bubble(t, setup{script: script}, func(r *rig) {
		s := r.session()
		first := r.send(s, "one")
		r.idle()
		second := r.send(s, "two")
		r.idle()
		r.do(core.AddNotice{Session: s, Notice: event.Notice{Topic: "background-task", Text: text("build finished")}})
		r.do(core.AddNotice{Session: s, Notice: event.Notice{Topic: "command-reply", Text: text("for people only")}})
		r.do(core.RewindTurn{Actor: owner, Session: s, Turn: second})
		in := say("three")
		in.Attachments = []event.Attachment{{Kind: "image", Name: "a.png", Type: "image/png", Size: 7}}
		r.do(core.SendInput{Actor: owner, Session: s, Input: in})
		r.idle()
		want := []string{
			"user one", "assistant I look (let me see) -> echo {\"words\":\"a\"}", "tool echo a", "assistant Found it", "user ⟦build finished⟧",
			"user three\n[attached image \"a.png\", image/png, 7 bytes; it is not here any more]",
		}
		if diff := cmp.Diff(want, r.toldInCall(3)); diff != "" {
			t.Error(diff)
		}
		_ = first
	})
}

// toldInCall renders the messages of the n-th model call.
func (r *rig) toldInCall(n int) (lines []string) {
	r.t.Helper()
	requests := r.model.Requests()
	if len(requests) <= n {
		r.t.Fatalf("only %d model calls", len(requests))
	}
	for _, m := range requests[n].Messages {
		line := string(m.Role) + " " + m.Text
		if m.Reasoning != "" {
			line += " (" + m.Reasoning + ")"
		}
		for _, c := range m.ToolCalls {
			line += fmt.Sprintf(" -> %s %s", c.Name, c.Args)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestFailures(t *testing.T) {
	t.Run("a failing provider ends the turn with its words", func(t *testing.T) {
		bubble(t, setup{script: "call\ntext par\nwait 1s\nerror server status=503 the server is busy\ncall\ntext fine"}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			settle()
			r.send(s, "and this")
			r.idle()
			f := payloads[event.Failure](r, s)
			if len(f) != 1 || f[0].Code != "server" || f[0].Status != 503 || f[0].Provider != "scripted" && f[0].Provider != "test" || f[0].Raw != "the server is busy" {
				t.Errorf("%+v", f)
			}
			ends := payloads[event.TurnEnd](r, s)
			if ends[0].Reason == nil || ends[0].Reason.String() != "the server is busy" {
				t.Errorf("%+v", ends[0])
			}
			m := payloads[event.Message](r, s)
			if !m[0].Aborted || m[0].Text != "par" || m[0].Finish != "error" {
				t.Errorf("E16: the last words of a failed turn are kept: %+v", m[0])
			}
			same(t, "the queue opens the next turn", r.outcomes(s), event.Errored, event.Replied)
		})
	})
	t.Run("SP-TOOL-12 SP-TOOL-13 a call that was proposed and not called ends with the turn", func(t *testing.T) {
		bubble(t, setup{script: "call\ntool echo {\"wor\nwait 1s\nerror server"}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			r.idle()
			ends := payloads[event.TurnEnd](r, s)
			if len(ends) != 1 || ends[0].Outcome != event.Errored || len(ends[0].Unexecuted) != 1 || ends[0].Unexecuted[0].Tool != "echo" || ends[0].Unexecuted[0].Step != 1 {
				t.Errorf("%+v", ends)
			}
			if got := payloads[event.Call](r, s); len(got) != 0 {
				t.Errorf("called: %+v", got)
			}
		})
	})
	t.Run("an engine that breaks costs its turn only", func(t *testing.T) {
		for name, e := range map[string]script{
			"error":                func(context.Context, hostOf) error { return fmt.Errorf("broken pipe") },
			"panic":                func(context.Context, hostOf) error { panic("boom") },
			"nil without an end":   func(context.Context, hostOf) error { return nil },
			"stopped by itself":    func(context.Context, hostOf) error { return errStopped },
			"text into no item":    func(_ context.Context, h hostOf) error { return h.Text("nothing", "x") },
			"open things":          leaveOpen,
			"a goroutine's end":    func(context.Context, hostOf) error { goexit(); return nil },
			"completes a stranger": func(ctx context.Context, h hostOf) error { return h.CompleteTool(ctx, result("nothing")) },
		} {
			t.Run(name, func(t *testing.T) {
				bubble(t, setup{script: "call\ntext fine", engines: engines("odd", e)}, func(r *rig) {
					odd := r.do(core.CreateSession{Actor: owner, Harness: "odd"}).SessionID
					s := r.session()
					r.send(odd, "hi")
					r.send(s, "hi")
					r.idle()
					f := payloads[event.Failure](r, odd)
					if len(f) != 1 || f[0].Code != "internal" || strings.Contains(f[0].Message.String(), "boom") {
						t.Errorf("%+v", f)
					}
					same(t, "outcomes", append(r.outcomes(odd), r.outcomes(s)...), event.Errored, event.Replied)
					if n := r.log.count("ERROR turn broke"); n != 1 {
						t.Errorf("logged %d times", n)
					}
					if name == "nil without an end" && r.log.count("before it had ended the turn") != 1 {
						t.Error("the log does not say what was wrong")
					}
				})
			})
		}
	})
	t.Run("a harness without an engine", func(t *testing.T) {
		bubble(t, setup{}, func(r *rig) {
			s := r.do(core.CreateSession{Actor: owner, Harness: "codex"}).SessionID
			r.send(s, "hi")
			r.idle()
			if f := payloads[event.Failure](r, s); len(f) != 1 || f[0].Code != "no_engine" || !strings.Contains(f[0].Message.String(), "codex") {
				t.Errorf("%+v", f)
			}
		})
	})
}

func TestTurnsRunSideBySide(t *testing.T) {
	bubble(t, setup{script: "call when=one\ngate one\ntext 1\ncall when=two\ntext 2"}, func(r *rig) {
		a, b := r.session(), r.session()
		r.send(a, "one")
		r.send(b, "two")
		r.until("the second is over", func() bool { return len(r.outcomes(b)) == 1 })
		if n := r.reactor.Running(); n != 1 {
			t.Errorf("%d running", n)
		}
		r.model.Open("one")
		r.idle()
		same(t, "outcomes", r.outcomes(a), event.Replied)
	})
}

// A turn belongs to the log, not to whoever asked for it.
func TestFAILA25ClientsThatCloseDoNotMatter(t *testing.T) {
	bubble(t, setup{script: "call\nwait 2s\ntext still here\ntool echo {\"words\":\"a\"}\ncall\nwait 2s\ntext done"}, func(r *rig) {
		s := r.session()
		client, closes := context.WithCancel(context.Background())
		cursor := r.loop.Cursor()
		if _, err := r.loop.Do(client, core.SendInput{Actor: owner, Session: s, Input: say("hi")}); err != nil {
			t.Fatal(err)
		}
		if _, err := cursor.Next(client); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		closes()
		r.idle()
		t.Run("FAIL-A25 FAIL-G10 the turn finishes and its result is stored", func(t *testing.T) {
			m := payloads[event.Message](r, s)
			if len(m) != 2 || m[1].Text != "done" || !m[1].Final {
				t.Errorf("%+v", m)
			}
		})
	})
}

// A reactor that starts late, or falls out of the ring, reads the rows and misses nothing.
func TestStartsLateAndFallsBehind(t *testing.T) {
	t.Run("turns that run already are taken up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, setup{lazy: true, script: "call\ntext one"})
			s, stopped := r.session(), r.session()
			r.send(s, "hi")
			r.send(stopped, "hi")
			r.do(core.AbortTurn{Actor: owner, Session: stopped})
			go func() { _ = r.reactor.Run(r.t.Context()) }()
			r.idle()
			same(t, "outcomes", append(r.outcomes(s), r.outcomes(stopped)...), event.Replied, event.Aborted)
			r.check()
			r.stop()
		})
	})
	t.Run("a ring of nothing", func(t *testing.T) {
		script := strings.Repeat("call when=go\ntext "+strings.Repeat("x", 600)+"\nwait 1ms\ntext y\ntool ask {\"words\":\"a\"}\ncall\ntext done\n", 10)
		bubble(t, setup{script: script, core: core.Options{RingBytes: 1}}, func(r *rig) {
			var all []string
			for range 10 {
				s := r.session()
				all = append(all, s)
				r.send(s, "go")
			}
			for range all {
				r.answer(true, "")
			}
			r.idle()
			for _, s := range all {
				same(t, "outcomes", r.outcomes(s), event.Replied)
			}
			// The stop and the settlement that comes with it are one commit: only its last entry is in
			// the ring.
			s := all[0]
			r.model.Add(asks...)
			r.send(s, "wait")
			r.pending()
			start := time.Now()
			r.do(core.AbortTurn{Actor: owner, Session: s})
			r.idle()
			if took := time.Since(start); took > 100*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			same(t, "outcomes", r.outcomes(s), event.Replied, event.Aborted)
			if n := r.log.count("ERROR"); n != 0 {
				t.Errorf("%d errors logged", n)
			}
		})
	})
}

func TestDeletedWhileItRuns(t *testing.T) {
	bubble(t, setup{script: "call\ntext a\nhang"}, func(r *rig) {
		s := r.session()
		r.send(s, "hi")
		r.until("it speaks", func() bool { return len(payloads[event.MessageStart](r, s)) == 1 })
		r.do(core.DeleteSession{Actor: owner, Session: s})
		r.until("the engine is gone", func() bool { return r.reactor.Running() == 0 })
		if n := r.log.count("ERROR"); n != 0 {
			t.Errorf("%d errors logged", n)
		}
		r.read(func(tx *store.ReadTx) error {
			_, err := tx.SessionOrTomb(s)
			return err
		})
	})
}
