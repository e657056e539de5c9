package turn_test

import (
	"strings"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
)

func (r *rig) rows(session string) (all []store.Row) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		s, err := tx.SessionOrTomb(session)
		if err != nil {
			return err
		}
		all, err = tx.Rows(s.SID, -1, 1<<20)
		return err
	})
	return all
}

func TestQueue(t *testing.T) {
	t.Run("SP-QUEUE-04 SP-UMSG-08 an input joins before the next model call", func(t *testing.T) {
		bubble(t, setup{script: "call\ngate go\ntool echo {\"words\":\"a\"}\ncall\ntext both"}, func(r *rig) {
			s := r.session()
			first := r.send(s, "one")
			settle()
			if got := r.send(s, "two"); got != first {
				t.Errorf("two waits for %s, not %s", got, first)
			}
			r.send(s, "three")
			t.Run("SP-QUEUE-01 it waits in order until then", func(t *testing.T) { same(t, "queue", r.queue(s), "two", "three") })
			r.model.Open("go")
			r.idle()
			same(t, "queue", r.queue(s))
			if j := payloads[event.InputJoin](r, s); len(j) != 2 || j[0].Input.Text != "two" || j[1].Input.Text != "three" {
				t.Errorf("%+v", j)
			}
			same(t, "told", r.toldInCall(1), "user one", "assistant  -> echo {\"words\":\"a\"}", "tool echo a", "user two\n\nthree")
			same(t, "outcomes", r.outcomes(s), event.Replied)
			r.model.Add(hang...)
			r.send(s, "later")
			r.until("the third call", func() bool { return len(r.model.Requests()) == 3 })
			if told := strings.Join(r.toldInCall(2), "|"); strings.Count(told, "two") != 1 || !strings.HasSuffix(told, "two\n\nthree|assistant both|user later") {
				t.Errorf("said once, where it entered: %q", told)
			}
			r.do(core.AbortTurn{Actor: owner, Session: s})
			r.idle()
		})
	})
	t.Run("an input that came too late for the last call keeps the turn open", func(t *testing.T) {
		bubble(t, setup{script: "call\ntext one\ngate go\ncall when=two\ntext two"}, func(r *rig) {
			s := r.session()
			r.send(s, "one")
			settle()
			r.send(s, "two")
			r.model.Open("go")
			r.idle()
			m := payloads[event.Message](r, s)
			if len(m) != 2 || m[0].Final || !m[1].Final {
				t.Errorf("%+v", m)
			}
			same(t, "outcomes", r.outcomes(s), event.Replied)
		})
	})
	t.Run("SP-TURN-12 after an abort the queue opens the next turn at once", func(t *testing.T) {
		bubble(t, setup{script: "call\ntext a\nhang\ncall\ntext b"}, func(r *rig) {
			s := r.session()
			first := r.send(s, "one")
			settle()
			r.send(s, "two")
			r.send(s, "three")
			start := time.Now()
			r.do(core.AbortTurn{Actor: owner, Session: s, Turn: first})
			settle()
			if took := time.Since(start); took > 100*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			same(t, "outcomes", r.outcomes(s), event.Aborted, event.Replied)
			same(t, "queue", r.queue(s))
			starts := payloads[event.TurnStart](r, s)
			if len(starts) != 2 || starts[1].Input == nil || starts[1].Input.Text != "two" {
				t.Errorf("%+v", starts)
			}
			told := r.toldInCall(1)
			same(t, "told", told, "user one", "assistant a", "user two\n\nthree")
		})
	})
	t.Run("SP-TURN-13 SP-TURN-14 SP-TURN-15 what an abort does not stop", func(t *testing.T) {
		bubble(t, setup{script: "call\ntext a\ncall\nhang"}, func(r *rig) {
			s := r.session()
			if got := r.do(core.AbortTurn{Actor: owner, Session: s}); got.TurnID != "" {
				t.Errorf("%+v", got)
			}
			first := r.send(s, "one")
			r.idle()
			_, err := r.loop.Do(r.t.Context(), core.AbortTurn{Actor: owner, Session: s, Turn: first})
			mismatch(t, err)
			second := r.send(s, "two")
			settle()
			_, err = r.loop.Do(r.t.Context(), core.AbortTurn{Actor: owner, Session: s, Turn: first})
			mismatch(t, err)
			settle()
			same(t, "still runs", r.runningTurns(), second)
			r.do(core.AbortTurn{Actor: owner, Session: s})
			r.idle()
		})
	})
	t.Run("SP-TURN-16 an abort stops no sub-session", func(t *testing.T) {
		bubble(t, setup{script: "call when=parent\nhang\ncall when=child\nwait 1s\ntext fine"}, func(r *rig) {
			s := r.session()
			child := r.do(core.CreateSession{Actor: owner, Parent: s}).SessionID
			r.send(s, "parent")
			r.send(child, "child")
			settle()
			r.do(core.AbortTurn{Actor: owner, Session: s})
			r.idle()
			same(t, "outcomes", append(r.outcomes(s), r.outcomes(child)...), event.Aborted, event.Replied)
		})
	})
}
