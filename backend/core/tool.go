package core

import (
	"encoding/json"
	"fmt"

	"aalis/backend/event"
	"aalis/backend/store"
)

// ProposeTool shows a call while its arguments are still written; Receipt.ItemID is the call's id,
// made by us (decisions D7).
type ProposeTool struct {
	Turn string
	Tool string
	Step int
}

func (c ProposeTool) run(w *write) (Receipt, error) {
	id := event.NewID()
	r, err := w.report(c.Turn, "", event.Proposal{CallID: id, Tool: c.Tool, Step: c.Step, At: w.Now})
	r.ItemID = id
	return r, err
}

// CallTool records a call with its arguments.
type CallTool struct {
	Turn   string
	CallID string
	Tool   string
	Args   json.RawMessage
	Effect string // read, write
	Step   int
	Digest string
	Rule   *event.Rule // that decided about it, nil for none
}

func (c CallTool) run(w *write) (Receipt, error) {
	t, err := w.live(c.Turn)
	if err != nil {
		return Receipt{}, err
	}
	call := event.Call{
		CallID: c.CallID, Tool: c.Tool, Capability: c.Tool, Args: c.Args, Digest: c.Digest, Effect: c.Effect, ExecutionID: event.NewID(), Step: c.Step,
		ProposedAt: w.Now, Rule: c.Rule,
	}
	children, err := w.Children(t.SID, t.StartedEvent)
	if err != nil {
		return Receipt{}, err
	}
	for _, e := range children {
		if p, ok := e.Payload.(event.Proposal); ok && p.CallID == c.CallID {
			call.ProposedAt = p.At
		}
	}
	got, err := w.append(t.SID, event.Draft{
		Turn: t.ID, Parent: t.StartedEvent, Actor: event.Agent(), Payload: call, IdemKey: callKey(t.ID, c.CallID),
		RejectIfParentHas: []event.Kind{event.UserInterrupt, event.TurnEnded},
	})
	if err != nil || got[0].Repeated {
		return Receipt{TurnID: t.ID, Repeated: err == nil}, err
	}
	_, err = w.append(t.SID, event.Draft{
		Turn: t.ID, Parent: got[0].ID, Actor: event.System(), Payload: event.Execution{ExecutionID: call.ExecutionID, Status: "accepted"},
	})
	return Receipt{SessionID: got[0].Session, TurnID: t.ID, EventID: got[0].ID, ItemID: c.CallID}, err
}

func callKey(turn, call string) string { return "k:run:" + turn + ":tool:call:" + call }

// called finds the event of a call by its id.
func (w *write) called(t store.Turn, callID string) (event.Event, event.Call, error) {
	e, found, err := w.EventByKey(t.SID, callKey(t.ID, callID))
	if err != nil {
		return e, event.Call{}, err
	}
	call, ok := e.Payload.(event.Call)
	if !found || !ok {
		return e, call, fmt.Errorf("call %s is unknown in turn %s: %w", callID, t.ID, store.ErrInvalid)
	}
	return e, call, nil
}

// card is a tool card as it stands: the call and how its action was decided.
func (w *write) card(called event.Event, call event.Call) (*event.Card, error) {
	card := &event.Card{Tool: call.Tool, Args: call.Args, Step: call.Step, At: call.ProposedAt, Rule: call.Rule}
	children, err := w.Children(called.SID, called.ID)
	if err != nil {
		return nil, err
	}
	for _, e := range children {
		if e.Kind != event.ActionRequested {
			continue
		}
		card.Approval, card.Settlement = e.ID, nil
		answer, found, err := w.Child(called.SID, e.ID, event.ActionResolved)
		if err != nil {
			return nil, err
		}
		if r, ok := answer.Payload.(event.Resolution); found && ok {
			s := r.Settlement
			card.Settlement = &s
		}
	}
	return card, nil
}

// CompleteTool ends a call. A call of an interrupted turn that was not refused ends as cancelled,
// whatever the tool returned. Spec SP-TOOL-09, SP-TOOL-10.
type CompleteTool struct {
	Turn   string
	Result event.Result // Card is filled in
}

func (c CompleteTool) run(w *write) (Receipt, error) {
	t, err := w.Turn(c.Turn)
	if err != nil || t.Status != "running" {
		return Receipt{}, ErrTurnOver
	}
	called, call, err := w.called(t, c.Result.CallID)
	if err != nil {
		return Receipt{}, err
	}
	if _, done, err := w.Child(t.SID, called.ID, event.ToolResult); err != nil || done {
		return Receipt{TurnID: t.ID, Repeated: true}, err
	}
	if c.Result.Card, err = w.card(called, call); err != nil {
		return Receipt{}, err
	}
	if undecided(c.Result.Card) {
		return Receipt{}, fmt.Errorf("call %s still waits for an answer: %w", call.CallID, store.ErrInvalid)
	}
	if t.CancelSeq != 0 && c.Result.Status != event.ResultDenied {
		c.Result.Status, c.Result.ErrorKind, c.Result.ExitCode = event.ResultCancelled, "cancelled", nil
	}
	return Receipt{SessionID: called.Session, TurnID: t.ID, ItemID: call.CallID}, w.finishCall(t, called, call, c.Result)
}

// undecided reports whether a card's approval is still pending.
func undecided(c *event.Card) bool { return c.Approval != "" && c.Settlement == nil }

// finishCall appends the end of a call: its execution and its result in one batch.
func (w *write) finishCall(t store.Turn, called event.Event, call event.Call, r event.Result) error {
	x := event.Execution{ExecutionID: call.ExecutionID, Status: "failed", ErrorKind: r.ErrorKind}
	if r.Status == event.ResultSucceeded {
		x = event.Execution{ExecutionID: call.ExecutionID, Status: "succeeded"}
	}
	var err error
	if _, r.Sent, err = w.Delivery(called.ID); err != nil {
		return err
	}
	_, err = w.append(
		t.SID,
		event.Draft{Turn: t.ID, Parent: called.ID, Actor: event.System(), Payload: x, RejectIfParentHas: []event.Kind{event.ToolResult}},
		event.Draft{
			Turn: t.ID, Parent: called.ID, Actor: event.System(), Payload: r, IdemKey: "k:run:" + t.ID + ":tool:result:" + call.CallID,
			RejectIfParentHas: []event.Kind{event.ToolResult},
		},
	)
	return err
}
