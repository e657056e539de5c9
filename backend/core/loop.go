package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// How the loop writes.
const (
	groupMax     = 256                    // commands in one transaction
	textDelay    = 50 * time.Millisecond  // how long a piece may wait for its row
	retryMax     = 5 * time.Second        // longest pause between tries of a commit that fails
	waitingMax   = 8 << 20                // bytes of waiting text above which turns are stopped
	ringMax      = 16 << 20               // bytes of the ring
	outputMax    = 256 << 10              // streamed output of one call (decisions D11)
	drainTimeout = 500 * time.Millisecond // tries of the last commit at the end
)

// Admission decides, in the writer, whether anybody is there to be asked. It must not block.
type Admission interface {
	// Admit returns the source of a refusal at launch ("absent", "ineligible"), or "" to ask.
	Admit(p event.Policy) (source string)
}

// Options of a loop.
type Options struct {
	Store     *store.Store
	Admission Admission // nil: nobody is ever there
	Effective Effective // nil: turns do not record their settings
	Caps      Caps      // nil: DefaultTaskCaps
	Ruling    Ruling    // nil: nobody serves rooms
	Log       *slog.Logger
	RingBytes int // 0 for the default
}

// Loop is the writer. Its methods are safe for concurrent use; Run is called once.
type Loop struct {
	st    *store.Store
	admit Admission
	// effective is asked for what turns are recorded with; nil without settings.
	effective Effective
	// ruling is asked what is set for a room; nil where nobody serves rooms, so that nothing goes out.
	ruling Ruling
	caps   Caps
	log    *slog.Logger
	epoch  string
	ring   *ring
	items  *openItems

	mu      sync.Mutex // guards inbox and stopped
	inbox   []job
	stopped bool
	signal  chan struct{} // holds one token when the inbox is not empty

	commits *broadcast // wakes readers of rows

	// Owned by Run's goroutine.
	tick    int64
	waiting waiting
	alarmed bool // NoteStorage has been given
	// numbered counts, by series, the rows of text of the transaction under way.
	numbered map[string]int64
}

// job is one thing in the inbox: a command with a caller, a piece, or a note.
type job struct {
	cmd   Command
	done  chan outcome
	piece *Piece
	note  *Note
}

type outcome struct {
	receipt Receipt
	err     error
}

// New makes a loop over an open store. Nothing is written before Run.
func New(o Options) (*Loop, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var tick int64
	var wrong []int64
	if err := o.Store.Read(context.Background(), func(tx *store.ReadTx) (err error) {
		if wrong, err = tx.HeadsAgree(); err != nil {
			return err
		}
		tick, err = tx.MaxTick()
		return err
	}); err != nil {
		return nil, fmt.Errorf("comparing the heads with the log: %w", err)
	}
	if len(wrong) > 0 {
		o.Log.Error("heads disagree with the log, rebuilding", "sessions", len(wrong))
		if err := o.Store.Rebuild(time.Now().UnixMilli()); err != nil {
			return nil, err
		}
	}
	if o.RingBytes == 0 {
		o.RingBytes = ringMax
	}
	return &Loop{
		st: o.Store, admit: o.Admission, effective: o.Effective, caps: o.Caps, ruling: o.Ruling, log: o.Log, epoch: event.NewID(), ring: newRing(o.RingBytes, tick),
		items:  newOpenItems(),
		signal: make(chan struct{}, 1), commits: newBroadcast(), tick: tick, waiting: newWaiting(),
	}, nil
}

// Epoch is the id of this start. Spec SP-SUB-16.
func (l *Loop) Epoch() string { return l.epoch }

// Read reads one instant of the rows.
func (l *Loop) Read(ctx context.Context, fn func(*store.ReadTx) error) error {
	return l.st.Read(ctx, fn)
}

// Cursor starts at the newest entry.
func (l *Loop) Cursor() *Cursor { return &Cursor{ring: l.ring, pos: l.ring.newest()} }

// Do gives a command to the writer and waits for its outcome. ctx governs admission only: once the
// command is taken its outcome is told, because a write that may or may not have happened is worse
// than a late answer. Errors are faults, or internal.
func (l *Loop) Do(ctx context.Context, cmd Command) (Receipt, error) {
	if err := ctx.Err(); err != nil {
		return Receipt{}, context.Cause(ctx)
	}
	done := make(chan outcome, 1)
	if !l.put(job{cmd: cmd, done: done}) {
		return Receipt{}, ErrClosed
	}
	o := <-done
	return o.receipt, o.err
}

