package core_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/testkit"
)

// left counts what is left of a session that was deleted: rows, and those that still say something.
func (r *rig) left(sid int64) (rows, speak int) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		all, err := tx.Rows(sid, -1, 1<<20)
		for _, w := range all {
			if w.Text != "" || w.Event != nil && (w.Event.Payload != nil || w.Event.Actor != event.Actor{}) {
				speak++
			}
		}
		rows = len(all)
		return err
	})
	return rows, speak
}

// erasing runs the eraser as the program does.
func (r *rig) erasing() {
	r.t.Helper()
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- core.Eraser(ctx, r.loop, nil) }()
	r.t.Cleanup(func() { end(); <-done })
}

// The contents of what is deleted go at once, those that a crash left at the next start, and the rest
// of it after 30 days (kernel 8, SP-SESS-14).
func TestTheEraser(t *testing.T) {
	talk := func(r *rig) (session string, sid int64) {
		s, turn, m := r.message()
		if err := r.loop.Text(m, "private"); err != nil {
			t.Fatal(err)
		}
		r.ask(turn)
		time.Sleep(time.Second)
		return s, r.sid(s)
	}
	gone := func(t *testing.T, r *rig, sid int64) {
		t.Helper()
		time.Sleep(time.Second)
		synctest.Wait()
		if rows, speak := r.left(sid); rows == 0 || speak != 0 {
			t.Errorf("%d rows are left, %d of them speak; want the skeleton", rows, speak)
		}
	}
	t.Run("SP-SESS-14 while the program runs, of every descendant too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			r.erasing()
			first, firstSID := talk(r)
			second, secondSID := talk(r)
			_, kept := talk(r)
			child := r.do(core.CreateSession{Actor: owner, Parent: first}).SessionID
			r.open(child)
			childSID := r.sid(child)
			r.do(core.DeleteSession{Actor: owner, Session: first})
			gone(t, r, firstSID)
			gone(t, r, childSID)
			r.do(core.DeleteSession{Actor: owner, Session: second})
			gone(t, r, secondSID)
			if _, speak := r.left(kept); speak == 0 {
				t.Error("a living session was erased")
			}
		})
	})
	t.Run("what a crash left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			s, sid := talk(r)
			r.do(core.DeleteSession{Actor: owner, Session: s})
			r.stop()
			r = open(t, r.dir)
			if _, speak := r.left(sid); speak == 0 {
				t.Fatal("nothing is left to erase")
			}
			r.erasing()
			gone(t, r, sid)
		})
	})
	t.Run("the skeleton after 30 days", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			r.erasing()
			s, sid := talk(r)
			r.do(core.DeleteSession{Actor: owner, Session: s})
			time.Sleep(30*24*time.Hour - time.Second)
			another := func() {
				r.do(core.DeleteSession{Actor: owner, Session: r.session()})
				synctest.Wait()
			}
			another()
			gone(t, r, sid)
			time.Sleep(2 * time.Second)
			another()
			if rows, _ := r.left(sid); rows != 0 {
				t.Errorf("%d rows are left", rows)
			}
		})
	})
}

// turnRow is a turn as it stands.
func (r *rig) turnRow(id string) (row store.Turn) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) (err error) { row, err = tx.Turn(id); return err })
	return row
}

func (r *rig) queue(session string) (waiting []event.Waiting) {
	r.t.Helper()
	sid := r.sid(session)
	r.read(func(tx *store.ReadTx) (err error) { waiting, err = tx.PendingInputs(sid); return err })
	return waiting
}

func TestStoppingAllBelow(t *testing.T) {
	t.Run("SP-BG-30 SP-BG-31 turns and queues below are stopped and emptied; its own, and those elsewhere, are left alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			root := r.session()
			child := r.do(core.CreateSession{Actor: owner, Parent: root}).SessionID
			deep := r.do(core.CreateSession{Actor: owner, Parent: child}).SessionID
			var turns []string
			for _, s := range []string{root, child, deep, r.session()} {
				turns = append(turns, r.open(s))
				r.open(s) // waits
			}
			asked := r.ask(turns[2]).EventID
			if got := r.do(core.StopDescendants{Actor: owner, Session: root}); got.Count != 2 {
				t.Errorf("%d turns were stopped", got.Count)
			}
			for i, stopped := range []bool{false, true, true, false} {
				row := r.turnRow(turns[i])
				if waiting := r.queue(row.Session); (row.CancelSeq != 0) != stopped || (len(waiting) == 0) != stopped {
					t.Errorf("number %d: %+v, %d wait", i, row, len(waiting))
				}
			}
			if got := r.settlement(asked); got != "cancelled/turn-ended" {
				t.Errorf("what it asked is %s", got)
			}
			r.do(core.StopTurn{Turn: turns[2]})
			if got := r.turnRow(turns[2]); got.Outcome != event.Aborted {
				t.Errorf("it ended as %+v", got)
			}
			for _, e := range r.events(deep) {
				if e.Kind == event.TurnStarted && e.Turn != turns[2] {
					t.Error("what waited opened a turn")
				}
			}
		})
	})
}

// What runs and what waits in a session ends in the log before its tombstone, below it as well
// (decisions B16).
func TestADeletionEndsWhatRunsAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		root := r.session()
		child := r.do(core.CreateSession{Actor: owner, Parent: root}).SessionID
		for _, s := range []string{root, child} {
			r.ask(r.open(s))
			r.open(s) // waits
		}
		r.do(core.DeleteSession{Actor: owner, Session: root})
		want := []event.Kind{
			event.InputDropped, event.UserInterrupt, event.ActionResolved, event.ExecutionUpdated, event.ToolResult, event.TurnEnded, event.SessionDeleted,
		}
		for _, s := range []string{root, child} {
			if got := kinds(r.events(s)); !slices.Equal(got[len(got)-len(want):], want) {
				t.Errorf("it ends with %v", got)
			}
		}
		testkit.Check(t, r.st)
	})
}

// A rewind is of a turn of the session that lives and is over, while none runs (spec/README 8, 13).
func TestWhatCanBeRewound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s, other := r.session(), r.session()
		first, elsewhere := r.open(s), r.open(other)
		r.do(core.EndSilent{Turn: first})
		r.do(core.EndSilent{Turn: elsewhere})
		running := r.open(s)
		rewind := func(turn string) error {
			_, err := r.loop.Do(context.Background(), core.RewindTurn{Actor: owner, Session: s, Turn: turn, UndoID: event.NewID()})
			return err
		}
		for _, turn := range []string{first, running} {
			if err := rewind(turn); !fault.Is(err, fault.Conflict) {
				t.Errorf("while one runs: %v", err)
			}
		}
		r.do(core.EndSilent{Turn: running})
		for name, turn := range map[string]string{"of another session": elsewhere, "that never was": event.NewID()} {
			if err := rewind(turn); !fault.Is(err, fault.NotFound) {
				t.Errorf("a turn %s: %v", name, err)
			}
		}
		if err := rewind(first); err != nil {
			t.Error(err)
		}
		if err := rewind(first); !fault.Is(err, fault.NotFound) {
			t.Errorf("a second time: %v", err)
		}
		r.read(func(tx *store.ReadTx) error {
			dead, err := tx.DeadTurns(r.sid(s))
			if len(dead) != 1 || !dead[first] {
				t.Errorf("dead are %v", dead)
			}
			return err
		})
	})
}
