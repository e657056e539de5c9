package approval_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

func TestAnswers(t *testing.T) {
	bubble(t, "SP-APPR-20 approve and deny answer {}", func(t *testing.T, r *rig) {
		c := r.present()
		for decision, want := range map[string]string{"approve": "approved/answer", "deny": "denied/answer"} {
			a := r.ask(r.turn())
			f := c.call("approval/respond", fmt.Sprintf(`{"approvalId":%q,"decision":%q,"contentHash":%q}`, a.ID, decision, a.Hash))
			if string(f.Result) != "{}" {
				t.Errorf("%s: %+v", decision, f)
			}
			r.expect(a.ID, want)
		}
	})
	bubble(t, "SP-APPR-22 SP-APPR-23 SP-APPR-24 the checks run in their order, and a rejected answer changes nothing", func(t *testing.T, r *rig) {
		c := r.present()
		mute := r.stranger(principal.Read, principal.Chat, principal.Admin)
		other := r.dial(principal.Caller{
			Principal: principal.Principal{ID: "app:x", Kind: principal.App}, Scopes: principal.AllScopes(), Identity: principal.Identity{Platform: "client", UserID: "x"},
		}, "client")
		a := r.ask(r.turn())
		before := r.written(a.SID)
		for _, try := range []struct {
			who      *client
			id, hash string
			want     string
		}{
			{c, "nobody issued this", a.Hash, "not-found"},
			{mute, "nobody issued this", "wrong", "not-found"},
			{mute, a.ID, "wrong", "forbidden"},
			{mute, a.ID, a.Hash, "forbidden"},
			{other, a.ID, a.Hash, "forbidden"},
			{c, a.ID, "wrong", "hash-mismatch"},
			{c, a.ID, strings.ToUpper(a.Hash), "hash-mismatch"},
			{c, a.ID, "", "hash-mismatch"},
		} {
			if got := try.who.respond(try.id, "approve", try.hash, ""); got != try.want {
				t.Errorf("got %q, want %q", got, try.want)
			}
		}
		r.expect(a.ID, "pending")
		if diff := cmp.Diff(before, r.written(a.SID)); diff != "" {
			t.Errorf("rejected answers left something behind: %s", diff)
		}
		if got := c.respond(a.ID, "approve", a.Hash, ""); got != "" {
			t.Errorf("then it cannot be answered: %s", got)
		}
		for _, who := range []*client{c, mute, other} {
			for _, hash := range []string{a.Hash, "wrong"} {
				if got := who.respond(a.ID, "deny", hash, ""); got != "approval-settled" {
					t.Errorf("after it was settled: %q", got)
				}
			}
		}
		r.expect(a.ID, "approved/answer")
	})
	bubble(t, "SP-APPR-20 params that do not fit are invalid: a decision that is no option, a note over 2000 characters", func(t *testing.T, r *rig) {
		c := r.present()
		a := r.ask(r.turn())
		if got := c.respond(a.ID, "maybe", a.Hash, ""); got != "-32602" {
			t.Error(got)
		}
		if got := c.respond(a.ID, "deny", a.Hash, strings.Repeat("字", 2001)); got != "-32602" {
			t.Error(got)
		}
		r.expect(a.ID, "pending")
		if got := c.respond(a.ID, "deny", a.Hash, strings.Repeat("字", 2000)); got != "" {
			t.Error(got)
		}
	})
	bubble(t, "SP-APPR-25 somebody who is not present may answer", func(t *testing.T, r *rig) {
		r.present()
		a := r.ask(r.turn())
		never := r.console()
		if got := never.respond(a.ID, "approve", a.Hash, ""); got != "" {
			t.Error(got)
		}
	})
	bubble(t, "SP-APPR-26 SP-PRES-09 without an approval service the answer is unsupported, and presence returns {}", func(t *testing.T, r *rig) {
		c := r.present()
		a := r.ask(r.turn())
		r.server.Update(func(s *session.Services) { s.Approvals = nil })
		if got := c.respond(a.ID, "approve", a.Hash, ""); got != "unsupported" {
			t.Error(got)
		}
		c.here(true)
		r.expect(a.ID, "pending")
	})
	bubble(t, "SP-APPR-27 the note is kept for whoever runs the turn", func(t *testing.T, r *rig) {
		c := r.present()
		for _, decision := range []string{"deny", "approve"} {
			a := r.ask(r.turn())
			c.respond(a.ID, decision, a.Hash, "use git\nrm instead")
			if got := r.resolutions(a.ID); len(got) != 1 || got[0].Note != "use git\nrm instead" {
				t.Errorf("%s: %+v", decision, got)
			}
		}
	})
	t.Run("SP-APPR-22 FAIL-B8 ids do not come back after a restart; an old id answers approval-settled, a new one wants its own hash", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			r := start(t, dir)
			r.present()
			turn := r.turn()
			old := r.ask(turn)
			r.stop()
			r = start(t, dir)
			if err := core.Recover(t.Context(), r.loop); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			r.expect(old.ID, "cancelled/shutdown")
			c := r.present()
			same(t, "requested", c.requested())
			fresh := r.ask(r.turn())
			if fresh.ID == old.ID || fresh.Hash == old.Hash {
				t.Error("an id or a hash came back")
			}
			for _, try := range []struct{ id, hash, want string }{
				{old.ID, old.Hash, "approval-settled"}, {old.ID, fresh.Hash, "approval-settled"}, {fresh.ID, old.Hash, "hash-mismatch"},
			} {
				if got := c.respond(try.id, "approve", try.hash, ""); got != try.want {
					t.Errorf("got %q, want %q", got, try.want)
				}
			}
			r.expect(fresh.ID, "pending")
			pass(299 * time.Second)
			r.expect(fresh.ID, "pending")
		})
	})
}

