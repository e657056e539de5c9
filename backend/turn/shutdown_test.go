package turn_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/store"
)

// The end of the process in the middle of turns: everything ends, the queues wait in order, and the
// next start takes them up.
func TestShutdownAndTheNextStart(t *testing.T) {
	dir := t.TempDir()
	var speaking, asking, working string
	bubble(t, setup{dir: dir, script: "call when=speak\ntext par\nhang\ncall when=ask\ntool ask {\"words\":\"a\"}\ncall when=work\ntool rest {\"words\":\"b\"}"}, func(r *rig) {
		speaking, asking, working = r.session(), r.session(), r.session()
		r.send(speaking, "speak")
		r.send(asking, "ask")
		r.send(working, "work")
		settle()
		for _, words := range []string{"one", "two", "three"} {
			r.send(speaking, words)
		}
		start := time.Now()
		r.stopReactor()
		if took := time.Since(start); took > 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		t.Run("FAIL-A24 nothing runs and nothing is open", func(t *testing.T) {
			same(t, "running", r.runningTurns())
			if n := r.reactor.Running(); n != 0 {
				t.Errorf("%d under way", n)
			}
			for _, s := range []string{speaking, asking, working} {
				ends := payloads[event.TurnEnd](r, s)
				if len(ends) != 1 || ends[0].Outcome != event.Errored || ends[0].Cause != event.CauseInterrupted {
					t.Errorf("%+v", ends)
				}
			}
			if m := payloads[event.Message](r, speaking); len(m) != 1 || m[0].Text != "par" || !m[0].Aborted {
				t.Errorf("%+v", m)
			}
			if res := payloads[event.Resolution](r, asking); len(res) != 1 || res[0].State != event.StateCancelled || res[0].Source != event.SourceShutdown {
				t.Errorf("%+v", res)
			}
			same(t, "ran", r.tools.Ran(), "rest b", "stopped b")
		})
		same(t, "queue", r.queue(speaking), "one", "two", "three")
		r.send(asking, "too late") // a client that was served to the last moment
	})
	bubble(t, setup{dir: dir, script: "call when=three\ntext all of it\ncall\ntext other"}, func(r *rig) {
		t.Run("FAIL-A16 the queue is taken up in order", func(t *testing.T) {
			r.idle()
			same(t, "told", r.toldInCall(0)[1:], "assistant par", "user one\n\ntwo\n\nthree")
			same(t, "outcomes", r.outcomes(speaking), event.Errored, event.Replied)
			same(t, "queue", r.queue(speaking))
		})
		same(t, "the late one", r.outcomes(asking), event.Errored, event.Errored)
		for _, wrong := range r.rebuilt() {
			t.Error(wrong)
		}
	})
}

// A process that is killed writes nothing; the next start does.
func TestKilledInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	var s string
	synctest.Test(t, func(t *testing.T) {
		r := open(t, setup{dir: dir, lazy: true, script: "call\ntext par\nhang"})
		s = r.session()
		go func() { _ = r.reactor.Run(context.Background()) }()
		r.send(s, "hi")
		time.Sleep(time.Second) // the text has its row
		for _, words := range []string{"one", "two", "three"} {
			r.send(s, words)
		}
		r.kill() // loop and store end first: what the reactor wants to write then is lost
		time.Sleep(5 * time.Second)
	})
	bubble(t, setup{dir: dir, script: "call\ntext fine"}, func(r *rig) {
		r.idle()
		t.Run("FAIL-A16 FAIL-A24 the turn has ended and the queue opened the next", func(t *testing.T) {
			same(t, "outcomes", r.outcomes(s), event.Errored, event.Replied)
			same(t, "told", r.toldInCall(0), "user hi", "assistant par", "user one\n\ntwo\n\nthree")
		})
	})
}

