package task_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"aalis/backend/tool"
	"aalis/backend/tool/task"
	"aalis/backend/tool/tooltest"
)

func TestConformance(t *testing.T) {
	good := `{"task_id":"t1"}`
	bad := []string{`{"task_id":""}`, `{}`}
	seen := func(s task.Seen) task.Of {
		return func(context.Context, tool.Call, string) (task.Seen, error) { return s, nil }
	}
	long := seen(task.Seen{State: "running for 3 s", Printed: strings.Repeat("words\n", 20_000)})
	tooltest.Run(t, tooltest.Case{Tool: task.Read(long), Good: good, Bad: bad, Long: good})
	tooltest.Run(t, tooltest.Case{Tool: task.Stop(long), Good: good, Bad: bad, Long: good})
}

func TestWhatSheReads(t *testing.T) {
	for _, c := range []struct {
		name string
		seen task.Seen
		want string
		cut  bool
	}{
		{"the end of what was printed", task.Seen{State: "running for 3 s", Printed: "a\nb\n"}, "[running for 3 s]\na\nb\n", false},
		{"nothing", task.Seen{State: "completed, exit code 0"}, "[completed, exit code 0; no output is kept]", false},
		{"more than is kept", task.Seen{State: "stopped", Printed: "b\n", Cut: true}, "[stopped; what it printed before this is no longer kept]\nb\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := func(_ context.Context, call tool.Call, id string) (task.Seen, error) {
				if call.SessionID != "s" || id != "t1" {
					t.Errorf("asked for %q of %q", id, call.SessionID)
				}
				return c.seen, nil
			}
			got, err := tooltest.Call(t, task.Read(of), tool.Place{Root: t.TempDir()}, `{"task_id":"t1"}`)
			if err != nil || got.Text != c.want || got.Truncated != c.cut {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	t.Run("a task that is not there is a failure, and nothing happened", func(t *testing.T) {
		unknown := errors.New("no such task")
		of := func(context.Context, tool.Call, string) (task.Seen, error) { return task.Seen{}, unknown }
		_, err := tooltest.Call(t, task.Stop(of), tool.Place{Root: t.TempDir()}, `{"task_id":"t1"}`)
		if failed, ok := errors.AsType[*tool.Error](err); !ok || !failed.NotExecuted || !errors.Is(err, unknown) {
			t.Errorf("%v", err)
		}
	})
}
