package room

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// follow hands to the lanes what the log says is to go out.
func (s *Service) follow(ctx context.Context) error {
	cursor := s.loop.Cursor() // before the rows are read, so that nothing lies between
	if err := s.reread(ctx); err != nil {
		return err
	}
	for {
		entries, err := cursor.Next(ctx)
		if errors.Is(err, core.ErrFellBehind) {
			err = s.reread(ctx)
		}
		if err != nil {
			return fmt.Errorf("following the log: %w", err)
		}
		for _, e := range entries {
			if e.Fact == nil {
				continue
			}
			if d, ok := e.Fact.Payload.(event.Delivery); ok && d.State == event.DeliveryPending {
				s.enqueue(ctx, e.Fact.Parent, roomOf(e.Fact.Session, d))
			}
		}
	}
}

// roomOf is the room that something goes into.
func roomOf(session string, d event.Delivery) string {
	if d.Out != nil && d.Out.Room != "" {
		return d.Out.Room
	}
	return session
}

// reread finds in the rows what this start has still to deliver.
func (s *Service) reread(ctx context.Context) error {
	type waiting struct{ id, room string }
	var all []waiting
	err := s.loop.Read(ctx, func(tx *store.ReadTx) error {
		rows, err := tx.PendingDeliveries()
		if err != nil {
			return err
		}
		for _, row := range rows {
			e, _, err := tx.EventAt(row.SID, row.Seq)
			if err != nil {
				return err
			}
			// What goes with something else has the same row, and is delivered with it.
			if d, ok := e.Payload.(event.Delivery); ok && row.Epoch == s.loop.Epoch() && e.Parent == row.EventID {
				all = append(all, waiting{row.EventID, roomOf(row.Session, d)})
			}
		}
		return nil
	})
	for _, w := range all {
		s.enqueue(ctx, w.id, w.room)
	}
	return err
}

// enqueue puts something at the end of its room's lane.
func (s *Service) enqueue(ctx context.Context, id, room string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[id] || s.ending {
		return
	}
	s.known[id] = true
	_, runs := s.lanes[room]
	s.lanes[room] = append(s.lanes[room], id)
	if !runs {
		s.sends.Go(func() { s.lane(ctx, room) })
	}
}

// lane delivers to one room until nothing waits for it.
func (s *Service) lane(ctx context.Context, room string) {
	for {
		s.mu.Lock()
		if len(s.lanes[room]) == 0 {
			delete(s.lanes, room)
			s.mu.Unlock()
			return
		}
		id := s.lanes[room][0]
		s.lanes[room] = s.lanes[room][1:]
		s.mu.Unlock()
		s.settle(ctx, id, s.deliver(ctx, id, room))
	}
}

// deliver hands one thing to its platform and gives the answer.
func (s *Service) deliver(ctx context.Context, id, room string) event.Delivery {
	if ctx.Err() != nil { // not begun
		return event.Delivery{State: event.DeliveryFailed}
	}
	out, to, adapter, err := s.outgoing(ctx, id, room)
	if err != nil {
		s.log.Error("what is to go out cannot be read", "event", id, "err", err)
		return event.Delivery{State: event.DeliveryFailed}
	}
	if adapter == nil {
		return event.Delivery{State: event.DeliveryFailed, Reason: text.New("room.no-adapter").In(s.o.Language())}
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	if err = adapter.Send(ctx, to, out); err != nil {
		s.log.Warn("a message did not go out as it should", "room", to.String(), "err", err)
	}
	if errors.Is(err, ErrOffline) {
		return event.Delivery{State: event.DeliveryFailed, Reason: text.New("room.offline").In(s.o.Language())}
	}
	return result(err)
}

// outgoing reads what is delivered and where to; without an adapter for the room there is none.
func (s *Service) outgoing(ctx context.Context, id, room string) (out Outgoing, to Address, by Adapter, err error) {
	err = s.loop.Read(ctx, func(tx *store.ReadTx) error {
		row, found, err := tx.Delivery(id)
		if err != nil || !found {
			return errors.Join(err, store.ErrNotFound)
		}
		asked, _, err := tx.EventAt(row.SID, row.Seq)
		if err != nil {
			return err
		}
		what, _, err := tx.Event(id)
		if err != nil {
			return err
		}
		d, _ := asked.Payload.(event.Delivery)
		switch m, isHers := what.Payload.(event.Message); {
		case isHers:
			out = Outgoing{Text: m.Text, Attachments: m.Attachments}
		case d.Out != nil:
			out = Outgoing{Text: d.Out.Text, Attachments: d.Out.Attachments}
		}
		target, err := tx.Session(room)
		if err != nil {
			return err
		}
		to, _ = ParseAddress(target.ExtKey)
		by = s.adapter(target, to)
		return nil
	})
	return out, to, by, err
}

// adapter is the one that has a room, else one of its platform.
func (s *Service) adapter(room store.Session, at Address) (other Adapter) {
	for _, a := range s.o.Adapters {
		info := a.Info()
		if info.ID == room.Instance {
			return a
		}
		if info.Platform == at.Platform && other == nil {
			other = a
		}
	}
	return other
}

// settle writes what a platform answered, until it is written: without it the turn would never conclude. At
// the end of the process it is tried once.
func (s *Service) settle(ctx context.Context, id string, d event.Delivery) {
	write := context.WithoutCancel(ctx)
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		_, err := s.loop.Do(write, core.SettleDelivery{EventID: id, Result: d})
		if err == nil || errors.Is(err, core.ErrClosed) || gone(err) || ctx.Err() != nil {
			break
		}
		s.log.Error("what became of a message cannot be written, trying again", "event", id, "err", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	s.mu.Lock()
	delete(s.known, id)
	close(s.settled)
	s.settled = make(chan struct{})
	s.mu.Unlock()
}

// gone reports that the session was deleted meanwhile: nobody waits for the answer.
func gone(err error) bool { return fault.Is(err, fault.NotFound) }

func forwards(all []event.Forward) json.RawMessage {
	if len(all) == 0 {
		return nil
	}
	raw, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings and numbers encode
	}
	return raw
}
