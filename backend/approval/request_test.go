package approval_test

import (
	"encoding/json"
	"slices"
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

func TestWhatIsAsked(t *testing.T) {
	bubble(t, "SP-APPR-01 SP-APPR-02 SP-APPR-03 SP-APPR-05 SP-APPR-29 approval/requested has every field, its facts as they are", func(t *testing.T, r *rig) {
		c := r.present()
		turn := r.turn()
		raw := "{\"command\":\"a\\u202eb\u200b\x7f<&>\",\"cwd\":\"\\u0007\",\"diff\":{\"path\":\"p\",\"patch\":\"-a\\n+b\\r\"},\"params\":{\"z\":1e2, \"\\u2066a\":\"\u202e\"}}"
		a := r.askAbout(turn, raw, false)
		got := pushed[map[string]json.RawMessage](c, "approval/requested")
		if len(got) != 1 || len(got[0]) != 1 {
			t.Fatalf("%v", got)
		}
		var approval session.Approval
		if err := json.Unmarshal(got[0]["approval"], &approval); err != nil {
			t.Fatal(err)
		}
		var sessionID string
		r.read(func(tx *store.ReadTx) error {
			s, err := tx.SessionBySID(a.SID)
			sessionID = s.ID
			return err
		})
		want := session.Approval{
			ID: a.ID, SessionID: sessionID, TurnID: turn, CallID: a.call, Target: "tool", Tool: "run_command",
			Origin: session.ApprovalOrigin{Kind: session.OriginHand, Participants: []session.Identity{{Platform: "webui", UserID: "console"}}},
			Facts: session.ApprovalFacts{
				Command: "a\u202eb\u200b\x7f<&>", Cwd: "\a", Diff: &session.ApprovalDiff{Path: "p", Patch: "-a\n+b\r"},
				Params: session.Object("{\"z\":1e2,\"\\u2066a\":\"\u202e\"}"),
			},
			Options: []session.Decision{session.Approve, session.Deny}, ContentHash: a.Hash,
			ExpiresAt: a.At + 300_000, State: session.ApprovalPending,
		}
		if diff := cmp.Diff(want, approval); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
	bubble(t, "SP-APPR-02 a turn that no person opened is autonomous and has no participants; facts without params have {}", func(t *testing.T, r *rig) {
		c := r.present()
		a := r.askAbout(r.alone(r.do(core.CreateSession{Actor: owner, Name: "n"}).SessionID), `{}`, false)
		p := pushed[session.ApprovalRequested](c, "approval/requested")
		if len(p) != 1 || p[0].Approval.ID != a.ID || p[0].Approval.Origin.Kind != session.OriginAutonomous ||
			p[0].Approval.Origin.Participants == nil || len(p[0].Approval.Origin.Participants) != 0 || string(p[0].Approval.Facts.Params) != "{}" {
			t.Errorf("%+v", p)
		}
	})
	bubble(t, "SP-APPR-04 chain leads from below the root down to the session, and is absent at a root", func(t *testing.T, r *rig) {
		c := r.present()
		root := r.do(core.CreateSession{Actor: owner, Name: "root"}).SessionID
		at, want := root, []session.SessionRef(nil)
		for depth := range 6 {
			r.ask(r.send(at))
			all := pushed[session.ApprovalRequested](c, "approval/requested")
			if diff := cmp.Diff(want, all[depth].Approval.Chain); diff != "" {
				t.Errorf("depth %d: -want +got\n%s", depth, diff)
			}
			name := []string{"one", "two", "", "four", "five", "six"}[depth]
			at = r.do(core.CreateSession{Actor: owner, Name: name, Parent: at}).SessionID
			if name == "" {
				name = text.New("session.default-name", "time", time.Now().Format("01/02 15:04")).String()
			}
			want = append(want, session.SessionRef{ID: at, Title: name})
		}
	})
	bubble(t, "a room's approval names it by its address", func(t *testing.T, r *rig) {
		c := r.present()
		const address = "onebot:1:group:2"
		r.do(core.CreateSession{Actor: owner, Origin: "im", Kind: "room", ExtKey: address, Platform: "onebot", Place: "window:" + address})
		r.ask(r.send(address))
		if p := pushed[session.ApprovalRequested](c, "approval/requested"); len(p) != 1 || p[0].Approval.SessionID != address {
			t.Errorf("%+v", p)
		}
	})
}

func TestWhoIsAsked(t *testing.T) {
	bubble(t, "SP-APPR-06 SP-APPR-07 SP-TOOL-17 whoever is present and may decide is asked, without any subscription; nobody else is", func(t *testing.T, r *rig) {
		window, tab, away, never := r.present(), r.present(), r.present(), r.console()
		away.here(false)
		mute := r.stranger(principal.Read, principal.Chat, principal.Admin)
		mute.here(true)
		gone := r.present()
		gone.Close()
		a := r.ask(r.turn())
		for name, c := range map[string]*client{"window": window, "tab": tab} {
			same(t, name, c.requested(), a.ID)
		}
		for name, c := range map[string]*client{"away": away, "never": never, "mute": mute, "gone": gone} {
			same(t, name, c.requested())
		}
	})
	bubble(t, "SP-APPR-08 FAIL-B10 a connection that turns present is sent what still waits, oldest first", func(t *testing.T, r *rig) {
		r.present()
		first := r.ask(r.turn())
		pass(time.Second)
		second := r.ask(r.turn())
		pass(time.Second)
		third := r.ask(r.turn())
		late, mute := r.console(), r.stranger(principal.Read)
		late.respond(second.ID, "deny", second.Hash, "")
		late.here(true)
		late.here(true)
		mute.here(true)
		same(t, "late", late.requested(), first.ID, third.ID)
		same(t, "mute", mute.requested())
		fourth := r.ask(r.turn())
		same(t, "late", late.requested(), first.ID, third.ID, fourth.ID)
	})
	bubble(t, "SP-APPR-09 after false and true again a pending approval is sent once more", func(t *testing.T, r *rig) {
		c := r.present()
		a := r.ask(r.turn())
		c.here(true)
		same(t, "while present", c.requested(), a.ID)
		c.here(false)
		c.here(true)
		same(t, "after coming back", c.requested(), a.ID, a.ID)
		if c.respond(a.ID, "deny", a.Hash, "") != "" {
			t.Error("not answered")
		}
		same(t, "settled", c.settled(), a.ID)
		c.here(false)
		c.here(true)
		same(t, "after the answer", c.requested(), a.ID, a.ID)
	})
	bubble(t, "SP-APPR-10 SP-APPR-11 FAIL-B11 FAIL-B12 the settlement goes to everybody who was asked and to nobody else, whether present by then or not", func(t *testing.T, r *rig) {
		answers, sees, leaves := r.present(), r.present(), r.present()
		never := r.console()
		a := r.ask(r.turn())
		leaves.here(false)
		if answers.respond(a.ID, "approve", a.Hash, "") != "" {
			t.Fatal("not answered")
		}
		at := time.Now().UnixMilli() // no time has passed: well within 300 ms
		late := r.present()
		for name, c := range map[string]*client{"answers": answers, "sees": sees, "leaves": leaves} {
			got := pushed[session.ApprovalSettled](c, "approval/settled")
			want := []session.ApprovalSettled{{ApprovalID: a.ID, ApprovalSettlement: session.ApprovalSettlement{
				State: session.SettledState(session.ApprovalApproved), Source: session.SettledByAnswer, At: at,
				By: &session.SettledBy{Platform: "webui", UserID: "console", Owner: true},
			}}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", name, diff)
			}
		}
		same(t, "never", never.settled())
		same(t, "late", late.settled())
		same(t, "late", late.requested()) // a card exists only while the server says pending
	})
	bubble(t, "an approval that the row and the fact both tell of is sent once", func(t *testing.T, r *rig) {
		r.present()
		turn := r.turn()
		late := r.console()
		late.block()
		r.do(core.AddNotice{Turn: turn}) // what it was waiting for still passes
		a := r.ask(turn)
		late.here(true)
		same(t, "from the row", late.requested(), a.ID)
		late.unblock()
		synctest.Wait()
		same(t, "with the fact", late.requested(), a.ID)
	})
	bubble(t, "an approval committed while the presence turns true is sent, and once", func(t *testing.T, r *rig) {
		r.present()
		turn := r.turn()
		var late []*client
		var ids []string
		for range 25 {
			c := r.console()
			late = append(late, c)
			call := r.do(core.ProposeTool{Turn: turn, Tool: "t", Step: 1}).ItemID
			r.do(core.CallTool{Turn: turn, CallID: call, Tool: "t", Args: json.RawMessage(`{}`), Effect: "write", Step: 1})
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.Receive(`{"jsonrpc":"2.0","id":77,"method":"presence/update","params":{"active":true}}`)
			}()
			got, err := r.loop.Do(t.Context(), core.RequestAction{Turn: turn, CallID: call, Tool: "t"})
			if err != nil {
				t.Fatal(err)
			}
			<-done
			ids = append(ids, got.EventID)
		}
		synctest.Wait()
		for _, c := range late {
			same(t, "late", slices.Sorted(slices.Values(c.requested())), slices.Sorted(slices.Values(ids))...)
		}
	})
}

func TestClocks(t *testing.T) {
	bubble(t, "SP-APPR-15 FAIL-B6 with somebody present it is pending at 299 s and expired at 300 s, once", func(t *testing.T, r *rig) {
		c := r.present()
		a := r.ask(r.turn())
		pass(299 * time.Second)
		r.expect(a.ID, "pending")
		pass(time.Second)
		r.expect(a.ID, "expired/timeout")
		pass(time.Hour)
		r.expect(a.ID, "expired/timeout")
		same(t, "settled", c.settled(), a.ID)
	})
	bubble(t, "SP-APPR-13 the absence of all is waited out for 30 s, and whoever comes back is asked", func(t *testing.T, r *rig) {
		a, b := r.present(), r.present()
		x := r.ask(r.turn())
		a.here(false)
		pass(time.Hour / 240) // 15 s with b there still
		b.Close()
		pass(29 * time.Second)
		r.expect(x.ID, "pending")
		back := r.present()
		same(t, "back", back.requested(), x.ID)
		pass(5 * time.Second)
		r.expect(x.ID, "pending")
		back.here(false) // the grace is whole again
		pass(29 * time.Second)
		r.expect(x.ID, "pending")
		pass(time.Second)
		r.expect(x.ID, "denied/absent")
		same(t, "a, which was asked", a.settled(), x.ID)
	})
	bubble(t, "SP-APPR-14 FAIL-B6 FAIL-B7 30 s with nobody present settle it as absent", func(t *testing.T, r *rig) {
		c := r.present()
		x := r.ask(r.turn())
		c.Close()
		pass(30*time.Second - time.Millisecond)
		r.expect(x.ID, "pending")
		pass(time.Millisecond)
		r.expect(x.ID, "denied/absent")
	})
	bubble(t, "FAIL-B7 the surface dies while it waits: within the grace another one gets it and may answer", func(t *testing.T, r *rig) {
		c := r.present()
		x := r.ask(r.turn())
		c.Close()
		pass(20 * time.Second)
		other := r.present()
		same(t, "other", other.requested(), x.ID)
		if got := other.respond(x.ID, "approve", x.Hash, ""); got != "" {
			t.Error(got)
		}
		r.expect(x.ID, "approved/answer")
	})
	bubble(t, "SP-APPR-16 the last one goes at 290 s: it ends at 300 s as timeout, not at 320 s", func(t *testing.T, r *rig) {
		c := r.present()
		x := r.ask(r.turn())
		pass(290 * time.Second)
		c.here(false)
		pass(9 * time.Second)
		r.expect(x.ID, "pending")
		pass(time.Second)
		r.expect(x.ID, "expired/timeout")
	})
	bubble(t, "SP-APPR-16 the last one goes at 270 s: both clocks end at 300 s, and the timeout speaks", func(t *testing.T, r *rig) {
		c := r.present()
		x := r.ask(r.turn())
		pass(270 * time.Second)
		c.here(false)
		pass(30 * time.Second)
		r.expect(x.ID, "expired/timeout")
	})
	bubble(t, "each of several approvals has its own clock", func(t *testing.T, r *rig) {
		r.present()
		turn := r.turn()
		var all []asked
		for range 10 {
			all = append(all, r.ask(turn))
			pass(10 * time.Second)
		}
		pass(200*time.Second - time.Millisecond) // the first was asked 300 s ago, but for a millisecond
		for i, a := range all {
			r.expect(a.ID, "pending")
			pass(time.Millisecond)
			r.expect(a.ID, "expired/timeout")
			if i+1 < len(all) {
				r.expect(all[i+1].ID, "pending")
			}
			pass(10*time.Second - time.Millisecond)
		}
	})
	bubble(t, "the clock of an approval starts by itself, without any client", func(t *testing.T, r *rig) {
		r.svc.Present("elsewhere", event.OwnerID, true)
		a := r.ask(r.turn())
		pass(300*time.Second - time.Millisecond)
		r.expect(a.ID, "pending")
		pass(time.Millisecond)
		r.expect(a.ID, "expired/timeout")
	})
	bubble(t, "a settlement that the disk does not take is tried again", func(t *testing.T, r *rig) {
		c := r.present()
		a := r.ask(r.turn())
		pass(299 * time.Second)
		r.full.Store(true)
		pass(8 * time.Second)
		r.expect(a.ID, "pending")
		r.full.Store(false)
		pass(3 * time.Second)
		r.expect(a.ID, "expired/timeout")
		same(t, "settled", c.settled(), a.ID)
	})
	bubble(t, "a presence that runs out while nothing was pushed to it starts the grace too", func(t *testing.T, r *rig) {
		// The connection is there when the approval is raised and its 10 minutes are over before
		// its pump comes to it.
		c := r.present()
		turn := r.turn()
		call := r.do(core.ProposeTool{Turn: turn, Tool: "t", Step: 1}).ItemID
		r.do(core.CallTool{Turn: turn, CallID: call, Tool: "t", Args: json.RawMessage(`{}`), Effect: "write", Step: 1})
		r.svc.Present("elsewhere", event.OwnerID, true) // a surface that never pushes
		c.here(false)
		got := r.do(core.RequestAction{Turn: turn, CallID: call, Tool: "t"})
		if got.Done {
			t.Fatal("refused")
		}
		pass(299 * time.Second)
		r.expect(got.EventID, "pending")
		r.svc.Gone("elsewhere")
		pass(time.Second)
		r.expect(got.EventID, "expired/timeout")

		call = r.do(core.ProposeTool{Turn: turn, Tool: "t", Step: 1}).ItemID
		r.do(core.CallTool{Turn: turn, CallID: call, Tool: "t", Args: json.RawMessage(`{}`), Effect: "write", Step: 1})
		r.svc.Present("elsewhere", event.OwnerID, true)
		pass(8 * time.Minute)
		got = r.do(core.RequestAction{Turn: turn, CallID: call, Tool: "t"})
		pass(2*time.Minute + 29*time.Second)
		r.expect(got.EventID, "pending")
		pass(time.Second)
		r.expect(got.EventID, "denied/absent")
	})
}

func TestStart(t *testing.T) {
	t.Run("what the rows say is waiting at start has its clock, however old it is", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			r := start(t, dir)
			r.present()
			old := r.ask(r.turn())
			pass(290 * time.Second)
			fresh := r.ask(r.turn())
			r.stop()
			time.Sleep(20 * time.Second)
			r = start(t, dir)
			synctest.Wait()
			r.expect(old.ID, "expired/timeout")
			r.expect(fresh.ID, "pending")
			pass(10 * time.Second)
			r.expect(fresh.ID, "denied/absent")
		})
	})
}

