package session

import (
	"bytes"
	"encoding/json"

	"aalis/backend/event"
)

// toolEvent gives what an event does to the card of its call.
func (d *drawing) toolEvent(e event.Event) ([]itemPush, error) {
	switch p := e.Payload.(type) {
	case event.Proposal:
		return one(started, proposed(e.Turn, p)), nil
	case event.Call:
		d.calls[e.ID] = e
		return one(started, d.card(e, p.CallID, &event.Card{Tool: p.Tool, Args: p.Args, At: p.ProposedAt, Rule: p.Rule}, e.At, "")), nil
	case event.Action:
		// What was refused at launch is shown with its settlement at once (Spec SP-TOOL-19).
		if p.Refused || p.Card == nil {
			return nil, nil
		}
		return d.again(e, e.Parent, p.CallID, p.Card)
	case event.Resolution:
		if p.Card == nil {
			return nil, nil
		}
		call, err := d.callOf(e)
		if err != nil {
			return nil, err
		}
		return d.again(e, call.ID, p.CallID, p.Card)
	case event.Result:
		return d.result(e, p)
	}
	return nil, nil
}

// proposed draws a card whose arguments are still being written (Spec SP-TOOL-05).
func proposed(turn string, p event.Proposal) *ToolCallItem {
	return &ToolCallItem{Kind: KindToolCall, ItemBase: ItemBase{ItemID: p.CallID, At: p.At, TurnID: turn}, Tool: p.Tool, Status: CallGenerating}
}

// again draws a running card once more, with what it has printed (Spec SP-TOOL-17, -18, decisions D10).
func (d *drawing) again(e event.Event, called, callID string, c *event.Card) ([]itemPush, error) {
	call, err := d.call(called)
	if err != nil {
		return nil, err
	}
	output, err := d.output(call, e.Seq)
	return one(started, d.card(e, callID, c, call.At, output)), err
}

// result draws a finished card. All of it but the output is in the event (Spec SP-REFR-03, -04).
func (d *drawing) result(e event.Event, p event.Result) ([]itemPush, error) {
	call, err := d.call(e.Parent)
	if err != nil {
		return nil, err
	}
	c := p.Card
	if c == nil {
		made, _ := call.Payload.(event.Call)
		c = &event.Card{Tool: made.Tool, Args: made.Args, At: made.ProposedAt, Rule: made.Rule}
	}
	output, err := d.output(call, e.Seq)
	if err != nil {
		return nil, err
	}
	item := d.card(e, p.CallID, c, call.At, output)
	item.Display = d.display(c.Tool, c.Args, &CallEnd{Text: p.Text, ExitCode: p.ExitCode})
	item.Status, item.Result, item.DurationMs, item.TaskID = statusOf(p, item.Display), &p.Text, &p.DurationMS, p.TaskID
	if p.Sent && d.tx != nil { // Spec SP-TOOL-22
		sent, _, err := d.tx.Delivery(e.Parent)
		if err != nil {
			return nil, err
		}
		item.SentToRoom = sent.State == event.DeliveryAccepted
	}
	return one(completed, item), nil
}

// card draws a running card.
func (d *drawing) card(e event.Event, callID string, c *event.Card, calledAt int64, output string) *ToolCallItem {
	item := &ToolCallItem{
		Kind: KindToolCall, ItemBase: ItemBase{ItemID: callID, At: c.At, TurnID: e.Turn},
		Tool: c.Tool, Args: argsOf(c.Args), Status: CallRunning, Output: output, StartedAt: calledAt,
		Display: d.display(c.Tool, c.Args, nil), ApprovalID: c.Approval,
	}
	if c.Settlement != nil {
		s := settlementOf(*c.Settlement)
		item.Settlement = &s
	}
	if r := c.Rule; r != nil {
		item.Ext = &ToolCallExt{Rule: &AppliedRule{Verdict: RuleVerdict(r.Verdict), Text: r.Text}}
	}
	return item
}

// argsOf passes arguments on as they are. What a model wrote instead of an object is in the error
// that it was given.
func argsOf(raw json.RawMessage) Object {
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		return Object(trimmed)
	}
	return nil
}

// statusOf says how a card ends (Spec SP-TOOL-07 to -11, -20, -21). Whether a call that a crash cut
// off took effect is unknown; it is shown as stopped (decisions H17).
func statusOf(p event.Result, display ToolDisplay) CallStatus {
	switch {
	case p.Status == event.ResultDenied:
		return CallDenied
	case p.Status == event.ResultCancelled, p.ErrorKind == "unknown":
		return CallAborted
	case p.Status != event.ResultSucceeded, exitedBadly(p, display), saysError(p.Text):
		return CallFailed
	}
	return CallCompleted
}

func exitedBadly(p event.Result, display ToolDisplay) bool {
	if command, ok := display.(*CommandDisplay); ok && command.ExitCode != nil {
		return *command.ExitCode != 0
	}
	return p.ExitCode != nil && *p.ExitCode != 0
}

// saysError reports whether a result is a JSON object with an error in it. One that is null, false
// or empty says that there was none.
func saysError(result string) bool {
	if !bytes.HasPrefix(bytes.TrimLeft([]byte(result[:min(len(result), 64)]), " \t\r\n"), []byte("{")) {
		return false
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(result), &object) != nil {
		return false
	}
	switch string(object["error"]) {
	case "", "null", "false", `""`, "[]", "{}":
		return false
	}
	return true
}

// call finds the event of a call.
func (d *drawing) call(id string) (event.Event, error) {
	if e, known := d.calls[id]; known {
		return e, nil
	}
	e, _, err := d.tx.Event(id)
	if err == nil {
		d.calls[id] = e
	}
	return e, err
}

// callOf finds the call that a settlement is about; between them stands the action.
func (d *drawing) callOf(resolution event.Event) (event.Event, error) {
	action, _, err := d.tx.Event(resolution.Parent)
	if err != nil {
		return action, err
	}
	return d.call(action.Parent)
}

// output is what a call had printed when an event came.
func (d *drawing) output(call event.Event, below int64) (string, error) {
	if !d.outputs || call.ID == "" {
		return "", nil
	}
	return d.tx.Text(d.sid, call.Seq, below)
}
