package session

import (
	"context"
	"slices"

	"aalis/backend/event"
	"aalis/backend/store"
)

// sessionSubscribe answers with a snapshot; pushes follow it (Spec SP-SUB-01, -02).
//
// The snapshot is one read of the rows, and its seq is the newest tick that is in them. Text is shown
// before it is in rows, so between that tick and what this connection has been shown there may be
// entries that neither the snapshot nor the pump will tell. They are taken out of the ring and pushed
// behind the answer (kernel 0.6). feed.mu is held from before the read until they are sent, so no
// push comes before the answer, and none is lost or doubled (Spec SP-SUB-09, -14, -15).
func (c *Conn) sessionSubscribe(ctx context.Context, p SessionParams) (SessionSnapshot, error) {
	c.feed.mu.Lock()
	answered := false
	defer func() {
		if !answered {
			c.feed.mu.Unlock()
		}
	}()
	c.flushText()
	for {
		floor := c.feed.cursor.Floor()
		snap, sub, err := c.snapshot(ctx, p.SessionID)
		if err != nil {
			return SessionSnapshot{}, err
		}
		missed, ok := c.feed.cursor.Since(sub.sid, sub.from, floor)
		if !ok {
			continue
		}
		answered = true
		c.after = func() {
			defer c.feed.mu.Unlock()
			c.feed.items.add(sub)
			for _, e := range slices.Clone(missed) {
				c.pushItems(ctx, e)
			}
			c.flushText() // the pump, asleep, would not know of it
			if snap.noUsage {
				c.askUsage(sub)
			}
		}
		return snap.SessionSnapshot, nil
	}
}

// sessionUnsubscribe ends the pushes of a session; one that is unknown or not subscribed has none
// (Spec SP-SUB-11, -12, decisions D3).
func (c *Conn) sessionUnsubscribe(ctx context.Context, p SessionParams) (Empty, error) {
	var sid int64
	if err := c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		s, err := tx.SessionOrTomb(p.SessionID)
		sid = s.SID
		return unlessMissing(err)
	}); err != nil {
		return Empty{}, err
	}
	c.feed.mu.Lock()
	defer c.feed.mu.Unlock()
	c.flushText()
	delete(c.feed.items.subscribed, sid)
	return Empty{}, nil
}

// snapshot is what a subscription answers with.
type snapshot struct {
	SessionSnapshot
	noUsage bool // no model was called yet
}

// snapshot reads one instant of a session.
func (c *Conn) snapshot(ctx context.Context, id string) (snapshot, *subscription, error) {
	var snap snapshot
	sub := &subscription{}
	err := c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		s, h, err := open(tx, id)
		if err != nil {
			return err
		}
		*sub = *newSubscription(s, c.server.epoch, h.Tick)
		snap.Epoch, snap.Seq, snap.noUsage = c.server.epoch, seqEndOf(h.Tick), h.UsageSeq == 0
		if snap.Session, err = c.summary(tx, s.SID); err != nil {
			return err
		}
		if snap.Approvals, err = c.pendingApprovals(tx, s.SID); err != nil {
			return err
		}
		return c.readItems(tx, h, &snap)
	})
	return snap, sub, err
}

// readItems gives the newest page, merged with what the turns that are not concluded have produced, and then plan,
// usage and queue (Spec SP-SUB-04, -27, -28, -32, decisions D5).
func (c *Conn) readItems(tx *store.ReadTx, h store.Head, snap *snapshot) error {
	open, err := unconcluded(tx, h)
	if err != nil {
		return err
	}
	history, err := c.draw(tx, h.SID, true).page(pageQuery{below: seqEnd, cleared: h.ClearedSeq, open: open, limit: pageSize})
	if err != nil {
		return err
	}
	snap.Before = history.before(h.SID)
	d := c.draw(tx, h.SID, false)
	items := history.items
	for _, turn := range open {
		live, err := d.inFlight(turn)
		if err != nil {
			return err
		}
		items = append(items, live...)
	}
	slices.SortStableFunc(items, placed.compare)
	snap.Items = itemsOf(items)
	fixed, err := d.fixed(h)
	snap.Items = append(snap.Items, fixed...)
	return err
}

