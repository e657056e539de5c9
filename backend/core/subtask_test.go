package core_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// spawn has a running turn make a sub-task.
func (r *rig) spawn(turn, task string) core.Receipt {
	r.t.Helper()
	return r.do(core.SpawnSubtask{Turn: turn, CallID: r.call(turn), Task: task})
}

// refused gives the key of the fault that a command is refused with.
func (r *rig) refused(cmd core.Command) string {
	r.t.Helper()
	_, err := r.loop.Do(context.Background(), cmd)
	if err == nil {
		r.t.Fatalf("%T was not refused", cmd)
	}
	return string(fault.Of(err).Message.Key)
}

// reply ends a turn with words.
func (r *rig) reply(turn, words string) {
	r.t.Helper()
	m := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
	r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: m, Text: words}, Last: true})
}

func (r *rig) begin(session string) (turn string) {
	r.t.Helper()
	return r.do(core.SendInput{Actor: owner, Session: session, Input: say("go")}).TurnID
}

// told lists what a session was told of the ends of sub-tasks: status and state of the notice.
func (r *rig) told(session string) (all []string) {
	r.t.Helper()
	for _, n := range payloads[event.Notice](r, session) {
		if n.Topic == event.TopicSubtask {
			all = append(all, n.Facts["status"].(string)+" "+n.State)
		}
	}
	return all
}

func (r *rig) look(session string, ids ...string) []core.Subtask {
	r.t.Helper()
	return r.do(core.LookAtSubtasks{Session: session, IDs: ids}).Subtasks
}

