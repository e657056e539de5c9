package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	words "aalis/backend/text"
)

// long is a message of some 500 tokens that begins with its name. The rig's window holds 4096; the line
// is at 70 % of it, and a quarter of it stays.
func long(name string) string { return name + " " + strings.Repeat("word ", 400) }

// replies scripts n answers.
func replies(n int) string { return strings.Repeat("call\ntext fine\n", n) }

// talk says n long things, one turn each.
func (r *rig) talk(session string, from, n int) {
	r.t.Helper()
	for i := range n {
		r.send(session, long(fmt.Sprintf("message-%d", from+i)))
		r.idle()
	}
}

// compressions follows the notices of compressions: their states, in order.
func (r *rig) compressions() func() []string {
	cursor := r.loop.Cursor()
	return func() (states []string) {
		r.loop.Note(core.Note{Kind: "end"})
		for {
			entries, err := cursor.Next(context.Background())
			if err != nil {
				r.t.Fatal(err)
			}
			for _, e := range entries {
				if e.Note == nil {
					continue
				}
				switch note := e.Note.Data.(type) {
				case core.CompressNote:
					if note.Notice.Topic != "compress" || note.Done == (note.Notice.Facts["status"] == "start") {
						r.t.Errorf("%+v", note)
					}
					states = append(states, fmt.Sprint(note.Notice.Facts["status"])+": "+note.Notice.Text.In(words.English))
				case nil:
					return states
				}
			}
		}
	}
}

func TestAConversationIsShortenedByItself(t *testing.T) {
	bubble(t, setup{script: replies(4) + "call\ntext WHAT WENT BEFORE\nusage 3000 40\ncall\ntext done\n" + replies(1)}, func(r *rig) {
		s := r.session()
		states := r.compressions()
		r.talk(s, 1, 5)
		told := strings.Join(r.toldInCall(5), "\n")
		t.Run("FAIL-F4 the turn goes on behind the summary", func(t *testing.T) {
			same(t, "outcomes", r.outcomes(s), slicesOf(event.Replied, 5)...)
			if !strings.Contains(told, "WHAT WENT BEFORE") || !strings.Contains(told, "message-5") || strings.Contains(told, "message-3") {
				t.Errorf("%.300s", told)
			}
		})
		t.Run("what is shortened is read whole by who shortens it", func(t *testing.T) {
			if read := strings.Join(r.toldInCall(4), "\n"); !strings.Contains(read, "console: message-1 word") || !strings.Contains(read, "Assistant: fine") || strings.Contains(read, "message-5") {
				t.Errorf("%.300s", read)
			}
		})
		t.Run("FAIL-F6 all of it stays in the log, and both sizes are told", func(t *testing.T) {
			all := payloads[event.Input](r, s)
			c := payloads[event.Compacted](r, s)
			if len(all) != 5 || len(c) != 1 || !c[0].Automatic || c[0].Model != "test/m" || c[0].Prompt != 3000 || c[0].Completion != 40 {
				t.Fatalf("%d messages, %+v", len(all), c)
			}
			if c[0].TokensBefore < 2867 || c[0].TokensAfter > 1700 || c[0].Usage.Prompt != c[0].TokensAfter || c[0].Usage.CompressAt != 0.7 {
				t.Errorf("%d -> %d, %+v", c[0].TokensBefore, c[0].TokensAfter, c[0].Usage)
			}
			got := states()
			if len(got) != 2 || !strings.HasPrefix(got[0], "start: ") || !strings.Contains(got[1], fmt.Sprintf("%d tokens became %d", c[0].TokensBefore, c[0].TokensAfter)) {
				t.Errorf("%q", got)
			}
		})
		t.Run("what it cost is counted", func(t *testing.T) {
			r.read(func(tx *store.ReadTx) error {
				session, err := tx.Session(s)
				if err != nil {
					return err
				}
				h, err := tx.Head(session.SID)
				sum := int64(3000)
				for _, c := range payloads[event.ModelCall](r, s) {
					sum += int64(c.Prompt)
				}
				if h.TokensIn != sum {
					t.Errorf("%d tokens, want %d", h.TokensIn, sum)
				}
				return err
			})
		})
		t.Run("the next turn reads the summary, too", func(t *testing.T) {
			r.send(s, "and now")
			r.idle()
			if told := strings.Join(r.toldInCall(6), "\n"); !strings.Contains(told, "WHAT WENT BEFORE") || strings.Contains(told, "message-3") {
				t.Errorf("%.300s", told)
			}
		})
	})
}

