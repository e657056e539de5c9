// Package approval owns the question whether anybody is there to be asked, and what happens to an
// approval that nobody answers: who is present, admission of requests, and the clocks. Presence is
// kept in memory only; its outcome is a resolution in the log (kernel 4.1). Who may decide, what is
// asked and whose answer wins are decided by core; the package never answers for anybody and knows
// no protocol.
//
//	core's writer        Service.Admit      may this be asked at all?
//	session protocol     Service.Present, Show, Settled, Gone
//	Service.Run
//	  follow             the log → what waits; a line in the program's log for each settlement
//	  watch              what waits × who is there → core.ExpireAction at 300 s, or after 30 s alone
package approval

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
)

// Options of a service.
type Options struct {
	Log *slog.Logger // nil: none
}

// Service is the approval service. It is made before the loop, which asks it for admission; its
// methods are safe for concurrent use and never block, but Run, which is called once.
type Service struct {
	log     *slog.Logger
	changed chan struct{} // holds one token when the clocks must be read again

	mu       sync.Mutex // guards everything below
	surfaces map[string]*surface
	left     map[string]time.Time // by principal: when it was last present at a surface and then was not
	waiting  map[string]*waiting  // what waits for an answer, by id
}

// waiting is one approval as far as its clocks go.
type waiting struct {
	asked   time.Time
	expires time.Time // zero: never
	policy  event.Policy
	// notBefore puts off the next try after one that failed.
	notBefore time.Time
}

// New makes a service where nobody is present.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		log: o.Log, changed: make(chan struct{}, 1),
		surfaces: make(map[string]*surface), left: make(map[string]time.Time), waiting: make(map[string]*waiting),
	}
}

// Run settles what nobody answers, until ctx ends or the loop stops. Start it before core.Recover
// and end it after the turns have ended, so that it sees every settlement; what it derives from rows
// at its start may be as old as it likes.
func (s *Service) Run(ctx context.Context, loop *core.Loop) error {
	cursor := loop.Cursor() // before the rows, so that nothing falls between
	if err := s.derive(ctx, loop); err != nil {
		return fmt.Errorf("reading what waits for an answer: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() {
		defer end()
		s.follow(ctx, loop, cursor)
	})
	s.watch(ctx, loop)
	return nil
}

// poke has the clocks read again. A token that is already there stands for this change as well,
// because the clocks are read after it is taken.
func (s *Service) poke() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
