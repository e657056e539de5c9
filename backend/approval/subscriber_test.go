package approval_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/wire/session"
)

// card is what a client sees of a tool call.
type card struct {
	Method     string                      `json:"-"`
	Kind       string                      `json:"kind"`
	ItemID     string                      `json:"itemId"`
	Status     string                      `json:"status"`
	ApprovalID string                      `json:"approvalId"`
	Settlement *session.ApprovalSettlement `json:"settlement"`
}

// cards lists the pushes of one call's card.
func (c *client) cards(call string) (all []card) {
	c.t.Helper()
	for _, f := range c.frames() {
		var p struct{ Item card }
		if f.Method != "item/started" && f.Method != "item/completed" || json.Unmarshal(f.Params, &p) != nil || p.Item.ItemID != call {
			continue
		}
		p.Item.Method = f.Method
		all = append(all, p.Item)
	}
	return all
}

type snapshot struct {
	Session   session.SessionSummary
	Approvals []session.Approval
	Items     []card
}

func (c *client) subscribe(id string) (s snapshot) {
	c.t.Helper()
	f := c.call("session/subscribe", `{"sessionId":"`+id+`"}`)
	if f.Error != nil {
		c.t.Fatal(f.Error.Message)
	}
	if err := json.Unmarshal(f.Result, &s); err != nil {
		c.t.Fatal(err)
	}
	return s
}

// find gives the card of a call.
func (s snapshot) find(call string) (found card) {
	for _, item := range s.Items {
		if item.ItemID == call {
			found = item
		}
	}
	return found
}

