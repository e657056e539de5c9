package approval_test

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/approval"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
)

// Surfaces that push nothing by themselves let the moments be told apart at which somebody comes,
// lapses, is held, and goes.
func TestWhenSomebodyWent(t *testing.T) {
	bubble(t, "SP-APPR-14 who lapsed before leaving went when the 10 minutes were over", func(t *testing.T, r *rig) {
		r.svc.Present("a", event.OwnerID, true)
		turn := r.turn()
		pass(9*time.Minute + 50*time.Second)
		a := r.ask(turn)
		pass(30 * time.Second) // 20 s after the 10 minutes
		r.svc.Gone("a")
		pass(9 * time.Second)
		r.expect(a.ID, "pending")
		pass(time.Second)
		r.expect(a.ID, "denied/absent")
	})
	bubble(t, "SP-PRES-06 whom an approval held is present until it is settled, for the others, too", func(t *testing.T, r *rig) {
		r.svc.Present("a", event.OwnerID, true)
		turn := r.turn()
		pass(9*time.Minute + 30*time.Second)
		held, other := r.ask(turn), r.ask(turn)
		if !r.svc.Show("a", held.ID, []string{event.OwnerID}) {
			t.Fatal("not shown")
		}
		pass(75 * time.Second) // 45 s after the 10 minutes
		r.do(core.AnswerAction{Actor: owner, ActionID: held.ID, Approve: true, Hash: held.Hash, May: true})
		r.svc.Settled("a", held.ID)
		pass(29 * time.Second)
		r.expect(other.ID, "pending")
		pass(time.Second)
		r.expect(other.ID, "denied/absent")
	})
	bubble(t, "SP-APPR-14 somebody who may not decide is no company", func(t *testing.T, r *rig) {
		r.svc.Present("a", event.OwnerID, true)
		r.svc.Present("b", "somebody", true)
		a := r.ask(r.turn())
		r.svc.Show("b", a.ID, []string{"somebody"})
		r.svc.Gone("a")
		pass(30*time.Second - time.Millisecond)
		r.expect(a.ID, "pending")
		pass(time.Millisecond)
		r.expect(a.ID, "denied/absent")
	})
	bubble(t, "SP-PRES-04 SP-APPR-06 nothing is shown where the 10 minutes are over", func(t *testing.T, r *rig) {
		r.svc.Present("a", event.OwnerID, true)
		pass(10*time.Minute - time.Millisecond)
		if !r.svc.Show("a", "1", []string{event.OwnerID}) {
			t.Error("not shown to who is there")
		}
		r.svc.Settled("a", "1")
		pass(time.Millisecond)
		if r.svc.Show("a", "2", []string{event.OwnerID}) {
			t.Error("shown to nobody")
		}
	})
	bubble(t, "a connection arrives when it was absent before, and never where nobody may decide", func(t *testing.T, r *rig) {
		for _, c := range []struct {
			decider string
			active  bool
			after   time.Duration
			want    bool
		}{
			{event.OwnerID, true, 0, true},
			{event.OwnerID, true, 9 * time.Minute, false},
			{event.OwnerID, true, 10 * time.Minute, true},
			{event.OwnerID, false, 0, false},
			{event.OwnerID, true, 0, true},
			{"", true, 0, false},
			{event.OwnerID, true, 0, true},
		} {
			pass(c.after)
			if got := r.svc.Present("a", c.decider, c.active); got != c.want {
				t.Errorf("%+v: arrived is %v", c, got)
			}
		}
	})
}

// What a policy says of absence is asked before anybody is looked for; a policy with nobody in it can
// be answered by nobody (kernel 5.2).
func TestAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := approval.New(approval.Options{})
		me := []string{event.OwnerID}
		for _, c := range []struct {
			policy        event.Policy
			alone, attend string
		}{
			{event.Policy{Approvers: me, Absent: "deny"}, event.SourceAbsent, ""},
			{event.Policy{Approvers: me, Absent: "wait"}, "", ""},
			{event.Policy{Approvers: []string{"somebody"}, Absent: "deny"}, event.SourceAbsent, event.SourceAbsent},
			{event.Policy{Absent: "deny"}, event.SourceIneligible, event.SourceIneligible},
			{event.Policy{Absent: "wait"}, event.SourceIneligible, event.SourceIneligible},
		} {
			svc.Gone("a")
			if got := svc.Admit(c.policy); got != c.alone {
				t.Errorf("%+v with nobody there: %q", c.policy, got)
			}
			svc.Present("a", event.OwnerID, true)
			if got := svc.Admit(c.policy); got != c.attend {
				t.Errorf("%+v with the owner there: %q", c.policy, got)
			}
		}
	})
}

// An approval whose policy waits for people has no grace, only its own end, if it has one (kernel 5.2).
func TestAPolicyThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		ids := written(t, dir, time.Now().Add(time.Hour).UnixMilli(), 0)
		r := start(t, dir)
		pass(time.Hour - time.Second)
		r.present().Close()
		for _, id := range ids {
			r.expect(id, "pending")
		}
		pass(time.Second)
		r.expect(ids[0], "expired/timeout")
		pass(1000 * time.Hour)
		r.expect(ids[1], "pending")
	})
}

// written makes a log with approvals that wait for people, which no command asks for yet, and gives their ids.
func written(t *testing.T, dir string, expires ...int64) (ids []string) {
	t.Helper()
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var tick int64
	tx, err := st.Begin(time.Now().UnixMilli(), func() int64 { tick++; return tick })
	if err != nil {
		t.Fatal(err)
	}
	s, err := tx.Create(event.Created{
		ID: event.NewID(), Origin: "ms", SessionKind: "owner", Tenant: "local", Initiator: event.OwnerID, Harness: "aalis", HarnessV: 1, Environment: "local",
	}, event.System())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range expires {
		call, id := event.NewID(), event.NewID()
		if _, err := tx.Append(
			s.SID,
			event.Draft{ID: call, Actor: event.System(), Payload: event.Call{CallID: call, Tool: "t", Args: json.RawMessage(`{}`), Effect: "write", ExecutionID: call}},
			event.Draft{ID: id, Parent: call, Actor: event.System(), Payload: event.Action{
				ActionKind: "tool_approval", CallID: call, Tool: "t", Revision: 1, ExpiresAt: at, Policy: event.Policy{Approvers: []string{event.OwnerID}, Absent: "wait"},
			}},
		); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := errors.Join(tx.Commit(), st.Close()); err != nil {
		t.Fatal(err)
	}
	return ids
}

// Several that have run out while nobody could settle them are settled in the order of their clocks.
func TestOverdueApprovalsAreSettledInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, t.TempDir())
		r.present()
		turn := r.turn()
		var want []string
		for range 8 {
			want = append(want, r.ask(turn).ID)
			pass(time.Second)
		}
		sid := r.action(want[0]).SID
		r.stop()
		time.Sleep(10 * time.Minute)
		r = start(t, r.dir)
		synctest.Wait()
		var got []string
		r.read(func(tx *store.ReadTx) error {
			events, err := tx.Between(sid, 0, 1<<32-1)
			for _, e := range events {
				if p, ok := e.Payload.(event.Resolution); ok {
					got = append(got, p.ActionID)
				}
			}
			return err
		})
		same(t, "settled", got, want...)
	})
}
