package subtask

import (
	"context"
	_ "embed"
	"encoding/json"

	"aalis/backend/tool"
)

//go:embed stop_subtask.md
var stopWords string

func stop(d Desk) tool.Definition {
	return tool.Define(tool.Definition{
		Name: "stop_subtask", Description: stopWords, Effect: tool.Read, Example: json.RawMessage(`{"subtask_id":` + example + `}`),
	}, func(_ context.Context, call tool.Call, p oneParams) (tool.Prepared, error) {
		return does(func(ctx context.Context) (any, error) {
			now, err := d.Stop(ctx, call, p.ID)
			return seeing(now), err
		}), nil
	})
}
