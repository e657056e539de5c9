package subtask

import (
	"context"
	_ "embed"
	"encoding/json"
	"time"

	"aalis/backend/event"
	"aalis/backend/tool"
)

//go:embed wait_subtasks.md
var waitWords string

type waitParams struct {
	IDs            []string `json:"subtask_ids" jsonschema:"minItems=1,maxItems=100" jsonschema_description:"The sub-tasks to wait for."`
	TimeoutSeconds int      `json:"timeout_seconds,omitempty" jsonschema:"minimum=1,maximum=300" jsonschema_description:"Seconds to wait at most. Default: 300."`
}

func wait(d Desk) tool.Definition {
	return tool.Define(tool.Definition{
		Name: event.WaitSubtasks, Description: waitWords, Effect: tool.Read, Movable: true, Example: json.RawMessage(`{"subtask_ids":[` + example + `],"timeout_seconds":120}`),
	}, func(_ context.Context, call tool.Call, p waitParams) (tool.Prepared, error) {
		within := MaxWait
		if p.TimeoutSeconds > 0 {
			within = time.Duration(p.TimeoutSeconds) * time.Second
		}
		prepared := does(func(ctx context.Context) (any, error) {
			all, err := d.Wait(ctx, call, p.IDs, within)
			return list(all, "Not all have ended."), err
		})
		prepared.Move = &tool.Move{Execute: prepared.Execute}
		return prepared, nil
	})
}