func slicesOf(word string, n int) (all []string) {
	for range n {
		all = append(all, word)
	}
	return all
}

// What a server counted is believed more than an estimate: Chinese has more tokens than characters/4.
func TestWhatTheServerCountsDecides(t *testing.T) {
	bubble(t, setup{script: replies(2) + "call\ntext fine\nusage 3000 10\ncall\ntext SHORT\n" + replies(1)}, func(r *rig) {
		s := r.session()
		r.talk(s, 1, 3)
		r.send(s, "more")
		r.idle()
		if c := payloads[event.Compacted](r, s); len(c) != 1 {
			t.Errorf("%+v", c)
		}
	})
}

func TestAStepIsNotTornFromItsResults(t *testing.T) {
	script := "call\ntool echo {\"words\":" + fmt.Sprintf("%q", long("first")) + "}\ncall\ntool echo {\"words\":" + fmt.Sprintf("%q", long("second")) + "}\ncall\ntool echo {\"words\":" +
		fmt.Sprintf("%q", long("third")) + "}\ncall\ntext SHORT\ncall\ntext done\n"
	bubble(t, setup{script: script}, func(r *rig) {
		s := r.session()
		r.send(s, "please work on the harbour")
		r.idle()
		same(t, "outcomes", r.outcomes(s), event.Replied)
		told := r.toldInCall(4)
		if len(told) != 3 || !strings.Contains(told[0], "SHORT") || !strings.Contains(told[1], "-> echo") || !strings.HasPrefix(told[2], "tool third") && !strings.HasPrefix(told[2], "tool echo") {
			t.Errorf("%.400q", told)
		}
		if !strings.Contains(told[0], "word for word:\nplease work on the harbour") {
			t.Errorf("the request is lost: %.600s", told[0])
		}
	})
}

func TestWhatASummaryKeeps(t *testing.T) {
	broken := "call\ntool fail {\"words\":\"the bridge is out\"}\ncall\ntext fine\n"
	bubble(t, setup{script: broken + replies(4) + "call\ntext SHORT\n" + replies(12)}, func(r *rig) {
		s := r.session()
		turnID := r.send(s, "begin")
		r.idle()
		r.do(core.SetPlan{Actor: owner, Session: s, Entries: []event.PlanEntry{{ID: 1, Title: "paint the boat", Status: "in-progress"}}})
		r.do(core.RecordFiles{
			Checkpoint: store.Checkpoint{ID: turnID, Turn: turnID, Root: "/r"},
			Files:      []store.FileChange{{Path: "boat/colour.txt", Before: store.Image{Kind: store.ImageAbsent}, After: store.Image{Kind: store.ImageFile, Hash: "h"}}},
		})
		r.talk(s, 1, 5)
		c := payloads[event.Compacted](r, s)
		if len(c) != 1 {
			t.Fatalf("%+v", c)
		}
		t.Run("FAIL-F3 plan, failed attempts and changed files are told in the summary", func(t *testing.T) {
			told := strings.Join(r.toldInCall(len(r.model.Requests())-1), "\n")
			for _, want := range []string{"SHORT", "[in-progress] paint the boat", "boat/colour.txt", "fail", "the bridge is out"} {
				if !strings.Contains(told, want) {
					t.Errorf("%q is missing in %.900s", want, told)
				}
			}
		})
		t.Run("the next summary carries on what the one before kept", func(t *testing.T) {
			r.talk(s, 6, 6)
			all := payloads[event.Compacted](r, s)
			if len(all) < 2 {
				t.Fatalf("%d", len(all))
			}
			second := all[1]
			if !strings.Contains(second.Summary, "the bridge is out") || !strings.Contains(second.Summary, "boat/colour.txt") || second.Previous == 0 || second.Through <= c[0].Through {
				t.Errorf("%+v", second)
			}
		})
	})
	t.Run("FAIL-F3 what waits for approval is told in the summary", func(t *testing.T) {
		bubble(t, setup{script: replies(4) + "call\ntool ask {\"words\":\"sink the boat\"}\ncall\ntext SHORT\ncall\ntext done\n"}, func(r *rig) {
			s := r.session()
			r.talk(s, 1, 4)
			r.send(s, "go on")
			r.pending()
			if err := r.reactor.Compress(context.Background(), s); err != nil {
				t.Fatal(err)
			}
			if c := payloads[event.Compacted](r, s); len(c) != 1 || c[0].Automatic || !strings.Contains(c[0].Summary, "Waiting for the owner's approval:\n- ask") {
				t.Errorf("%+v", c)
			}
			r.answer(true, "")
			r.idle()
			if told := strings.Join(r.toldInCall(6), "\n"); !strings.Contains(told, "SHORT") || !strings.Contains(told, "-> ask") {
				t.Errorf("a turn that runs goes on behind the summary a person wanted: %.300s", told)
			}
		})
	})
}