func equal[T comparable](t testing.TB, what string, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestSubtasks(t *testing.T) {
	bubbled(t, "SP-SUM-05 SP-TREE-05 one she makes works at once, below her, in her place, and says whose word it is", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.begin(s)
		call := r.call(turn)
		made := r.do(core.SpawnSubtask{Turn: turn, CallID: call, Task: "Count the files.\nAll of them.", Settings: []store.Setting{{Plugin: "aalis", Key: "model", Value: json.RawMessage(`"a/b"`)}}})
		r.read(func(tx *store.ReadTx) error {
			child, err := tx.Session(made.SessionID)
			if err != nil {
				return err
			}
			parent, _ := tx.Session(s)
			if child.Kind != "task" || child.Origin != "task" || child.ParentSID != parent.SID || child.Place != parent.Place || child.Harness != parent.Harness || child.Name != "Count the files." {
				t.Errorf("%+v", child)
			}
			row, err := tx.Subtask(child.SID)
			if err != nil {
				return err
			}
			called, _, err := tx.Event(row.Cause)
			if c, ok := called.Payload.(event.Call); !ok || c.CallID != call {
				t.Errorf("made by %+v", called)
			}
			set, _ := tx.SessionSettings(child.SID)
			if len(set) != 1 || string(set[0].Value) != `"a/b"` {
				t.Errorf("%+v", set)
			}
			return err
		})
		in := payloads[event.Input](r, made.SessionID)
		if len(in) != 1 || in[0].FromTurn != turn || in[0].Speaker.UserID != "parent:"+s || in[0].Speaker.Source != "subtask" || in[0].Speaker.Owner {
			t.Errorf("%+v", in)
		}
		if h := r.head(s); h.SubBusy != 1 || h.Children != 1 {
			t.Errorf("%+v", h)
		}
		if got := r.look(s); len(got) != 1 || got[0].State != core.SubtaskRunning || got[0].ID != made.SessionID {
			t.Errorf("%+v", got)
		}
	})
	bubbled(t, "an end nobody waits for opens a turn of hers, once, with the reply", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.begin(s)
		made := r.spawn(turn, "look")
		r.do(core.EndSilent{Turn: turn})
		time.Sleep(3 * time.Second)
		r.reply(made.TurnID, "forty-two")
		equal(t, "told", r.told(s), "completed opened")
		n := payloads[event.Notice](r, s)[0]
		if !strings.HasSuffix(n.Body, "its reply:\nforty-two") || n.Facts["subtaskId"] != made.SessionID || n.Facts["durationMs"] != 3000.0 {
			t.Errorf("%+v", n)
		}
		starts := payloads[event.TurnStart](r, s)
		if last := starts[len(starts)-1]; last.Source != "subtask" || last.Platform != "webui" {
			t.Errorf("%+v", last)
		}
		// Nothing that happens later tells it again.
		r.do(core.RenameSession{Actor: owner, Session: made.SessionID, Title: "x"})
		r.do(core.ArchiveSession{Actor: owner, Session: made.SessionID})
		r.do(core.StopTurn{Turn: starts[len(starts)-1].TurnID})
		equal(t, "told", r.told(s), "completed opened")
		if got := r.look(s, made.SessionID); got[0].State != core.SubtaskCompleted || got[0].Reply != "forty-two" {
			t.Errorf("%+v", got)
		}
	})
	bubbled(t, "while her turn runs the word waits in the queue, and whoever looks takes it out", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.begin(s)
		a, b := r.spawn(turn, "a"), r.spawn(turn, "b")
		r.reply(a.TurnID, "A")
		r.reply(b.TurnID, "B")
		equal(t, "told", r.told(s), "completed pending", "completed pending")
		if got := r.look(s, a.SessionID); len(got) != 1 || got[0].Reply != "A" {
			t.Errorf("%+v", got)
		}
		joined := r.do(core.JoinInputs{Turn: turn}).Inputs
		if len(joined) != 1 || joined[0].Notice.Facts["subtaskId"] != b.SessionID {
			t.Errorf("%+v", joined)
		}
	})
	bubbled(t, "it has not ended while something of its own goes on", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.begin(s)
		made := r.spawn(turn, "look")
		below := r.spawn(made.TurnID, "deeper")
		task := r.moved(made.TurnID)
		r.reply(made.TurnID, "it goes on")
		equal(t, "told", r.told(s))
		r.do(core.StopTurn{Turn: below.TurnID, Failure: &event.Failure{Code: "server", Message: text.Plain("no luck")}})
		equal(t, "its own", r.told(made.SessionID), "failed opened")
		next := payloads[event.TurnStart](r, made.SessionID)
		r.do(core.EndSilent{Turn: next[len(next)-1].TurnID})
		equal(t, "told", r.told(s))
		r.do(core.EndTask{TaskID: task, End: ended(event.TaskCompleted)})
		next = payloads[event.TurnStart](r, made.SessionID)
		r.reply(next[len(next)-1].TurnID, "all of it")
		equal(t, "told", r.told(s), "completed pending")
	})
	bubbled(t, "it has ended when the last that went on below it is deleted, or what waited in its queue is taken out", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.begin(s)
		a, b := r.spawn(turn, "a"), r.spawn(turn, "b")
		below, other := r.spawn(a.TurnID, "deeper"), r.spawn(b.TurnID, "deeper")
		task := r.moved(b.TurnID)
		for _, one := range []core.Receipt{a, b} {
			r.do(core.EndSilent{Turn: one.TurnID})
		}
		r.do(core.DeleteSession{Actor: owner, Session: below.SessionID})
		equal(t, "told", r.told(s), "completed pending")
		r.do(core.StopTurn{Turn: other.TurnID})
		equal(t, "told", r.told(s), "completed pending")
		r.do(core.EndTask{TaskID: task, End: ended(event.TaskFailed), Hold: true})
		equal(t, "told", r.told(s), "completed pending")
		for _, n := range r.events(b.SessionID) {
			if notice, ok := n.Payload.(event.Notice); ok && notice.State == event.InputPending {
				r.do(core.RemoveInput{Actor: owner, Session: b.SessionID, InputID: n.ID})
			}
		}
		equal(t, "told", r.told(s), "completed pending", "completed pending")
	})
	bubbled(t, "what was stopped is not told; one that is said more to works and ends again", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.begin(s)
		made := r.spawn(turn, "look")
		r.do(core.StopSubtask{Session: s, Subtask: made.SessionID})
		r.do(core.StopTurn{Turn: made.TurnID})
		equal(t, "told", r.told(s))
		if got := r.look(s); got[0].State != core.SubtaskStopped {
			t.Errorf("%+v", got)
		}
		again := r.do(core.TellSubtask{Turn: turn, Subtask: made.SessionID, Text: "more"})
		r.reply(again.TurnID, "there")
		equal(t, "told", r.told(s), "completed pending")
	})
	bubbled(t, "a wait in the background holds the word back, so that one turn comes of both", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.begin(s)
		made := r.spawn(turn, "look")
		call := r.do(core.ProposeTool{Turn: turn, Tool: event.WaitSubtasks, Step: 1}).ItemID
		r.do(core.CallTool{Turn: turn, CallID: call, Tool: event.WaitSubtasks, Args: json.RawMessage(`{"subtask_ids":["` + made.SessionID + `"]}`), Effect: "read", Step: 1})
		r.do(core.MoveTool{Turn: turn, TaskID: "wait", Result: event.Result{CallID: call, Text: "It goes on."}})
		r.do(core.EndSilent{Turn: turn})
		r.reply(made.TurnID, "there")
		equal(t, "told", r.told(s), "completed pending")
		if h := r.head(s); h.RunningTurn != "" {
			t.Error("a turn was opened")
		}
		r.look(s, made.SessionID)
		r.do(core.EndTask{TaskID: "wait", End: ended(event.TaskCompleted), Result: "there"})
		if starts := payloads[event.TurnStart](r, s); len(starts) != 2 || starts[1].Source != event.TopicBackground {
			t.Errorf("%+v", starts)
		}
	})
	bubbled(t, "only she who made one reaches it", func(t *testing.T, r *rig) {
		s, other := r.session(), r.session()
		turn, theirs := r.begin(s), r.begin(other)
		made := r.spawn(turn, "look")
		byHand := r.do(core.CreateSession{Actor: owner, Parent: s}).SessionID
		below := r.spawn(made.TurnID, "deeper")
		for _, cmd := range []core.Command{
			core.TellSubtask{Turn: theirs, Subtask: made.SessionID, Text: "x"},
			core.TellSubtask{Turn: turn, Subtask: byHand, Text: "x"},
			core.TellSubtask{Turn: turn, Subtask: below.SessionID, Text: "x"},
			core.LookAtSubtasks{Session: other, IDs: []string{made.SessionID}},
			core.StopSubtask{Session: other, Subtask: made.SessionID},
			core.DropSubtask{Session: s, Subtask: byHand},
			core.DropSubtask{Session: s, Subtask: "none"},
		} {
			if key := r.refused(cmd); key != "subtask.not-found" {
				t.Errorf("%T: %s", cmd, key)
			}
		}
	})
	bubbled(t, "SP-SESS-13 she deletes one with all below it, but none in which the owner has written", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.begin(s)
		a, b := r.spawn(turn, "a"), r.spawn(turn, "b")
		below := r.spawn(a.TurnID, "deeper")
		r.do(core.SendInput{Actor: owner, Session: below.SessionID, Input: say("and this")})
		if key := r.refused(core.DropSubtask{Session: s, Subtask: a.SessionID}); key != "subtask.owner-spoke" {
			t.Error(key)
		}
		r.do(core.DropSubtask{Session: s, Subtask: b.SessionID})
		r.do(core.DeleteSession{Actor: owner, Session: a.SessionID})
		if h := r.head(s); h.Children != 0 || h.SubBusy != 0 {
			t.Errorf("%+v", h)
		}
		equal(t, "told", r.told(s))
	})
	bubbled(t, "SP-APPR-04 what a sub-task asks is by hand when a person asked for it, with that person, and names the way down", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.begin(s)
		a := r.do(core.SpawnSubtask{Turn: turn, CallID: r.call(turn), Task: "a", Name: "A"})
		b := r.do(core.SpawnSubtask{Turn: a.TurnID, CallID: r.call(a.TurnID), Task: "b", Name: "B"})
		ask := func(turn string) event.Action {
			r.do(core.RequestAction{Turn: turn, CallID: r.call(turn), Tool: "run_command", Facts: json.RawMessage(`{"params":{}}`)})
			all := payloads[event.Action](r, r.sessionOf(turn))
			return all[len(all)-1]
		}
		got := ask(b.TurnID)
		if got.Origin.Kind != "hand" || len(got.Origin.Participants) != 1 || got.Origin.Participants[0].UserID != "console" {
			t.Errorf("%+v", got.Origin)
		}
		if len(got.Chain) != 2 || got.Chain[0].Title != "A" || got.Chain[1].Title != "B" {
			t.Errorf("%+v", got.Chain)
		}
		alone := r.do(core.SendInput{Actor: event.System(), Session: r.session(), Input: event.Input{Text: "tick", Speaker: event.Speaker{Source: "schedule"}}, Source: "schedule"}).TurnID
		if got := ask(r.spawn(alone, "c").TurnID); got.Origin.Kind != "autonomous" || len(got.Origin.Participants) != 0 {
			t.Errorf("%+v", got.Origin)
		}
		if got := r.look(s); got[0].State != core.SubtaskAsking {
			t.Errorf("%+v", got)
		}
	})
}

