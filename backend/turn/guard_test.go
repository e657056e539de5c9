package turn_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
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
