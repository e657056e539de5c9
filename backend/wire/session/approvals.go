package session

import (
	"context"
	"slices"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
)

// presenceUpdate takes what the client says about its own connection; it has no way to speak for
// another (Spec SP-PRES-02). Without an approval service nobody asks, and that is no error
// (Spec SP-PRES-09).
//
// The presence is set and the rows are read under feed.mu: an approval that is being committed
// meanwhile is in the rows, or still ahead of the pump, or both.
func (c *Conn) presenceUpdate(ctx context.Context, p PresenceUpdateParams) (Empty, error) {
	c.seen.Store(0)
	if p.Active {
		c.seen.Store(time.Now().UnixMilli())
	}
	approvals := c.server.current().Approvals
	if approvals == nil {
		return Empty{}, nil
	}
	c.joined.Do(func() { c.atClose(c.gone) })
	c.feed.mu.Lock()
	defer c.feed.mu.Unlock()
	arrived := approvals.Present(c.id, c.decider(), p.Active)
	if c.hasClosed() { // it may have said so before this came, and says so only once
		approvals.Gone(c.id)
		return Empty{}, nil
	}
	if !arrived || c.server.o.Loop == nil {
		return Empty{}, nil
	}
	for id := range c.feed.approvals.shown {
		c.feed.approvals.shown[id] = false
	}
	err := c.server.o.Loop.Read(ctx, c.offerPending)
	if err != nil { // absent again, so that the next report sends what this one could not
		approvals.Present(c.id, c.decider(), false)
	}
	return Empty{}, err
}

// presentFor is how long a report of presence counts. Spec SP-PRES-04.
const presentFor = 10 * time.Minute

// Watched reports whether somebody is at a page on this surface: it is visible and was used lately.
func (s *Server) Watched(surface string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.conns, func(c *Conn) bool {
		return c.peer.Surface == surface && time.Since(time.UnixMilli(c.seen.Load())) < presentFor
	})
}

// decider is the principal that may decide approvals at this connection, "" for none (SEC-08).
func (c *Conn) decider() string {
	if !c.peer.Caller.Can(principal.Approve) {
		return ""
	}
	return c.peer.Caller.Principal.ID
}

func (c *Conn) hasClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// gone tells whoever asks by now that the connection has ended (Spec SP-PRES-08).
func (c *Conn) gone() {
	if approvals := c.server.current().Approvals; approvals != nil {
		approvals.Gone(c.id)
	}
}

// approvalRespond settles an approval. That the connection may not decide is for the log to answer,
// because an approval that is settled answers so to everybody (Spec SP-APPR-22), and so is whether
// anybody is present, which no answer needs (Spec SP-APPR-25).
func (c *Conn) approvalRespond(ctx context.Context, p ApprovalRespondParams) (Empty, error) {
	if c.server.current().Approvals == nil || c.server.o.Loop == nil {
		return Empty{}, absent("wire.service-approvals")
	}
	who := c.actor()
	who.Surface = c.peer.Surface
	_, err := c.server.o.Loop.Do(ctx, core.AnswerAction{
		Actor: who, By: event.Answerer{Platform: who.Platform, UserID: who.UserID, Nickname: who.Nickname, Owner: who.Owner},
		ActionID: p.ApprovalID, Approve: p.Decision == Approve, Hash: p.ContentHash, Note: p.Note, May: c.decider() != "",
	})
	return Empty{}, err
}
