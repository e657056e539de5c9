package store

import (
	"encoding/json"
	"errors"
	"fmt"

	"aalis/backend/event"
)

// What the guards of Append answer. Core makes faults of them.
var (
	ErrNotFound = errors.New("no such session")
	ErrDeleted  = errors.New("the session has been deleted")
	ErrConflict = errors.New("a precondition does not hold")
	ErrInvalid  = errors.New("the event does not fit the session")
)

// Tx is the one transaction of the writer. It is not safe for concurrent use.
type Tx struct {
	reads
	s    *Store
	Now  int64 // ms; one instant for the whole transaction
	tick func() int64

	heads   map[int64]*Head
	dirty   map[int64]bool
	touched map[int64]bool // sessions whose summary changed since the last Savepoint
	removed map[int64]bool
}

// Begin opens the write transaction. tick gives every event its place in the order of this start.
func (s *Store) Begin(now int64, tick func() int64) (*Tx, error) {
	if err := s.writer.script("BEGIN IMMEDIATE"); err != nil {
		return nil, fmt.Errorf("beginning to write: %w", err)
	}
	tx := &Tx{reads: reads{c: s.writer}, s: s, Now: now, tick: tick}
	tx.forget()
	return tx, nil
}

func (tx *Tx) forget() {
	tx.heads, tx.dirty = map[int64]*Head{}, map[int64]bool{}
	tx.touched, tx.removed = map[int64]bool{}, map[int64]bool{}
}

// Savepoint begins one command inside the transaction.
func (tx *Tx) Savepoint() error {
	tx.touched, tx.removed = map[int64]bool{}, map[int64]bool{}
	_, err := tx.c.exec("SAVEPOINT command")
	return err
}

// Release keeps what was done since Savepoint.
func (tx *Tx) Release() error {
	_, err := tx.c.exec("RELEASE command")
	return err
}

// RollbackTo undoes what was done since Savepoint.
func (tx *Tx) RollbackTo() error {
	tx.forget()
	if _, err := tx.c.exec("ROLLBACK TO command"); err != nil {
		return err
	}
	return tx.Release()
}

// Over reports whether SQLite has ended the transaction by itself; later statements would each
// commit alone.
func (tx *Tx) Over() bool { return !tx.c.inTransaction() }

// Commit makes everything durable before it returns.
func (tx *Tx) Commit() error {
	_, err := tx.c.exec("COMMIT")
	return err
}

// Rollback gives up; it does no harm when the transaction is already over.
func (tx *Tx) Rollback() {
	if tx.c.inTransaction() {
		_ = tx.c.script("ROLLBACK")
	}
}

// Touched lists the sessions whose summary changed since Savepoint, ancestors included, and those
// that were deleted.
func (tx *Tx) Touched() (changed, removed []int64) {
	for sid := range tx.touched {
		if !tx.removed[sid] {
			changed = append(changed, sid)
		}
	}
	for sid := range tx.removed {
		removed = append(removed, sid)
	}
	return changed, removed
}

// Create makes a session with its genesis event. The id in c is the session's; parents must exist.
func (tx *Tx) Create(c event.Created, actor event.Actor) (event.Event, error) {
	var sid int64
	if _, err := tx.c.one("SELECT coalesce(max(sid), 0) + 1 FROM sessions", nil, func(r row) { sid = r.int(0) }); err != nil {
		return event.Event{}, fmt.Errorf("numbering the session: %w", err)
	}
	e := event.Event{ID: event.NewID(), Session: c.ID, SID: sid, Tick: tx.tick(), Kind: event.SessionCreated, Actor: actor, Payload: c, At: tx.Now}
	h := &Head{SID: sid}
	tx.heads[sid] = h
	// The session's row first: the event refers to it.
	if err := reduce(tx, h, e); err != nil {
		return event.Event{}, err
	}
	h.Tick = e.Tick
	if err := tx.insert(e); err != nil {
		return event.Event{}, err
	}
	return e, tx.flush()
}

