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
	"time"

	"aalis/backend/core"
	"aalis/backend/fault"
	"aalis/backend/text"
	"aalis/backend/tool"
)

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

type oneParams struct {
	ID string `json:"subtask_id" jsonschema:"minLength=1" jsonschema_description:"The sub-task, as create_subtask named it."`
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
