package turn_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aalis/backend/background"
	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/tool"
	"aalis/backend/turn"
)

// shelf gives a rig the registry of background tasks, as the program does.
type shelf struct {
	*background.Registry
	stop func() error
}

func (s *shelf) over(loop *core.Loop) func(context.Context, turn.Work) (engine.ToolResult, error) {
	s.Registry = background.New(background.Options{Loop: loop})
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	s.stop = sync.OnceValue(func() error { cancel(); return <-ran })
	return func(ctx context.Context, w turn.Work) (engine.ToolResult, error) {
		got, err := s.Conduct(ctx, background.Work{
			Turn: w.Turn, Call: w.CallID, Tool: w.Tool, AtOnce: w.AtOnce, Started: w.Started, Show: w.Show,
			Do: func(ctx context.Context, out func(string)) background.Result {
				r := w.Do(ctx, out)
				return background.Result{Status: string(r.Status), Text: r.Text, ExitCode: r.ExitCode}
			},
		})
		return engine.ToolResult{Status: engine.ToolStatus(got.Status), Text: got.Text, ExitCode: got.ExitCode, TaskID: got.TaskID}, err
	}
}

type seconds struct {
	Seconds int  `json:"seconds" jsonschema_description:"How long."`
	Asks    bool `json:"asks,omitempty" jsonschema_description:"Whether the owner is asked."`
}

// labour is a movable tool that takes its time and prints every ten seconds.
func labour() tool.Definition {
	return tool.Define(tool.Definition{
		Name: "labour", Description: "For tests.", Effect: tool.Write, Movable: true, Example: json.RawMessage(`{"seconds":1}`),
	}, func(_ context.Context, _ tool.Call, p seconds) (tool.Prepared, error) {
		do := func(ctx context.Context, out tool.Output) (tool.Result, error) {
			for left := time.Duration(p.Seconds) * time.Second; left > 0; left -= 10 * time.Second {
				out("step\n")
				select {
				case <-time.After(min(left, 10*time.Second)):
				case <-ctx.Done():
					return tool.Result{}, ctx.Err()
				}
			}
			return tool.Result{Text: "all done"}, nil
		}
		return tool.Prepared{NeedsApproval: p.Asks, Execute: do, Move: &tool.Move{Execute: do}}, nil
	})
}

func working(t *testing.T, script string, fn func(r *rig, s *shelf)) {
	t.Helper()
	tasks := new(shelf)
	bubble(t, setup{script: script, extra: []tool.Definition{labour()}, background: tasks.over}, func(r *rig) {
		fn(r, tasks)
		if err := tasks.stop(); err != nil {
			t.Error(err)
		}
	})
}

func (r *rig) tasks() (all []store.Task) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) (err error) { all, err = tx.Tasks(); return err })
	return all
}

