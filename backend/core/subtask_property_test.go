package core_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/testkit"
)

// move is one thing that happens in a forest of sub-tasks; what it happens to is chosen by number.
type move struct {
	what string
	whom int
}

func moves(rt *rapid.T, name string) (all []move) {
	for range rapid.IntRange(1, 24).Draw(rt, name) {
		all = append(all, move{
			what: rapid.SampledFrom([]string{
				"send", "spawn", "spawn", "spawn", "spawn", "tell", "reply", "reply", "reply", "silent", "fail", "stop", "abort", "stopall", "drop", "delete",
				"use", "ask", "answer", "background", "end", "endstopped", "look", "join", "archive", "rewind",
			}).Draw(rt, "what"),
			whom: rapid.IntRange(0, 1000).Draw(rt, "whom"),
		})
	}
	return all
}

// TestAnyForest: whatever becomes of sub-tasks, by themselves, by whoever stops them, or by the end of
// the process, no cap is exceeded, every one ends once and is told of once, and what its ancestors count
// is what the log says.
func TestAnyForest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		caps := core.TaskCaps{
			Depth: rapid.IntRange(0, 4).Draw(rt, "depth"), Running: rapid.IntRange(1, 5).Draw(rt, "running"),
			Total: rapid.IntRange(1, 12).Draw(rt, "total"), Tokens: rapid.Int64Range(50, 2000).Draw(rt, "tokens"),
		}
		lives := [][]move{moves(rt, "first life"), moves(rt, "second life"), moves(rt, "third life")}
		dir := t.TempDir()
		if said := testkit.Try(t, func(t testing.TB) {
			for n, life := range lives {
				f := grow(t, dir, caps)
				f.check("at start")
				for i, m := range life {
					f.move(m)
					if i%3 == 0 || i == len(life)-1 { // it reads all of the log
						f.check(fmt.Sprintf("life %d, move %d: %s", n, i, m.what))
					}
				}
				sameAsCounted(t, f.rig)
				f.stop() // in the middle of whatever goes on
			}
			f := grow(t, dir, caps)
			defer f.stop()
			testkit.Check(t, f.st)
			sameAsRebuilt(t, f.rig)
			sameAsCounted(t, f.rig)
		}); len(said) > 0 {
			rt.Fatal(strings.Join(said, "\n"))
		}
	})
}

// forest is a rig with caps and two roots.
type forest struct {
	*rig
	caps core.TaskCaps
}

func grow(t testing.TB, dir string, caps core.TaskCaps) *forest {
	r := open(t, dir, func(_ *store.Options, o *core.Options) {
		o.Caps = func(core.SettingRows, store.Session) (core.TaskCaps, error) { return caps, nil }
	})
	if err := core.Recover(context.Background(), r.loop); err != nil {
		t.Fatal(err)
	}
	f := &forest{rig: r, caps: caps}
	roots := 0
	f.read(func(tx *store.ReadTx) error {
		all, err := tx.AllSessions()
		roots = len(all)
		return err
	})
	for ; roots < 2; roots++ {
		f.session()
	}
	return f
}

func (f *forest) try(cmd core.Command) {
	_, err := f.loop.Do(context.Background(), cmd)
	if err != nil && fault.Of(err).Code == fault.Internal && !strings.Contains(err.Error(), "turn") && !strings.Contains(err.Error(), "fit the session") {
		f.t.Errorf("%T: %v", cmd, err)
	}
}

func at[T any](from []T, n int) (one T, ok bool) {
	if len(from) == 0 {
		return one, false
	}
	return from[n%len(from)], true
}

func (f *forest) move(m move) {
	var sessions []store.Session
	var turns []store.Turn
	var asked []store.Action
	var tasks []store.Task
	f.read(func(tx *store.ReadTx) (err error) {
		all, err := tx.AllSessions()
		for _, s := range all {
			if s.DeletedAt == 0 {
				sessions = append(sessions, s)
			}
		}
		if err == nil {
			turns, err = tx.RunningTurns()
		}
		if err == nil {
			asked, err = tx.PendingActions(0)
		}
		if err == nil {
			tasks, err = tx.RunningTasks(0)
		}
		return err
	})
	s, some := at(sessions, m.whom)
	if !some {
		return
	}
	var parent store.Session
	for _, p := range sessions {
		if p.SID == s.ParentSID {
			parent = p
		}
	}
	switch m.what {
	case "send":
		f.try(core.SendInput{Actor: owner, Session: s.ID, Input: say("go")})
	case "stopall":
		f.try(core.StopDescendants{Actor: owner, Session: s.ID})
	case "abort":
		f.try(core.AbortTurn{Actor: owner, Session: s.ID})
	case "archive":
		f.try(core.ArchiveSession{Actor: owner, Session: s.ID, Back: m.whom%2 == 0})
	case "drop":
		f.try(core.DropSubtask{Session: parent.ID, Subtask: s.ID})
	case "stop":
		f.try(core.StopSubtask{Session: parent.ID, Subtask: s.ID})
	case "look":
		f.try(core.LookAtSubtasks{Session: s.ID})
	case "delete":
		if s.ParentSID != 0 {
			f.try(core.DeleteSession{Actor: owner, Session: s.ID})
		}
	case "answer":
		if a, ok := at(asked, m.whom); ok {
			f.try(core.ExpireAction{ActionID: a.ID})
		}
	case "end", "endstopped":
		if task, ok := at(tasks, m.whom); ok {
			status := map[string]string{"end": event.TaskCompleted, "endstopped": event.TaskStopped}[m.what]
			f.try(core.EndTask{TaskID: task.ID, End: ended(status)})
		}
	default:
		if t, ok := at(turns, m.whom); ok {
			f.turn(m, t, sessions)
		}
	}
}

