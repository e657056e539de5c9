package turn_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/engine/native"
	"aalis/backend/event"
	"aalis/backend/provider"
	"aalis/backend/provider/demo"
	"aalis/backend/store"
	"aalis/backend/tool"
	"aalis/backend/tool/subtask"
	"aalis/backend/turn"
)

// desk is given once there is a loop.
type desk struct{ subtask.Desk }

type commandLine struct {
	Command string `json:"command" jsonschema_description:"quick, long or asks."`
}

// command stands for the tool of that name: it takes no time, or all of it, or asks first.
func command() tool.Definition {
	return tool.Define(tool.Definition{
		Name: "run_command", Description: "For tests.", Effect: tool.Write, Movable: true, Example: json.RawMessage(`{"command":"quick"}`),
	}, func(_ context.Context, _ tool.Call, p commandLine) (tool.Prepared, error) {
		do := func(ctx context.Context, _ tool.Output) (tool.Result, error) {
			if p.Command == "long" {
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}
			return tool.Result{Text: "did " + p.Command}, nil
		}
		return tool.Prepared{NeedsApproval: p.Command == "asks", Execute: do, Move: &tool.Move{Execute: do}}, nil
	})
}

// delegating is a setup in which the demo engine has tools for sub-tasks, as the program gives them.
func delegating(t testing.TB, dir string, tasks *shelf) setup {
	t.Helper()
	d := new(desk)
	registry := tool.NewRegistry(append(subtask.All(d), command())...)
	models, err := provider.NewSet(provider.Config{}, map[string]provider.Kind{provider.DemoType: demo.Kind()})
	if err != nil {
		t.Fatal(err)
	}
	return setup{
		dir:     dir,
		engines: map[string]engine.Engine{"aalis": native.New(native.Config{Models: models, Tools: registry})},
		background: func(loop *core.Loop) func(context.Context, turn.Work) (engine.ToolResult, error) {
			work := tasks.over(loop)
			d.Desk = subtask.Over(subtask.Options{Loop: loop, StopTasks: tasks.StopAll})
			return work
		},
	}
}

func delegate(t *testing.T, name string, fn func(t *testing.T, r *rig, s *shelf)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tasks := new(shelf)
			r := open(t, delegating(t, t.TempDir(), tasks))
			defer r.stop()
			fn(t, r, tasks)
			if err := tasks.stop(); err != nil {
				t.Error(err)
			}
			r.check()
			if t.Failed() {
				r.dump()
			}
		})
	})
}

// below lists the sessions directly below one, the oldest first.
func (r *rig) below(session string) (ids []string) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		s, err := tx.Session(session)
		if err != nil {
			return err
		}
		all, err := tx.ChildSessions(s.SID)
		for _, c := range all {
			ids = append(ids, c.ID)
		}
		return err
	})
	return ids
}

// results gives what the calls of a tool in a session returned.
func (r *rig) results(session, name string) (all []string) {
	r.t.Helper()
	for _, p := range payloads[event.Result](r, session) {
		if p.Card.Tool == name {
			all = append(all, p.Text)
		}
	}
	return all
}

func (r *rig) notices(session string) (all []event.Notice) {
	r.t.Helper()
	for _, n := range payloads[event.Notice](r, session) {
		if n.Topic == event.TopicSubtask {
			all = append(all, n)
		}
	}
	return all
}

func (r *rig) head(session string) (h store.Head) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		s, err := tx.Session(session)
		if err == nil {
			h, err = tx.Head(s.SID)
		}
		return err
	})
	return h
}

