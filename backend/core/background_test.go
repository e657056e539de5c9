package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/testkit"
	"aalis/backend/text"
)

// moved opens a call in a running turn and hands it to the background.
func (r *rig) moved(turn string) (task string) {
	r.t.Helper()
	task = event.NewID()
	r.do(core.MoveTool{Turn: turn, TaskID: task, Result: event.Result{CallID: r.call(turn), Text: "It goes on."}})
	return task
}

func (r *rig) task(id string) (t store.Task) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) (err error) { t, _, err = tx.Task(id); return err })
	return t
}

func (r *rig) tasks(session string) (all []store.Task) {
	r.t.Helper()
	sid := r.sid(session)
	r.read(func(tx *store.ReadTx) (err error) { all, err = tx.TasksOf(sid); return err })
	return all
}

func (r *rig) head(session string) (h store.Head) {
	r.t.Helper()
	sid := r.sid(session)
	r.read(func(tx *store.ReadTx) (err error) { h, err = tx.Head(sid); return err })
	return h
}

func payloads[P event.Payload](r *rig, session string) (all []P) {
	for _, e := range r.events(session) {
		if p, ok := e.Payload.(P); ok {
			all = append(all, p)
		}
	}
	return all
}

func ended(status string) event.BackgroundEnd { return event.BackgroundEnd{Status: status} }

// silent opens a turn, hands n calls of it to the background and ends it.
func (r *rig) silent(session string, n int) (tasks []string) {
	r.t.Helper()
	turn := r.do(core.SendInput{Actor: owner, Session: session, Input: say("go")}).TurnID
	for range n {
		tasks = append(tasks, r.moved(turn))
	}
	r.do(core.EndSilent{Turn: turn})
	return tasks
}

func bubbled(t *testing.T, name string, test func(t *testing.T, r *rig), change ...func(*store.Options, *core.Options)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir(), change...)
			test(t, r)
			testkit.Check(t, r.st)
			sameAsRebuilt(t, r)
		})
	})
}

func TestMove(t *testing.T) {
	bubbled(t, "SP-TOOL-23 SP-TOOL-24 a moved call is over for its turn with the hand-over's words, and stays so", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.do(core.SendInput{Actor: owner, Session: s, Input: say("go")}).TurnID
		call, task := r.call(turn), event.NewID()
		r.do(core.MoveTool{Turn: turn, TaskID: task, StartedAt: 77, Result: event.Result{CallID: call, Text: "It goes on.", DurationMS: 5}})
		if err := r.loop.Text(call, "late"); !errors.Is(err, core.ErrItemClosed) {
			t.Errorf("its card takes more: %v", err)
		}
		r.do(core.EndTask{TaskID: task, End: event.BackgroundEnd{Status: event.TaskFailed}, Result: "broken"})
		results := payloads[event.Result](r, s)
		if len(results) != 1 || results[0].Status != event.ResultSucceeded || results[0].TaskID != task || results[0].Text != "It goes on." || results[0].Card == nil {
			t.Errorf("%+v", results)
		}
		if got := r.task(task); got.StartedAt != 77 || got.Call.CallID != call || got.Turn != turn || got.Label != "run_command" {
			t.Errorf("%+v", got)
		}
	})
	bubbled(t, "SP-TURN-16 a call of a turn that was stopped stays its turn's, one that was moved goes on", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.do(core.SendInput{Actor: owner, Session: s, Input: say("go")}).TurnID
		task, call := r.moved(turn), r.call(turn)
		r.do(core.AbortTurn{Actor: owner, Session: s})
		if _, err := r.loop.Do(context.Background(), core.MoveTool{Turn: turn, TaskID: event.NewID(), Result: event.Result{CallID: call}}); !errors.Is(err, core.ErrTurnOver) {
			t.Errorf("moved: %v", err)
		}
		r.do(core.StopTurn{Turn: turn})
		if got := r.task(task).Status; got != event.TaskRunning {
			t.Error(got)
		}
	})
	bubbled(t, "only what was approved moves, and once", func(t *testing.T, r *rig) {
		turn := r.do(core.SendInput{Actor: owner, Session: r.session(), Input: say("go")}).TurnID
		asked := r.call(turn)
		a := r.do(core.RequestAction{Turn: turn, CallID: asked, Tool: "run_command"}).EventID
		move := core.MoveTool{Turn: turn, TaskID: event.NewID(), Result: event.Result{CallID: asked}}
		for _, state := range []string{"pending", "denied"} {
			if _, err := r.loop.Do(context.Background(), move); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", state, err)
			}
			if state == "pending" {
				r.do(core.AnswerAction{Actor: owner, ActionID: a, Hash: r.hash(a), May: true})
			}
		}
		done := r.call(turn)
		r.do(core.MoveTool{Turn: turn, TaskID: event.NewID(), Result: event.Result{CallID: done}})
		if _, err := r.loop.Do(context.Background(), core.MoveTool{Turn: turn, TaskID: event.NewID(), Result: event.Result{CallID: done}}); !fault.Is(err, fault.Conflict) {
			t.Errorf("twice: %v", err)
		}
	})
}

