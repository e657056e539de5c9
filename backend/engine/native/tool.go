package native

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"aalis/backend/engine"
	"aalis/backend/rule"
	"aalis/backend/tool"
)

const (
	// stopWithin is how long a stopped tool may take to end, as tool.Prepared promises. A tool that takes longer breaks its promise and is left behind.
	stopWithin = 2 * time.Second
	// maxRawArgs bounds how much of arguments that are no JSON is kept, in bytes.
	maxRawArgs = 16 << 10
)

// tool runs one call to its result and gives it as the model will read it. An error means that the
// turn is over; the call is then completed by package turn.
func (r *run) tool(ctx context.Context, step int, c *proposed) (engine.Entry, error) {
	args, bad := arguments(c.args.String())
	entry := engine.Entry{Kind: engine.EntryTool, TurnID: r.turn.TurnID, Step: step, CallID: c.id, Tool: c.name, Args: args}
	effect := string(tool.Read) // nothing a tool that does not exist could change
	if def, known := r.engine.tools.Get(c.name); known {
		effect = string(def.Effect)
	}
	start := time.Now() // the wait for an approval counts (Spec decisions E4)
	judged, unsettled := r.judge(ctx, c.name, args)
	if err := r.host.CallTool(ctx, engine.ToolCall{CallID: c.id, Name: c.name, Args: args, Effect: effect, Step: step, Rule: judged.shown()}); err != nil {
		return entry, fmt.Errorf("calling tool: %w", err)
	}
	var result engine.ToolResult
	var err error
	if unsettled != nil {
		result, err = r.broken(ctx, c, unsettled)
	} else {
		result, err = r.outcome(ctx, c, args, bad, judged)
	}
	if err != nil {
		return entry, err
	}
	if result.TaskID == "" { // else the call is completed already
		result.CallID, result.DurationMS = c.id, time.Since(start).Milliseconds()
		if err := r.host.CompleteTool(ctx, result); err != nil {
			return entry, fmt.Errorf("completing tool call: %w", err)
		}
	}
	entry.Result = result.Text
	return entry, nil
}

// arguments gives the call's arguments as an object. Those that are none are kept under "_raw", so
// that the card and the model can show what was written, and bad says what is wrong with them.
// Spec SP-TOOL-15.
func arguments(written string) (args json.RawMessage, bad string) {
	trimmed := strings.TrimSpace(written)
	if trimmed == "" || trimmed == "null" {
		return json.RawMessage("{}"), ""
	}
	if trimmed[0] == '{' && json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed), ""
	}
	bad = "The arguments are not a JSON object"
	var into map[string]json.RawMessage
	if err := json.Unmarshal([]byte(trimmed), &into); err != nil {
		bad += " (" + err.Error() + ")"
	}
	if len(written) > maxRawArgs {
		written = strings.ToValidUTF8(written[:maxRawArgs], "")
	}
	args, _ = json.Marshal(map[string]string{"_raw": written}) // a string always encodes
	return args, bad + ". Nothing was run. Call the tool again with one complete JSON object."
}

// outcome prepares, asks and runs. Only a stop is an error.
func (r *run) outcome(ctx context.Context, c *proposed, args json.RawMessage, bad string, judged judgement) (result engine.ToolResult, err error) {
	if bad != "" {
		return engine.ToolResult{Status: engine.ToolFailed, Text: bad, NotExecuted: true}, nil
	}
	if !r.engine.offers(judged.now, c.name) {
		return engine.ToolResult{Status: engine.ToolFailed, Text: "Not run: the owner has switched " + c.name + " off here. Say what you wanted to do.", NotExecuted: true}, nil
	}
	if r.turn.Place.None && r.engine.changes(c.name) {
		return engine.ToolResult{Status: engine.ToolDenied, Text: "Not run: this conversation belongs to no project, and " + c.name + " can change things. Say what you wanted to do.", NotExecuted: true, Forbidden: true}, nil
	}
	prepared, err := r.engine.tools.Prepare(ctx, c.name, tool.Call{
		SessionID: r.turn.SessionID, TurnID: r.turn.TurnID, CallID: c.id, Args: args,
		Place: tool.Place{Key: r.turn.Place.Key, Root: r.turn.Place.Root},
	})
	if err != nil {
		return r.broken(ctx, c, err)
	}
	if judged.Verdict == rule.Deny {
		return engine.ToolResult{Status: engine.ToolDenied, Text: "Not run: a rule of the owner's forbids it (" + judged.Rule + "). Do not try the same by another way; say what you wanted to do.", NotExecuted: true}, nil
	}
	if judged.asks(prepared) || r.turn.Guests && !r.engine.harmless(c.name) {
		denied, err := r.approve(ctx, c, prepared.Facts)
		if err != nil || denied != nil {
			return deref(denied), err
		}
	}
	if prepared.Anywhere || len(prepared.Touches) > 0 {
		guarded, err := r.host.Guard(ctx, engine.Guard{CallID: c.id, Paths: prepared.Touches, Anywhere: prepared.Anywhere})
		if err != nil {
			return engine.ToolResult{}, fmt.Errorf("keeping what the call may change: %w", err)
		}
		defer func() { guarded(result.TaskID != "") }()
	}
	if prepared.Move != nil {
		result, err = r.work(ctx, c, prepared.Move)
		if !errors.Is(err, engine.ErrNoBackground) {
			return result, err
		}
	}
	return r.execute(ctx, c, prepared)
}

