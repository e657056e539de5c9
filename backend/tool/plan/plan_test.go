package plan_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/event"
	"aalis/backend/tool"
	"aalis/backend/tool/plan"
	"aalis/backend/tool/tooltest"
)

func TestUpdatePlan(t *testing.T) {
	none := func(context.Context, tool.Call, []event.PlanEntry) error { return nil }
	tooltest.Run(t, tooltest.Case{
		Tool: plan.Update(none),
		Good: `{"entries":[{"title":"a","status":"in-progress"}]}`,
		Bad:  []string{`{"entries":[{"title":"a","status":"done"}]}`, `{"entries":[{"title":"  ","status":"completed"}]}`, `{"entries":[{"status":"completed"}]}`},
	})
	t.Run("the whole list is kept in order, numbered from 1, titles trimmed", func(t *testing.T) {
		var kept []event.PlanEntry
		var of tool.Call
		def := plan.Update(func(_ context.Context, c tool.Call, e []event.PlanEntry) error { of, kept = c, e; return nil })
		got, err := tooltest.Call(t, def, tool.Place{Root: t.TempDir()}, `{"entries":[{"title":" a ","status":"completed"},{"title":"b","status":"not-started"}]}`)
		if err != nil || got.Text != "The plan has 2 entries, 1 completed." || of.SessionID != "s" || of.TurnID != "t" {
			t.Errorf("%+v %+v %v", got, of, err)
		}
		want := []event.PlanEntry{{ID: 1, Title: "a", Status: "completed"}, {ID: 2, Title: "b", Status: "not-started"}}
		if diff := cmp.Diff(want, kept); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("one that cannot be kept is a failure of the call", func(t *testing.T) {
		broken := errors.New("full")
		def := plan.Update(func(context.Context, tool.Call, []event.PlanEntry) error { return broken })
		_, err := tooltest.Call(t, def, tool.Place{Root: t.TempDir()}, `{"entries":[]}`)
		if failed, ok := errors.AsType[*tool.Error](err); !ok || failed.NotExecuted || !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
	})
}
