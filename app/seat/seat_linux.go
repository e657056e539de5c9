package seat

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// pace holds the clocks that a test makes faster.
type pace struct {
	ask      time.Duration // the least between two questions to a source that tells nothing by itself
	retry    time.Duration // until a bus that is not there is looked for again
	obeyed   time.Duration // for how long a wish to lock counts without a screen that locks
	inactive time.Duration // between two looks at a session that is not in front
}

func usualPace() pace {
	return pace{ask: 10 * time.Second, retry: time.Minute, obeyed: 10 * time.Second, inactive: 30 * time.Second}
}

func (s *Seat) watch(ctx context.Context) { s.watchAt(ctx, usualPace()) }

// watchAt runs everything in one goroutine, which therefore needs no locks: signals come over two
// channels, and one timer stands for the next moment at which something is due, if there is one.
func (s *Seat) watchAt(ctx context.Context, p pace) {
	log := s.options.Log
	login := &login{bus: newBus(systemAddress, log), pace: p}
	screens := newScreens(newBus(sessionAddress, log), s.options.Idle, p)
	defer login.bus.close()
	defer screens.bus.close()
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case signal, there := <-login.bus.signals:
			if there {
				login.take(ctx, signal)
				break
			}
			login.bus.drop(p.retry)
			login.forget()
		case signal, there := <-screens.bus.signals:
			if there {
				screens.take(ctx, signal)
				break
			}
			screens.bus.drop(p.retry)
			screens.forget()
		case <-due.C:
		}
		if login.bus.connect(ctx, p.retry) {
			login.begin(ctx)
		}
		if screens.bus.connect(ctx, p.retry) {
			screens.begin(ctx)
		}
		login.catchUp(ctx)
		screens.catchUp(ctx)
		if ctx.Err() != nil { // answers that did not come say nothing
			return
		}
		now := time.Now()
		s.set(State{
			Away:   login.locked(now) || screens.locked() || login.idle(now, s.options.Idle) || screens.idle(),
			Ending: login.ending(),
		})
		due.Stop()
		if next := earliest(login.bus.next(), screens.bus.next(), login.next(now, s.options.Idle), screens.next()); !next.IsZero() {
			due.Reset(time.Until(next))
		}
	}
}

// earliest is the first of moments, of which zero ones never come.
func earliest(moments ...time.Time) (first time.Time) {
	for _, m := range moments {
		if first.IsZero() || !m.IsZero() && m.Before(first) {
			first = m
		}
	}
	return first
}

func look(ctx context.Context) (all Sources) {
	log := slog.New(slog.DiscardHandler)
	login := &login{bus: newBus(systemAddress, log), pace: usualPace()}
	screens := newScreens(newBus(sessionAddress, log), DefaultIdle, usualPace())
	defer login.bus.close()
	defer screens.bus.close()
	if login.bus.connect(ctx, 0) {
		login.begin(ctx)
	}
	if screens.bus.connect(ctx, 0) {
		screens.begin(ctx)
	}
	if login.session != "" {
		all.Lock = append(all.Lock, loginName)
		if login.now.graphical {
			all.Idle = append(all.Idle, loginName)
		}
	}
	for name := range screens.on {
		all.Lock = append(all.Lock, name)
	}
	for name := range screens.clocks {
		all.Idle = append(all.Idle, name)
	}
	if !screens.asked.IsZero() {
		all.Idle = append(all.Idle, freeSaver)
	}
	slices.Sort(all.Lock)
	slices.Sort(all.Idle)
	return all
}
