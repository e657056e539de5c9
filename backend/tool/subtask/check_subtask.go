package subtask

import (
	"context"
	_ "embed"
	"encoding/json"

	"aalis/backend/tool"
)

//go:embed check_subtask.md
var checkWords string

type checkParams struct {
	IDs []string `json:"subtask_ids,omitempty" jsonschema:"maxItems=100" jsonschema_description:"The sub-tasks. Default: all of this session."`
}

func check(d Desk) tool.Definition {
	return tool.Define(tool.Definition{
		Name: "check_subtask", Description: checkWords, Effect: tool.Read, Example: json.RawMessage(`{"subtask_ids":[` + example + `]}`),
	}, func(_ context.Context, call tool.Call, p checkParams) (tool.Prepared, error) {
		return does(func(ctx context.Context) (any, error) {
			all, err := d.Check(ctx, call, p.IDs)
			return list(all, ""), err
		}), nil
	})
}