func (f *forest) turn(m move, t store.Turn, sessions []store.Session) {
	if t.CancelSeq != 0 { // as the reactor does
		f.try(core.StopTurn{Turn: t.ID})
		return
	}
	switch m.what {
	case "spawn":
		f.try(core.SpawnSubtask{Turn: t.ID, CallID: f.call(t.ID), Task: "look"})
	case "tell":
		for _, s := range sessions {
			if s.ParentSID == t.SID {
				f.try(core.TellSubtask{Turn: t.ID, Subtask: s.ID, Text: "more"})
			}
		}
	case "reply":
		m := f.do(core.StartMessage{Turn: t.ID, Step: 1})
		f.try(core.EndMessage{Turn: t.ID, Message: event.Message{MessageID: m.ItemID, Text: "words"}, Last: true})
	case "silent":
		f.try(core.EndSilent{Turn: t.ID})
	case "fail":
		f.try(core.StopTurn{Turn: t.ID, Failure: &event.Failure{Code: "server"}})
	case "use":
		f.try(core.RecordModelCall{Turn: t.ID, Call: event.ModelCall{Step: 1, Prompt: 10 + m.whom%90, Completion: 3, Window: 1000}})
	case "ask":
		f.try(core.RequestAction{Turn: t.ID, CallID: f.call(t.ID), Tool: "run_command", Facts: []byte(`{"params":{}}`)})
	case "background":
		f.try(core.MoveTool{Turn: t.ID, TaskID: event.NewID(), Result: event.Result{CallID: f.call(t.ID), Text: "It goes on."}})
	case "join":
		f.try(core.JoinInputs{Turn: t.ID})
	}
}

// check holds the forest to what must be true after every move.
func (f *forest) check(when string) {
	f.t.Helper()
	f.read(func(tx *store.ReadTx) error {
		all, err := tx.AllSessions()
		if err != nil {
			return err
		}
		notices := map[string]string{} // turn told of → sub-task
		for _, s := range all {
			if s.DeletedAt != 0 {
				continue
			}
			if err := f.capsHold(tx, when, s); err != nil {
				return err
			}
			events, err := tx.Between(s.SID, -1, 1<<32-1)
			if err != nil {
				return err
			}
			for _, e := range events {
				if n, ok := e.Payload.(event.Notice); ok && n.Topic == event.TopicSubtask {
					if notices[n.NoticeID] != "" {
						f.t.Errorf("%s: turn %s is told of twice", when, n.NoticeID)
					}
					notices[n.NoticeID] = n.Facts["subtaskId"].(string)
				}
			}
		}
		for _, s := range all {
			if s.DeletedAt != 0 || s.Origin != "task" {
				continue
			}
			row, err := tx.Subtask(s.SID)
			if err != nil {
				return err
			}
			f.toldOnce(when, row, notices)
		}
		return nil
	})
}

// toldOnce: the turn that a sub-task at rest ended with is told of, unless it was stopped.
func (f *forest) toldOnce(when string, row store.Subtask, notices map[string]string) {
	f.t.Helper()
	state := core.SubtaskOf(row).State
	told := notices[row.Last.ID]
	switch {
	case !row.AtRest() && row.Head.RunningTurn != "" && told != "":
		f.t.Errorf("%s: a turn that runs is told of as ended", when)
	case row.AtRest() && state != core.SubtaskStopped && told != row.Session.ID:
		f.t.Errorf("%s: %s has ended (%s) and nobody was told", when, row.Session.ID, state)
	case state == core.SubtaskStopped && told != "":
		f.t.Errorf("%s: what was stopped is told of", when)
	}
}

// capsHold counts a tree anew.
func (f *forest) capsHold(tx *store.ReadTx, when string, root store.Session) error {
	f.t.Helper()
	if root.ParentSID != 0 {
		return nil
	}
	tree, err := tx.Subtree(root.SID)
	if err != nil {
		return err
	}
	running := 0
	for _, s := range tree[1:] {
		up, err := tx.Ancestors(s)
		if err != nil {
			return err
		}
		if len(up) > f.caps.Depth {
			f.t.Errorf("%s: a sub-task is %d deep", when, len(up))
		}
		turn, _, err := tx.LastTurn(s.SID)
		if err != nil {
			return err
		}
		// Those that a person or a notice woke are not what she asked for; they count, and are not refused.
		if turn.Status == "running" && turn.Source == event.TopicSubtask {
			trigger, _, err := tx.Event(turn.Trigger)
			if err != nil {
				return err
			}
			if _, said := trigger.Payload.(event.Input); said {
				running++
			}
		}
	}
	if len(tree)-1 > f.caps.Total {
		f.t.Errorf("%s: there are %d sub-tasks", when, len(tree)-1)
	}
	if running > f.caps.Running {
		f.t.Errorf("%s: %d sub-tasks work", when, running)
	}
	return nil
}
