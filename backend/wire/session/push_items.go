package session

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"
	"strings"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
)

// itemsFeed is which sessions the connection is subscribed to, and the text it was not sent yet.
// Guarded by feed.mu.
type itemsFeed struct {
	subscribed map[int64]*subscription // by the session's internal number
	text       textFeed
}

// subscription is one session that a connection follows.
type subscription struct {
	sid   int64
	id    string // as the summary shows it
	inner string // as notes name it
	from  int64  // the tick of its snapshot; only what comes later is pushed (Spec SP-SUB-15)
	// head is the beginning of every delta frame, up to the seq.
	head string
}

func newSubscription(s store.Session, epoch string, from int64) *subscription {
	var head strings.Builder
	head.WriteString(`{"jsonrpc":"2.0","method":"item/delta","params":{"sessionId":`)
	head.Write(appendString(nil, s.WireID()))
	head.WriteString(`,"epoch":"` + epoch + `","seq":`)
	return &subscription{sid: s.SID, id: s.WireID(), inner: s.ID, from: from, head: head.String()}
}

func (f *itemsFeed) add(s *subscription) {
	if f.subscribed == nil {
		f.subscribed = make(map[int64]*subscription)
	}
	f.subscribed[s.sid] = s
}

// seqBits is the room between two ticks. One entry of the log may be several pushes, and each needs a
// seq of its own above the one before (Spec SP-SUB-17).
const seqBits = 8

// seqOf is the seq of the n-th push of an entry; what has no place of its own any more shares the last.
func seqOf(tick int64, n int) int64 { return tick<<seqBits | int64(min(n, 1<<seqBits-1)) }

// seqEndOf is at or above the seq of every push of the entries up to a tick.
func seqEndOf(tick int64) int64 { return tick<<seqBits | (1<<seqBits - 1) }

// shortEpoch is the random half of a start's id: a client only compares it, and every delta bears it
// (FAIL-E11).
func shortEpoch(id string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != 16 {
		return id
	}
	return base64.RawURLEncoding.EncodeToString(b[8:])
}

// pushItems pushes what an entry does to the items of a subscribed session. Called under feed.mu.
func (c *Conn) pushItems(ctx context.Context, e core.Entry) {
	f := &c.feed.items
	if e.Note != nil {
		c.pushNote(ctx, e)
		return
	}
	sub := f.subscribed[e.SID]
	if sub == nil || e.Tick <= sub.from {
		return
	}
	if e.Piece != nil {
		c.pushText(sub, e)
		return
	}
	switch e.Fact.Payload.(type) {
	case event.Deleted:
		delete(f.subscribed, e.SID) // decisions B16
		return
	case event.Rewound, event.Cleared:
		c.resync(sub, e.Tick)
		return
	}
	pushes, err := c.drawFact(ctx, *e.Fact)
	if err != nil {
		c.unreadable(ctx, sub, e.Tick, err)
		return
	}
	c.pushDrawn(sub, e.Tick, pushes)
}

// drawFact draws an event, with a look at the rows only where it does not carry everything.
func (c *Conn) drawFact(ctx context.Context, e event.Event) (pushes []itemPush, err error) {
	switch p := e.Payload.(type) {
	case event.Action, event.Resolution, event.Result: // what the call has printed
	case event.TurnStart: // what the turn before offered
	case event.Delivery: // what was delivered
	case event.Notice:
		if !p.CanContinue && !changesQueue(p) {
			return c.draw(nil, e.SID, false).event(e)
		}
	default:
		if !changesQueue(e.Payload) {
			return c.draw(nil, e.SID, false).event(e)
		}
	}
	err = c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		pushes, err = c.draw(tx, e.SID, true).fact(e)
		return err
	})
	return pushes, err
}

// fact gives the pushes of an event: its own items, the queue when that changed, and the notice that
// a new turn has outgrown.
func (d *drawing) fact(e event.Event) ([]itemPush, error) {
	pushes, err := d.event(e)
	if err != nil {
		return nil, err
	}
	if changesQueue(e.Payload) {
		queue, err := d.queue(e.At)
		if err != nil {
			return nil, err
		}
		pushes = append(pushes, itemPush{completed, queue})
	}
	if e.Kind == event.TurnStarted {
		more, err := d.outgrown(e)
		if err != nil {
			return nil, err
		}
		pushes = append(pushes, more...)
	}
	return pushes, nil
}

func (c *Conn) pushDrawn(sub *subscription, tick int64, pushes []itemPush) {
	if len(pushes) == 0 {
		return
	}
	c.flushText()
	for n, p := range pushes {
		// ItemStarted and ItemCompleted are one shape under two names.
		c.push(p.method, ItemStarted{SessionID: sub.id, Epoch: c.server.epoch, Seq: seqOf(tick, n), Item: p.item})
	}
	c.feed.items.text.sent = time.Now()
}