func TestSubtasks(t *testing.T) {
	delegate(t, "it works by itself, its last words are the result, and she is told in a turn of her own", func(t *testing.T, r *rig, _ *shelf) {
		s := r.session()
		r.send(s, "subtask: slow: 20; run: quick")
		r.until("she was told", func() bool { return len(r.outcomes(s)) == 2 })
		child := r.below(s)[0]
		same(t, "its turns", r.outcomes(child), event.Replied)
		if got := r.results(child, "run_command"); len(got) != 1 || got[0] != "did quick" {
			t.Errorf("%q", got)
		}
		notices := r.notices(s)
		if len(notices) != 1 || !strings.Contains(notices[0].Body, "did quick") || !strings.Contains(notices[0].Body, "Done: that was everything") {
			t.Errorf("%+v", notices)
		}
		var made struct{ SubtaskID, Name, Status, Message string }
		if err := json.Unmarshal([]byte(r.results(s, "create_subtask")[0]), &made); err != nil || made.SubtaskID != child || made.Name != "slow: 20" || made.Status != "running" || made.Message == "" {
			t.Errorf("%+v, %v", made, err)
		}
		words := payloads[event.Message](r, s)
		if last := words[len(words)-1].Text; !strings.Contains(last, "did quick") {
			t.Errorf("what she was told is not what the model read: %q", last)
		}
	})
	delegate(t, "a wait gives what has ended, and nothing tells it again; the turn takes as long as the slowest", func(t *testing.T, r *rig, _ *shelf) {
		s := r.session()
		start := time.Now()
		r.send(s, "subtask: slow: 20\nsubtask: slow: 60\nwait: 25")
		r.idle()
		if took := time.Since(start); took < 6*time.Second || took > 12*time.Second {
			t.Errorf("it took %v", took)
		}
		same(t, "turns", r.outcomes(s), event.Replied)
		got := r.results(s, "wait_subtasks")
		if len(got) != 1 || strings.Count(got[0], `"status":"completed"`) != 2 || !strings.Contains(got[0], `1 2 3`) {
			t.Errorf("%q", got)
		}
		time.Sleep(time.Minute)
		r.idle()
		if in := payloads[event.InputJoin](r, s); len(in) != 0 {
			t.Errorf("told again: %+v", in)
		}
	})
	delegate(t, "SP-BG-01 a wait that outlasts her patience goes on in the background and tells all in one turn", func(t *testing.T, r *rig, _ *shelf) {
		s := r.session()
		r.send(s, "subtask: slow: 600\nwait: 200")
		time.Sleep(2 * time.Minute)
		r.idle()
		same(t, "turns", r.outcomes(s), event.Replied, event.Replied)
		starts := payloads[event.TurnStart](r, s)
		if starts[1].Source != event.TopicBackground || len(r.tasks()) != 1 || r.tasks()[0].Status != event.TaskCompleted {
			t.Errorf("%+v %+v", starts, r.tasks())
		}
		said := payloads[event.Notice](r, s)
		if last := said[len(said)-1]; !strings.Contains(last.Body, `"status":"completed"`) {
			t.Errorf("%+v", last)
		}
	})
	delegate(t, "a wait that is over in time says who still works, and they are told of later", func(t *testing.T, r *rig, _ *shelf) {
		s := r.session()
		r.send(s, "subtask: slow: 100\nwait: 2")
		r.until("she was told", func() bool { return len(r.outcomes(s)) == 2 })
		if got := r.results(s, "wait_subtasks"); !strings.Contains(got[0], `"status":"running"`) || !strings.Contains(got[0], "Not all have ended.") {
			t.Errorf("%q", got)
		}
		if n := r.notices(s); len(n) != 1 {
			t.Errorf("%+v", n)
		}
	})
	delegate(t, "SP-TREE-01 SP-TREE-02 SP-TREE-03 SP-APPR-04 FAIL-B1 a sub-task of a sub-task asks, and everybody above it needs the owner until it is answered", func(t *testing.T, r *rig, _ *shelf) {
		s := r.session()
		r.send(s, "subtask: subtask: subtask: run: asks")
		a := r.pending()
		child := r.below(s)[0]
		below := r.below(child)[0]
		deepest := r.below(below)[0]
		for _, up := range []string{s, child, below} {
			if h := r.head(up); h.SubAttention != 1 {
				t.Errorf("%s: %+v", up, h)
			}
		}
		asked := payloads[event.Action](r, deepest)[0]
		if len(asked.Chain) != 3 || asked.Chain[0].ID != child || asked.Chain[2].ID != deepest || asked.Origin.Kind != "hand" {
			t.Errorf("%+v", asked)
		}
		r.answer(true, "")
		r.until("all is done", func() bool { return len(r.notices(s)) == 1 && len(r.runningTurns()) == 0 })
		for _, up := range []string{s, child, below} {
			if h := r.head(up); h.SubAttention != 0 || h.SubBusy != 0 {
				t.Errorf("%s: %+v", up, h)
			}
		}
		if got := r.results(deepest, "run_command"); got[0] != "did asks" || a.ID == "" {
			t.Errorf("%q", got)
		}
	})
	delegate(t, "the cap is told with what to do, and she goes on", func(t *testing.T, r *rig, _ *shelf) {
		s := r.session()
		r.send(s, "subtask: slow: 100\nsubtask: slow: 100\nsubtask: slow: 100\nsubtask: slow: 100\nsubtask: slow: 100")
		r.until("her turn is over", func() bool { return len(r.outcomes(s)) > 0 })
		got := r.results(s, "create_subtask")
		if !strings.Contains(got[4], "4 sub-tasks of this conversation are working") || len(r.below(s)) != 4 {
			t.Errorf("%q", got)
		}
		r.idle()
	})
	delegate(t, "FAIL-G4 SP-TURN-12 SP-BG-30 an abort stops her turn alone; stopping all stops the tree within two seconds", func(t *testing.T, r *rig, tasks *shelf) {
		s := r.session()
		r.send(s, "subtask: background: long\nsubtask: subtask: slow: 5000\nsubtask: run: long\nslow: 1000")
		time.Sleep(10 * time.Second)
		if n := len(r.runningTurns()); n != 3 || len(r.tasks()) != 1 {
			t.Fatalf("%d turns run, tasks %+v", n, r.tasks())
		}
		r.do(core.AbortTurn{Actor: owner, Session: s})
		time.Sleep(2 * time.Second)
		if h := r.head(s); h.RunningTurn != "" || h.SubBusy != 3 {
			t.Errorf("%+v", h)
		}
		start := time.Now()
		r.do(core.StopDescendants{Actor: owner, Session: s})
		if err := tasks.StopAll(context.Background(), s); err != nil {
			t.Error(err)
		}
		r.idle()
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		if h := r.head(s); h.SubBusy != 0 || h.RunningTurn != "" {
			t.Errorf("%+v", h)
		}
		time.Sleep(time.Minute)
		same(t, "her turns", r.outcomes(s), event.Aborted) // nothing wakes her
	})
}

