package subtask

import (
	"context"
	_ "embed"
	"encoding/json"

	"aalis/backend/tool"
)

//go:embed delete_subtask.md
var deleteWords string

func remove(d Desk) tool.Definition {
	return tool.Define(tool.Definition{
		Name: "delete_subtask", Description: deleteWords, Effect: tool.Read, Example: json.RawMessage(`{"subtask_id":` + example + `}`),
	}, func(_ context.Context, call tool.Call, p oneParams) (tool.Prepared, error) {
		return does(func(ctx context.Context) (any, error) {
			return gone{ID: p.ID, Status: "deleted"}, d.Delete(ctx, call, p.ID)
		}), nil
	})
}
