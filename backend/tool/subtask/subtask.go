// Package subtask is the tools with which she hands work to sub-sessions of her own and looks after
// them. It owns what the model reads of a sub-task and how a wait goes on; whether one may be made, what
// ends it and who is told are decided by commands of core, and its turns are conducted like any other.
// They count as reading and ask nobody: outside the program nothing changes but by what a sub-task does,
// and that asks for itself.
//
//	All(desk)          the tools, over what does it
//	Over(options)      the desk of the program: commands and rows
package subtask

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/text"
	"aalis/backend/tool"
)

//go:embed create_subtask.md
var createWords string

//go:embed send_to_subtask.md
var sendWords string

//go:embed check_subtask.md
var checkWords string

//go:embed wait_subtasks.md
var waitWords string

//go:embed stop_subtask.md
var stopWords string

//go:embed delete_subtask.md
var deleteWords string

// MaxWait bounds one wait (domain 7.2).
const MaxWait = 300 * time.Second

// Order is what a sub-task is made for. Name and Model may be "".
type Order struct{ Task, Name, Model string }

// Desk does what the tools ask for, on behalf of a call.
type Desk interface {
	Create(ctx context.Context, call tool.Call, o Order) (core.Subtask, error)
	Send(ctx context.Context, call tool.Call, id, message string) (core.Subtask, error)
	Check(ctx context.Context, call tool.Call, ids []string) ([]core.Subtask, error)
	// Wait returns when all have ended, or after the time: then they are as they are.
	Wait(ctx context.Context, call tool.Call, ids []string, within time.Duration) ([]core.Subtask, error)
	Stop(ctx context.Context, call tool.Call, id string) (core.Subtask, error)
	Delete(ctx context.Context, call tool.Call, id string) error
}

// All lists the tools.
func All(d Desk) []tool.Definition {
	return []tool.Definition{create(d), send(d), check(d), wait(d), stop(d), remove(d)}
}

const example = `"01975d2e-0000-7000-8000-000000000000"`

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

type oneParams struct {
	ID string `json:"subtask_id" jsonschema:"minLength=1" jsonschema_description:"The sub-task, as create_subtask named it."`
}

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

func remove(d Desk) tool.Definition {
	return tool.Define(tool.Definition{
		Name: "delete_subtask", Description: deleteWords, Effect: tool.Read, Example: json.RawMessage(`{"subtask_id":` + example + `}`),
	}, func(_ context.Context, call tool.Call, p oneParams) (tool.Prepared, error) {
		return does(func(ctx context.Context) (any, error) {
			return gone{ID: p.ID, Status: "deleted"}, d.Delete(ctx, call, p.ID)
		}), nil
	})
}

// does makes a call of what it does; the model reads the answer as JSON.
func does(what func(ctx context.Context) (any, error)) tool.Prepared {
	return tool.Prepared{Execute: func(ctx context.Context, _ tool.Output) (tool.Result, error) {
		answer, err := what(ctx)
		if cause := context.Cause(ctx); cause != nil {
			return tool.Result{}, cause
		}
		if err != nil {
			return tool.Result{}, &tool.Error{Code: tool.Failed, Message: fault.Of(err).Message.In(text.English), NotExecuted: true, Err: err}
		}
		return result(answer)
	}}
}