// resync says that everything the client has of a session is void (Spec SP-SUB-34).
func (c *Conn) resync(sub *subscription, tick int64) {
	c.flushText()
	c.push("session/resync", SessionResync{SessionID: sub.id, Epoch: c.server.epoch, Seq: seqOf(tick, 0)})
}

// unreadable gives a client that cannot be shown something a reason to read everything again.
func (c *Conn) unreadable(ctx context.Context, sub *subscription, tick int64, err error) {
	if ctx.Err() != nil {
		return
	}
	c.server.log.Error("an item cannot be drawn", "session", sub.id, "error", err)
	c.resync(sub, tick)
}

// resyncItems makes up for entries the connection will never see: every subscribed session is to be
// read again (kernel 0.8). Called under feed.mu.
func (c *Conn) resyncItems(context.Context) {
	f := &c.feed.items
	f.text.drop()
	now := c.feed.cursor.Position()
	for _, sub := range f.subscribed {
		if sub.from < now { // else its snapshot already tells what was missed
			c.resync(sub, now)
		}
	}
}

// noteUsage is the note with which a computed usage reaches every subscriber.
const noteUsage core.NoteKind = "usage"

// usageNote is its data.
type usageNote struct {
	sid  int64
	at   int64
	call event.ModelCall
}

// askUsage has the usage of a session computed in which no model was called yet; it reaches every
// subscriber as a push (Spec SP-SUB-07). One computation at a time serves all (decisions D17).
func (c *Conn) askUsage(sub *subscription) {
	s := c.server
	ask := s.current().Usage
	if ask == nil || !s.beginUsage(sub.sid) {
		return
	}
	ctx, end, ok := c.begin()
	if !ok {
		s.endUsage(sub.sid)
		return
	}
	c.calls.Go(func() {
		defer end()
		defer s.endUsage(sub.sid)
		call, err := ask(ctx, sub.inner)
		switch {
		case err == nil:
			s.o.Loop.Note(core.Note{Kind: noteUsage, Session: sub.inner, Data: usageNote{sid: sub.sid, at: time.Now().UnixMilli(), call: call}})
		case ctx.Err() == nil:
			s.log.Warn("the usage of a session cannot be computed", "session", sub.id, "error", err)
		}
	})
}

// beginUsage reports whether nobody computes the usage of a session yet.
func (s *Server) beginUsage(sid int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.usages[sid] {
		return false
	}
	s.usages[sid] = true
	return true
}

func (s *Server) endUsage(sid int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.usages, sid)
}

// pushNote pushes what is seen live only.
func (c *Conn) pushNote(ctx context.Context, e core.Entry) {
	switch note := e.Note.Data.(type) {
	case usageNote:
		c.pushUsage(ctx, e, note)
	case core.CompressNote:
		c.pushCompress(ctx, e, note)
	}
}

// pushCompress pushes how a compression goes: one notice that begins and ends (decisions E6).
func (c *Conn) pushCompress(ctx context.Context, e core.Entry, note core.CompressNote) {
	sub := c.feed.items.subscribed[note.SID]
	if sub == nil || e.Tick <= sub.from {
		return
	}
	d := c.draw(nil, note.SID, false)
	if !note.Reason.IsZero() {
		note.Notice.Facts = maps.Clone(note.Notice.Facts)
		note.Notice.Facts["reason"] = note.Reason.In(d.lang)
	}
	pushes, err := d.notice(note.ID, note.At, "", note.Notice, "")
	if err != nil {
		c.unreadable(ctx, sub, e.Tick, err)
		return
	}
	if !note.Done {
		pushes[0].method = started
	}
	c.pushDrawn(sub, e.Tick, pushes)
}

// pushUsage pushes a computed usage unless a model was called in the meantime.
func (c *Conn) pushUsage(ctx context.Context, e core.Entry, note usageNote) {
	sub := c.feed.items.subscribed[note.sid]
	if sub == nil {
		return
	}
	var pushes []itemPush
	err := c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		h, err := tx.Head(note.sid)
		if err == nil && h.UsageSeq == 0 {
			pushes = one(completed, c.draw(tx, note.sid, false).usage(note.at, note.call))
		}
		return err
	})
	if err != nil {
		c.unreadable(ctx, sub, e.Tick, err)
		return
	}
	c.pushDrawn(sub, e.Tick, pushes)
}

// unlessMissing turns a missing row into no error.
func unlessMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