func (r *rig) sessionOf(turn string) (session string) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		t, err := tx.Turn(turn)
		session = t.Session
		return err
	})
	return session
}

func capped(t *testing.T, name string, caps core.TaskCaps, test func(t *testing.T, r *rig)) {
	t.Helper()
	bubbled(t, name, test, func(_ *store.Options, o *core.Options) {
		o.Caps = func(core.SettingRows, store.Session) (core.TaskCaps, error) { return caps, nil }
	})
}

func TestSubtaskCaps(t *testing.T) {
	wide := core.TaskCaps{Depth: 9, Running: 9, Total: 9, Tokens: 1000}
	with := func(change func(c *core.TaskCaps)) core.TaskCaps { c := wide; change(&c); return c }
	again := func(r *rig, turn string) core.Command {
		return core.SpawnSubtask{Turn: turn, CallID: r.call(turn), Task: "more"}
	}
	capped(t, "depth", with(func(c *core.TaskCaps) { c.Depth = 2 }), func(t *testing.T, r *rig) {
		first := r.spawn(r.begin(r.session()), "a")
		second := r.spawn(first.TurnID, "b")
		if key := r.refused(again(r, second.TurnID)); key != "subtask.cap-depth" {
			t.Error(key)
		}
	})
	capped(t, "how many there are, until one is deleted", with(func(c *core.TaskCaps) { c.Total = 2 }), func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.begin(s)
		a := r.spawn(turn, "a")
		b := r.spawn(a.TurnID, "b")
		r.reply(b.TurnID, "done") // it still counts
		if key := r.refused(again(r, turn)); key != "subtask.cap-total" {
			t.Error(key)
		}
		r.do(core.DropSubtask{Session: a.SessionID, Subtask: b.SessionID})
		r.do(again(r, turn))
	})
	capped(t, "how many work at once, until one has ended", with(func(c *core.TaskCaps) { c.Running = 2 }), func(t *testing.T, r *rig) {
		turn := r.begin(r.session())
		a, b := r.spawn(turn, "a"), r.spawn(turn, "b")
		if key := r.refused(again(r, a.TurnID)); key != "subtask.cap-running" {
			t.Error(key)
		}
		r.do(core.TellSubtask{Turn: turn, Subtask: a.SessionID, Text: "to one that works"})
		r.reply(b.TurnID, "done")
		c := r.do(again(r, turn))
		if key := r.refused(core.TellSubtask{Turn: turn, Subtask: b.SessionID, Text: "to one that does not"}); key != "subtask.cap-running" {
			t.Error(key)
		}
		r.do(core.StopTurn{Turn: c.TurnID})
		r.do(core.TellSubtask{Turn: turn, Subtask: b.SessionID, Text: "now"})
	})
	capped(t, "what she says to one that the owner has woken, because it may have to open a turn of its own", with(func(c *core.TaskCaps) { c.Running = 1 }), func(t *testing.T, r *rig) {
		turn := r.begin(r.session())
		a := r.spawn(turn, "a")
		r.reply(a.TurnID, "done")
		b := r.spawn(turn, "b")
		r.do(core.SendInput{Actor: owner, Session: a.SessionID, Input: say("and this?")})
		if key := r.refused(core.TellSubtask{Turn: turn, Subtask: a.SessionID, Text: "more"}); key != "subtask.cap-running" {
			t.Error(key)
		}
		r.do(core.TellSubtask{Turn: turn, Subtask: b.SessionID, Text: "to one that works for her"})
		r.do(core.AbortTurn{Actor: owner, Session: b.SessionID})
		if key := r.refused(core.TellSubtask{Turn: turn, Subtask: b.SessionID, Text: "to one that is being stopped"}); key != "subtask.cap-running" {
			t.Error(key)
		}
	})
	capped(t, "tokens, those of deleted ones too; the owner's own words go through", wide, func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.begin(s)
		a, b := r.spawn(turn, "a"), r.spawn(turn, "b")
		use := func(turn string, n int) {
			r.do(core.RecordModelCall{Turn: turn, Call: event.ModelCall{Step: 1, Prompt: n, Window: 1000}})
		}
		use(turn, 5000) // her own do not count
		use(b.TurnID, 999)
		r.do(core.DropSubtask{Session: s, Subtask: b.SessionID})
		if r.do(core.JoinInputs{Turn: a.TurnID}).Spent {
			t.Error("999 of 1000 are not all")
		}
		use(a.TurnID, 1)
		if !r.do(core.JoinInputs{Turn: a.TurnID}).Spent || r.do(core.JoinInputs{Turn: turn}).Spent {
			t.Error("the sub-task goes on, or the root may not")
		}
		if key := r.refused(again(r, turn)); key != "subtask.cap-tokens" {
			t.Error(key)
		}
		if key := r.refused(core.TellSubtask{Turn: turn, Subtask: a.SessionID, Text: "x"}); key != "subtask.cap-tokens" {
			t.Error(key)
		}
		r.do(core.StopTurn{Turn: a.TurnID})
		if r.do(core.JoinInputs{Turn: r.begin(a.SessionID)}).Spent {
			t.Error("the owner may not speak in it")
		}
	})
}
