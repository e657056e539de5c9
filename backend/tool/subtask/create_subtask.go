package subtask

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"aalis/backend/tool"
)

//go:embed create_subtask.md
var createWords string

type createParams struct {
	Task     string `json:"task" jsonschema:"minLength=1,maxLength=100000" jsonschema_description:"What it is to do, and what its last message is to contain. It knows nothing else."`
	Name     string `json:"name,omitempty" jsonschema:"maxLength=120" jsonschema_description:"A few words that name it for the owner. Default: the beginning of the task."`
	Provider string `json:"provider,omitempty" jsonschema_description:"The provider of the model, where model does not name it."`
	Model    string `json:"model,omitempty" jsonschema_description:"The model it works with, as provider/model. Default: as here."`
}

func create(d Desk) tool.Definition {
	return tool.Define(tool.Definition{
		Name: "create_subtask", Description: createWords, Effect: tool.Read,
		Example: json.RawMessage(`{"task":"Read every file below docs and list the links that lead nowhere, one a line: file, link.","name":"Dead links"}`),
	}, func(_ context.Context, call tool.Call, p createParams) (tool.Prepared, error) {
		if strings.TrimSpace(p.Task) == "" {
			return tool.Prepared{}, tool.Refuse(tool.InvalidArgs, `"task" is blank`)
		}
		model := p.Model
		switch {
		case p.Provider != "" && model == "":
			return tool.Prepared{}, tool.Refuse(tool.InvalidArgs, `"provider" without "model" names no model`)
		case p.Provider != "" && !strings.HasPrefix(model, p.Provider+"/"):
			model = p.Provider + "/" + model
		}
		return does(func(ctx context.Context) (any, error) {
			made, err := d.Create(ctx, call, Order{Task: p.Task, Name: strings.TrimSpace(p.Name), Model: model})
			return shown{seen: seeing(made), Message: "It works now. You are told when it has ended."}, err
		}), nil
	})
}