// written is a session's log, to see whether something was added.
func (r *rig) written(sid int64) (kinds []event.Kind) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		all, err := tx.Between(sid, -1, 1<<32-1)
		for _, e := range all {
			kinds = append(kinds, e.Kind)
		}
		return err
	})
	return kinds
}

func TestSettlements(t *testing.T) {
	// Every way in which an approval can end, and what it is then. Somebody else than who ends it is
	// always connected, was asked, and is told.
	type way struct {
		name string
		want session.ApprovalSettlement
		do   func(t *testing.T, r *rig, c *client, a asked)
	}
	by := &session.SettledBy{Platform: "webui", UserID: "console", Owner: true}
	for _, w := range []way{
		{"approve", session.ApprovalSettlement{State: "approved", Source: "answer", By: by}, func(_ *testing.T, r *rig, _ *client, a asked) {
			pass(7 * time.Second)
			r.console().respond(a.ID, "approve", a.Hash, "")
		}},
		{"deny", session.ApprovalSettlement{State: "denied", Source: "answer", By: by}, func(_ *testing.T, r *rig, _ *client, a asked) {
			pass(7 * time.Second)
			r.console().respond(a.ID, "deny", a.Hash, "")
		}},
		{"absence", session.ApprovalSettlement{State: "denied", Source: "absent"}, func(_ *testing.T, _ *rig, c *client, _ asked) {
			c.here(false)
			pass(30 * time.Second)
		}},
		{"timeout", session.ApprovalSettlement{State: "expired", Source: "timeout"}, func(*testing.T, *rig, *client, asked) {
			pass(300 * time.Second)
		}},
		{"the turn is stopped", session.ApprovalSettlement{State: "cancelled", Source: "turn-ended"}, func(_ *testing.T, r *rig, _ *client, a asked) {
			pass(time.Second)
			r.do(core.AbortTurn{Actor: owner, Session: r.sessionOf(a), Turn: a.Turn})
		}},
		{"the turn fails", session.ApprovalSettlement{State: "cancelled", Source: "turn-ended"}, func(_ *testing.T, r *rig, _ *client, a asked) {
			pass(time.Second)
			r.do(core.StopTurn{Turn: a.Turn, Failure: &event.Failure{Code: "x", Message: text.Plain("x")}})
		}},
		{"the session is deleted", session.ApprovalSettlement{State: "cancelled", Source: "turn-ended"}, func(_ *testing.T, r *rig, _ *client, a asked) {
			pass(time.Second)
			r.do(core.DeleteSession{Actor: owner, Session: r.sessionOf(a)})
		}},
		{"the program stops", session.ApprovalSettlement{State: "cancelled", Source: "shutdown"}, func(_ *testing.T, r *rig, _ *client, a asked) {
			pass(time.Second)
			r.do(core.StopTurn{Turn: a.Turn, Interrupted: true})
		}},
	} {
		name := "SP-SETTLE-01 SP-SETTLE-02 SP-SETTLE-03 SP-SETTLE-04 SP-SETTLE-05 SP-APPR-10 SP-APPR-11 " + w.name
		bubble(t, name, func(t *testing.T, r *rig) {
			c := r.present()
			a := r.ask(r.turn())
			w.do(t, r, c, a)
			want := w.want
			want.At = time.Now().UnixMilli()
			got := pushed[session.ApprovalSettled](c, "approval/settled")
			if diff := cmp.Diff([]session.ApprovalSettled{{ApprovalID: a.ID, ApprovalSettlement: want}}, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			r.expect(a.ID, string(want.State)+"/"+string(want.Source))
			pass(time.Hour)
			r.expect(a.ID, string(want.State)+"/"+string(want.Source))
			if len(c.settled()) != 1 {
				t.Error("told twice")
			}
		})
	}
	bubble(t, "SP-SETTLE-04 by is absent in the frame for every source but answer", func(t *testing.T, r *rig) {
		c := r.present()
		r.ask(r.turn())
		pass(300 * time.Second)
		for _, f := range c.frames() {
			if f.Method == "approval/settled" && bytes.Contains(f.Params, []byte(`"by"`)) {
				t.Errorf("%s", f.Params)
			}
		}
	})
}

func (r *rig) sessionOf(a asked) (id string) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		s, err := tx.SessionBySID(a.SID)
		id = s.ID
		return err
	})
	return id
}

