package core

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// The clocks and limits of approvals.
const (
	ApprovalWait = 300_000 // ms, whatever happens meanwhile. Spec SP-APPR-15
	rateWindow   = 600_000 // ms
	// decisions H3
	pendingHand       = 50
	pendingAutonomous = 5
	shownAutonomous   = 20
)

// originV1 is that of sessions which /v1 has made.
const originV1 = "v1"

// RequestAction asks the owner about a call. When nobody is there to ask, or too much is asked, it
// is refused in the same transaction and no surface ever sees it: Receipt.Done.
// Receipt.EventID is the approval's id.
type RequestAction struct {
	Turn   string
	CallID string
	Tool   string
	Facts  json.RawMessage
	// Ineligible is set when the tool forbids asking on behalf of a turn like this one (decisions H4).
	Ineligible bool
}

func (c RequestAction) run(w *write) (Receipt, error) {
	t, err := w.live(c.Turn)
	if err != nil {
		return Receipt{}, err
	}
	called, call, err := w.called(t, c.CallID)
	if err != nil {
		return Receipt{}, err
	}
	s, err := w.SessionBySID(t.SID)
	if err != nil {
		return Receipt{}, err
	}
	a := event.Action{
		ActionKind: "tool_approval", CallID: c.CallID, Tool: c.Tool, Facts: c.Facts, Digest: call.Digest, Options: []string{"approve", "deny"},
		Revision: 1, ExpiresAt: w.Now + ApprovalWait, Policy: event.Policy{Approvers: []string{event.OwnerID}, Absent: "deny"},
	}
	if s.Origin == originV1 { // its client is told by the stream, and may be away meanwhile (kernel 5.2)
		a.Policy.Absent = "wait"
	}
	if a.Origin, err = w.origin(t); err != nil {
		return Receipt{}, err
	}
	if a.Chain, err = w.chain(s); err != nil {
		return Receipt{}, err
	}
	id := event.NewID()
	if a.Hash, err = contentHash(id, s.WireID(), t.ID, a); err != nil {
		return Receipt{}, err
	}
	refusal := event.SourceIneligible
	if !c.Ineligible {
		if refusal, err = w.refusal(s, a); err != nil {
			return Receipt{}, err
		}
	}
	a.Refused = refusal != ""
	if a.Card, err = w.card(called, call); err != nil {
		return Receipt{}, err
	}
	if undecided(a.Card) {
		return Receipt{}, fmt.Errorf("call %s already waits for an answer: %w", c.CallID, store.ErrInvalid)
	}
	a.Card.Approval, a.Card.Settlement = id, nil
	if _, err := w.append(
		t.SID,
		event.Draft{
			ID: id, Turn: t.ID, Parent: called.ID, Actor: event.System(), Payload: a,
			RejectIfParentHas: []event.Kind{event.ToolResult},
		},
		event.Draft{Turn: t.ID, Parent: called.ID, Actor: event.System(), Payload: event.Execution{ExecutionID: call.ExecutionID, Status: "pending-confirmation"}},
	); err != nil {
		return Receipt{}, err
	}
	r := Receipt{SessionID: s.ID, TurnID: t.ID, EventID: id, ItemID: c.CallID, Done: a.Refused}
	if !a.Refused {
		return r, nil
	}
	row, _, err := w.Action(id)
	if err != nil {
		return Receipt{}, err
	}
	return r, w.settle(row, event.Resolution{Settlement: event.Settlement{State: event.StateDenied, Source: refusal}, Refused: true}, event.System())
}

// refusal says why an action is refused at launch, "" to ask. Spec SP-APPR-17, SP-APPR-18.
func (w *write) refusal(s store.Session, a event.Action) (string, error) {
	pending, shown, err := w.ActionRate(s.RootSID, w.Now-rateWindow)
	if err != nil {
		return "", err
	}
	if a.Origin.Kind == "autonomous" && (pending >= pendingAutonomous || shown >= shownAutonomous) || pending >= pendingHand {
		return event.SourceRateLimit, nil
	}
	if w.loop.admit == nil {
		return event.SourceAbsent, nil
	}
	return w.loop.admit.Admit(a.Policy), nil
}

// origin says whose wish a turn is: by hand when a person opened it (decisions H5), or when the turn of
// the session above that asked for it was by hand.
func (w *write) origin(t store.Turn) (event.Origin, error) {
	o := event.Origin{Kind: "hand", Participants: []event.Participant{}}
	if t.Source != "" {
		o.Kind = "autonomous"
	}
	events, err := w.TurnInputs(t.SID, t.ID)
	if err != nil {
		return o, err
	}
	add := func(p event.Participant) {
		if !slices.Contains(o.Participants, p) {
			o.Participants = append(o.Participants, p)
		}
	}
	for _, e := range events {
		in, ok := e.Payload.(event.Input)
		switch {
		case ok && in.FromTurn != "":
			above, err := w.originAbove(in.FromTurn)
			if err != nil {
				return o, err
			}
			if e.ID == t.Trigger {
				o.Kind = above.Kind
			}
			for _, p := range above.Participants {
				add(p)
			}
		case ok && in.Speaker.Source == "":
			add(event.Participant{Platform: in.Speaker.Platform, UserID: in.Speaker.UserID})
		}
	}
	return o, nil
}

func (w *write) originAbove(turn string) (event.Origin, error) {
	t, err := w.Turn(turn)
	if errors.Is(err, store.ErrNotFound) {
		return event.Origin{Kind: "autonomous"}, nil
	}
	if err != nil {
		return event.Origin{}, err
	}
	return w.origin(t)
}

