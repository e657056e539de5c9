package core

import (
	"aalis/backend/event"
	"aalis/backend/store"
)

// ending says how a turn ends.
type ending struct {
	outcome string
	cause   string
	source  string // of actions that are cancelled with it; "" is turn-ended
	failure *event.Failure
	limit   bool
}

// closeTurn ends a turn whatever is still open in it: messages and thinking keep what was streamed,
// actions are cancelled, calls get their result. Kernel 9, invariants I3 to I5.
func (w *write) closeTurn(t store.Turn, e ending) error {
	events, err := w.TurnEvents(t)
	if err != nil {
		return err
	}
	if err := w.closeItems(t, e, events); err != nil {
		return err
	}
	if err := w.cancelActions(t, event.StateCancelled, orElse(e.source, event.SourceTurnEnded)); err != nil {
		return err
	}
	done := childrenOf(events, event.ToolResult)
	for _, ev := range events {
		if call, ok := ev.Payload.(event.Call); ok && !done[ev.ID] {
			if err := w.closeCall(t, e, ev, call); err != nil {
				return err
			}
		}
	}
	return w.endTurn(t, e)
}

func childrenOf(events []event.Event, kind event.Kind) map[string]bool {
	m := map[string]bool{}
	for _, e := range events {
		if e.Kind == kind {
			m[e.Parent] = true
		}
	}
	return m
}

func (w *write) closeItems(t store.Turn, e ending, events []event.Event) error {
	said, thought := childrenOf(events, event.AgentMessage), childrenOf(events, event.AgentReasoning)
	for _, ev := range events {
		var d event.Draft
		var err error
		switch p := ev.Payload.(type) {
		case event.MessageStart:
			if said[ev.ID] {
				continue
			}
			finish := "aborted"
			if e.outcome == event.Errored {
				finish = "error"
			}
			d, err = w.messageEnd(t, event.Message{MessageID: p.MessageID, Aborted: true, Finish: finish}, false)
		case event.ReasoningStart:
			if thought[ev.ID] {
				continue
			}
			d, err = w.reasoningEnd(t, p.ItemID)
		default:
			continue
		}
		if err != nil {
			return err
		}
		if _, err := w.append(t.SID, d); err != nil {
			return err
		}
	}
	return nil
}

// closeCall gives an unfinished call its result. A call whose approval was cancelled by stopping is
// denied (spec/README 5); one that a crash cut off is unknown, shown as aborted (decisions H17).
func (w *write) closeCall(t store.Turn, e ending, called event.Event, call event.Call) error {
	card, err := w.card(called, call)
	if err != nil {
		return err
	}
	r := event.Result{CallID: call.CallID, Status: event.ResultCancelled, ErrorKind: "cancelled", Text: "The call was stopped before it finished.", Card: card, DurationMS: w.Now - called.At}
	switch {
	case e.cause == event.CauseInterrupted:
		r.Status, r.ErrorKind, r.Text = event.ResultFailed, "unknown", "Aalis ended while this call was running; whether it took effect is unknown."
		r.NotExecuted = card.Settlement != nil && card.Settlement.State == event.StateCancelled
	case card.Settlement != nil && card.Settlement.State != event.StateApproved:
		r.Status, r.ErrorKind, r.NotExecuted = event.ResultDenied, "rejected", true
		r.Text = "The call was not approved: the turn was stopped."
	}
	return w.finishCall(t, called, call, r)
}

// endTurn appends the end of a turn, with its error before it and what was proposed but never
// called.
func (w *write) endTurn(t store.Turn, e ending) error {
	events, err := w.TurnEvents(t)
	if err != nil {
		return err
	}
	end := event.TurnEnd{TurnID: t.ID, Outcome: e.outcome, Cause: e.cause, Source: t.Source, Limit: e.limit, StartedAt: t.StartedAt, Unexecuted: unexecuted(events)}
	if e.failure != nil {
		end.Reason = &e.failure.Message
		if _, err := w.append(t.SID, event.Draft{Turn: t.ID, Parent: t.StartedEvent, Actor: event.System(), Payload: *e.failure, IdemKey: "k:run:" + t.ID + ":error"}); err != nil {
			return err
		}
	}
	status := map[string]string{event.Replied: "DONE", event.Silent: "DONE", event.Aborted: "CANCELED", event.Errored: "FAILED"}[e.outcome]
	_, err = w.append(t.SID, event.Draft{
		Turn: t.ID, Parent: t.StartedEvent, Actor: event.System(), Payload: end, IdemKey: "k:run:" + t.ID + ":status:" + status,
		RejectIfParentHas: []event.Kind{event.TurnEnded},
	})
	return err
}

func unexecuted(events []event.Event) []event.Proposal {
	called := map[string]bool{}
	for _, e := range events {
		if c, ok := e.Payload.(event.Call); ok {
			called[c.CallID] = true
		}
	}
	var left []event.Proposal
	for _, e := range events {
		if p, ok := e.Payload.(event.Proposal); ok && !called[p.CallID] {
			left = append(left, p)
		}
	}
	return left
}