// fixed gives the items that exist once per session, each only if there is something in it
// (Spec SP-PLAN-02, SP-QUEUE-06).
func (d *drawing) fixed(h store.Head) ([]SessionItem, error) {
	var items []SessionItem
	for _, seq := range []int64{h.PlanSeq, h.UsageSeq} {
		if seq == 0 {
			continue
		}
		e, _, err := d.tx.EventAt(h.SID, seq)
		if err != nil {
			return nil, err
		}
		pushes, err := d.event(e)
		if err != nil {
			return nil, err
		}
		for _, p := range pushes {
			switch item := p.item.(type) {
			case *NoticeItem: // the line of a compression stands in the page
			case *PlanItem:
				if len(item.Items) > 0 {
					items = append(items, item)
				}
			default:
				items = append(items, item)
			}
		}
	}
	queue, err := d.queue(0)
	if err == nil && len(queue.Entries) > 0 {
		items = append(items, queue)
	}
	return items, err
}

// inFlight gives the items of a turn that is not concluded as its pushes would have left them, with the text that
// is in rows.
func (d *drawing) inFlight(turn string) ([]placed, error) {
	t, err := d.tx.Turn(turn)
	if err != nil {
		return nil, err
	}
	events, err := d.tx.TurnEvents(t)
	if err != nil {
		return nil, err
	}
	if t.Trigger != "" {
		// An input that opened its turn at once is a row before the turn's first.
		e, found, err := d.tx.Event(t.Trigger)
		if err != nil {
			return nil, err
		}
		if found && e.Turn == turn {
			events = append([]event.Event{e}, events...)
		}
	}
	live := inFlight{at: make(map[string]int), texts: make(map[string]span)}
	for _, e := range events {
		pushes, err := d.event(e)
		if err != nil {
			return nil, err
		}
		live.take(e, pushes)
	}
	return live.items, live.fill(d)
}

// inFlight is the fold of a turn's pushes.
type inFlight struct {
	items []placed
	at    map[string]int  // index by itemId
	texts map[string]span // rows of streamed text, by itemId
}

func (f *inFlight) take(e event.Event, pushes []itemPush) {
	for _, p := range pushes {
		if _, isUsage := p.item.(*UsageItem); isUsage {
			continue // it stands once, behind the timeline
		}
		id := p.item.itemBase().ItemID
		if i, known := f.at[id]; known {
			f.items[i].item = p.item
			continue
		}
		f.at[id] = len(f.items)
		f.items = append(f.items, placed{seq: e.Seq, item: p.item})
	}
	switch p := e.Payload.(type) {
	case event.MessageStart:
		f.texts[p.MessageID] = span{e.Seq, seqEnd}
	case event.ReasoningStart:
		f.texts[p.ItemID] = span{e.Seq, seqEnd}
	case event.Call:
		f.texts[p.CallID] = span{e.Seq, seqEnd}
	case event.Message: // its text is in the event
		delete(f.texts, p.MessageID)
	case event.Reasoning:
		delete(f.texts, p.ItemID)
	case event.Result:
		f.texts[p.CallID] = span{f.texts[p.CallID].low, e.Seq}
	}
}

// fill adds the streamed text.
func (f *inFlight) fill(d *drawing) error {
	for id, rows := range f.texts {
		i, known := f.at[id]
		if !known {
			continue
		}
		text, err := d.tx.Text(d.sid, rows.low, rows.high)
		if err != nil {
			return err
		}
		switch item := f.items[i].item.(type) {
		case *AgentMessageItem:
			item.Text = text
		case *ReasoningItem:
			item.Text = text
		case *ToolCallItem:
			item.Output = text
		}
	}
	return nil
}