func TestNoEndlessCompression(t *testing.T) {
	persona := map[string]json.RawMessage{"persona": json.RawMessage(`"` + strings.Repeat("who she is ", 1400) + `"`)}
	t.Run("FAIL-F1 instructions beyond the line do not make her shorten again and again", func(t *testing.T) {
		bubble(t, setup{set: persona, script: replies(6)}, func(r *rig) {
			s := r.session()
			for range 6 {
				r.send(s, "a word")
				r.idle()
			}
			same(t, "outcomes", r.outcomes(s), slicesOf(event.Replied, 6)...)
			if n := len(r.model.Requests()); n != 6 {
				t.Errorf("%d model calls for six turns", n)
			}
		})
	})
	t.Run("FAIL-F1 a model that refuses it still stops the turn after one attempt", func(t *testing.T) {
		bubble(t, setup{script: replies(3) + "call\nerror overflow status=400 too long\ncall\ntext SHORT\ncall\nerror overflow status=400 too long\n" + replies(2)}, func(r *rig) {
			s := r.session()
			r.talk(s, 1, 4)
			f := payloads[event.Failure](r, s)
			if len(f) != 1 || f[0].Code != "overflow" || f[0].Message.Key != "turn.overflow-still" || len(payloads[event.Compacted](r, s)) != 1 || len(r.model.Requests()) != 6 {
				t.Errorf("%d calls, %+v", len(r.model.Requests()), f)
			}
		})
	})
	t.Run("a refusal for its length is repaired without a person", func(t *testing.T) {
		bubble(t, setup{script: replies(3) + "call\nerror overflow status=400 too long\ncall\ntext SHORT\n" + replies(1)}, func(r *rig) {
			s := r.session()
			r.talk(s, 1, 4)
			same(t, "outcomes", r.outcomes(s), slicesOf(event.Replied, 4)...)
		})
	})
	t.Run("FAIL-F2 off means off, and the error says what a person can do", func(t *testing.T) {
		off := map[string]json.RawMessage{"compressAt": json.RawMessage("0")}
		bubble(t, setup{set: off, script: replies(6) + "call\nerror overflow status=400 too long\n" + replies(1)}, func(r *rig) {
			s := r.session()
			r.talk(s, 1, 7)
			f := payloads[event.Failure](r, s)
			if len(f) != 1 || !strings.Contains(f[0].Message.In(words.English), "/compress") || len(r.model.Requests()) != 7 || len(payloads[event.Compacted](r, s)) != 0 {
				t.Errorf("%d calls, %+v", len(r.model.Requests()), f)
			}
		})
	})
	t.Run("a summary that fails stops no turn", func(t *testing.T) {
		bubble(t, setup{script: replies(4) + "call\nerror auth status=401 no key\n" + replies(1)}, func(r *rig) {
			s := r.session()
			states := r.compressions()
			r.talk(s, 1, 5)
			same(t, "outcomes", r.outcomes(s), slicesOf(event.Replied, 5)...)
			if got := states(); len(got) != 2 || got[1] != "error: The conversation was not shortened: no key" {
				t.Errorf("%q", got)
			}
		})
	})
}