func TestBackground(t *testing.T) {
	t.Run("SP-BG-01 SP-TOOL-24 SP-NOTICE-05 a call that lasts is moved, the turn goes on, and at the end she is told in a turn of its own", func(t *testing.T) {
		working(t, "call\ntool labour {\"seconds\":50}\ncall\ntext It runs.\ncall\ntext It is done.", func(r *rig, _ *shelf) {
			s := r.session()
			start := time.Now()
			r.send(s, "go")
			time.Sleep(background.DefaultForeground - time.Second)
			r.idle()
			if took := time.Since(start); took < background.DefaultForeground || took > background.DefaultForeground+time.Second {
				t.Errorf("her turn took %v", took)
			}
			task := r.tasks()[0]
			told := r.toldInCall(1)
			if last := told[len(told)-1]; !strings.HasPrefix(last, "tool After 30 s it has not ended.") || !strings.Contains(last, task.ID) || !strings.HasSuffix(last, "step\nstep\nstep\n") && !strings.HasSuffix(last, "step\nstep\nstep\nstep\n") {
				t.Errorf("%q", told)
			}
			if out := r.output(s, task.Call.CallID); !strings.HasPrefix(out, "step\nstep\nstep\n") || strings.Count(out, "step") > 4 {
				t.Errorf("its card has %q", out)
			}
			time.Sleep(30 * time.Second)
			r.idle()
			told = r.toldInCall(2)
			if last := told[len(told)-1]; !strings.Contains(last, "⟦Background task "+task.ID) || !strings.Contains(last, "all done") {
				t.Errorf("%q", told)
			}
			same(t, "outcomes", r.outcomes(s), event.Replied, event.Replied)
			if starts := payloads[event.TurnStart](r, s); starts[1].Source != "background-task" {
				t.Errorf("%+v", starts)
			}
			if got := r.tasks()[0]; got.Status != event.TaskCompleted || got.EndedAt-got.StartedAt != 50_000 {
				t.Errorf("%+v", got)
			}
		})
	})
	t.Run("SP-BG-01 she may ask for the background, and does not wait a moment; the notice joins the turn that runs", func(t *testing.T) {
		working(t, "call\ntool labour {\"seconds\":20,\"background\":true}\ncall\nwait 40s\ntool echo {\"words\":\"a\"}\ncall\ntext Both.", func(r *rig, _ *shelf) {
			s := r.session()
			start := time.Now()
			r.send(s, "go")
			r.until("the second call", func() bool { return len(r.model.Requests()) == 2 })
			if took := time.Since(start); took > time.Second {
				t.Errorf("she waited %v", took)
			}
			time.Sleep(40 * time.Second)
			r.idle()
			told := r.toldInCall(2)
			if i := slices.IndexFunc(told, func(line string) bool { return strings.Contains(line, "⟦Background task ") }); i != len(told)-1 {
				t.Errorf("%q", told)
			}
			same(t, "outcomes", r.outcomes(s), event.Replied)
			if joined := payloads[event.InputJoin](r, s); len(joined) != 1 || joined[0].Input.Notice == nil {
				t.Errorf("%+v", joined)
			}
			// The same later, from the log.
			r.model.Add(hang...)
			r.send(s, "more")
			r.until("the call of the next turn", func() bool { return len(r.model.Requests()) == 4 })
			if again := r.toldInCall(3); !slices.Equal(again[:len(told)], told) {
				t.Errorf("%q\n%q", again, told)
			}
			r.do(core.AbortTurn{Actor: owner, Session: s})
			r.idle()
		})
	})
	t.Run("a call is approved before it may go anywhere", func(t *testing.T) {
		working(t, "call\ntool labour {\"seconds\":20,\"asks\":true,\"background\":true}\ncall\ntext Well.", func(r *rig, _ *shelf) {
			s := r.session()
			r.send(s, "go")
			r.pending()
			time.Sleep(time.Minute)
			if n := len(r.tasks()); n != 0 {
				t.Errorf("%d tasks", n)
			}
			r.answer(false, "")
			r.idle()
			if n := len(r.tasks()); n != 0 {
				t.Errorf("%d tasks after the refusal", n)
			}
			if res := payloads[event.Result](r, s); res[0].Status != event.ResultDenied {
				t.Errorf("%+v", res)
			}
		})
	})
	t.Run("SP-TURN-16 SP-TOOL-09 an abort stops a call until it is moved, and no task", func(t *testing.T) {
		working(t, "call\ntool labour {\"seconds\":500,\"background\":true}\ntool labour {\"seconds\":600}\ncall\ntext Told.", func(r *rig, tasks *shelf) {
			s := r.session()
			r.send(s, "go")
			time.Sleep(10 * time.Second)
			r.do(core.AbortTurn{Actor: owner, Session: s})
			r.idle()
			res := payloads[event.Result](r, s)
			if len(res) != 2 || res[0].TaskID == "" || res[1].TaskID != "" || res[1].Status != event.ResultCancelled {
				t.Errorf("%+v", res)
			}
			if tasks.Running() != 1 || r.tasks()[0].Status != event.TaskRunning {
				t.Error("the task was stopped")
			}
			time.Sleep(500 * time.Second)
			r.idle()
			same(t, "outcomes", r.outcomes(s), event.Aborted, event.Replied)
		})
	})
	t.Run("without a background every call waits", func(t *testing.T) {
		bubble(t, setup{script: "call\ntool labour {\"seconds\":50,\"background\":true}\ncall\ntext Done.", extra: []tool.Definition{labour()}}, func(r *rig) {
			s := r.session()
			r.send(s, "go")
			time.Sleep(40 * time.Second)
			r.idle()
			told := r.toldInCall(1)
			same(t, "told", told[len(told)-1:], "tool all done")
		})
	})
	t.Run("the argument is offered with the tool that has it, and to no other", func(t *testing.T) {
		working(t, "call\ntext Hi.", func(r *rig, _ *shelf) {
			r.send(r.session(), "go")
			r.idle()
			for _, spec := range r.model.Requests()[0].Tools {
				if has := strings.Contains(string(spec.Params), `"background":{"type":"boolean"`); has != (spec.Name == "labour") {
					t.Errorf("%s: %s", spec.Name, spec.Params)
				}
			}
		})
	})
}
