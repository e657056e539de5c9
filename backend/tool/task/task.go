// Package task is the tools with which she looks after what she has running in the background. It
// owns what the model reads of a task; where tasks are is given to it. They reach only the tasks of
// the session they are called in, and ask nobody: what they end she has started herself.
package task

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"aalis/backend/tool"
)

//go:embed read_task.md
var readWords string

//go:embed stop_task.md
var stopWords string

// Seen is a task as she is shown it.
type Seen struct {
	State   string // in words: "running for 12 s", "completed, exit code 0"
	Printed string // the end of its output
	Cut     bool   // there was more before
}

// Of does something with the task of a call's session that has the id, and gives how it stands then.
type Of func(ctx context.Context, call tool.Call, id string) (Seen, error)

type params struct {
	TaskID string `json:"task_id" jsonschema:"minLength=1" jsonschema_description:"The task, as the result of the call that was moved named it."`
}

// Read shows a task.
func Read(look Of) tool.Definition { return define("read_task", readWords, look) }

// Stop ends a task. It counts as reading: it changes nothing but what was approved when it began.
func Stop(end Of) tool.Definition { return define("stop_task", stopWords, end) }

func define(name, words string, of Of) tool.Definition {
	return tool.Define(tool.Definition{
		Name: name, Description: words, Effect: tool.Read, Example: json.RawMessage(`{"task_id":"01975d2e-0000-7000-8000-000000000000"}`),
	}, func(_ context.Context, call tool.Call, p params) (tool.Prepared, error) {
		return tool.Prepared{Execute: func(ctx context.Context, _ tool.Output) (tool.Result, error) {
			seen, err := of(ctx, call, p.TaskID)
			if err != nil {
				return tool.Result{}, tool.Refuse(tool.Failed, "%w", err)
			}
			text, truncated := tool.Truncate(seen.text())
			return tool.Result{Text: text, Truncated: truncated || seen.Cut}, nil
		}}, nil
	})
}

func (s Seen) text() string {
	switch {
	case s.Printed == "":
		return fmt.Sprintf("[%s; no output is kept]", s.State)
	case s.Cut:
		return fmt.Sprintf("[%s; what it printed before this is no longer kept]\n%s", s.State, s.Printed)
	}
	return fmt.Sprintf("[%s]\n%s", s.State, s.Printed)
}