// chain lists the sub-sessions below the root down to this one. Spec SP-APPR-04.
func (w *write) chain(s store.Session) ([]event.ChainLink, error) {
	up, err := w.Ancestors(s)
	if err != nil || len(up) == 0 {
		return nil, err
	}
	var chain []event.ChainLink
	for _, a := range append(up[1:], s) {
		chain = append(chain, event.ChainLink{ID: a.WireID(), Title: orElse(a.Title, a.Name)})
	}
	return chain, nil
}

// contentHash is what an answer must send back: SHA-256 over canonical JSON of what was shown, and
// of the options (decisions H8, kernel 5.2).
func contentHash(id, session, turn string, a event.Action) (string, error) {
	var facts any
	if len(a.Facts) > 0 {
		d := json.NewDecoder(bytes.NewReader(a.Facts))
		d.UseNumber()
		if err := d.Decode(&facts); err != nil {
			return "", fmt.Errorf("reading the facts: %w", err)
		}
	}
	// json.Marshal sorts the keys of maps and writes no spaces.
	b, err := json.Marshal(map[string]any{
		"id": id, "sessionId": session, "turnId": turn, "callId": a.CallID, "tool": a.Tool, "facts": facts, "origin": a.Origin, "options": a.Options,
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// settle appends a resolution and what follows from it for the call.
func (w *write) settle(a store.Action, r event.Resolution, by event.Actor) error {
	return w.settleAs(a, r, by, "")
}

// settleAs does so under an idempotency key.
func (w *write) settleAs(a store.Action, r event.Resolution, by event.Actor, key string) error {
	r.ActionID, r.At = a.ID, w.Now
	called, found, err := w.Event(a.ToolEvent)
	if err != nil {
		return err
	}
	call, ok := called.Payload.(event.Call)
	if !found || !ok {
		return fmt.Errorf("action %s has no call: %w", a.ID, store.ErrInvalid)
	}
	r.CallID = call.CallID
	if r.Card, err = w.card(called, call); err != nil {
		return err
	}
	s := r.Settlement
	r.Card.Approval, r.Card.Settlement = a.ID, &s
	if _, err := w.append(a.SID, event.Draft{
		Turn: a.Turn, Parent: a.ID, Actor: by, Payload: r, IdemKey: key, RejectIfParentHas: []event.Kind{event.ActionResolved},
	}); err != nil {
		return err
	}
	if r.State != event.StateApproved {
		return nil
	}
	_, err = w.append(a.SID, event.Draft{
		Turn: a.Turn, Parent: called.ID, Actor: event.System(), Payload: event.Execution{ExecutionID: call.ExecutionID, Status: "accepted"},
	})
	return err
}

// AnswerAction is somebody's answer to an approval. The first one wins. Spec SP-APPR-20 to 25.
type AnswerAction struct {
	Actor    event.Actor
	ActionID string
	Approve  bool
	// Hash, or Revision where it is set, is what shows that the answer belongs to what was shown. An answer
	// by revision counts until ExpiresAt and not a moment longer, whether the clock has settled it yet or
	// not (Spec V1-195).
	Hash     string
	Revision int64
	// Key makes a repeated answer the first one again, "" for none.
	Key  string
	Note string
	By   event.Answerer
	// May is false when the caller's credential has no right to approve.
	May bool
}

func (c AnswerAction) run(w *write) (Receipt, error) {
	a, found, err := w.Action(c.ActionID)
	if err != nil {
		return Receipt{}, err
	}
	if found && c.Key != "" {
		if _, before, err := w.EventByKey(a.SID, c.Key); err != nil || before {
			return Receipt{EventID: a.ID, TurnID: a.Turn, Repeated: before}, err
		}
	}
	if err := c.decide(a, found, w.Now); err != nil {
		return Receipt{}, err
	}
	by := c.By
	r := event.Resolution{Settlement: event.Settlement{State: event.StateDenied, Source: event.SourceAnswer, By: &by}, Note: c.Note}
	if c.Approve {
		r.State = event.StateApproved
	}
	return Receipt{EventID: a.ID, TurnID: a.Turn}, w.settleAs(a, r, c.Actor, c.Key)
}

func (c AnswerAction) decide(a store.Action, found bool, now int64) error {
	switch {
	case !found:
		return fault.New(fault.NotFound, text.New("approval.not-found", "id", c.ActionID))
	case a.State != "pending":
		return fault.New(fault.ApprovalSettled, text.New("approval.settled"))
	case !c.May || !slices.Contains(a.Policy.Approvers, c.Actor.Principal):
		return fault.New(fault.Forbidden, text.New("approval.forbidden"))
	case c.Revision == 0 && a.Hash != c.Hash, c.Revision != 0 && a.Revision != c.Revision:
		return fault.New(fault.HashMismatch, text.New("approval.hash"))
	case c.Revision != 0 && a.ExpiresAt != 0 && now >= a.ExpiresAt:
		return fault.New(fault.Expired, text.New("approval.settled"))
	}
	return nil
}

// ExpireAction settles an approval that nobody answered: by timeout, or because everybody left. An
// approval that is settled already stays as it is (Receipt.Repeated).
type ExpireAction struct {
	ActionID string
	Absent   bool
}

func (c ExpireAction) run(w *write) (Receipt, error) {
	a, found, err := w.Action(c.ActionID)
	if err != nil || !found || a.State != "pending" {
		return Receipt{Repeated: err == nil}, err
	}
	s := event.Settlement{State: event.StateExpired, Source: event.SourceTimeout}
	// The grace never extends the whole wait: at its end the timeout speaks. Spec SP-APPR-16
	if c.Absent && (a.ExpiresAt == 0 || w.Now < a.ExpiresAt) {
		s = event.Settlement{State: event.StateDenied, Source: event.SourceAbsent}
	}
	return Receipt{EventID: a.ID, TurnID: a.Turn}, w.settle(a, event.Resolution{Settlement: s}, event.System())
}