// harmless reports whether a tool may be called for anybody.
func (e *Engine) harmless(name string) bool {
	def, known := e.tools.Get(name)
	return known && def.Harmless
}

// changes reports whether a tool can change anything but what belongs to the conversation.
func (e *Engine) changes(name string) bool {
	def, known := e.tools.Get(name)
	return known && def.Effect == tool.Write && !def.Harmless
}

// work lets the host run the call, which may move to the background.
func (r *run) work(ctx context.Context, c *proposed, move *tool.Move) (engine.ToolResult, error) {
	result, err := r.host.Work(ctx, engine.Work{
		CallID: c.id, Tool: c.name, AtOnce: move.AtOnce, Started: time.Now(),
		Do: func(ctx context.Context, out func(string)) engine.ToolResult {
			got, err := move.Execute(ctx, out)
			if err != nil {
				return r.engine.failed(c.name, err)
			}
			return completed(got)
		},
	})
	if err != nil {
		return engine.ToolResult{}, fmt.Errorf("working: %w", err)
	}
	return result, nil
}

func completed(got tool.Result) engine.ToolResult {
	return engine.ToolResult{Status: status(got), Text: got.Text, ExitCode: got.ExitCode, Truncated: got.Truncated}
}

func deref(r *engine.ToolResult) engine.ToolResult {
	if r == nil {
		return engine.ToolResult{}
	}
	return *r
}

// approve asks the owner; denied is nil when the call may run.
func (r *run) approve(ctx context.Context, c *proposed, facts tool.Facts) (denied *engine.ToolResult, err error) {
	raw, err := json.Marshal(facts)
	if err != nil {
		return nil, fmt.Errorf("encoding facts: %w", err)
	}
	d, err := r.host.Approve(ctx, engine.ApprovalRequest{CallID: c.id, Tool: c.name, Facts: raw})
	if err != nil {
		return nil, fmt.Errorf("asking for approval: %w", err)
	}
	if d.Approved {
		return nil, nil
	}
	return &engine.ToolResult{Status: engine.ToolDenied, Text: refusal(d), NotExecuted: true}, nil
}

// refusal tells the model why a call was not run.
func refusal(d engine.Decision) string {
	switch d.Source {
	case "absent":
		return "Not run: this needs the owner's approval, and nobody who could give it is present."
	case "timeout":
		return "Not run: this needs the owner's approval, and nobody answered in time."
	case "ineligible":
		return "Not run: this needs the owner's approval, and it may not be asked for here."
	case "rate-limit":
		return "Not run: too many approvals are being asked for. Do not ask for more; say what you need."
	case "turn-ended", "shutdown":
		return "Not run: the question was withdrawn before it was answered."
	}
	if note := strings.TrimSpace(d.Note); note != "" {
		return "Not run: the owner denied it and says: " + note
	}
	return "Not run: the owner denied it. Do not try the same by another way; ask what they want instead."
}

// execute runs the prepared call in a goroutine of its own and waits for it, but after a stop no
// longer than stopWithin.
func (r *run) execute(ctx context.Context, c *proposed, prepared tool.Prepared) (engine.ToolResult, error) {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out := func(piece string) {
		if err := r.host.Text(c.id, piece); errors.Is(err, engine.ErrStopped) {
			stop(engine.ErrStopped)
		}
	}
	type returned struct {
		result tool.Result
		err    error
	}
	done := make(chan returned, 1)
	var worker sync.WaitGroup // not waited for when the tool is left behind
	worker.Go(func() {
		result, err := prepared.Execute(running, out)
		done <- returned{result, err}
	})
	var got returned
	select {
	case got = <-done:
	case <-running.Done():
		timer := time.NewTimer(stopWithin)
		defer timer.Stop()
		select {
		case got = <-done:
		case <-timer.C:
			r.engine.log.Error("tool does not stop and is left behind", "tool", c.name)
		}
	}
	if err := ctx.Err(); err != nil {
		return engine.ToolResult{}, err
	}
	if running.Err() != nil {
		return engine.ToolResult{}, engine.ErrStopped
	}
	if got.err != nil {
		return r.broken(ctx, c, got.err)
	}
	return completed(got.result), nil
}

// broken makes the failure of a call what the model reads.
func (r *run) broken(ctx context.Context, c *proposed, err error) (engine.ToolResult, error) {
	if ctx.Err() != nil {
		return engine.ToolResult{}, ctx.Err()
	}
	return r.engine.failed(c.name, err), nil
}

// failed makes a tool's error what the model reads.
func (e *Engine) failed(name string, err error) engine.ToolResult {
	failed := engine.ToolResult{Status: engine.ToolFailed, Text: err.Error()}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		failed.NotExecuted = e.NotExecuted
		if e.Code == tool.TimedOut {
			failed.Status = engine.ToolTimedOut
		}
	}
	if p, ok := errors.AsType[*tool.PanicError](err); ok {
		e.log.Error("tool panicked", "tool", name, "error", p)
	}
	return failed
}

// status tells a failure that a tool reports by its result. Spec SP-TOOL-08: an exit code other than
// 0, or a JSON object with an error.
func status(result tool.Result) engine.ToolStatus {
	if result.ExitCode != nil && *result.ExitCode != 0 {
		return engine.ToolFailed
	}
	if strings.HasPrefix(strings.TrimSpace(result.Text), "{") {
		var object struct {
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal([]byte(result.Text), &object) == nil {
			switch string(bytes.TrimSpace(object.Error)) {
			case "", "null", `""`:
			default:
				return engine.ToolFailed
			}
		}
	}
	return engine.ToolSucceeded
}
