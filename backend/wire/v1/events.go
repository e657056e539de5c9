package v1

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// projector makes events of rows. Each is a pure function of the log up to its row, so that it is the
// same whenever it is made (Spec V1-092): the language of its sentences is fixed, too.
type projector struct {
	sid    int64
	id     string
	digest func(Args) string

	begun    bool
	title    string
	gate     string
	archived bool
	dead     map[string]bool
	messages map[int64]string // by the number of the event that opened them
}

// language is that of sentences in events, which must be the same at every replay.
const language = text.English

func newProjector(sid int64, id string, digest func(Args) string) *projector {
	return &projector{sid: sid, id: id, digest: digest, messages: make(map[int64]string)}
}

// begin reads what the rows behind after build on.
func (p *projector) begin(tx *store.ReadTx, after int64) error {
	p.begun = true
	created, found, err := tx.EventAt(p.sid, 0)
	if err != nil {
		return err
	}
	if c, ok := created.Payload.(event.Created); found && ok {
		p.title, p.gate = orElse(c.Title, c.Name), "open"
	}
	errReached := errors.New("reached")
	err = tx.Forwards(p.sid, 0, []event.Kind{event.SessionUpdated}, func(e event.Event) error {
		if e.Seq > after {
			return errReached
		}
		if u, ok := e.Payload.(event.Updated); ok {
			p.fold(u)
		}
		return nil
	})
	if errors.Is(err, errReached) {
		err = nil
	}
	return err
}

func (p *projector) fold(u event.Updated) (changed bool) {
	title, status := p.title, p.status()
	if u.Title != nil {
		p.title = *u.Title
	}
	if u.Gate != nil {
		p.gate = *u.Gate
	}
	if u.Archived != nil {
		p.archived = *u.Archived
	}
	return title != p.title || status != p.status()
}

func (p *projector) status() SessionStatus { return statusOf(p.gate, p.archived) }

// statusOf is the word for a session's state; what closes more stands before what closes less.
func statusOf(gate string, archived bool) SessionStatus {
	switch {
	case gate == "closed" || gate == "locked":
		return SessionStatus(gate)
	case archived:
		return "archived"
	}
	return "active"
}

// events makes the events of rows, in order. What was rewound is left out (Spec V1-093).
func (p *projector) events(tx *store.ReadTx, after int64, rows []store.Row) ([]Event, error) {
	if !p.begun {
		if err := p.begin(tx, after); err != nil {
			return nil, err
		}
	}
	var err error
	if p.dead, err = tx.DeadTurns(p.sid); err != nil {
		return nil, err
	}
	var all []Event
	for _, row := range rows {
		made, err := p.row(tx, row)
		if err != nil {
			return nil, fmt.Errorf("showing row %d: %w", row.Seq, err)
		}
		if made != nil && !p.dead[made.RunID] {
			all = append(all, *made)
		}
	}
	return all, nil
}

func (p *projector) row(tx *store.ReadTx, row store.Row) (*Event, error) {
	if row.Event == nil {
		return p.piece(tx, row)
	}
	e := *row.Event
	data, kind, err := p.data(tx, e)
	if err != nil || data == nil {
		return nil, err
	}
	return p.event(kind, e.Seq, e.Turn, e.At, data), nil
}

func (p *projector) event(kind EventType, seq int64, run string, at int64, data any) *Event {
	return &Event{V: EventVersion, Seq: seq, Type: kind, SessionID: p.id, RunID: run, At: stamp(at), Data: data}
}

// stamp is a time as this protocol writes it.
func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// piece is a row of text of hers; thinking and output are not shown here.
func (p *projector) piece(tx *store.ReadTx, row store.Row) (*Event, error) {
	if row.Kind != event.TextDelta || row.Text == "" {
		return nil, nil
	}
	started, _, err := tx.EventAt(p.sid, row.Start)
	if err != nil {
		return nil, err
	}
	id, known := p.messages[row.Start]
	if s, ok := started.Payload.(event.MessageStart); ok && !known {
		id = s.MessageID
		p.messages[row.Start] = id
	}
	if id == "" {
		return nil, nil
	}
	return p.event(MessageDelta, row.Seq, started.Turn, row.At, Delta{MessageID: id, Text: row.Text}), nil
}

// data is what an event of the log says here; nil for nothing.
func (p *projector) data(tx *store.ReadTx, e event.Event) (any, EventType, error) {
	switch d := e.Payload.(type) {
	case event.Input:
		return UserMessage{MessageID: e.ID, Text: d.Text}, MessageUser, nil
	case event.MessageStart:
		p.messages[e.Seq] = d.MessageID
		return nil, "", nil
	case event.Message:
		return Completed{MessageID: d.MessageID, FinishReason: finishOf(d)}, MessageCompleted, nil
	case event.TurnStart:
		return State{RunRunning}, RunState, nil
	case event.Interrupt:
		return State{RunCancelling}, RunState, nil
	case event.TurnEnd:
		return State{endOf(d)}, RunState, nil
	case event.Failure:
		return failureOf(d), Error, nil
	case event.Updated:
		if !p.fold(d) {
			return nil, "", nil
		}
		return Updated{Title: p.title, Status: p.status()}, SessionUpdated, nil
	case event.Rewound:
		return Updated{Title: p.title, Status: p.status(), RewoundRunID: d.Turn}, SessionUpdated, nil
	case event.Cleared:
		return Updated{Title: p.title, Status: p.status(), HistoryAfterSeq: d.Through}, SessionUpdated, nil
	}
	return p.work(tx, e)
}