// TestSubtasksAfterAKill: what was cut off is told as such, once, and can be let go on.
func TestSubtasksAfterAKill(t *testing.T) {
	dir := t.TempDir()
	var s, child string
	synctest.Test(t, func(t *testing.T) {
		r := open(t, delegating(t, dir, new(shelf)))
		r.stopped = func(error) {}
		s = r.session()
		r.send(s, "subtask: slow: 5000")
		r.until("her turn is over", func() bool { return len(r.outcomes(s)) > 0 })
		child = r.below(s)[0]
		r.kill() // the loop and the file are gone from under the running turns
		r.stopReactor()
	})
	synctest.Test(t, func(t *testing.T) {
		tasks := new(shelf)
		r := open(t, delegating(t, dir, tasks))
		defer r.stop()
		r.idle()
		n := r.notices(s)
		if len(n) != 1 || n[0].Facts["status"] != "interrupted" || !strings.Contains(n[0].Body, "a message to it lets it go on") {
			t.Errorf("%+v", n)
		}
		same(t, "her turns", r.outcomes(s), event.Replied, event.Replied)
		r.send(s, "subtask: run: quick\nwait: 20")
		r.idle()
		if got := r.results(s, "wait_subtasks"); !strings.Contains(got[0], "did quick") {
			t.Errorf("%q", got)
		}
		got := r.do(core.LookAtSubtasks{Session: s}).Subtasks
		if len(got) != 2 || got[0].ID != child || got[0].State != core.SubtaskInterrupted || got[1].State != core.SubtaskCompleted {
			t.Errorf("%+v", got)
		}
		if err := tasks.stop(); err != nil {
			t.Error(err)
		}
		r.check()
	})
}

func TestWhatAnEngineIsToldOfItsSession(t *testing.T) {
	told := make(chan engine.Turn, 4)
	tell := script(func(ctx context.Context, h hostOf) error {
		told <- h.told
		return h.Silent(ctx)
	})
	bubble(t, setup{engines: engines("aalis", tell)}, func(r *rig) {
		own := r.session()
		room := r.do(core.CreateSession{Actor: owner, Kind: "room", ExtKey: "onebot:1:group:2", Platform: "onebot", Place: "window:onebot:1:group:2"}).SessionID
		for _, c := range []struct {
			parent string
			guests bool
		}{{own, false}, {room, true}} {
			child := r.do(core.CreateSession{Actor: owner, Parent: c.parent}).SessionID
			for _, s := range []string{c.parent, child} {
				r.send(s, "go")
				if got := <-told; got.Guests != c.guests || got.Subtask {
					t.Errorf("%s: %+v", s, got)
				}
				r.idle()
			}
		}
	})
}
