// Package turn owns the life of a turn while it runs: it sees that one has been opened, lets the
// session's engine conduct it, writes what the engine reports, and sees to it that every turn ends,
// whatever the engine, the owner, the disk or the end of the process does. It never opens a turn
// (commands do, and the queue), never decides an approval, and keeps nothing that the log does not
// have: killing the process at any moment leaves what core.Recover puts in order. backend.Open runs
// it between Recover and the first listener.
//
//	Reactor.Run                     one goroutine follows the log
//	  turn.started                  → conduct, one goroutine per running turn
//	    engine.Engine.Run(ctx, …)     in a goroutine that may be left behind
//	      host.…                      reports → commands (host.go), history.go reads the log
//	    end                           core.StopTurn, until it is written
//	  user.interrupt                → the turn's context ends, cause ErrAborted
//	  user.action.resolved          → whoever waits in host.Approve looks again
//	  turn.ended                    → forgotten
//	  NoteStorage                   → every turn's context ends, cause ErrStorage
//	ctx ends                        → every turn's context ends, cause ErrShutdown; then their ends are written
package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/store"
)

// Why a turn's context ended; context.Cause gives one of them to engines and tools.
var (
	ErrAborted  = errors.New("the turn has been stopped")
	ErrShutdown = errors.New("the program is ending")
	ErrStorage  = errors.New("the turn's text cannot be written")
	errOver     = errors.New("the turn is over")
)

// How long a turn that is stopped may still take. An aborted one is over within two seconds, its
// engine listening or not (failures G4); tools have 1.5 s for their process groups (decisions F7).
const (
	stopWithin  = 1800 * time.Millisecond // from an abort until the engine is left behind
	quitWithin  = 1500 * time.Millisecond // from the end of the process until engines are left behind
	writeWithin = time.Second             // then, until ends that cannot be written are given up
)

// Options of a reactor. Loop and Engines are required.
type Options struct {
	Loop    *core.Loop
	Engines map[string]engine.Engine // by harness id
	// Place gives the folder behind a session's place key.
	Place func(key string) engine.Place
	// Settings resolves what a session is set to of the fields its engine declared, by key; nil: nothing
	// is. platform is where the turn was opened from, "" for nowhere in particular.
	Settings func(ctx context.Context, sessionID, harness, platform string) (map[string]json.RawMessage, error)
	// Guard keeps what a call of a turn is about to change; nil keeps nothing. done records what it
	// changed and is called once; moved says that the call goes on in the background.
	Guard func(ctx context.Context, turnID string, place engine.Place, g engine.Guard) (done func(ctx context.Context, moved bool) error, err error)
	// Files reads what went with inputs, by its hash, at most most bytes; nil: models are told names only.
	Files func(hash string, most int64) ([]byte, error)
	// Background does the work of calls that may go on without their turn; nil: none may.
	Background func(ctx context.Context, w Work) (engine.ToolResult, error)
	// ToolLimit is the number of rounds of tool calls in a turn; 0 is the engine's default.
	ToolLimit int
	Log       *slog.Logger // nil discards
}

// Reactor conducts the turns of one loop. Run is called once; the other methods are safe at any time.
type Reactor struct {
	options Options
	loop    *core.Loop
	log     *slog.Logger

	turns   sync.WaitGroup // one per turn under way; Run waits for them
	engines sync.WaitGroup // one per engine; those left behind are not waited for
	running atomic.Int64

	mu          sync.Mutex         // guards the three below
	stop        context.CancelFunc // ends Run; nil before it
	stopped     bool               // Stop came before Run
	compressing map[int64]bool     // sessions that are being compressed, by sid
	done        chan struct{}      // closed when Run has returned
}

// New makes a reactor. Nothing happens before Run.
func New(o Options) *Reactor {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Place == nil {
		o.Place = func(key string) engine.Place { return engine.Place{Key: key} }
	}
	return &Reactor{options: o, loop: o.Loop, log: o.Log, done: make(chan struct{}), compressing: map[int64]bool{}}
}

// Running is the number of turns under way here: begun, and their end not yet written.
func (r *Reactor) Running() int { return int(r.running.Load()) }

// Stop ends Run and waits for it, but no longer than ctx. The loop must still be running, because
// the ends of the turns are written through it.
func (r *Reactor) Stop(ctx context.Context) error {
	r.mu.Lock()
	r.stopped = true
	stop := r.stop
	r.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the turns to end: %w", context.Cause(ctx))
	}
}

func (r *Reactor) begin(stop context.CancelFunc) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop = stop
	return !r.stopped
}

// Run conducts turns until ctx ends or Stop is called; then it stops those that run, as interrupted,
// and leaves their queues for the next start. It returns within 3 s of ctx's end: nil, or why turns
// had to be left as running. An error before that means that the log can no longer be followed.
func (r *Reactor) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer close(r.done)
	if !r.begin(stop) {
		return nil
	}
	write, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	f := &following{
		reactor: r, turns: map[string]*running{}, ending: ending{quit: make(chan struct{}), leave: make(chan struct{})},
		start: func(t *running, end ending) {
			turn, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
			t.cancel = cancel
			r.running.Add(1)
			r.turns.Go(func() {
				defer r.running.Add(-1)
				defer cancel(errOver)
				r.conduct(turn, write, t, end)
			})
		},
	}
	err := f.follow(ctx)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, f.shutdown(write, giveUp))
}