// Append writes a batch of events to a session: idempotency first, then guards, then numbers, rows
// and projections. One refused event refuses the batch; the caller rolls back to its savepoint.
// Repeated events come back as they were written, marked.
func (tx *Tx) Append(sid int64, drafts ...event.Draft) ([]event.Event, error) {
	h, err := tx.Head(sid)
	if err != nil {
		return nil, err
	}
	if h.List == ListDeleted {
		return nil, ErrDeleted
	}
	id, err := tx.sessionID(sid)
	if err != nil {
		return nil, err
	}
	out := make([]event.Event, 0, len(drafts))
	for _, d := range drafts {
		e, err := tx.append(h, id, d)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, tx.flush()
}

func (tx *Tx) append(h *Head, session string, d event.Draft) (event.Event, error) {
	if d.IdemKey != "" {
		if e, found, err := tx.EventByKey(h.SID, d.IdemKey); err != nil || found {
			e.Repeated = found
			return e, err
		}
	}
	if err := tx.guard(h.SID, d); err != nil {
		return event.Event{}, err
	}
	e := event.Event{
		ID: d.ID, Session: session, SID: h.SID, Seq: h.LastSeq + 1, Tick: tx.tick(), Kind: d.Payload.EventKind(),
		Turn: d.Turn, Parent: d.Parent, Actor: d.Actor, Payload: d.Payload, IdemKey: d.IdemKey, At: tx.Now,
	}
	if e.ID == "" {
		e.ID = event.NewID()
	}
	h.LastSeq, h.Tick, h.UpdatedAt = e.Seq, e.Tick, e.At
	if event.ChatVisible(e.Payload) {
		h.ChatSeq++
		e.ChatSeq, h.ChatKSeq, h.ChatAt = h.ChatSeq, e.Seq, e.At
	}
	if err := tx.insert(e); err != nil {
		return event.Event{}, err
	}
	tx.dirty[h.SID] = true
	return e, reduce(tx, h, e)
}

func (tx *Tx) guard(sid int64, d event.Draft) error {
	if d.ID != "" {
		found, err := tx.c.one("SELECT 1 FROM events WHERE id = ?", []any{d.ID}, func(row) {})
		if err != nil {
			return err
		}
		if found {
			return fmt.Errorf("event %s exists: %w", d.ID, ErrConflict)
		}
	}
	if d.Parent != "" {
		found, err := tx.c.one("SELECT 1 FROM events WHERE id = ? AND sid = ?", []any{d.Parent, sid}, func(row) {})
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("parent %s is not in this session: %w", d.Parent, ErrInvalid)
		}
	}
	guards := d.RejectIfHas
	if len(d.RejectIfParentHas) > 0 {
		guards = append(guards[:len(guards):len(guards)], event.Guard{Event: d.Parent, Kinds: d.RejectIfParentHas})
	}
	for _, g := range guards {
		for _, k := range g.Kinds {
			found, err := tx.c.one("SELECT 1 FROM events WHERE sid = ? AND parent_id = ? AND type = ? LIMIT 1", []any{sid, g.Event, string(k)}, func(row) {})
			if err != nil {
				return err
			}
			if found {
				return fmt.Errorf("%s already has a %s: %w", g.Event, k, ErrConflict)
			}
		}
	}
	return nil
}

func (tx *Tx) insert(e event.Event) error {
	payload, err := event.Encode(e.Payload)
	if err != nil {
		return err
	}
	actor, err := json.Marshal(e.Actor)
	if err != nil {
		return fmt.Errorf("encoding the actor: %w", err)
	}
	_, err = tx.c.exec(`INSERT INTO events(key, sid, seq, id, type, v, turn_id, parent_id, actor, payload, idem_key, ch_seq, at)
		VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)`,
		key(e.SID, e.Seq), e.SID, e.Seq, e.ID, string(e.Kind), null(e.Turn), null(e.Parent), string(actor), string(payload),
		null(e.IdemKey), zero(e.ChatSeq), e.At)
	if isUnique(err) {
		return fmt.Errorf("appending %s: %w (%w)", e.Kind, ErrConflict, err)
	}
	if err != nil {
		return fmt.Errorf("appending %s: %w", e.Kind, err)
	}
	return nil
}

// Piece is streamed text of one open item that is ready to become a row.
type Piece struct {
	SID      int64
	StartSeq int64 // of the event that opened the item
	Kind     event.DeltaKind
	Idx      int64
	Text     string
	Tick     int64 // of its newest part
}

// AppendText writes one row of deltas.
func (tx *Tx) AppendText(p Piece) error {
	h, err := tx.Head(p.SID)
	if err != nil {
		return err
	}
	if h.List == ListDeleted {
		return ErrDeleted
	}
	h.LastSeq++
	var chat int64
	if p.Kind == event.TextDelta {
		h.ChatSeq++
		chat, h.ChatKSeq, h.ChatAt = h.ChatSeq, h.LastSeq, tx.Now
	}
	h.Tick, h.UpdatedAt = max(h.Tick, p.Tick), tx.Now
	tx.dirty[p.SID] = true
	if _, err := tx.c.exec("INSERT INTO deltas(key, start_seq, kind, idx, ch_seq, at, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
		key(p.SID, h.LastSeq), p.StartSeq, int(p.Kind), p.Idx, zero(chat), tx.Now, p.Text); err != nil {
		return fmt.Errorf("appending text: %w", err)
	}
	return tx.flush()
}

// flush writes the heads that changed.
func (tx *Tx) flush() error {
	for sid := range tx.dirty {
		h := tx.heads[sid]
		if err := tx.setRank(h); err != nil {
			return err
		}
		if err := tx.writeHead(h); err != nil {
			return err
		}
	}
	clear(tx.dirty)
	return nil
}

// change gives a head that will be written at the next flush.
func (tx *Tx) change(sid int64) (*Head, error) {
	h, err := tx.Head(sid)
	if err != nil {
		return nil, err
	}
	tx.dirty[sid] = true
	return h, nil
}

// touch says that the summary of a session changed, and so those of its ancestors.
func (tx *Tx) touch(sid int64) error {
	return tx.upward(sid, func(h *Head) { tx.touched[h.SID] = true })
}

// upward calls fn with the session's own head and those of its ancestors, and writes the latter.
func (tx *Tx) upward(sid int64, fn func(h *Head)) error {
	for at := sid; at != 0; {
		h, err := tx.change(at)
		if err != nil {
			return err
		}
		fn(h)
		if at, err = tx.parent(at); err != nil {
			return err
		}
	}
	return nil
}

// ancestors is upward without the session itself.
func (tx *Tx) ancestors(sid int64, fn func(h *Head)) error {
	up, err := tx.parent(sid)
	if err != nil || up == 0 {
		return err
	}
	return tx.upward(up, fn)
}

func (tx *Tx) parent(sid int64) (up int64, err error) {
	_, err = tx.c.one("SELECT parent_sid FROM sessions WHERE sid = ?", []any{sid}, func(r row) { up = r.int(0) })
	return up, err
}