func TestFirstAnswerWins(t *testing.T) {
	bubble(t, "SP-APPR-21 FAIL-B23 two clients answer within a millisecond, 1,000 times: one wins, the other is told so, one resolution, one execution", func(t *testing.T, r *rig) {
		one, two := r.present(), r.present()
		var turn string
		wins := map[string]int{}
		for i := range 1000 {
			if i%20 == 0 {
				turn = r.turn()
			}
			one.forget()
			two.forget()
			a := r.ask(turn)
			frame := func(decision string) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":"end","method":"approval/respond","params":{"approvalId":%q,"decision":%q,"contentHash":%q}}`, a.ID, decision, a.Hash)
			}
			var both sync.WaitGroup
			both.Go(func() { one.Receive(frame("approve")) })
			both.Go(func() { two.Receive(frame("deny")) })
			both.Wait()
			synctest.Wait()
			first, second := one.answer(`"end"`).outcome(), two.answer(`"end"`).outcome()
			want := map[string]string{"|approval-settled": "approved/answer", "approval-settled|": "denied/answer"}[first+"|"+second]
			if want == "" {
				t.Fatalf("answered %q and %q", first, second)
			}
			r.expect(a.ID, want)
			wins[want]++
			if got := r.accepted(a); got != map[string]int{"approved/answer": 2, "denied/answer": 1}[want] {
				t.Errorf("%s: the call was let go %d times", want, got)
			}
			same(t, "told one", one.settled(), a.ID)
			same(t, "told two", two.settled(), a.ID)
		}
		t.Log(wins)
	})
}

// accepted counts how often the execution of a call was let go: once when it was called, once more
// when it was approved.
func (r *rig) accepted(a asked) (n int) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		events, err := tx.Children(a.SID, a.ToolEvent)
		for _, e := range events {
			if x, ok := e.Payload.(event.Execution); ok && x.Status == "accepted" {
				n++
			}
		}
		return err
	})
	return n
}

func TestFallingBehind(t *testing.T) {
	t.Run("a connection that falls out of the ring is sent the settlements and requests it missed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, t.TempDir(), func(o *core.Options) { o.RingBytes = 1 })
			slow := r.present()
			turn := r.turn()
			answered := r.ask(turn)
			pass(time.Second)
			still := r.ask(turn)
			pass(time.Second)
			slow.block()
			r.do(core.AddNotice{Turn: turn}) // what it was waiting for still passes
			r.console().respond(answered.ID, "approve", answered.Hash, "")
			fresh := r.ask(turn)
			missed := r.ask(turn)
			r.console().respond(missed.ID, "approve", missed.Hash, "")
			for range 20 {
				r.do(core.AddNotice{Turn: turn})
			}
			slow.unblock()
			synctest.Wait()
			same(t, "requested", slow.requested(), answered.ID, still.ID, fresh.ID)
			same(t, "settled", slow.settled(), answered.ID)
			pass(300 * time.Second)
			same(t, "settled", slow.settled(), answered.ID, still.ID, fresh.ID)
			// The service falls behind as well with such a ring; a line may then come twice.
			lines := r.log.lines()
			slices.Sort(lines)
			if lines = slices.Compact(lines); len(lines) != 4 {
				t.Errorf("lines for 4 settlements: %v", lines)
			}
		})
	})
}