func TestCompressingByHand(t *testing.T) {
	t.Run("with nothing to do it says so and changes nothing", func(t *testing.T) {
		bubble(t, setup{script: replies(1)}, func(r *rig) {
			s := r.session()
			states := r.compressions()
			r.send(s, "hi")
			r.idle()
			if err := r.reactor.Compress(context.Background(), s); err != nil {
				t.Fatal(err)
			}
			if got := states(); len(got) != 1 || got[0] != "done: There is nothing to shorten yet." || len(payloads[event.Compacted](r, s)) != 0 {
				t.Errorf("%q", got)
			}
			if err := r.reactor.Compress(context.Background(), "nobody"); !fault.Is(err, fault.NotFound) {
				t.Error(err)
			}
		})
	})
	t.Run("SP-COMP-06 SP-COMP-07 a second one is refused at once and disturbs nothing", func(t *testing.T) {
		bubble(t, setup{script: replies(4) + "call\ngate go\ntext SHORT\n"}, func(r *rig) {
			s := r.session()
			states := r.compressions()
			r.talk(s, 1, 4)
			first := r.compressing(s)
			if err := r.reactor.Compress(context.Background(), s); !fault.Is(err, fault.Internal) || fault.Of(err).Message.Key != "compress.busy" {
				t.Error(err)
			}
			r.model.Open("go")
			if err := <-first; err != nil {
				t.Error(err)
			}
			if got := states(); len(got) != 2 || !strings.HasPrefix(got[0], "start") || !strings.HasPrefix(got[1], "done") {
				t.Errorf("%q", got)
			}
		})
	})
	for name, tc := range map[string]struct {
		script string
		want   string
	}{
		"a model that fails": {"call\nerror auth status=401 no key\n", "The conversation was not shortened: no key"},
		"one without words":  {"call\ntext \" \"\n", "The conversation was not shortened: m wrote no summary."},
	} {
		t.Run("SP-COMP-04 SP-COMP-05 "+name, func(t *testing.T) {
			bubble(t, setup{script: replies(4) + tc.script + replies(1)}, func(r *rig) {
				s := r.session()
				states := r.compressions()
				r.talk(s, 1, 4)
				err := r.reactor.Compress(context.Background(), s)
				if !fault.Is(err, fault.Internal) || fault.Of(err).Message.In(words.English) != tc.want {
					t.Error(err)
				}
				if got := states(); len(got) != 2 || got[1] != "error: "+tc.want || len(payloads[event.Compacted](r, s)) != 0 {
					t.Errorf("%q", got)
				}
				r.send(s, "go on")
				r.idle()
				if told := strings.Join(r.toldInCall(5), "\n"); !strings.Contains(told, "message-1") {
					t.Errorf("%.200s", told)
				}
			})
		})
	}
	for name, change := range map[string]func(r *rig, s string){
		"cleared": func(r *rig, s string) { r.do(core.ClearHistory{Actor: owner, Session: s}) },
		"rewound": func(r *rig, s string) {
			r.do(core.RewindTurn{Actor: owner, Session: s, Turn: payloads[event.TurnStart](r, s)[0].TurnID, UndoID: event.NewID()})
		},
		"deleted": func(r *rig, s string) { r.do(core.DeleteSession{Actor: owner, Session: s}) },
	} {
		t.Run("FAIL-F7 SP-COMP-04 a conversation that is "+name+" meanwhile is left alone", func(t *testing.T) {
			bubble(t, setup{script: replies(4) + "call\ngate go\ntext SHORT\n"}, func(r *rig) {
				s := r.session()
				states := r.compressions()
				r.talk(s, 1, 4)
				first := r.compressing(s)
				change(r, s)
				r.model.Open("go")
				if err := <-first; !fault.Is(err, fault.Internal) || !strings.Contains(fault.Of(err).Message.In(words.English), "changed meanwhile") {
					t.Error(err)
				}
				if got := states(); len(got) != 2 || !strings.HasPrefix(got[1], "error: The conversation was not shortened: ") {
					t.Errorf("%q", got)
				}
				if name != "deleted" && len(payloads[event.Compacted](r, s)) != 0 {
					t.Error("half of it is there")
				}
			})
		})
	}
	t.Run("what is said meanwhile stands behind it", func(t *testing.T) {
		bubble(t, setup{script: replies(4) + "call\ngate go\ntext SHORT\n" + replies(2)}, func(r *rig) {
			s := r.session()
			r.talk(s, 1, 4)
			first := r.compressing(s)
			r.send(s, "meanwhile")
			r.idle()
			r.model.Open("go")
			if err := <-first; err != nil {
				t.Fatal(err)
			}
			r.send(s, "after")
			r.idle()
			if told := strings.Join(r.toldInCall(6), "\n"); !strings.Contains(told, "SHORT") || !strings.Contains(told, "meanwhile") || strings.Contains(told, "message-1") {
				t.Errorf("%.300s", told)
			}
		})
	})
}

// compressing begins a compression and returns when its model is asked.
func (r *rig) compressing(session string) <-chan error {
	r.t.Helper()
	done := make(chan error, 1)
	before := len(r.model.Requests())
	go func() { done <- r.reactor.Compress(context.Background(), session) }()
	r.until("the summary's call", func() bool { return len(r.model.Requests()) > before })
	return done
}

