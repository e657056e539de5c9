package core

import (
	"context"
	"errors"
	"sort"
	"sync"

	"aalis/backend/event"
)

// Entry is one thing that happened, in the order of this start. Exactly one of Fact, Piece and Note
// is set, but a fact's Changed and Removed come with it.
type Entry struct {
	Tick  int64
	SID   int64 // 0 for a note about no session
	Fact  *event.Event
	Piece *Piece
	Note  *Note
	// Changed and Removed are set on the last fact of a command: the sessions whose summaries it
	// changed (ancestors included) and those it deleted, by internal number.
	Changed []int64
	Removed []Gone
}

// Gone names a deleted session as clients knew it.
type Gone struct {
	SID int64
	ID  string
}

// Piece is a bit of streamed text of an open item.
type Piece struct {
	Session string
	ItemID  string
	Kind    event.DeltaKind
	Text    string
}

// Note is something that is seen once and never stored.
type Note struct {
	Kind    NoteKind
	Session string
	Data    any
}

// NoteKind names a note.
type NoteKind string

// The notes.
const (
	NoteSeen     NoteKind = "seen"     // a session was looked at
	NoteStorage  NoteKind = "storage"  // too much text waits to be written: stop the turns
	NoteLanguage NoteKind = "language" // sentences are rendered in another language from here on
	NoteHost     NoteKind = "host"     // the host document or a service changed
)

const entryOverhead = 160

func (e Entry) size() int {
	n := entryOverhead
	switch {
	case e.Piece != nil:
		n += len(e.Piece.Text)
	case e.Fact != nil:
		n += factSize(e.Fact)
	}
	return n
}

// factSize guesses; it only bounds memory.
func factSize(e *event.Event) int {
	const usual = 400
	switch p := e.Payload.(type) {
	case event.Input:
		return usual + len(p.Text)
	case event.Message:
		return usual + len(p.Text)
	case event.Reasoning:
		return usual + len(p.Text)
	case event.Result:
		n := usual + len(p.Text)
		if p.Card != nil {
			n += len(p.Card.Args)
		}
		return n
	case event.Call:
		return usual + len(p.Args)
	case event.Action:
		return usual + len(p.Facts)
	}
	return usual
}

// ring holds the newest entries, bounded by bytes.
type ring struct {
	mu      sync.Mutex // guards everything below
	entries []Entry    // tick order
	bytes   int
	max     int
	dropped int64 // newest tick that fell out
	head    int64 // newest tick
	keep    int64 // oldest tick that must not fall out: unwritten pieces; 0 for none
	wake    chan struct{}
	closed  bool
}

func newRing(max int, head int64) *ring {
	return &ring{max: max, head: head, dropped: head, wake: make(chan struct{})}
}

// publish adds entries and wakes every cursor. keep is the oldest tick whose text is in no row yet.
func (r *ring) publish(keep int64, entries ...Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range entries {
		r.entries = append(r.entries, e)
		r.bytes += e.size()
		r.head = e.Tick
	}
	r.keep = keep
	cut := 0
	for cut < len(r.entries)-1 && r.bytes > r.max && (keep == 0 || r.entries[cut].Tick < keep) {
		r.bytes -= r.entries[cut].size()
		r.dropped = r.entries[cut].Tick
		cut++
	}
	if cut > 0 {
		// A copy now and then, so that the array does not hold what fell out.
		r.entries = append(make([]Entry, 0, len(r.entries)-cut+64), r.entries[cut:]...)
	}
	close(r.wake)
	r.wake = make(chan struct{})
}

func (r *ring) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		close(r.wake)
	}
}

// ErrFellBehind tells a cursor that entries it had not read are gone; it must read rows again.
var ErrFellBehind = errors.New("the cursor fell behind the ring")

// ErrClosed ends every cursor when the loop has stopped.
var ErrClosed = errors.New("the loop has stopped")

// from lists up to limit entries with tick > pos, and the channel that closes when more come.
func (r *ring) from(pos int64, limit int) (entries []Entry, wake <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if pos < r.dropped {
		return nil, nil, ErrFellBehind
	}
	i := sort.Search(len(r.entries), func(i int) bool { return r.entries[i].Tick > pos })
	if i == len(r.entries) {
		if r.closed {
			return nil, nil, ErrClosed
		}
		return nil, r.wake, nil
	}
	end := min(len(r.entries), i+limit)
	return r.entries[i:end:end], nil, nil
}

// Cursor is a position in the order of entries. It belongs to one goroutine.
type Cursor struct {
	ring *ring
	pos  int64
}

// Next waits for entries behind the position and moves past them. ErrFellBehind moves it to the
// newest entry: whatever lay between must be read from rows. ErrClosed comes after the last entry.
func (c *Cursor) Next(ctx context.Context) ([]Entry, error) {
	for {
		if err := c.Wait(ctx); err != nil {
			return nil, err
		}
		if got, err := c.Take(); err != nil || len(got) > 0 {
			return got, err
		}
	}
}

// Wait returns when Take has something to say. Its error is ctx's cause.
func (c *Cursor) Wait(ctx context.Context) error {
	for {
		got, wake, err := c.ring.from(c.pos, 1)
		if err != nil || len(got) > 0 {
			return nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Take gives the entries behind the position without waiting and moves past them; errors as Next.
func (c *Cursor) Take() ([]Entry, error) {
	got, _, err := c.ring.from(c.pos, takeMax)
	switch {
	case errors.Is(err, ErrFellBehind):
		c.pos = c.ring.newest()
	case len(got) > 0:
		c.pos = got[len(got)-1].Tick
	}
	return got, err
}

// takeMax bounds one batch, so that whoever waits for a cursor's owner waits for little.
const takeMax = 256

// Position is the tick of the newest entry that Next has given.
func (c *Cursor) Position() int64 { return c.pos }

// Floor is the newest tick that has fallen out of the ring. Ask before reading a snapshot.
func (c *Cursor) Floor() int64 {
	c.ring.mu.Lock()
	defer c.ring.mu.Unlock()
	return c.ring.dropped
}

// Since lists a session's entries with after < tick <= the position: what a snapshot of rows, whose
// head says after, still lacks on this connection. floor is Floor from before the snapshot was
// read: what had fallen out by then was in its rows, because text that is in no row never falls
// out. ok is false when more has fallen out since; then the rows must be read again. Kernel 0.6.
func (c *Cursor) Since(sid, after, floor int64) (entries []Entry, ok bool) {
	c.ring.mu.Lock()
	defer c.ring.mu.Unlock()
	if c.ring.dropped > floor {
		return nil, false
	}
	for _, e := range c.ring.entries {
		if e.Tick > c.pos {
			break
		}
		if e.Tick > after && e.SID == sid {
			entries = append(entries, e)
		}
	}
	return entries, true
}

func (r *ring) newest() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head
}