// Text streams a piece of an open item. It returns at once; ErrItemClosed tells the engine that the
// item is closed or its turn interrupted, and that it must stop.
func (l *Loop) Text(item, piece string) error {
	if piece == "" {
		return nil
	}
	p, err := l.items.accept(item, piece)
	if err != nil || p == nil {
		return err
	}
	if !l.put(job{piece: p}) {
		return ErrClosed
	}
	return nil
}

// Note shows something to every cursor, once.
func (l *Loop) Note(n Note) { l.put(job{note: &n}) }

func (l *Loop) put(j job) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return false
	}
	l.inbox = append(l.inbox, j)
	select {
	case l.signal <- struct{}{}:
	default:
	}
	return true
}

func (l *Loop) take() []job {
	l.mu.Lock()
	defer l.mu.Unlock()
	jobs := l.inbox
	l.inbox = nil
	return jobs
}

// Run writes until ctx ends, then writes what waits and stops. It returns the error of the last
// commit when even that failed.
func (l *Loop) Run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(l.waiting.due(time.Now()))
		select {
		case <-l.signal:
			l.work(l.take())
		case <-timer.C:
			if l.waiting.ready(time.Now()) {
				l.commit(nil)
			}
		case <-ctx.Done():
			return l.drain()
		}
	}
}

// drain answers what is in the inbox and writes the last text.
func (l *Loop) drain() error {
	l.mu.Lock()
	l.stopped = true
	l.mu.Unlock()
	l.work(l.take())
	var err error
	for end := time.Now().Add(drainTimeout); !l.waiting.empty(); {
		if err = l.commit(nil); err == nil || time.Now().After(end) {
			break
		}
		<-time.After(textDelay)
	}
	l.ring.close()
	l.commits.close()
	return err
}

// work handles one take of the inbox. Pieces go first: a piece in the same take as a command comes
// from another goroutine than the command's caller, or was given before it, so showing it earlier
// keeps every order that anybody could have seen.
func (l *Loop) work(jobs []job) {
	var cmds []job
	var seen []Entry
	for _, j := range jobs {
		switch {
		case j.cmd != nil:
			cmds = append(cmds, j)
		case j.piece != nil:
			if e, ok := l.takePiece(j.piece); ok {
				seen = append(seen, e)
			}
		case j.note != nil:
			l.tick++
			seen = append(seen, Entry{Tick: l.tick, Note: j.note})
		}
	}
	if len(seen) > 0 {
		l.ring.publish(l.waiting.oldest(), seen...)
		l.alarm()
	}
	for len(cmds) > 0 {
		n := min(len(cmds), groupMax)
		_ = l.commit(cmds[:n])
		cmds = cmds[n:]
	}
	if l.waiting.ready(time.Now()) {
		_ = l.commit(nil)
	}
}

func (l *Loop) takePiece(p *Piece) (Entry, bool) {
	it, ok := l.items.get(p.ItemID)
	if !ok {
		return Entry{}, false // closed between Text and now
	}
	l.tick++
	l.waiting.add(it, p.Text, l.tick, time.Now())
	return Entry{Tick: l.tick, SID: it.sid, Piece: p}, true
}

// alarm stops the turns when their text can no longer be written. Kernel 0.9.
func (l *Loop) alarm() {
	if l.waiting.bytes <= waitingMax {
		l.alarmed = false
		return
	}
	if l.alarmed {
		return
	}
	l.alarmed = true
	l.log.Error("text waits to be written", "bytes", l.waiting.bytes)
	l.tick++
	l.ring.publish(l.waiting.oldest(), Entry{Tick: l.tick, Note: &Note{Kind: NoteStorage}})
}

// commit writes the waiting text and a group of commands in one transaction. When the transaction is
// lost, the commands run again once, each alone; the pieces stay in memory.
func (l *Loop) commit(cmds []job) error {
	err := l.try(cmds)
	if err == nil || len(cmds) == 0 {
		return err
	}
	if len(cmds) == 1 {
		cmds[0].done <- outcome{err: l.broken(err)}
		return err
	}
	for _, c := range cmds {
		if e := l.try([]job{c}); e != nil {
			c.done <- outcome{err: l.broken(e)}
			err = e
		}
	}
	return err
}

