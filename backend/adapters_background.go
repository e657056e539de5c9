package backend

import (
	"context"
	"fmt"
	"time"

	"aalis/backend/background"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/tool"
	"aalis/backend/tool/task"
	"aalis/backend/turn"
	"aalis/backend/wire/session"
)

// tasks lets turns, clients and her reach the registry of background tasks.
type tasks struct{ *background.Registry }

// work does the work of a turn's call that may go on without the turn.
func (t tasks) work(ctx context.Context, w turn.Work) (engine.ToolResult, error) {
	got, err := t.Conduct(ctx, background.Work{
		Turn: w.Turn, Call: w.CallID, Tool: w.Tool, AtOnce: w.AtOnce, Started: w.Started, Show: w.Show,
		Do: func(ctx context.Context, out func(string)) background.Result {
			r := w.Do(ctx, out)
			return background.Result{Status: string(r.Status), Text: r.Text, ExitCode: r.ExitCode, Truncated: r.Truncated, NotExecuted: r.NotExecuted}
		},
	})
	return engine.ToolResult{
		Status: engine.ToolStatus(got.Status), Text: got.Text, ExitCode: got.ExitCode, Truncated: got.Truncated, NotExecuted: got.NotExecuted, TaskID: got.TaskID,
	}, err
}

// Output gives a client what a task has printed.
func (t tasks) Output(ctx context.Context, p session.BackgroundOutputParams) (session.BackgroundOutputResult, error) {
	printed, end, truncated, err := t.Registry.Output(ctx, p.TaskID, p.After)
	return session.BackgroundOutputResult{Text: printed, End: end, Truncated: truncated}, err
}

// look gives her what a task of her session is doing.
func (t tasks) look(ctx context.Context, call tool.Call, id string) (task.Seen, error) {
	row, err := t.Task(ctx, call.SessionID, id)
	if err != nil {
		return task.Seen{}, err
	}
	printed, _, cut, err := t.Registry.Output(ctx, id, 0)
	seen := task.Seen{State: row.Status, Printed: printed, Cut: cut}
	switch {
	case row.Status == event.TaskRunning:
		seen.State = fmt.Sprintf("running for %d s", int(time.Since(time.UnixMilli(row.StartedAt)).Seconds()))
	case row.ExitCode != nil:
		seen.State += fmt.Sprintf(", exit code %d", *row.ExitCode)
	}
	return seen, err
}

// end stops a task of her session for her.
func (t tasks) end(ctx context.Context, call tool.Call, id string) (task.Seen, error) {
	if _, err := t.Task(ctx, call.SessionID, id); err != nil {
		return task.Seen{}, err
	}
	if err := t.Stop(ctx, id); err != nil {
		return task.Seen{}, err
	}
	return t.look(ctx, call, id)
}