func TestAudit(t *testing.T) {
	t.Run("SEC-10 every settlement leaves one line in the log, and none of the facts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			r := start(t, dir)
			turn := r.turn()
			refused := r.ask(turn)
			c := r.dial(principal.DesktopCaller(), "tray")
			c.here(true)
			answered, late, stopped := r.ask(turn), r.ask(turn), r.ask(r.turn())
			c.respond(answered.ID, "deny", answered.Hash, "a note with a secret")
			r.do(core.StopTurn{Turn: stopped.Turn})
			pass(300 * time.Second)
			alone := r.ask(turn)
			c.Close()
			pass(30 * time.Second)
			r.present()
			cut := r.ask(turn)
			first := r.log
			r.stop()
			r = start(t, dir)
			if err := core.Recover(t.Context(), r.loop); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			want := []string{
				"approval=" + refused.ID + " state=denied source=absent",
				"approval=" + answered.ID + " state=denied source=answer by.platform=webui by.user=console by.owner=true by.principal=owner via=session surface=tray",
				"approval=" + stopped.ID + " state=cancelled source=turn-ended",
				"approval=" + late.ID + " state=expired source=timeout",
				"approval=" + alone.ID + " state=denied source=absent",
				"approval=" + cut.ID + " state=cancelled source=shutdown",
			}
			if diff := cmp.Diff(want, append(first.lines(), r.log.lines()...)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			for _, word := range []string{"ls -l", "/home/me", "secret"} {
				if strings.Contains(first.buf.String(), word) {
					t.Errorf("the log has %q", word)
				}
			}
		})
	})
	bubble(t, "SEC-10 ids and hashes are not to be guessed and never come twice", func(t *testing.T, r *rig) {
		r.present()
		var seen []string
		for range 50 {
			a := r.askAbout(r.turn(), facts, false)
			if len(a.Hash) != 64 || len(a.ID) != 36 || slices.Contains(seen, a.ID) || slices.Contains(seen, a.Hash) {
				t.Errorf("%s %s", a.ID, a.Hash)
			}
			seen = append(seen, a.ID, a.Hash)
		}
	})
	bubble(t, "SEC-10 the hash is bound to what was shown", func(t *testing.T, r *rig) {
		c := r.present()
		turn := r.turn()
		one, other := r.askAbout(turn, facts, false), r.askAbout(turn, `{"command":"rm","params":{}}`, false)
		if got := c.respond(one.ID, "approve", other.Hash, ""); got != "hash-mismatch" {
			t.Error(got)
		}
	})
}

func TestTheCallAfterwards(t *testing.T) {
	bubble(t, "SP-TOOL-18 SP-TOOL-19 the frozen card has the approval and its settlement, whether anybody was asked or not", func(t *testing.T, r *rig) {
		turn := r.turn()
		refused := r.ask(turn)
		c := r.present()
		given := r.ask(turn)
		c.respond(given.ID, "approve", given.Hash, "")
		for _, a := range []asked{refused, given} {
			r.do(core.CompleteTool{Turn: turn, Result: event.Result{CallID: a.call, Status: event.ResultSucceeded}})
			s := r.resolutions(a.ID)[0]
			card := r.result(a).Card
			if diff := cmp.Diff(&event.Card{
				Tool: "run_command", Args: card.Args, Step: 1, At: card.At, Approval: a.ID, Settlement: &s.Settlement,
			}, card); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		}
	})
	bubble(t, "SP-TOOL-21 stopping the turn while it waits: the call ends denied, not aborted", func(t *testing.T, r *rig) {
		c := r.present()
		a := r.ask(r.turn())
		r.do(core.AbortTurn{Actor: owner, Session: r.sessionOf(a), Turn: a.Turn})
		r.do(core.StopTurn{Turn: a.Turn})
		if got := r.result(a); got.Status != event.ResultDenied || !got.NotExecuted {
			t.Errorf("%+v", got)
		}
		same(t, "settled", c.settled(), a.ID)
	})
}

func (r *rig) result(a asked) (out event.Result) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		e, found, err := tx.Child(a.SID, a.ToolEvent, event.ToolResult)
		if !found {
			r.t.Error("no result")
		}
		out, _ = e.Payload.(event.Result)
		return err
	})
	return out
}