// broken is what a caller hears of a lost transaction.
func (l *Loop) broken(err error) error {
	l.log.Error("commit failed", "err", err)
	if store.IsFull(err) {
		return fault.Wrap(fault.Internal, text.New("storage.full"), err)
	}
	return fmt.Errorf("committing: %w", err)
}

// result is one command of a group that went through.
type result struct {
	job     job
	outcome outcome
	entries []Entry
	events  []event.Event
}

// try runs one transaction. Its error means that nothing at all was written or published.
func (l *Loop) try(cmds []job) error {
	now := time.Now()
	tx, err := l.st.Begin(now.UnixMilli(), func() int64 { l.tick++; return l.tick })
	if err != nil {
		l.waiting.failed(now)
		return err
	}
	// Before anybody is told of a commit the transaction is out of the way: only a failed one is left.
	committed := false
	defer func() {
		if !committed {
			tx.Rollback()
		}
	}()
	l.numbered = map[string]int64{}
	if err := l.waiting.write(tx, l.number); err != nil {
		l.waiting.failed(now)
		return fmt.Errorf("writing text: %w", err)
	}
	var results []result
	for _, c := range cmds {
		r, err := l.runOne(tx, c)
		if err != nil {
			l.waiting.failed(now)
			return err
		}
		results = append(results, r)
	}
	if err := tx.Commit(); err != nil {
		l.waiting.failed(now)
		return fmt.Errorf("committing: %w", err)
	}
	committed = true
	l.waiting.written()
	l.items.used(l.numbered)
	l.publish(results)
	return nil
}

// runOne runs one command inside its savepoint. Its error means that the transaction is lost.
func (l *Loop) runOne(tx *store.Tx, c job) (result, error) {
	r := result{job: c}
	if err := tx.Savepoint(); err != nil {
		return r, fmt.Errorf("opening a savepoint: %w", err)
	}
	w := &write{Tx: tx, loop: l}
	numbered := maps.Clone(l.numbered)
	receipt, err := c.cmd.run(w)
	if err == nil {
		err = w.tellParents()
	}
	if err != nil {
		if tx.Over() {
			return r, err
		}
		if e := tx.RollbackTo(); e != nil {
			return r, errors.Join(err, e)
		}
		l.numbered = numbered // what it had numbered was not written
		r.outcome = outcome{err: asFault(err)}
		return r, nil
	}
	changed, removed := tx.Touched()
	gone := make([]Gone, 0, len(removed))
	for _, sid := range removed {
		s, err := tx.SessionBySID(sid)
		if err != nil {
			return r, err
		}
		gone = append(gone, Gone{SID: sid, ID: s.WireID()})
	}
	if err := tx.Release(); err != nil {
		return r, fmt.Errorf("closing a savepoint: %w", err)
	}
	r.outcome.receipt = receipt
	r.events = w.events
	for i := range w.events {
		e := &w.events[i]
		r.entries = append(r.entries, Entry{Tick: e.Tick, SID: e.SID, Fact: e})
	}
	for i := range w.after {
		l.tick++
		r.entries = append(r.entries, Entry{Tick: l.tick, Note: &w.after[i]})
	}
	if n := len(r.entries); n > 0 {
		r.entries[n-1].Changed, r.entries[n-1].Removed = changed, gone
	}
	return r, nil
}

// number gives a row of text of this transaction its place in its series. The series moves on when the
// transaction is committed.
func (l *Loop) number(series string) int64 {
	n := l.items.next(series) + l.numbered[series]
	l.numbered[series]++
	return n
}

// publish shows the facts of a committed group, then answers. The open items change first, so that
// an engine that hears of its own event finds its item open.
func (l *Loop) publish(results []result) {
	var all []Entry
	for _, r := range results {
		for i := range r.events {
			l.items.apply(&r.events[i])
		}
		all = append(all, r.entries...)
	}
	if len(all) > 0 {
		l.ring.publish(l.waiting.oldest(), all...)
	}
	l.commits.wake()
	for _, r := range results {
		r.job.done <- r.outcome
	}
}
