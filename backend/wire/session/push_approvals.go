package session

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

// toolApproval is the kind of action that this protocol shows; the others are asked elsewhere.
const toolApproval = "tool_approval"

// approvalsFeed is which approvals the connection was shown. Guarded by feed.mu.
type approvalsFeed struct {
	// shown are the approvals whose request the connection was sent and whose settlement it was not
	// (Spec SP-APPR-11). The value tells whether that was since it last turned present; an older one
	// is sent once more (Spec SP-APPR-09).
	shown map[string]bool
}

// pushApprovals pushes what a fact means for the approvals of this connection. Called under feed.mu.
func (c *Conn) pushApprovals(ctx context.Context, e core.Entry) {
	if e.Fact == nil {
		return
	}
	switch p := e.Fact.Payload.(type) {
	case event.Action:
		// One that was refused at launch nobody is asked about (Spec SP-APPR-19). One that stands
		// already was read from its row when the connection turned present.
		if p.Refused || c.feed.approvals.shown[e.Fact.ID] {
			return
		}
		c.orLeave(ctx, "an approval cannot be shown", c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
			return c.offer(tx, *e.Fact, p)
		}))
	case event.Resolution:
		c.settled(p.ActionID, p.Settlement)
	}
}

// resyncApprovals makes up for facts the connection will never see: it is sent the settlements of
// what is over and the requests of what is new. Called under feed.mu.
func (c *Conn) resyncApprovals(ctx context.Context) {
	shown := slices.Sorted(maps.Keys(c.feed.approvals.shown))
	c.orLeave(ctx, "approvals cannot be read again", c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		for _, id := range shown {
			a, found, err := tx.Action(id)
			if err != nil {
				return err
			}
			if found && a.State == string(ApprovalPending) {
				continue
			}
			s, err := howSettled(tx, a)
			if err != nil {
				return err
			}
			c.settled(id, s)
		}
		return c.offerPending(tx)
	}))
}

// howSettled reads a settlement again. What has been erased meanwhile was cancelled with its session.
func howSettled(tx *store.ReadTx, a store.Action) (event.Settlement, error) {
	e, found, err := tx.Event(a.Resolved)
	if err != nil {
		return event.Settlement{}, err
	}
	if r, ok := e.Payload.(event.Resolution); found && ok {
		return r.Settlement, nil
	}
	return event.Settlement{State: event.StateCancelled, Source: event.SourceTurnEnded, At: e.At}, nil
}

// orLeave ends the connection when it cannot be shown what it must be shown: the client comes back
// and reads everything again, where a request that silently never came would be waited out.
func (c *Conn) orLeave(ctx context.Context, what string, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	c.server.log.Error(what, "connection", c.id, "error", err)
	c.peer.Disconnect(c.server.say(text.New("internal")))
}

// offerPending sends the connection everything that waits and that it was not sent since it turned
// present (Spec SP-APPR-08). Called under feed.mu.
func (c *Conn) offerPending(tx *store.ReadTx) error {
	return eachPending(tx, 0, func(e event.Event, a event.Action) error {
		if c.feed.approvals.shown[e.ID] {
			return nil
		}
		return c.offer(tx, e, a)
	})
}

// offer sends the connection one approval if somebody is there who may decide it (Spec SP-APPR-06).
// It need not be subscribed to the session (Spec SP-APPR-07). Called under feed.mu.
func (c *Conn) offer(tx *store.ReadTx, e event.Event, a event.Action) error {
	approvals := c.server.current().Approvals
	if approvals == nil || a.ActionKind != toolApproval || !approvals.Show(c.id, e.ID, a.Policy.Approvers) {
		return nil
	}
	approval, err := c.approval(tx, e, a)
	if err != nil {
		approvals.Settled(c.id, e.ID)
		return err
	}
	if c.feed.approvals.shown == nil {
		c.feed.approvals.shown = make(map[string]bool)
	}
	c.feed.approvals.shown[e.ID] = true
	c.push("approval/requested", ApprovalRequested{Approval: approval})
	return nil
}