func TestEndTask(t *testing.T) {
	bubbled(t, "SP-NOTICE-05 SP-TURNI-01 at the end she is told: the notice opens a turn", func(t *testing.T, r *rig) {
		s := r.session()
		task := r.silent(s, 1)[0]
		time.Sleep(3 * time.Second)
		code := 0
		r.do(core.EndTask{TaskID: task, Result: "done\n[exit code 0]", End: event.BackgroundEnd{Status: event.TaskCompleted, ExitCode: &code, LastLine: "done", LastOutputAt: 5}})
		n := payloads[event.Notice](r, s)
		if len(n) != 1 {
			t.Fatalf("%+v", n)
		}
		want := event.Notice{
			Topic: "background-task", NoticeID: task, State: event.InputOpened, Platform: "webui", Text: text.New("task.notice-completed", "tool", "run_command"),
			Facts: map[string]any{"taskId": task, "tool": "run_command", "status": "completed", "exitCode": 0.0, "durationMs": 3000.0, "lastLine": "done"},
			Body:  n[0].Body,
		}
		if diff := cmp.Diff(want, n[0]); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(n[0].Body, task) || !strings.Contains(n[0].Body, "done\n[exit code 0]") {
			t.Error(n[0].Body)
		}
		starts := payloads[event.TurnStart](r, s)
		if len(starts) != 2 || starts[1].Source != "background-task" || starts[1].Trigger == "" || r.head(s).RunningTurn != starts[1].TurnID {
			t.Errorf("%+v", starts)
		}
		got := r.task(task)
		if got.Status != event.TaskCompleted || *got.ExitCode != 0 || got.LastLine != "done" || got.LastOutputAt != 5 || got.EndedAt == 0 {
			t.Errorf("%+v", got)
		}
	})
	bubbled(t, "a notice waits for the running turn, which does not end without it", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.do(core.SendInput{Actor: owner, Session: s, Input: say("go")}).TurnID
		task := r.moved(turn)
		r.do(core.EndTask{TaskID: task, End: ended(event.TaskCompleted)})
		if got := r.do(core.EndSilent{Turn: turn}); !got.Waiting {
			t.Error("the turn ended")
		}
		joined := r.do(core.JoinInputs{Turn: turn}).Inputs
		if len(joined) != 1 || joined[0].Notice == nil || joined[0].Notice.NoticeID != task || joined[0].Speaker.Source != "background-task" {
			t.Errorf("%+v", joined)
		}
		r.do(core.EndSilent{Turn: turn})
		if r.head(s).RunningTurn != "" {
			t.Error("a turn runs")
		}
	})
	bubbled(t, "one that waited when its turn was stopped opens the next", func(t *testing.T, r *rig) {
		s := r.session()
		turn := r.do(core.SendInput{Actor: owner, Session: s, Input: say("go")}).TurnID
		r.do(core.EndTask{TaskID: r.moved(turn), End: ended(event.TaskCompleted)})
		r.do(core.AbortTurn{Actor: owner, Session: s})
		r.do(core.StopTurn{Turn: turn})
		starts := payloads[event.TurnStart](r, s)
		if len(starts) != 2 || starts[1].Source != "background-task" || starts[1].Input == nil || starts[1].Input.Notice == nil || starts[1].Platform != "webui" {
			t.Errorf("%+v", starts)
		}
	})
	bubbled(t, "SP-BG-27 SP-BG-28 a stopped task tells her nothing, and what has ended stays as it is", func(t *testing.T, r *rig) {
		s := r.session()
		task := r.silent(s, 1)[0]
		r.do(core.EndTask{TaskID: task, End: ended(event.TaskStopped)})
		before := len(r.events(s))
		if got := r.do(core.EndTask{TaskID: task, End: ended(event.TaskCompleted)}); !got.Repeated {
			t.Errorf("%+v", got)
		}
		if got := r.do(core.EndTask{TaskID: "none", End: ended(event.TaskCompleted)}); !got.Repeated {
			t.Errorf("%+v", got)
		}
		if n := payloads[event.Notice](r, s); len(n) != 0 || len(r.events(s)) != before || r.task(task).Status != event.TaskStopped || r.head(s).RunningTurn != "" {
			t.Errorf("%+v", n)
		}
	})
	bubbled(t, "at the end of the program the notice waits", func(t *testing.T, r *rig) {
		s := r.session()
		task := r.silent(s, 1)[0]
		r.do(core.EndTask{TaskID: task, Hold: true, End: ended(event.TaskAborted)})
		if r.head(s).RunningTurn != "" {
			t.Error("a turn runs")
		}
		if n := payloads[event.Notice](r, s); len(n) != 1 || n[0].State != event.InputPending {
			t.Errorf("%+v", n)
		}
	})
	bubbled(t, "SP-BG-05 the latest 20 finished tasks of a session are kept, by their ends, and every running one", func(t *testing.T, r *rig) {
		s, other := r.session(), r.session()
		all, foreign := r.silent(s, 25), r.silent(other, 1)[0]
		r.do(core.EndTask{TaskID: foreign, End: ended(event.TaskStopped)})
		// All in one moment, and not in the order of their beginnings.
		order := append(slices.Clone(all[10:24]), all[:10]...)
		for i, id := range order {
			r.do(core.EndTask{TaskID: id, End: ended(event.TaskStopped)})
			var dropped []string
			for _, e := range payloads[event.BackgroundEnd](r, s) {
				dropped = append(dropped, e.Dropped...)
			}
			if want := order[:max(0, i+1-20)]; !slices.Equal(dropped, want) {
				t.Fatalf("after %d ends %v are dropped, want %v", i+1, dropped, want)
			}
		}
		var kept []string
		for _, task := range r.tasks(s) {
			kept = append(kept, task.ID)
		}
		want := append(slices.Clone(order[4:]), all[24])
		slices.Sort(kept)
		slices.Sort(want)
		if !slices.Equal(kept, want) {
			t.Errorf("kept %v, want %v", kept, want)
		}
		if r.task(all[24]).Status != event.TaskRunning || r.task(foreign).ID == "" {
			t.Error("a task that runs, or one of another session, is gone")
		}
	})
}

