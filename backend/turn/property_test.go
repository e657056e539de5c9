package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/provider/scripted"
	"aalis/backend/store"
)

// line draws one line of a model's block.
func line(rt *rapid.T) string {
	return rapid.SampledFrom([]string{
		"text \"words \"", "text more", "reasoning hm", "wait 7ms", "wait 60ms", "wait 400ms", "usage 20 4",
		"tool echo {\"words\":\"a\"}", "tool ask {\"words\":\"b\"}", "tool ask {\"words\":\"c\"}", "tool rest {\"words\":\"d\"}",
		"tool boom {\"words\":\"e\"}", "tool nope {}", "tool echo broken", "tool late {\"words\":\"f\"}", "tool exit {\"words\":\"g\"}",
	}).Draw(rt, "line")
}

// plot draws what the model does in all its calls.
func plot(rt *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(1, 25).Draw(rt, "calls") {
		b.WriteString("call\n")
		usage := false
		for range rapid.IntRange(0, 6).Draw(rt, "lines") {
			l := line(rt)
			if strings.HasPrefix(l, "usage") {
				if usage {
					continue
				}
				usage = true
			}
			b.WriteString(l + "\n")
		}
		b.WriteString(rapid.SampledFrom([]string{"", "", "", "", "hang", "error server retryable", "error auth", "finish length"}).Draw(rt, "ending") + "\n")
	}
	return b.String()
}

// deed is one thing a client does, after a pause.
type deed struct {
	what    string
	session int
	after   time.Duration
}

func deeds(rt *rapid.T) (all []deed) {
	for range rapid.IntRange(3, 40).Draw(rt, "deeds") {
		all = append(all, deed{
			what: rapid.SampledFrom([]string{
				"send", "send", "send", "send", "send", "abort", "abort", "approve", "approve", "deny", "expire", "leave", "archive", "unarchive",
				"rename", "continue", "rewind", "delete",
			}).Draw(rt, "what"),
			session: rapid.IntRange(0, 3).Draw(rt, "session"),
			after: rapid.SampledFrom([]time.Duration{
				0, 0, time.Microsecond, 3 * time.Millisecond, 7 * time.Millisecond, 30 * time.Millisecond, 67 * time.Millisecond, 500 * time.Millisecond, 3 * time.Second,
			}).Draw(rt, "after"),
		})
	}
	return all
}

// TestAnything: whatever model, owner and clock do, every turn ends, the log keeps its invariants,
// no input is lost, and the rows are what the log makes of them; after a restart in the middle too.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		script, before, after := plot(rt), deeds(rt), deeds(rt)
		var wrong []string
		dir := t.TempDir()
		for _, part := range [][]deed{before, after} {
			synctest.Test(t, func(t *testing.T) {
				r := open(t, setup{dir: dir, script: script, limit: 3})
				defer r.stop()
				for len(r.sessions()) < 4 {
					c := core.CreateSession{Actor: owner}
					if all := r.sessions(); len(all) == 3 {
						c.Parent = all[0]
					}
					r.do(c)
				}
				for _, d := range part {
					time.Sleep(d.after)
					if err := r.act(d); err != nil {
						wrong = append(wrong, fmt.Sprintf("%+v: %v", d, err))
					}
				}
				r.stopReactor() // in the middle of whatever runs
				wrong = append(wrong, r.breaches()...)
				if t.Failed() {
					wrong = append(wrong, "see above")
				}
			})
		}
		// The last start: what was left in queues runs to its end by itself.
		synctest.Test(t, func(t *testing.T) {
			r := open(t, setup{dir: dir, script: strings.Repeat("call\ntext fine\n", 60)})
			defer r.stop()
			r.idle()
			for _, s := range r.sessions() {
				if waiting := r.waiting(s); len(waiting) > 0 {
					wrong = append(wrong, fmt.Sprintf("inputs %v of %s still wait", waiting, s))
				}
			}
			wrong = append(wrong, r.breaches()...)
			if t.Failed() {
				wrong = append(wrong, "see above")
			}
		})
		if len(wrong) > 0 {
			rt.Fatal(strings.Join(wrong, "\n"))
		}
	})
}

// act does one deed. A refusal is no error.
func (r *rig) act(d deed) error {
	s := r.sessions()[d.session]
	cmd := r.command(d.what, s)
	if cmd == nil {
		return nil
	}
	_, err := r.loop.Do(context.Background(), cmd)
	if f := fault.Of(err); err != nil && f.Code == fault.Internal {
		return err
	}
	return nil
}