func TestShutdownIsBounded(t *testing.T) {
	t.Run("an engine that does not listen", func(t *testing.T) {
		got := make(chan error, 2)
		bubble(t, setup{engines: engines("aalis", deaf(10*time.Second, got))}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			settle()
			start := time.Now()
			r.stopReactor()
			if took := time.Since(start); took > 1600*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			same(t, "outcomes", r.outcomes(s), event.Errored)
			time.Sleep(20 * time.Second)
		})
	})
	t.Run("a disk that does not take the ends", func(t *testing.T) {
		var broken atomic.Bool
		synctest.Test(t, func(t *testing.T) {
			r := open(t, setup{script: "call\nhang", store: store.Options{Inject: func(string) store.Failure {
				if broken.Load() {
					return store.FailIO
				}
				return store.NoFailure
			}}})
			defer r.stop()
			left := false
			r.stopped = func(err error) { left = strings.Contains(err.Error(), "left for the next start") }
			r.send(r.session(), "hi")
			settle()
			broken.Store(true)
			start := time.Now()
			r.stopReactor()
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
			if n := len(r.runningTurns()); n != 1 || !left || r.log.count("left as running for the next start") == 0 {
				t.Errorf("%d turns are left for the next start", n)
			}
			broken.Store(false)
		})
	})
	t.Run("a turn that was being stopped opens no other, and ends as aborted", func(t *testing.T) {
		got := make(chan error, 2)
		dir := t.TempDir()
		var s string
		bubble(t, setup{dir: dir, engines: engines("aalis", deaf(10*time.Second, got))}, func(r *rig) {
			s = r.session()
			r.send(s, "hi")
			settle()
			r.send(s, "next")
			r.do(core.AbortTurn{Actor: owner, Session: s})
			time.Sleep(time.Second)
			start := time.Now()
			r.stopReactor()
			if took := time.Since(start); took > 1600*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			same(t, "outcomes", r.outcomes(s), event.Aborted)
			same(t, "queue", r.queue(s), "next")
			time.Sleep(20 * time.Second)
		})
		bubble(t, setup{dir: dir, script: "call\ntext fine"}, func(r *rig) {
			r.idle()
			same(t, "outcomes", r.outcomes(s), event.Aborted, event.Replied)
		})
	})
	t.Run("stop before run, and without", func(t *testing.T) {
		bubble(t, setup{lazy: true}, func(r *rig) {
			if err := r.reactor.Stop(r.t.Context()); err != nil {
				t.Error(err)
			}
			if err := r.reactor.Run(r.t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("a loop that stops first is an error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, setup{lazy: true})
			ran := make(chan error, 1)
			go func() { ran <- r.reactor.Run(context.Background()) }()
			settle()
			r.kill()
			if err := <-ran; err == nil || !strings.Contains(err.Error(), "following the log") {
				t.Errorf("%v", err)
			}
		})
	})
}

// A disk without room: turns stop with words that say why, and everything goes on when there is
// room again.
func TestStorage(t *testing.T) {
	var full atomic.Bool
	inject := store.Options{Inject: func(string) store.Failure {
		if full.Load() {
			return store.FailFull
		}
		return store.NoFailure
	}}
	t.Run("FAIL-D14 a turn whose text cannot be written is stopped", func(t *testing.T) {
		flood := script(func(ctx contextOf, h hostOf) error {
			m, err := h.StartMessage(ctx, 1)
			if err != nil {
				return err
			}
			for {
				if err := h.Text(m, strings.Repeat("x", 1<<20)); err != nil {
					return err
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
		bubble(t, setup{engines: engines("flood", flood), script: "call\nhang\ncall\ntext fine", store: inject}, func(r *rig) {
			s, other := r.do(core.CreateSession{Actor: owner, Harness: "flood"}).SessionID, r.session()
			r.send(other, "hi")
			settle()
			r.send(s, "hi")
			settle()
			full.Store(true)
			time.Sleep(time.Minute)
			if n := len(r.runningTurns()); n != 2 {
				t.Errorf("%d turns run in the rows", n)
			}
			if _, err := r.loop.Do(r.t.Context(), core.SendInput{Actor: owner, Session: s, Input: say("again")}); err == nil {
				t.Error("a full disk took an input")
			}
			full.Store(false)
			time.Sleep(10 * time.Second)
			r.idle()
			for _, one := range []string{s, other} {
				f := payloads[event.Failure](r, one)
				if len(f) != 1 || f[0].Code != "storage" || !strings.Contains(f[0].Message.String(), "full") {
					t.Errorf("%+v", f)
				}
			}
			if m := payloads[event.Message](r, s); len(m) != 1 || len(m[0].Text) < 8<<20 || !m[0].Aborted {
				t.Errorf("%d messages", len(m))
			}
			r.send(other, "again")
			r.idle()
			same(t, "and it goes on", r.outcomes(other), event.Errored, event.Replied)
		})
	})
	t.Run("FAIL-D14 a report that cannot be written ends the turn with the reason", func(t *testing.T) {
		bubble(t, setup{script: "call\nwait 1s\ntext a\ncall\ntext fine", store: inject}, func(r *rig) {
			s := r.session()
			r.send(s, "hi")
			settle()
			full.Store(true)
			time.Sleep(time.Minute)
			full.Store(false)
			time.Sleep(10 * time.Second)
			r.idle()
			if f := payloads[event.Failure](r, s); len(f) != 1 || !strings.Contains(f[0].Message.String(), "no room left on the disk") {
				t.Errorf("%+v", f)
			}
			r.send(s, "again")
			r.idle()
			same(t, "outcomes", r.outcomes(s), event.Errored, event.Replied)
		})
	})
}

// What the engine is told of a turn.
func TestWhatTheEngineIsTold(t *testing.T) {
	told := make(chan engine.Turn, 1)
	e := script(func(ctx contextOf, h hostOf) error { told <- h.told; return h.Silent(ctx) })
	bubble(t, setup{engines: engines("aalis", e), limit: 7, place: "/somewhere"}, func(r *rig) {
		s := r.session()
		r.do(core.SendInput{Actor: owner, Session: s, Input: say("hi"), Model: "test/m"})
		got := <-told
		if got.Settings == nil {
			t.Error("no settings")
		}
		got.Settings = nil // they are asked, not compared
		want := engine.Turn{SessionID: s, TurnID: got.TurnID, Model: "test/m", ToolLimit: 7, Place: engine.Place{Key: core.DefaultPlace, Root: "/somewhere"}}
		if got != want {
			t.Errorf("%+v", got)
		}
		r.idle()
		same(t, "outcomes", r.outcomes(s), event.Silent)
	})
}