func TestSubscribers(t *testing.T) {
	bubble(t, "SP-APPR-03 SP-APPR-12 SP-TREE-01 a subscriber sees the approval in the snapshot and on the card, whether present or not, and those of this session only", func(t *testing.T, r *rig) {
		asker := r.present()
		root := r.do(core.CreateSession{Actor: owner, Name: "root"}).SessionID
		child := r.do(core.CreateSession{Actor: owner, Name: "child", Parent: root}).SessionID
		a, below := r.ask(r.send(root)), r.ask(r.send(child))
		want := map[string]session.Approval{}
		for _, p := range pushed[session.ApprovalRequested](asker, "approval/requested") {
			want[p.Approval.ID] = p.Approval
		}
		absent, mute := r.console(), r.stranger(principal.Read)
		for name, c := range map[string]*client{"absent": absent, "mute": mute, "asker": asker} {
			for id, own := range map[string]asked{root: a, child: below} {
				s := c.subscribe(id)
				if diff := cmp.Diff([]session.Approval{want[own.ID]}, s.Approvals); diff != "" {
					t.Errorf("%s: -want +got\n%s", name, diff)
				}
				if got := s.find(own.call); got.ApprovalID != own.ID || got.Settlement != nil || got.Status != "running" {
					t.Errorf("%s: %+v", name, got)
				}
				if !s.Session.Attention {
					t.Errorf("%s: no attention", name)
				}
			}
		}
		asker.respond(a.ID, "deny", a.Hash, "")
		s := absent.subscribe(root)
		if len(s.Approvals) != 0 || s.Approvals == nil || s.find(a.call).Settlement == nil {
			t.Errorf("%+v", s)
		}
		if !s.Session.Attention {
			t.Error("the child's approval is not marked")
		}
	})
	bubble(t, "SP-TOOL-17 SP-TOOL-18 SP-TOOL-20 SP-SETTLE-01 the card is pushed again with its approval and again with its settlement, which has the shape of approval/settled", func(t *testing.T, r *rig) {
		asker, reader := r.present(), r.console()
		root := r.do(core.CreateSession{Actor: owner, Name: "root"}).SessionID
		reader.subscribe(root)
		turn := r.send(root)
		a := r.ask(turn)
		asker.respond(a.ID, "deny", a.Hash, "")
		r.do(core.CompleteTool{Turn: turn, Result: event.Result{CallID: a.call, Status: event.ResultDenied}})
		told := pushed[session.ApprovalSettled](asker, "approval/settled")
		if len(told) != 1 {
			t.Fatal(told)
		}
		how := &told[0].ApprovalSettlement
		want := []card{
			{Method: "item/started", Kind: "tool-call", ItemID: a.call, Status: "generating"},
			{Method: "item/started", Kind: "tool-call", ItemID: a.call, Status: "running"},
			{Method: "item/started", Kind: "tool-call", ItemID: a.call, Status: "running", ApprovalID: a.ID},
			{Method: "item/started", Kind: "tool-call", ItemID: a.call, Status: "running", ApprovalID: a.ID, Settlement: how},
			{Method: "item/completed", Kind: "tool-call", ItemID: a.call, Status: "denied", ApprovalID: a.ID, Settlement: how},
		}
		if diff := cmp.Diff(want, reader.cards(a.call)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
	bubble(t, "SP-TOOL-19 SP-APPR-19 a call whose approval was settled at launch has both at once, and is never shown waiting", func(t *testing.T, r *rig) {
		reader := r.console()
		root := r.do(core.CreateSession{Actor: owner, Name: "root"}).SessionID
		reader.subscribe(root)
		turn := r.send(root)
		a := r.ask(turn)
		r.do(core.CompleteTool{Turn: turn, Result: event.Result{CallID: a.call, Status: event.ResultDenied}})
		how := &session.ApprovalSettlement{State: "denied", Source: "absent", At: a.At}
		want := []card{
			{Method: "item/started", Kind: "tool-call", ItemID: a.call, Status: "generating"},
			{Method: "item/started", Kind: "tool-call", ItemID: a.call, Status: "running"},
			{Method: "item/started", Kind: "tool-call", ItemID: a.call, Status: "running", ApprovalID: a.ID, Settlement: how},
			{Method: "item/completed", Kind: "tool-call", ItemID: a.call, Status: "denied", ApprovalID: a.ID, Settlement: how},
		}
		if diff := cmp.Diff(want, reader.cards(a.call)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		if s := reader.subscribe(root); len(s.Approvals) != 0 || s.Session.Attention {
			t.Errorf("%+v", s)
		}
	})
	bubble(t, "SP-TOOL-21 the turn is stopped while it waits: the card ends denied", func(t *testing.T, r *rig) {
		r.present()
		reader := r.console()
		root := r.do(core.CreateSession{Actor: owner, Name: "root"}).SessionID
		reader.subscribe(root)
		a := r.ask(r.send(root))
		r.do(core.AbortTurn{Actor: owner, Session: root})
		r.do(core.StopTurn{Turn: a.Turn})
		all := reader.cards(a.call)
		if last := all[len(all)-1]; last.Method != "item/completed" || last.Status != "denied" || last.Settlement == nil || last.Settlement.Source != "turn-ended" {
			t.Errorf("%+v", last)
		}
	})
	bubble(t, "SP-TREE-02 SP-TREE-03 SP-TREE-04 a watcher of the list sees the root's mark come and go", func(t *testing.T, r *rig) {
		watcher := r.console()
		root := r.do(core.CreateSession{Actor: owner, Name: "root"}).SessionID
		child := r.do(core.CreateSession{Actor: owner, Name: "child", Parent: root}).SessionID
		watcher.call("sessions/watch", `{}`)
		turn := r.send(child)
		marks := func() (on []bool) {
			for _, p := range pushed[session.SessionsChanged](watcher, "sessions/changed") {
				for _, s := range p.Upserts {
					if s.ID == root {
						on = append(on, s.Attention)
					}
				}
			}
			return on
		}
		r.ask(turn) // refused: nobody is there
		for _, on := range marks() {
			if on {
				t.Error("a refused approval sets the mark")
			}
		}
		c := r.present()
		a := r.ask(turn)
		if got := marks(); len(got) == 0 || !got[len(got)-1] {
			t.Errorf("no mark: %v", got)
		}
		c.respond(a.ID, "approve", a.Hash, "")
		if got := marks(); got[len(got)-1] {
			t.Errorf("the mark stays: %v", got)
		}
	})
}