// work is what an event of a call says here. Arguments go in and only their digest comes out
// (Spec V1-113).
func (p *projector) work(tx *store.ReadTx, e event.Event) (any, EventType, error) {
	switch d := e.Payload.(type) {
	case event.Call:
		return Call{CallID: d.CallID, CapabilityID: d.Capability, ArgsDigest: p.digest(d.Args)}, ToolCall, nil
	case event.Result:
		call, err := callOf(tx, e.Parent)
		return Result{CallID: d.CallID, ExecutionID: call.ExecutionID, Status: resultStatus(d), ErrorKind: resultKind(d)}, ToolResult, err
	case event.Execution:
		call, err := callOf(tx, e.Parent)
		x := Execution{ExecutionID: d.ExecutionID, Status: ExecutionStatus(d.Status), CallID: call.CallID}
		if x.Status == StatusFailed {
			x.ErrorKind = errorKind(d.ErrorKind)
		}
		return x, ExecutionUpdated, err
	case event.Action:
		if d.ActionKind != "tool_approval" {
			return nil, "", nil
		}
		call, err := callOf(tx, e.Parent)
		return p.asked(e, d, call), ApprovalRequested, err
	case event.Resolution:
		return Resolved{ApprovalID: d.ActionID, Decision: decisionOf(d.State)}, ApprovalResolved, nil
	}
	return nil, "", nil
}

func (p *projector) asked(e event.Event, a event.Action, call event.Call) Asked {
	key := text.Key("v1.impact-read")
	if call.Effect == "write" {
		key = "v1.impact-write"
	}
	return Asked{
		ApprovalID: e.ID, CapabilityID: call.Capability, ParamsDigest: p.digest(call.Args),
		ImpactSummary: text.New(key, "capability", call.Capability).In(language),
		Revision:      int64(a.Revision), ExpiresAt: stamp(a.ExpiresAt), ExecutionID: call.ExecutionID, CallID: a.CallID,
	}
}

func callOf(tx *store.ReadTx, id string) (event.Call, error) {
	e, _, err := tx.Event(id)
	call, _ := e.Payload.(event.Call) // one that was erased has only its id
	return call, err
}

func endOf(t event.TurnEnd) Phase {
	if t.Outcome == event.Aborted && t.Cause != event.CauseInterrupted {
		return RunCancelled
	}
	return RunIdle
}

// finishOf is why a message ended. Spec V1-130.
func finishOf(m event.Message) FinishReason {
	switch {
	case m.Finish == "length":
		return "length"
	case m.Finish == "tool-calls" || m.Finish == "tool_calls":
		return "tool-calls"
	case m.Finish == "error":
		return "error"
	case m.Aborted || m.Finish == "cancelled":
		return "cancelled"
	}
	return "stop"
}

func resultStatus(r event.Result) ExecutionStatus {
	switch {
	case r.TaskID != "": // it goes on in the background. Spec V1-134
		return StatusAccepted
	case r.Status == event.ResultSucceeded:
		return StatusSucceeded
	}
	return StatusFailed
}

func resultKind(r event.Result) ErrorKind {
	if resultStatus(r) != StatusFailed {
		return ""
	}
	return errorKind(r.ErrorKind)
}

// errorKind is a kind of failure in the words of this protocol. Spec V1-138.
func errorKind(kind string) ErrorKind {
	switch kind {
	case "unknown", "forbidden", "rejected", "expired", "invalid", "cancelled", "unavailable":
		return ErrorKind(kind)
	case "timed_out", "lost", "interrupted":
		return "unknown"
	}
	return "internal"
}

func decisionOf(state string) Decision {
	switch state {
	case event.StateApproved, event.StateExpired, event.StateCancelled:
		return Decision(state)
	}
	return "rejected"
}

// failureOf is what an event may say of a failure: the sentence for people, never what a provider has
// answered (Spec V1-115).
func failureOf(f event.Failure) Failure {
	message := f.Message
	if message.Key == "" { // the words of somebody else
		message = text.New("v1.engine-failed")
	}
	return Failure{Code: engineCode(f.Code), Message: message.In(language), Retryable: f.Retryable}
}

func engineCode(code string) ErrorCode {
	switch fault.Code(code) {
	case fault.Forbidden:
		return "forbidden"
	case fault.Internal:
		return "internal"
	}
	switch code {
	case "timeout":
		return "engine_timeout"
	case "unavailable", "overloaded", "network", "rate_limited":
		return "engine_unavailable"
	}
	return "engine_error"
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func encode(e Event) ([]byte, error) { return json.Marshal(e) }