func TestRefusedAtLaunch(t *testing.T) {
	bubble(t, "SP-APPR-17 SP-APPR-19 SP-TREE-04 FAIL-B14 with nobody present it is refused at once, without grace; nobody is asked, no attention", func(t *testing.T, r *rig) {
		c := r.console()
		turn := r.turn()
		a := r.ask(turn)
		if !a.refused {
			t.Error("asked")
		}
		r.expect(a.ID, "denied/absent")
		if at := r.resolutions(a.ID)[0].At; at != a.At {
			t.Errorf("settled %d ms later", at-a.At)
		}
		c.here(true)
		pass(time.Minute)
		same(t, "requested", c.requested())
		same(t, "settled", c.settled())
		if r.attention(a.SID) {
			t.Error("attention")
		}
		if got := c.respond(a.ID, "approve", a.Hash, ""); got != "approval-settled" {
			t.Error(got)
		}
	})
	bubble(t, "SP-APPR-18 SP-APPR-19 who may not raise approvals is refused as ineligible, though somebody is there", func(t *testing.T, r *rig) {
		c := r.present()
		a := r.askAbout(r.turn(), facts, true)
		r.expect(a.ID, "denied/ineligible")
		same(t, "requested", c.requested())
		if !a.refused || r.attention(a.SID) {
			t.Error("asked, or attention")
		}
	})
	bubble(t, "SP-APPR-18 SP-APPR-19 a turn of her own may have 5 waiting and 20 shown in 10 minutes; more is refused as rate-limit", func(t *testing.T, r *rig) {
		c := r.present()
		turn := r.alone(r.do(core.CreateSession{Actor: owner, Name: "n"}).SessionID)
		var shown []string
		for i := range 20 {
			a := r.ask(turn)
			r.expect(a.ID, "pending")
			shown = append(shown, a.ID)
			if i == 4 {
				r.expect(r.ask(turn).ID, "denied/rate-limit") // the sixth at a time
			}
			if i >= 4 {
				c.respond(shown[i-4], "deny", r.action(shown[i-4]).Hash, "")
			}
		}
		c.respond(shown[19], "deny", r.action(shown[19]).Hash, "")
		r.expect(r.ask(turn).ID, "denied/rate-limit") // the 21st in 10 minutes
		same(t, "requested", c.requested(), shown...)
		c.here(true)
		pass(9*time.Minute + 59*time.Second)
		c.here(true)
		pass(2 * time.Second)
		r.expect(r.ask(turn).ID, "pending")
	})
	bubble(t, "SP-APPR-18 a turn that a person opened may have 50 waiting", func(t *testing.T, r *rig) {
		r.present()
		turn := r.turn()
		for range 50 {
			if r.ask(turn).refused {
				t.Fatal("refused")
			}
		}
		a := r.ask(turn)
		r.expect(a.ID, "denied/rate-limit")
	})
}