// A summary that tells of a turn which was undone since would bring it back.
func TestASummaryAndARewind(t *testing.T) {
	bubble(t, setup{script: replies(4) + "call\ntext SHORT\n" + replies(3)}, func(r *rig) {
		s := r.session()
		r.talk(s, 1, 4)
		if err := r.reactor.Compress(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		turns := payloads[event.TurnStart](r, s)
		told := func(call int) string {
			r.send(s, "next")
			r.idle()
			return strings.Join(r.toldInCall(call), "\n")
		}
		r.do(core.RewindTurn{Actor: owner, Session: s, Turn: turns[3].TurnID, UndoID: event.NewID()})
		if got := told(5); !strings.Contains(got, "SHORT") {
			t.Errorf("a turn behind the summary leaves it standing: %.200s", got)
		}
		undo := event.NewID()
		r.do(core.RecordFiles{Checkpoint: store.Checkpoint{ID: undo, Turn: turns[0].TurnID, Root: "/r"}})
		r.do(core.RewindTurn{Actor: owner, Session: s, Turn: turns[0].TurnID, UndoID: undo, Files: &event.Restored{Turn: turns[0].TurnID, UndoID: undo}})
		if got := told(6); strings.Contains(got, "SHORT") || strings.Contains(got, "message-1") || !strings.Contains(got, "message-2") {
			t.Errorf("the rest is read word for word: %.200s", got)
		}
		r.do(core.UndoRewind{Actor: owner, Session: s, UndoID: undo, Files: event.Restored{Turn: turns[0].TurnID, UndoID: undo}})
		if got := told(7); !strings.Contains(got, "SHORT") {
			t.Errorf("the summary is right again: %.200s", got)
		}
	})
}

// An engine that shortens nothing says so, and its turns run as ever.
func TestAnEngineThatCannotShorten(t *testing.T) {
	bubble(t, setup{engines: engines("other", nil)}, func(r *rig) {
		s := r.do(core.CreateSession{Actor: owner, Harness: "other"}).SessionID
		if err := r.reactor.Compress(context.Background(), s); !fault.Is(err, fault.Unsupported) {
			t.Error(err)
		}
	})
}

func TestAStoppedCompression(t *testing.T) {
	bubble(t, setup{script: replies(4) + "call\nhang\n"}, func(r *rig) {
		s := r.session()
		states := r.compressions()
		r.talk(s, 1, 4)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := r.reactor.Compress(ctx, s); !fault.Is(err, fault.Internal) {
			t.Error(err)
		}
		if got := states(); len(got) != 2 || !strings.HasPrefix(got[1], "error") {
			t.Errorf("%q", got)
		}
		if err := r.reactor.Compress(ctx, s); err == nil || fault.Of(err).Message.Key == "compress.busy" {
			t.Error("it is still taken to be under way")
		}
	})
}

func TestWhatAClearedConversationLeaves(t *testing.T) {
	bubble(t, setup{script: replies(1)}, func(r *rig) {
		s := r.session()
		r.send(s, "hi")
		r.idle()
		r.do(core.SetPlan{Actor: owner, Session: s, Entries: []event.PlanEntry{{ID: 1, Title: "paint", Status: "not-started"}}})
		r.do(core.ClearHistory{Actor: owner, Session: s})
		r.do(core.ClearHistory{Actor: owner, Session: s})
		r.read(func(tx *store.ReadTx) error {
			session, err := tx.Session(s)
			if err != nil {
				return err
			}
			h, err := tx.Head(session.SID)
			if err != nil {
				return err
			}
			plan, err := tx.Plan(session.SID)
			if h.UsageSeq != 0 || len(plan.Entries) != 0 || len(payloads[event.Cleared](r, s)) != 1 {
				t.Errorf("usage at %d, plan %+v, cleared %d times", h.UsageSeq, plan, len(payloads[event.Cleared](r, s)))
			}
			return err
		})
	})
}

// Nothing but one compression at a time may write a summary; a stale one is refused all the same.
func TestAStaleSummaryIsRefused(t *testing.T) {
	bubble(t, setup{script: replies(1)}, func(r *rig) {
		s := r.session()
		r.send(s, "hi")
		r.idle()
		one := core.CompactHistory{Session: s, Summary: event.Compacted{Through: 2, Summary: "one"}}
		r.do(one)
		if _, err := r.loop.Do(context.Background(), one); !fault.Is(err, fault.Internal) {
			t.Error(err)
		}
		if n := len(payloads[event.Compacted](r, s)); n != 1 {
			t.Errorf("%d summaries", n)
		}
	})
}