func TestTasksGoWithTheirSession(t *testing.T) {
	bubbled(t, "SP-BG-20 SP-TREE-05 a deleted session names its tasks, the running ones are stopped, and counts follow", func(t *testing.T, r *rig) {
		root := r.session()
		child := r.do(core.CreateSession{Actor: owner, Parent: root}).SessionID
		tasks := r.silent(child, 2)
		r.do(core.EndTask{TaskID: tasks[0], End: ended(event.TaskStopped)})
		if h := r.head(root); h.SubBusy != 1 {
			t.Errorf("%d below are busy", h.SubBusy)
		}
		r.do(core.ArchiveSession{Actor: owner, Session: root})
		if got := r.task(tasks[1]).Status; got != event.TaskRunning {
			t.Errorf("archiving made it %s", got)
		}
		r.do(core.DeleteSession{Actor: owner, Session: child})
		if h := r.head(root); h.SubBusy != 0 {
			t.Errorf("%d below are busy", h.SubBusy)
		}
		gone := payloads[event.Deleted](r, child)
		if len(gone) != 1 || !slices.Equal(gone[0].Tasks, tasks) {
			t.Errorf("%+v", gone)
		}
		if ends := payloads[event.BackgroundEnd](r, child); len(ends) != 2 || ends[1].TaskID != tasks[1] || ends[1].Status != event.TaskStopped {
			t.Errorf("%+v", ends)
		}
		if r.task(tasks[0]).ID+r.task(tasks[1]).ID != "" {
			t.Error("its tasks are still there")
		}
		if got := r.do(core.EndTask{TaskID: tasks[1], End: ended(event.TaskCompleted)}); !got.Repeated {
			t.Errorf("%+v", got)
		}
	})
}