func (r *rig) command(what, s string) core.Command {
	var asked []store.Action
	var last store.Turn
	r.read(func(tx *store.ReadTx) (err error) {
		if asked, err = tx.PendingActions(0); err != nil {
			return err
		}
		session, err := tx.SessionOrTomb(s)
		if err != nil {
			return err
		}
		last, _, err = tx.LastTurn(session.SID)
		return err
	})
	switch what {
	case "send":
		return core.SendInput{Actor: owner, Session: s, Input: say("go on")}
	case "abort":
		return core.AbortTurn{Actor: owner, Session: s}
	case "archive", "unarchive":
		return core.ArchiveSession{Actor: owner, Session: s, Back: what == "unarchive"}
	case "rename":
		return core.RenameSession{Actor: owner, Session: s, Title: "other"}
	case "continue":
		return core.ContinueTurn{Actor: owner, Session: s}
	case "rewind":
		return core.RewindTurn{Actor: owner, Session: s, Turn: last.ID}
	case "delete":
		return core.DeleteSession{Actor: owner, Session: s}
	}
	if len(asked) == 0 {
		return nil
	}
	a := asked[0]
	switch what {
	case "approve", "deny":
		return core.AnswerAction{Actor: owner, ActionID: a.ID, Approve: what == "approve", Hash: a.Hash, May: true, By: event.Answerer{Platform: "webui", Owner: true}}
	default:
		return core.ExpireAction{ActionID: a.ID, Absent: what == "leave"}
	}
}

// waiting lists what waits in a session, deleted ones included.
func (r *rig) waiting(s string) (words []string) {
	r.read(func(tx *store.ReadTx) error {
		session, err := tx.SessionOrTomb(s)
		if err != nil {
			return err
		}
		all, err := tx.PendingInputs(session.SID)
		for _, in := range all {
			words = append(words, in.EventID)
		}
		return err
	})
	return words
}

// breaches holds everything to what must be true when no reactor runs.
func (r *rig) breaches() (wrong []string) {
	if n := r.reactor.Running(); n != 0 {
		wrong = append(wrong, fmt.Sprintf("%d turns are under way", n))
	}
	if running := r.runningTurns(); len(running) > 0 {
		wrong = append(wrong, fmt.Sprintf("turns %v still run", running))
	}
	r.check()
	for _, s := range r.sessions() {
		wrong = append(wrong, r.lost(s)...)
	}
	ran, stopped := 0, 0
	for _, what := range r.tools.Ran() {
		ran += strings.Count(what, "rest ")
		stopped += strings.Count(what, "stopped ")
	}
	if ran != stopped {
		wrong = append(wrong, fmt.Sprintf("%d tools of %d were not stopped", ran-stopped, ran))
	}
	return append(wrong, r.rebuilt()...)
}

// lost lists inputs that neither wait nor entered a turn nor were dropped.
func (r *rig) lost(s string) (wrong []string) {
	fate := map[string]string{}
	for _, e := range r.events(s) {
		switch p := e.Payload.(type) {
		case event.Input:
			fate[e.ID] = p.State
		case event.TurnStart:
			fate[p.Trigger] = "opened"
		case event.InputJoin:
			fate[p.InputID] = "joined"
		case event.InputDrop:
			fate[p.InputID] = "dropped"
		}
	}
	waiting := r.waiting(s)
	for id, state := range fate {
		if (state == event.InputPending) != slices.Contains(waiting, id) {
			wrong = append(wrong, fmt.Sprintf("input %s of %s is %s, the queue is %v", id, s, state, waiting))
		}
	}
	return wrong
}

// rebuilt compares the rows with what the log makes of them.
func (r *rig) rebuilt() (wrong []string) {
	settle() // the writer's connection is the loop's
	live, err := r.st.Projections()
	if err == nil {
		err = r.st.Rebuild(time.Now().UnixMilli())
	}
	if err != nil {
		return []string{err.Error()}
	}
	again, err := r.st.Projections()
	if err != nil {
		return []string{err.Error()}
	}
	for table := range live {
		if a, b := strings.Join(live[table], "\n"), strings.Join(again[table], "\n"); a != b {
			wrong = append(wrong, fmt.Sprintf("%s differs\n   live %s\nrebuilt %s", table, a, b))
		}
	}
	return wrong
}

// TestPlots: what the property draws are scripts.
func TestPlots(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		if _, err := scripted.Parse(plot(rt)); err != nil {
			rt.Fatal(err)
		}
	})
}
