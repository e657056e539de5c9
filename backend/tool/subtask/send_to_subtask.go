package subtask

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"aalis/backend/tool"
)

//go:embed send_to_subtask.md
var sendWords string

type sendParams struct {
	ID      string `json:"subtask_id" jsonschema:"minLength=1" jsonschema_description:"The sub-task, as create_subtask named it."`
	Message string `json:"message" jsonschema:"minLength=1,maxLength=100000" jsonschema_description:"What to tell it."`
}

func send(d Desk) tool.Definition {
	return tool.Define(tool.Definition{
		Name: "send_to_subtask", Description: sendWords, Effect: tool.Read, Example: json.RawMessage(`{"subtask_id":` + example + `,"message":"Leave out the archive folder."}`),
	}, func(_ context.Context, call tool.Call, p sendParams) (tool.Prepared, error) {
		if strings.TrimSpace(p.Message) == "" {
			return tool.Prepared{}, tool.Refuse(tool.InvalidArgs, `"message" is blank`)
		}
		return does(func(ctx context.Context) (any, error) {
			told, err := d.Send(ctx, call, p.ID, p.Message)
			return shown{seen: seeing(told), Message: "It has been told. You are told when it has ended."}, err
		}), nil
	})
}
