package approval_test

import (
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/wire/session"
)

// attended raises an approval in a session of its own and reports whether anybody was there to be
// asked. It leaves nothing behind that could hold a connection present.
func (r *rig) attended() bool {
	r.t.Helper()
	turn := r.turn()
	a := r.ask(turn)
	r.do(core.StopTurn{Turn: turn})
	return !a.refused
}

// interposed does something just before a report of presence arrives.
type interposed struct {
	session.Approvals
	before func()
}

func (i interposed) Present(connection, decider string, active bool) bool {
	i.before()
	return i.Approvals.Present(connection, decider, active)
}

func TestPresence(t *testing.T) {
	bubble(t, "SP-PRES-01 presence/update returns {}", func(t *testing.T, r *rig) {
		c := r.console()
		for _, params := range []string{`{"active":true}`, `{"active":true}`, `{"active":false}`, `{"active":false}`} {
			if f := c.call("presence/update", params); string(f.Result) != "{}" {
				t.Errorf("%s: %s %+v", params, f.Result, f.Error)
			}
		}
		if got := c.call("presence/update", `{"active":"yes"}`).outcome(); got != "-32602" {
			t.Error(got)
		}
	})
	bubble(t, "SP-PRES-02 a connection reports for itself only, whatever it says", func(t *testing.T, r *rig) {
		other, liar := r.console(), r.stranger(principal.Read)
		liar.call("presence/update", `{"active":true,"surface":"webui","connection":"1","identity":{"platform":"webui","userId":"console"}}`)
		if r.attended() {
			t.Error("a client without the right made somebody else present")
		}
		same(t, "other", other.requested())
		other.here(true)
		liar.call("presence/update", `{"active":false,"surface":"webui"}`)
		if !r.attended() {
			t.Error("a client made somebody else absent")
		}
	})
	bubble(t, "SP-PRES-02 SP-SETTLE-04 an answer is recorded under the identity and the surface that the transport registered", func(t *testing.T, r *rig) {
		who := principal.DesktopCaller()
		who.Principal.DisplayName = "Ann"
		c := r.dial(who, "tray")
		c.here(true)
		a := r.ask(r.turn())
		c.call("approval/respond", `{"approvalId":"`+a.ID+`","decision":"approve","contentHash":"`+a.Hash+`","by":{"platform":"x","owner":false},"surface":"y"}`)
		got := r.resolutions(a.ID)
		if len(got) != 1 || got[0].By == nil || *got[0].By != (event.Answerer{Platform: "webui", UserID: "console", Nickname: "Ann", Owner: true}) {
			t.Errorf("%+v", got)
		}
		var actor event.Actor
		r.read(func(tx *store.ReadTx) error {
			e, _, err := tx.Event(r.action(a.ID).Resolved)
			actor = e.Actor
			return err
		})
		want := event.Actor{
			Kind: "owner", Principal: event.OwnerID, Platform: "webui", UserID: "console", Nickname: "Ann", Owner: true, Via: "session", Surface: "tray",
		}
		if actor != want {
			t.Errorf("got %+v, want %+v", actor, want)
		}
	})
	bubble(t, "SP-PRES-03 a connection that never reported is not present", func(t *testing.T, r *rig) {
		r.console()
		if r.attended() {
			t.Error("it counts")
		}
	})
	bubble(t, "SP-PRES-04 present at 9:59, absent after 10:00, and each report starts the 10 minutes anew", func(t *testing.T, r *rig) {
		c := r.present()
		pass(9*time.Minute + 59*time.Second)
		if !r.attended() {
			t.Error("absent at 9:59")
		}
		c.here(true)
		pass(9*time.Minute + 59*time.Second)
		if !r.attended() {
			t.Error("absent 9:59 after the second report")
		}
		pass(time.Second)
		if r.attended() {
			t.Error("present after 10:00")
		}
	})
	bubble(t, "SP-PRES-05 active false makes it absent at once", func(t *testing.T, r *rig) {
		c := r.present()
		c.here(false)
		if r.attended() {
			t.Error("still present")
		}
	})
	bubble(t, "SP-PRES-06 an approval pushed to a connection and not settled keeps it present beyond the 10 minutes", func(t *testing.T, r *rig) {
		c := r.present()
		pass(9*time.Minute + 59*time.Second)
		first := r.ask(r.turn())
		pass(4 * time.Minute)
		second := r.ask(r.turn())
		same(t, "requested", c.requested(), first.ID, second.ID)
		pass(59 * time.Second) // 299 s of the first
		r.expect(first.ID, "pending")
		pass(time.Second)
		r.expect(first.ID, "expired/timeout")
		r.expect(second.ID, "pending") // which alone keeps it present now
		if c.respond(second.ID, "approve", second.Hash, "") != "" {
			t.Error("not answered")
		}
		if r.attended() {
			t.Error("present though nothing holds it")
		}
	})
	bubble(t, "SP-PRES-07 active false wins over a pending pushed approval", func(t *testing.T, r *rig) {
		c := r.present()
		held := r.ask(r.turn())
		same(t, "requested", c.requested(), held.ID)
		c.here(false)
		if r.attended() {
			t.Error("the pending approval keeps it present")
		}
		pass(30 * time.Second)
		r.expect(held.ID, "denied/absent")
	})
	bubble(t, "SP-PRES-08 a closed connection is not present, also when it closes while it reports", func(t *testing.T, r *rig) {
		c := r.present()
		c.Close()
		if r.attended() {
			t.Error("present after its end")
		}
		c = r.console()
		r.server.Update(func(all *session.Services) { all.Approvals = interposed{r.svc, c.Close} })
		c.Receive(`{"jsonrpc":"2.0","id":9,"method":"presence/update","params":{"active":true}}`)
		if r.attended() {
			t.Error("present after its end, when it closed while it reported")
		}
	})
	bubble(t, "only who may decide counts as present for approvals", func(t *testing.T, r *rig) {
		mute := r.stranger(principal.Read, principal.Chat)
		mute.here(true)
		somebody := r.dial(principal.Caller{
			Principal: principal.Principal{ID: "app:x", Kind: principal.App}, Scopes: principal.AllScopes(),
			Identity: principal.Identity{Platform: "client", UserID: "x"}, Surface: "client",
		}, "client")
		somebody.here(true)
		if r.attended() {
			t.Error("clients that may not decide count")
		}
		trusted := r.stranger(principal.Read, principal.Approve)
		trusted.here(true)
		if !r.attended() {
			t.Error("a client with the right to approve does not count")
		}
		if len(mute.requested())+len(somebody.requested()) != 0 || len(trusted.requested()) != 1 {
			t.Error(mute.requested(), somebody.requested(), trusted.requested())
		}
	})
}