// running is a turn under way.
type running struct {
	id      string
	cancel  context.CancelCauseFunc
	stopped atomic.Bool // no more text of it is taken
	settled signal      // fires when an approval of the turn may have been settled
}

// end asks the turn to stop.
func (t *running) end(cause error) {
	t.stopped.Store(true)
	t.cancel(cause)
}

// ending tells the turns how far the end of the process has come.
type ending struct {
	quit  chan struct{} // closed: turns end as interrupted and open no others
	leave chan struct{} // closed: engines are left behind
}

// following is what Run's goroutine knows of the turns; nobody else touches it.
type following struct {
	reactor *Reactor
	turns   map[string]*running // all that have begun and whose end has not been seen
	start   func(*running, ending)
	ending
}

func (f *following) follow(ctx context.Context) error {
	cursor := f.reactor.loop.Cursor() // before the rows are read, so that nothing lies between
	if err := f.reread(ctx); err != nil {
		return err
	}
	for {
		entries, err := cursor.Next(ctx)
		if errors.Is(err, core.ErrFellBehind) {
			f.reactor.log.Warn("turns are read again: the log went on too fast")
			err = f.reread(ctx)
		}
		if err != nil {
			return fmt.Errorf("following the log: %w", err)
		}
		for _, e := range entries {
			f.entry(e)
		}
	}
}

func (f *following) entry(e core.Entry) {
	switch {
	case e.Note != nil && e.Note.Kind == core.NoteStorage:
		for _, t := range f.turns {
			t.end(ErrStorage)
		}
	case e.Fact != nil && e.Fact.Turn != "":
		f.fact(e.Fact)
	}
}

func (f *following) fact(e *event.Event) {
	t := f.turns[e.Turn]
	if t == nil {
		if e.Kind == event.TurnStarted {
			f.conduct(e.Turn)
		}
		return
	}
	switch e.Kind {
	case event.UserInterrupt:
		t.end(ErrAborted)
	case event.ActionResolved:
		t.settled.fire()
	case event.TurnEnded:
		t.end(errOver)
		delete(f.turns, t.id)
	}
}

func (f *following) conduct(id string) {
	t := &running{id: id}
	f.turns[id] = t
	f.start(t, f.ending)
}

// reread brings turns in line with the rows: at start, and when entries were missed. A turn that
// the rows show as running stays known until its end is seen, because the cursor may stand before
// either.
func (f *following) reread(ctx context.Context) error {
	rows, err := f.rows(ctx)
	if err != nil {
		return fmt.Errorf("reading the running turns: %w", err)
	}
	for id, row := range rows {
		t := f.turns[id]
		if t == nil {
			f.conduct(id)
			continue
		}
		if row.CancelSeq != 0 {
			t.end(ErrAborted)
		}
		t.settled.fire()
	}
	for id, t := range f.turns {
		if _, runs := rows[id]; !runs {
			t.end(errOver)
			delete(f.turns, id)
		}
	}
	return nil
}

// rows lists the running turns of this start; those of earlier ones are for core.Recover.
func (f *following) rows(ctx context.Context) (map[string]store.Turn, error) {
	all := map[string]store.Turn{}
	err := f.reactor.loop.Read(ctx, func(tx *store.ReadTx) error {
		turns, err := tx.RunningTurns()
		for _, t := range turns {
			if t.Epoch == f.reactor.loop.Epoch() {
				all[t.ID] = t
			}
		}
		return err
	})
	return all, err
}

// shutdown ends every turn. write outlives Run's context; giveUp ends it.
func (f *following) shutdown(write context.Context, giveUp context.CancelFunc) error {
	r := f.reactor
	close(f.quit)
	for _, t := range f.turns {
		t.end(ErrShutdown)
	}
	leave := time.AfterFunc(quitWithin, func() { close(f.leave) })
	defer leave.Stop()
	late := time.AfterFunc(quitWithin+writeWithin, giveUp)
	defer late.Stop()
	over := make(chan struct{})
	var waiter sync.WaitGroup // ends with the turns, which may be later than this function
	waiter.Go(func() { r.turns.Wait(); close(over) })
	select {
	case <-over:
	case <-time.After(quitWithin + writeWithin + 200*time.Millisecond):
	}
	if write.Err() != nil {
		return errors.New("turns could not be ended in time and are left for the next start")
	}
	// Turns that were opened while the others ended, by their queues or by a late client.
	rows, err := f.rows(write)
	if err != nil {
		return fmt.Errorf("reading the turns that are left: %w", err)
	}
	for id := range rows {
		r.end(write, f.ending, core.StopTurn{Turn: id})
	}
	return nil
}

// signal wakes everybody who waits for it. The zero value is ready.
type signal struct {
	mu sync.Mutex // guards ch
	ch chan struct{}
}

// wait gives a channel that closes at the next fire. Take it before looking at what is waited for.
func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}