// settled tells the connection how an approval ended, if it was asked. Called under feed.mu.
func (c *Conn) settled(id string, s event.Settlement) {
	if _, asked := c.feed.approvals.shown[id]; !asked {
		return
	}
	delete(c.feed.approvals.shown, id)
	if approvals := c.server.current().Approvals; approvals != nil {
		approvals.Settled(c.id, id)
	}
	c.push("approval/settled", ApprovalSettled{ApprovalID: id, ApprovalSettlement: settlementOf(s)})
}

// pendingApprovals lists what waits for an answer in one session, oldest first, whoever may decide
// it (Spec SP-APPR-12, decisions H16). Never nil.
func (c *Conn) pendingApprovals(tx *store.ReadTx, sid int64) ([]Approval, error) {
	all := []Approval{}
	err := eachPending(tx, sid, func(e event.Event, a event.Action) error {
		if a.ActionKind != toolApproval {
			return nil
		}
		approval, err := c.approval(tx, e, a)
		all = append(all, approval)
		return err
	})
	return all, err
}

// eachPending reads the requests that wait, in all sessions when sid is 0, oldest first.
func eachPending(tx *store.ReadTx, sid int64, each func(event.Event, event.Action) error) error {
	rows, err := tx.PendingActions(sid)
	if err != nil {
		return err
	}
	for _, row := range rows {
		e, _, err := tx.Event(row.ID)
		if err != nil {
			return err
		}
		a, ok := e.Payload.(event.Action)
		if !ok {
			continue // erased; nobody can be shown it, and its clock settles it
		}
		if err := each(e, a); err != nil {
			return err
		}
	}
	return nil
}

// approval draws a request that waits. Facts are passed on as they are (Spec SP-APPR-29).
func (c *Conn) approval(tx *store.ReadTx, e event.Event, a event.Action) (Approval, error) {
	s, err := tx.SessionBySID(e.SID)
	if err != nil {
		return Approval{}, fmt.Errorf("reading the session of approval %s: %w", e.ID, err)
	}
	out := Approval{
		ID: e.ID, SessionID: s.WireID(), TurnID: e.Turn, CallID: a.CallID, Target: "tool", Tool: a.Tool,
		Origin:      ApprovalOrigin{Kind: OriginKind(a.Origin.Kind), Participants: []Identity{}},
		Options:     []Decision{},
		ContentHash: a.Hash, ExpiresAt: a.ExpiresAt, State: ApprovalPending,
	}
	for _, p := range a.Origin.Participants {
		out.Origin.Participants = append(out.Origin.Participants, Identity{Platform: p.Platform, UserID: p.UserID})
	}
	for _, o := range a.Options {
		out.Options = append(out.Options, Decision(o))
	}
	if len(a.Facts) > 0 {
		if err := json.Unmarshal(a.Facts, &out.Facts); err != nil {
			return Approval{}, fmt.Errorf("reading the facts of approval %s: %w", e.ID, err)
		}
	}
	for _, link := range a.Chain {
		ref := SessionRef{ID: link.ID, Title: link.Title}
		if ref.Title == "" { // it has only the name that everybody sees in their own language
			below, err := tx.SessionOrTomb(link.ID)
			if err != nil {
				return Approval{}, fmt.Errorf("reading the way to approval %s: %w", e.ID, err)
			}
			ref.Title = titleOf(below, c.server.o.Language())
		}
		out.Chain = append(out.Chain, ref)
	}
	return out, nil
}

// settlementOf draws how an approval ended, for the card and for approval/settled alike (Spec
// SP-SETTLE-01 to -04).
func settlementOf(s event.Settlement) ApprovalSettlement {
	out := ApprovalSettlement{State: SettledState(s.State), Source: SettlementSource(s.Source), At: s.At}
	if s.By != nil {
		out.By = &SettledBy{Platform: s.By.Platform, UserID: s.By.UserID, Nickname: s.By.Nickname, Owner: s.By.Owner}
	}
	return out
}
