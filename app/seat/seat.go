// Package seat tells whether the owner sits at this desktop: the session is unlocked and was used lately,
// as far as the system says. It owns the connections it asks over and nothing else. It decides nothing:
// what follows from an owner who is away is package app's.
//
//	Start
//	  seat_linux.go     logind and the screen's locks and clocks, by their signals
//	  seat_windows.go   the system's own word, asked now and then
//	  seat_other.go     nobody is ever away
package seat

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// DefaultIdle is how long a desktop may lie unused before its owner is taken to be away.
const DefaultIdle = 10 * time.Minute

// State is what is known of the owner. The zero value is somebody who is here.
type State struct {
	// Away says that the session is locked, or was not used for Options.Idle.
	Away bool
	// Ending says that the desktop session is ending: a logout, or the machine going down. It turns false
	// again only where the system says that it does not go down after all.
	Ending bool
}

// Options configure a Seat; all may be zero.
type Options struct {
	// Idle is how long without use means away; 0 is DefaultIdle.
	Idle time.Duration
	// Changed is told of every new state, in order and one at a time, from a goroutine of the Seat's. It
	// must not call Close. It is not called for a state that is like the one before, the first being
	// somebody who is here.
	Changed func(State)
	// Log gets a line for a source that fails; a source that is missing is none. Nil is silence.
	Log *slog.Logger
}

// Seat watches until Close. Its methods may be called from any goroutine.
type Seat struct {
	options Options
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu    sync.Mutex // guards state
	state State
}

// Start watches from now on and returns at once. Where nothing tells, nobody is ever away.
func Start(o Options) *Seat {
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Seat{options: o, stop: stop}
	s.wg.Go(func() { s.watch(ctx) })
	return s
}

// State is what is known now.
func (s *Seat) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Close ends the watching and waits for it: Changed is not called any more when it returns. It may be
// called again.
func (s *Seat) Close() {
	s.stop()
	s.wg.Wait()
}

// set takes a state over and tells it. Only the watching goroutine calls it, which keeps the order.
func (s *Seat) set(now State) {
	s.mu.Lock()
	same := s.state == now
	s.state = now
	s.mu.Unlock()
	if !same && s.options.Changed != nil {
		s.options.Changed(now)
	}
}

// Sources say who tells whether the owner is here, for whoever wonders: names of the system's services.
// Both may be empty.
type Sources struct {
	Lock, Idle []string
}

// Look finds out who tells now.
func Look(ctx context.Context) Sources { return look(ctx) }
