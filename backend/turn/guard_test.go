package turn_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/turn"
)

// A turn that is opened while the program ends, by a late client, is ended like the others, though
// nobody conducts it any more.
func TestATurnOpenedDuringTheEnd(t *testing.T) {
	got := make(chan error, 2)
	bubble(t, setup{engines: engines("aalis", deaf(10*time.Second, got))}, func(r *rig) {
		s, late := r.session(), r.session()
		r.send(s, "hi")
		settle()
		stopped := make(chan struct{})
		go func() { defer close(stopped); r.stopReactor() }()
		time.Sleep(time.Second) // the engine does not listen
		r.send(late, "hello?")
		<-stopped
		same(t, "running", r.runningTurns())
		for _, one := range []string{s, late} {
			if ends := payloads[event.TurnEnd](r, one); len(ends) != 1 || ends[0].Cause != event.CauseInterrupted {
				t.Errorf("%+v", ends)
			}
		}
		time.Sleep(20 * time.Second)
	})
}

// Turns of an earlier start are for core.Recover: a reactor that runs before it lets no engine near
// them, and leaves them as they are when it ends.
func TestTurnsOfAnEarlierStartAreNotConducted(t *testing.T) {
	dir := t.TempDir()
	var s string
	bubble(t, setup{dir: dir, lazy: true}, func(r *rig) {
		s = r.session()
		r.send(s, "hi")
	})
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(store.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		loop, err := core.New(core.Options{Store: st})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(context.Background())
		looped, followed := make(chan error, 1), make(chan error, 1)
		go func() { looped <- loop.Run(ctx) }()
		reactor := turn.New(turn.Options{Loop: loop, Engines: engines("aalis", func(context.Context, hostOf) error {
			t.Error("conducted")
			return nil
		})})
		go func() { followed <- reactor.Run(ctx) }()
		time.Sleep(time.Second)
		if n := reactor.Running(); n != 0 {
			t.Errorf("%d turns are under way", n)
		}
		if err := errors.Join(reactor.Stop(t.Context()), <-followed); err != nil {
			t.Error(err)
		}
		if err := st.Read(t.Context(), func(tx *store.ReadTx) error {
			running, err := tx.RunningTurns()
			if len(running) != 1 || running[0].Session != s {
				t.Errorf("%d turns run in the rows", len(running))
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		end()
		if err := errors.Join(<-looped, st.Close()); err != nil {
			t.Error(err)
		}
	})
}

// busyReaders has every read wait until it is let go.
func (r *rig) busyReaders() (letGo func()) {
	r.t.Helper()
	holding, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- r.st.Read(context.Background(), func(*store.ReadTx) error {
			close(holding)
			<-release
			return nil
		})
	}()
	<-holding
	return func() {
		close(release)
		if err := <-done; err != nil {
			r.t.Error(err)
		}
		settle()
	}
}

// A turn that is stopped before anything could be read about it is ended all the same.
func TestATurnStoppedBeforeItIsKnown(t *testing.T) {
	t.Run("while it is read", func(t *testing.T) {
		bubble(t, setup{script: "call\nhang", store: store.Options{Readers: 1}}, func(r *rig) {
			s := r.session()
			letGo := r.busyReaders()
			r.send(s, "hi")
			settle()
			r.do(core.AbortTurn{Actor: owner, Session: s})
			settle()
			letGo()
			same(t, "running", r.runningTurns())
			same(t, "outcomes", r.outcomes(s), event.Aborted)
			if n := len(r.model.Requests()); n != 0 {
				t.Errorf("%d calls of the model", n)
			}
		})
	})
	t.Run("before there is a reactor: an engine that says nothing hears of it", func(t *testing.T) {
		silent := script(func(ctx contextOf, _ hostOf) error {
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, turn.ErrAborted) {
				t.Error(cause)
			}
			return ctx.Err()
		})
		bubble(t, setup{lazy: true, engines: engines("aalis", silent)}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			r.do(core.AbortTurn{Actor: owner, Session: s})
			ctx, end := context.WithCancel(r.t.Context())
			done := make(chan error, 1)
			go func() { done <- r.reactor.Run(ctx) }()
			time.Sleep(time.Second)
			same(t, "outcomes", r.outcomes(s), event.Aborted)
			end()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	})
}

// A turn whose end passed by the reactor, in a ring that held none of it, is over for its engine, too.
func TestAnEndThatWasMissed(t *testing.T) {
	over := make(chan time.Time, 1)
	silent := script(func(ctx contextOf, _ hostOf) error {
		<-ctx.Done()
		over <- time.Now()
		return ctx.Err()
	})
	bubble(t, setup{engines: engines("aalis", silent), core: core.Options{RingBytes: 1}}, func(r *rig) {
		s := r.session()
		r.send(s, "hi")
		settle()
		at := time.Now()
		r.do(core.DeleteSession{Actor: owner, Session: s})
		settle()
		select {
		case when := <-over:
			if when != at {
				t.Errorf("told %v later", when.Sub(at))
			}
		default:
			t.Error("the engine goes on")
		}
		if n := r.reactor.Running(); n != 0 {
			t.Errorf("%d turns are under way", n)
		}
	})
}

// What an engine that does not listen goes on saying is not kept in memory while the disk is full
// (kernel 0.9).
func TestAFloodIsStoppedWithTheTurn(t *testing.T) {
	var full atomic.Bool
	inject := store.Options{Inject: func(string) store.Failure {
		if full.Load() {
			return store.FailFull
		}
		return store.NoFailure
	}}
	const piece = 256 << 10
	flood := script(func(ctx contextOf, h hostOf) error {
		m, err := h.StartMessage(ctx, 1)
		for range 200 {
			if e := h.Text(m, strings.Repeat("x", piece)); e != nil && !errors.Is(e, engine.ErrStopped) {
				t.Error(e)
			}
			time.Sleep(10 * time.Millisecond)
		}
		return err
	})
	bubble(t, setup{engines: engines("aalis", flood), store: inject}, func(r *rig) {
		s := r.session()
		r.send(s, "hi")
		settle()
		full.Store(true)
		time.Sleep(10 * time.Second)
		full.Store(false)
		time.Sleep(10 * time.Second)
		r.idle()
		if m := payloads[event.Message](r, s); len(m) != 1 || len(m[0].Text) < 8<<20 || len(m[0].Text) > 8<<20+4*piece {
			t.Errorf("%d messages", len(m))
		}
	})
}

// The end of a turn that cannot be written is tried at pauses that double up to 5 s, as text is
// (kernel 0.9).
func TestThePausesBetweenTriesOfAnEnd(t *testing.T) {
	var broken atomic.Bool
	var tries []time.Time // by the writer, read when it is idle
	slow := script(func(ctx contextOf, _ hostOf) error {
		<-ctx.Done()
		time.Sleep(10 * time.Millisecond) // the disk breaks meanwhile
		return ctx.Err()
	})
	bubble(t, setup{engines: engines("aalis", slow), store: store.Options{Inject: func(q string) store.Failure {
		if !broken.Load() {
			return store.NoFailure
		}
		if q == "SAVEPOINT command" {
			tries = append(tries, time.Now())
		}
		return store.FailIO
	}}}, func(r *rig) {
		s := r.session()
		r.send(s, "hi")
		settle()
		r.do(core.AbortTurn{Actor: owner, Session: s})
		broken.Store(true)
		time.Sleep(20 * time.Second)
		broken.Store(false)
		r.idle()
		var pauses []time.Duration
		for i := range len(tries) - 1 {
			pauses = append(pauses, tries[i+1].Sub(tries[i]))
		}
		ms := time.Millisecond
		same(t, "pauses", pauses, 50*ms, 100*ms, 200*ms, 400*ms, 800*ms, 1600*ms, 3200*ms, 5000*ms, 5000*ms)
		same(t, "outcomes", r.outcomes(s), event.Aborted)
	})
}

// What the engine is told that changes from turn to turn and from step to step.
func TestWhatTheEngineIsToldOfATurn(t *testing.T) {
	t.Run("SP-TURN-10 whether it goes on after the tool limit", func(t *testing.T) {
		told := make(chan bool, 2)
		limited := script(func(ctx contextOf, h hostOf) error {
			told <- h.told.Continue
			return errors.Join(h.ToolLimit(ctx, 3), h.Silent(ctx))
		})
		bubble(t, setup{engines: engines("aalis", limited)}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			r.idle()
			r.do(core.ContinueTurn{Actor: owner, Session: s})
			r.idle()
			if first, second := <-told, <-told; first || !second {
				t.Errorf("told %v, then %v", first, second)
			}
		})
	})
	t.Run("who speaks: by nickname, else by id", func(t *testing.T) {
		heard := make(chan []engine.Entry, 1)
		listens := script(func(ctx contextOf, h hostOf) error {
			said, err := h.History(ctx)
			heard <- said
			return errors.Join(err, h.Silent(ctx))
		})
		bubble(t, setup{engines: engines("aalis", listens)}, func(r *rig) {
			s := r.session()
			for _, who := range []event.Speaker{{Platform: "im", UserID: "42", Nickname: "Ann"}, {Platform: "im", UserID: "43"}} {
				r.do(core.SendInput{Actor: owner, Session: s, Input: event.Input{Text: "hi", Speaker: who}})
				said := <-heard
				if got, want := said[len(said)-1].Speaker, cmp.Or(who.Nickname, who.UserID); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				r.idle()
			}
		})
	})
	t.Run("a card that is proposed first in a step belongs to that step", func(t *testing.T) {
		steps := script(func(ctx contextOf, h hostOf) error {
			propose := func() { _, err := h.ProposeTool(ctx, "echo"); errs(t, err) }
			propose()
			errs(t, h.ModelCalled(ctx, engine.ModelCall{Step: 1}))
			propose()
			errs(t, h.ModelCalled(ctx, engine.ModelCall{Step: 2}))
			_, err := h.StartReasoning(ctx, 3)
			errs(t, err)
			propose()
			return h.Silent(ctx)
		})
		bubble(t, setup{engines: engines("aalis", steps)}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			r.idle()
			var got []int
			for _, p := range payloads[event.Proposal](r, s) {
				got = append(got, p.Step)
			}
			same(t, "steps", got, 1, 2, 3)
		})
	})
}

func errs(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// What was cleared is told to no model again, though it stays in the log.
func TestWhatWasClearedIsNotTold(t *testing.T) {
	bubble(t, setup{script: "call\ntext fine\ncall\ntext fine"}, func(r *rig) {
		s := r.session()
		r.send(s, "a secret")
		r.idle()
		r.do(core.ClearHistory{Actor: owner, Session: s})
		r.send(s, "again")
		r.idle()
		same(t, "told", r.toldInCall(1), "user again")
		same(t, "outcomes", r.outcomes(s), event.Replied, event.Replied)
	})
}
