package core_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
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
	go func() { done <- core.Eraser(ctx, r.loop) }()
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
	t.Run("while the program runs", func(t *testing.T) {
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
