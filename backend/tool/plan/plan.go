// Package plan is the tool with which she keeps her to-do list. It owns the form of a plan and what
// the model reads back; where the plan is kept is given to it. It touches no file and asks nobody:
// a plan changes nothing outside the session.
package plan

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"aalis/backend/event"
	"aalis/backend/tool"
)

//go:embed update_plan.md
var description string

// Keep stores the plan of the session a call belongs to; none clears it.
type Keep func(ctx context.Context, call tool.Call, entries []event.PlanEntry) error

type entry struct {
	Title  string `json:"title" jsonschema:"minLength=1,maxLength=120" jsonschema_description:"What is to be done, in a few words."`
	Status string `json:"status" jsonschema:"enum=not-started,enum=in-progress,enum=completed" jsonschema_description:"How far it is."`
}

type params struct {
	Entries []entry `json:"entries" jsonschema:"maxItems=50" jsonschema_description:"The whole plan, in order."`
}

// Update replaces the plan.
func Update(keep Keep) tool.Definition {
	return tool.Define(tool.Definition{
		Name: "update_plan", Description: description, Effect: tool.Read, Harmless: true,
		Example: json.RawMessage(`{"entries":[{"title":"Read the code","status":"completed"},{"title":"Write the test","status":"in-progress"}]}`),
	}, func(_ context.Context, call tool.Call, p params) (tool.Prepared, error) {
		entries := make([]event.PlanEntry, 0, len(p.Entries))
		for i, e := range p.Entries {
			title := strings.TrimSpace(e.Title)
			if title == "" {
				return tool.Prepared{}, tool.Refuse(tool.InvalidArgs, "entries[%d].title is blank", i)
			}
			entries = append(entries, event.PlanEntry{ID: i + 1, Title: title, Status: e.Status})
		}
		return tool.Prepared{Execute: func(ctx context.Context, _ tool.Output) (tool.Result, error) {
			if err := keep(ctx, call, entries); err != nil {
				return tool.Result{}, tool.Fail(tool.Failed, "the plan could not be kept: %w", err)
			}
			return tool.Result{Text: told(entries)}, nil
		}}, nil
	})
}

// told is what the model reads back: how far it has come, so that it need not count.
func told(entries []event.PlanEntry) string {
	if len(entries) == 0 {
		return "The plan is empty now."
	}
	done := 0
	for _, e := range entries {
		if e.Status == "completed" {
			done++
		}
	}
	return fmt.Sprintf("The plan has %d entries, %d completed.", len(entries), done)
}
