package subtask_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/text"
	"aalis/backend/tool"
	"aalis/backend/tool/subtask"
	"aalis/backend/tool/tooltest"
)

// desk answers the same whatever is asked, and remembers what was.
type desk struct {
	all   []core.Subtask
	err   error
	order subtask.Order
	ids   []string
	wait  time.Duration
	said  string
}

func (d *desk) one() (core.Subtask, error) {
	if d.err != nil || len(d.all) == 0 {
		return core.Subtask{}, d.err
	}
	return d.all[0], nil
}

func (d *desk) Create(_ context.Context, _ tool.Call, o subtask.Order) (core.Subtask, error) {
	d.order = o
	return d.one()
}

func (d *desk) Send(_ context.Context, _ tool.Call, id, said string) (core.Subtask, error) {
	d.ids, d.said = []string{id}, said
	return d.one()
}

func (d *desk) Check(_ context.Context, _ tool.Call, ids []string) ([]core.Subtask, error) {
	d.ids = ids
	return d.all, d.err
}

func (d *desk) Wait(ctx context.Context, _ tool.Call, ids []string, within time.Duration) ([]core.Subtask, error) {
	d.ids, d.wait = ids, within
	if len(ids) == 2 { // waits for what does not end
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return d.all, d.err
}

func (d *desk) Stop(_ context.Context, _ tool.Call, id string) (core.Subtask, error) {
	d.ids = []string{id}
	return d.one()
}

func (d *desk) Delete(_ context.Context, _ tool.Call, id string) error {
	d.ids = []string{id}
	return d.err
}

func named(t *testing.T, d subtask.Desk, name string) tool.Definition {
	t.Helper()
	for _, def := range subtask.All(d) {
		if def.Name == name {
			return def
		}
	}
	t.Fatalf("there is no tool %s", name)
	return tool.Definition{}
}

func TestConformance(t *testing.T) {
	d := &desk{all: []core.Subtask{{ID: "a", Name: "A", State: core.SubtaskCompleted, Reply: strings.Repeat("words\n", 20_000)}}}
	one, several := `{"subtask_id":"a"}`, `{"subtask_ids":["a"]}`
	for _, c := range []tooltest.Case{
		{Tool: named(t, d, "create_subtask"), Good: `{"task":"look"}`, Bad: []string{`{"task":" "}`, `{"task":""}`, `{"task":"x","provider":"p"}`}},
		{Tool: named(t, d, "send_to_subtask"), Good: `{"subtask_id":"a","message":"more"}`, Bad: []string{`{"subtask_id":"a","message":" "}`, one}},
		{Tool: named(t, d, "check_subtask"), Good: several, Long: several},
		{Tool: named(t, d, "wait_subtasks"), Good: several, Long: several, Bad: []string{`{"subtask_ids":[]}`, `{"subtask_ids":["a"],"timeout_seconds":301}`}},
		{Tool: named(t, d, "stop_subtask"), Good: one, Bad: []string{`{"subtask_id":""}`}},
		{Tool: named(t, d, "delete_subtask"), Good: one, Bad: []string{`{"subtask_id":""}`}},
	} {
		t.Run(c.Tool.Name, func(t *testing.T) { tooltest.Run(t, c) })
	}
	if named(t, d, event.WaitSubtasks).Movable != true {
		t.Error("a wait cannot go to the background")
	}
}

func TestWhatTheModelReads(t *testing.T) {
	done := core.Subtask{ID: "a", Name: "A", State: core.SubtaskCompleted, Reply: "<all> done", StartedAt: 1000, EndedAt: 8500, Tokens: 70, Children: 2}
	for _, c := range []struct {
		name, tool, args string
		all              []core.Subtask
		want             string
	}{
		{
			"one that was made", "create_subtask", `{"task":"look","name":" A ","model":"p/m"}`,
			[]core.Subtask{{ID: "a", Name: "A", State: core.SubtaskRunning, StartedAt: 5}},
			`{"subtaskId":"a","name":"A","status":"running","message":"It works now. You are told when it has ended."}`,
		},
		{
			"those that have ended, with their replies", "check_subtask", `{}`,
			[]core.Subtask{done, {ID: "b", Name: "B", State: core.SubtaskCompleted}},
			`{"subtasks":[{"subtaskId":"a","name":"A","status":"completed","seconds":7,"tokens":70,"subtasks":2,"reply":"<all> done"},{"subtaskId":"b","name":"B","status":"completed","reply":""}]}`,
		},
		{
			"why one failed, and that one asks", "wait_subtasks", `{"subtask_ids":["a"],"timeout_seconds":9}`,
			[]core.Subtask{{ID: "a", Name: "A", State: core.SubtaskFailed, Reason: text.Plain("no luck"), Reply: "half"}, {ID: "b", Name: "B", State: core.SubtaskAsking}},
			`{"message":"Not all have ended.","subtasks":[{"subtaskId":"a","name":"A","status":"failed","note":"no luck"},` +
				`{"subtaskId":"b","name":"B","status":"waiting","note":"It, or a sub-task of its own, waits for the owner's approval."}]}`,
		},
		{"one that was stopped", "stop_subtask", `{"subtask_id":"a"}`, []core.Subtask{{ID: "a", Name: "A", State: core.SubtaskStopped}}, `{"subtaskId":"a","name":"A","status":"stopped"}`},
		{"one that was deleted", "delete_subtask", `{"subtask_id":"a"}`, nil, `{"subtaskId":"a","status":"deleted"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &desk{all: c.all}
			got, err := tooltest.Call(t, named(t, d, c.tool), tool.Place{Root: t.TempDir()}, c.args)
			if diff := cmp.Diff(c.want, got.Text); diff != "" || err != nil || got.Truncated {
				t.Errorf("%v\n%s", err, diff)
			}
			if c.tool == "create_subtask" && d.order != (subtask.Order{Task: "look", Name: "A", Model: "p/m"}) {
				t.Errorf("%+v", d.order)
			}
			if c.tool == "wait_subtasks" && d.wait != 9*time.Second {
				t.Errorf("%v", d.wait)
			}
		})
	}
	t.Run("a provider stands before its model, once", func(t *testing.T) {
		for _, model := range []string{"m", "p/m"} {
			d := &desk{all: []core.Subtask{done}}
			if _, err := tooltest.Call(t, named(t, d, "create_subtask"), tool.Place{Root: t.TempDir()}, `{"task":"x","provider":"p","model":"`+model+`"}`); err != nil || d.order.Model != "p/m" {
				t.Errorf("%+v %v", d.order, err)
			}
		}
	})
	t.Run("replies that are long together are cut alike, and it is JSON still", func(t *testing.T) {
		d := &desk{}
		for range 10 {
			d.all = append(d.all, core.Subtask{ID: "a", State: core.SubtaskCompleted, Reply: strings.Repeat("\"好\"", 5_000)})
		}
		got, err := tooltest.Call(t, named(t, d, "check_subtask"), tool.Place{Root: t.TempDir()}, `{}`)
		var read struct{ Subtasks []struct{ Reply string } }
		if err != nil || !got.Truncated || len(got.Text) > tool.MaxResultBytes || json.Unmarshal([]byte(got.Text), &read) != nil || len(read.Subtasks) != 10 {
			t.Fatalf("%d bytes, %v", len(got.Text), err)
		}
		for _, s := range read.Subtasks {
			if !strings.Contains(s.Reply, "[cut here") || len(s.Reply) < 2000 {
				t.Errorf("%d bytes", len(s.Reply))
			}
		}
	})
	t.Run("what is refused did nothing, and the model reads why", func(t *testing.T) {
		d := &desk{err: core.NoSubtask("a")}
		_, err := tooltest.Call(t, named(t, d, "send_to_subtask"), tool.Place{Root: t.TempDir()}, `{"subtask_id":"a","message":"x"}`)
		if failed, ok := errors.AsType[*tool.Error](err); !ok || !failed.NotExecuted || failed.Message != "This session has no sub-task a." {
			t.Errorf("%v", err)
		}
	})
}

func TestAWaitThatIsStopped(t *testing.T) {
	prepared, err := tooltest.Prepare(t, named(t, &desk{}, event.WaitSubtasks), tool.Place{Root: t.TempDir()}, `{"subtask_ids":["a","b"]}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := prepared.Execute(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestCaps(t *testing.T) {
	got, err := subtask.CapsOf(map[string]json.RawMessage{"depth": json.RawMessage("1"), "tokens": json.RawMessage("1e6")})
	want := core.DefaultTaskCaps()
	want.Depth, want.Tokens = 1, 1_000_000
	if got != want || err != nil {
		t.Errorf("%+v %v", got, err)
	}
	if err := subtask.Fields().Verify(); err != nil {
		t.Error(err)
	}
	if _, err := subtask.CapsOf(map[string]json.RawMessage{"depth": json.RawMessage(`"x"`)}); err == nil {
		t.Error("a word is no depth")
	}
}