func TestRecoverCutsTasks(t *testing.T) {
	dir := t.TempDir()
	var s, idle, task, kept string
	synctest.Test(t, func(t *testing.T) {
		r := open(t, dir)
		s, idle = r.session(), r.session()
		tasks := r.silent(s, 2)
		task, kept = tasks[0], tasks[1]
		code := 3
		r.do(core.EndTask{TaskID: kept, End: event.BackgroundEnd{Status: event.TaskFailed, ExitCode: &code}, Hold: true})
		r.do(core.ArchiveSession{Actor: owner, Session: idle})
		r.stop()
	})
	synctest.Test(t, func(bt *testing.T) {
		r := open(bt, dir)
		for range 2 {
			if err := core.Recover(bt.Context(), r.loop); err != nil {
				bt.Fatal(err)
			}
		}
		t.Run("SP-BG-09 SP-BG-10 what ran when Aalis ended is aborted with a reason, once, and she is told", func(t *testing.T) {
			got := r.task(task)
			if got.Status != event.TaskAborted || got.Reason.In(text.English) == "" || got.EndedAt == 0 {
				t.Errorf("%+v", got)
			}
			if n := payloads[event.Notice](r, s); len(n) != 2 || n[1].NoticeID != task {
				t.Errorf("%+v", n)
			}
			starts := payloads[event.TurnStart](r, s)
			if len(starts) != 2 || starts[1].Source != "background-task" || len(payloads[event.InputJoin](r, s)) != 1 {
				t.Errorf("%+v", starts)
			}
		})
		t.Run("SP-BG-11 the exit code of one that had ended stays", func(t *testing.T) {
			if got := r.task(kept); got.Status != event.TaskFailed || got.ExitCode == nil || *got.ExitCode != 3 {
				t.Errorf("%+v", got)
			}
		})
		testkit.Check(t, r.st)
		sameAsRebuilt(t, r)
	})
}

func TestAKilledProcessLeavesNoTaskRunning(t *testing.T) {
	dir := t.TempDir()
	var seen []seenLine
	for range 15 {
		seen = append(seen, killed(t, dir)...)
		reopened(t, dir, seen)
		r := open(t, dir)
		r.read(func(tx *store.ReadTx) error {
			all, err := tx.RunningTasks(0)
			for _, task := range all {
				t.Errorf("task %s of start %s still runs", task.ID, task.Epoch)
			}
			sessions, err2 := tx.AllSessions()
			for _, s := range sessions {
				told := map[string]int{}
				for _, n := range payloads[event.Notice](r, s.ID) {
					if told[n.NoticeID]++; n.NoticeID != "" && told[n.NoticeID] > 1 {
						t.Errorf("she is told of task %s again", n.NoticeID)
					}
				}
			}
			return errors.Join(err, err2)
		})
		r.stop()
		if t.Failed() {
			return
		}
	}
}

// move hands a call to the background.
func (d *driver) move() error {
	call, task := pick(d, d.calls), event.NewID()
	_, err := d.do(core.MoveTool{Turn: d.of[call], TaskID: task, Result: event.Result{CallID: call, Text: "it goes on"}})
	if err == nil {
		d.tasks = append(d.tasks, task)
	}
	return err
}

func (d *driver) endTask() error {
	status := []string{event.TaskCompleted, event.TaskFailed, event.TaskStopped, event.TaskAborted}[d.choose(4)]
	_, err := d.do(core.EndTask{TaskID: pick(d, d.tasks), End: event.BackgroundEnd{Status: status, LastLine: fmt.Sprint("line ", d.choose(3))}, Hold: d.choose(5) == 0})
	return err
}