// attention is whether the owner's lists mark a session.
func (r *rig) attention(sid int64) (on bool) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		s, err := tx.Summary(sid)
		on = s.Head.Pending+s.Head.SubAttention > 0
		return err
	})
	return on
}

func TestAttention(t *testing.T) {
	bubble(t, "SP-TREE-01 SP-TREE-02 SP-TREE-03 an approval marks its session and all above until the last one is settled", func(t *testing.T, r *rig) {
		c := r.present()
		at := r.do(core.CreateSession{Actor: owner, Name: "root"}).SessionID
		var ids []string
		for range 4 {
			ids = append(ids, at)
			at = r.do(core.CreateSession{Actor: owner, Name: "n", Parent: at}).SessionID
		}
		marks := func() (on []bool) {
			r.read(func(tx *store.ReadTx) error {
				for _, id := range ids {
					s, err := tx.Session(id)
					if err != nil {
						return err
					}
					on = append(on, r.attention(s.SID))
				}
				return nil
			})
			return on
		}
		deep, middle := r.ask(r.send(ids[3])), r.ask(r.send(ids[1]))
		if got := marks(); !slices.Equal(got, []bool{true, true, true, true}) {
			t.Error(got)
		}
		c.respond(deep.ID, "deny", deep.Hash, "")
		if got := marks(); !slices.Equal(got, []bool{true, true, false, false}) {
			t.Error(got)
		}
		c.respond(middle.ID, "deny", middle.Hash, "")
		if got := marks(); slices.Contains(got, true) {
			t.Error(got)
		}
	})
}
