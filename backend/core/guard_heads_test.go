package core_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
)

// tally is what a session's log says of it, counted without the reducer: a reducer that counts wrong
// counts wrong when everything is rebuilt, too.
type tally struct {
	store.Head
	queue    []string // event ids
	actions  []string // those that wait
	archived bool
}

func (c *tally) add(e *event.Event) {
	if pends(e.Payload) {
		c.queue = append(c.queue, e.ID)
	}
	switch p := e.Payload.(type) {
	case event.Updated:
		if p.Archived != nil {
			c.archived = *p.Archived
		}
	case event.InputJoin:
		c.leave(p.InputID)
	case event.InputDrop:
		c.leave(p.InputID)
	case event.TurnStart:
		c.leave(p.Trigger)
		c.RunningTurn = p.TurnID
	case event.TurnEnd:
		c.ended(e, p)
	case event.Call:
		c.OpenTools++
	case event.Result:
		c.OpenTools--
	case event.Backgrounding:
		c.OpenBackground++
	case event.BackgroundEnd:
		c.OpenBackground--
	case event.Action:
		if !p.Refused {
			c.actions = append(c.actions, e.ID)
		}
	case event.Resolution:
		c.actions = slices.DeleteFunc(c.actions, func(id string) bool { return id == e.Parent })
	case event.ModelCall:
		c.TokensIn, c.TokensOut, c.UsageSeq = c.TokensIn+int64(p.Prompt), c.TokensOut+int64(p.Completion), e.Seq
	}
}

// pends reports whether an event waits to enter a turn, whatever kind of input it is.
func pends(p event.Payload) bool {
	var input struct {
		State string `json:"inputState"`
	}
	b, err := event.Encode(p)
	return err == nil && json.Unmarshal(b, &input) == nil && input.State == event.InputPending
}

func (c *tally) leave(input string) {
	c.queue = slices.DeleteFunc(c.queue, func(id string) bool { return id == input })
}

// ended: a cut-off turn is shown as aborted (decisions B25), and only a reply makes unread.
func (c *tally) ended(e *event.Event, p event.TurnEnd) {
	c.RunningTurn, c.LastOutcome, c.LastEndedAt = "", p.Outcome, e.At
	if p.Cause == event.CauseInterrupted {
		c.LastOutcome = event.Aborted
	}
	if p.Outcome == event.Replied {
		c.LastReplyAt = e.At
	}
}

// rank is the place in the owner's list. Spec SP-LIST-13, decisions B3.
func (c *tally) rank(seen int64) int64 {
	switch {
	case c.List != store.ListOwner && c.List != store.ListOwner+store.ListArchived:
		return store.RankRest
	case c.Pending+c.SubAttention > 0:
		return store.RankAttention
	case c.LastOutcome == event.Errored:
		return store.RankError
	case c.LastReplyAt > seen:
		return store.RankUnread
	case c.RunningTurn != "":
		return store.RankRunning
	}
	return store.RankRest
}

// count reads the living sessions' logs.
func count(tx *store.ReadTx) (map[int64]*tally, []store.Session, error) {
	all, err := tx.AllSessions()
	living := slices.DeleteFunc(all, func(s store.Session) bool { return s.DeletedAt != 0 })
	counted := map[int64]*tally{}
	for _, s := range living {
		c := &tally{Head: store.Head{SID: s.SID}}
		counted[s.SID] = c
		rows, err := tx.Rows(s.SID, -1, 1<<20)
		if err != nil {
			return nil, nil, err
		}
		for _, w := range rows {
			c.LastSeq, c.UpdatedAt = w.Seq, w.At
			if w.ChatSeq != 0 {
				c.ChatSeq, c.ChatKSeq, c.ChatAt = w.ChatSeq, w.Seq, w.At
			}
			if w.Event != nil {
				c.add(w.Event)
			}
		}
		c.Pending = int64(len(c.actions))
		switch {
		case s.ParentSID != 0:
			c.List = store.ListChild
		case s.Kind == "room":
			c.List = store.ListRoom
		}
		if c.archived {
			c.List += store.ListArchived
		}
	}
	for _, s := range living {
		if s.ParentSID != 0 {
			counted[s.ParentSID].Children++
		}
		up, err := tx.Ancestors(s)
		if err != nil {
			return nil, nil, err
		}
		for _, a := range up {
			above, c := counted[a.SID], counted[s.SID]
			above.SubAttention += c.Pending
			above.SubTokensIn += c.TokensIn
			above.SubTokensOut += c.TokensOut
			if c.RunningTurn != "" || c.OpenBackground > 0 {
				above.SubBusy++
			}
		}
	}
	return counted, living, err
}

// sameAsCounted holds heads, queues and open approvals to the log. Spec SP-TREE-01 to 08.
func sameAsCounted(t testing.TB, r *rig) {
	t.Helper()
	r.read(func(tx *store.ReadTx) error {
		counted, living, err := count(tx)
		if err != nil {
			return err
		}
		for _, s := range living {
			want := counted[s.SID]
			got, err := tx.Head(s.SID)
			if err != nil {
				return err
			}
			seen, err := tx.Seen(s.SID, event.OwnerID)
			if err != nil {
				return err
			}
			want.Rank = want.rank(seen)
			// These are no counts.
			want.RecordAt, want.Tick, want.LastError, want.PlanSeq, want.ClearedSeq = got.RecordAt, got.Tick, got.LastError, got.PlanSeq, got.ClearedSeq
			if diff := cmp.Diff(want.Head, got); diff != "" {
				t.Errorf("session %s: the head is not what the log says (-log +head)\n%s", s.ID, diff)
			}
			waiting, err := tx.PendingInputs(s.SID)
			if err != nil {
				return err
			}
			same(t, "the queue", waiting, func(in event.Waiting) string { return in.EventID }, want.queue)
			asked, err := tx.PendingActions(s.SID)
			if err != nil {
				return err
			}
			slices.SortFunc(asked, func(a, b store.Action) int {
				return slices.Index(want.actions, a.ID) - slices.Index(want.actions, b.ID)
			})
			same(t, "what waits for an answer", asked, func(a store.Action) string { return a.ID }, want.actions)
		}
		return nil
	})
}

func same[T any](t testing.TB, what string, got []T, id func(T) string, want []string) {
	t.Helper()
	var ids []string
	for _, one := range got {
		ids = append(ids, id(one))
	}
	if !slices.Equal(ids, want) {
		t.Errorf("%s is %v, the log says %v", what, ids, want)
	}
}

// doorman is an Admission whose owner may be away.
type doorman struct{ away atomic.Bool }

func (d *doorman) Admit(event.Policy) string {
	if d.away.Load() {
		return event.SourceAbsent
	}
	return ""
}

// ask raises an approval in a turn.
func (r *rig) ask(turn string) core.Receipt {
	r.t.Helper()
	return r.do(core.RequestAction{Turn: turn, CallID: r.call(turn), Tool: "run_command", Facts: json.RawMessage(`{"params":{}}`)})
}

func (r *rig) open(session string) (turn string) {
	r.t.Helper()
	return r.do(core.SendInput{Actor: owner, Session: session, Input: say("go")}).TurnID
}

// A tree of sessions in which everything that is counted happens, and goes again.
func TestATreeIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var door doorman
		r := open(t, t.TempDir(), func(_ *store.Options, o *core.Options) { o.Admission = &door })
		child := func(of string) string { return r.do(core.CreateSession{Actor: owner, Parent: of}).SessionID }
		root := r.session()
		left, right := child(root), child(root)
		deep := child(left)
		step := func(what string, h, want store.Head) {
			t.Helper()
			time.Sleep(time.Second)
			want.SID = h.SID
			if diff := cmp.Diff(want, store.Head{
				SID: h.SID, Rank: h.Rank, Children: h.Children, SubAttention: h.SubAttention, SubBusy: h.SubBusy, SubTokensIn: h.SubTokensIn, SubTokensOut: h.SubTokensOut,
			}); diff != "" {
				t.Errorf("%s (-want +got)\n%s", what, diff)
			}
			sameAsCounted(t, r)
			sameAsRebuilt(t, r)
		}
		head := func() (h store.Head) {
			r.read(func(tx *store.ReadTx) (err error) { h, err = tx.Head(r.sid(root)); return err })
			return h
		}
		step("nothing yet", head(), store.Head{Children: 2, Rank: store.RankRest})

		inDeep, inRight := r.open(deep), r.open(right)
		for _, turn := range []string{inDeep, inRight} {
			r.do(core.RecordModelCall{Turn: turn, Call: event.ModelCall{Step: 1, Prompt: 10, Completion: 3}})
		}
		step("SP-TREE-05 SP-TREE-08 two descendants work", head(), store.Head{Children: 2, SubBusy: 2, SubTokensIn: 20, SubTokensOut: 6, Rank: store.RankRest})

		inRoot := r.open(root)
		step("SP-TREE-07 its own turn is running, not background", head(), store.Head{Children: 2, SubBusy: 2, SubTokensIn: 20, SubTokensOut: 6, Rank: store.RankRunning})

		first, second := r.ask(inDeep).EventID, r.ask(inDeep).EventID
		r.do(core.AnswerAction{Actor: owner, ActionID: first, Hash: r.hash(first), May: true})
		step("SP-TREE-02 a sub-task asks", head(), store.Head{Children: 2, SubBusy: 2, SubAttention: 1, SubTokensIn: 20, SubTokensOut: 6, Rank: store.RankAttention})

		door.away.Store(true)
		if !r.ask(inRight).Done {
			t.Error("not refused")
		}
		step("SP-TREE-04 what is refused at launch does not count", head(), store.Head{Children: 2, SubBusy: 2, SubAttention: 1, SubTokensIn: 20, SubTokensOut: 6, Rank: store.RankAttention})

		r.do(core.ExpireAction{ActionID: second})
		reply := func(turn string) {
			m := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
			r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: m, Text: "done"}, Last: true})
		}
		reply(inRoot)
		step("SP-TREE-03 nothing waits, and she has replied", head(), store.Head{Children: 2, SubBusy: 2, SubTokensIn: 20, SubTokensOut: 6, Rank: store.RankUnread})

		r.do(core.MarkSeen{Session: root, Principal: event.OwnerID})
		step("SP-UNREAD-04 the owner has looked", head(), store.Head{Children: 2, SubBusy: 2, SubTokensIn: 20, SubTokensOut: 6, Rank: store.RankRest})

		reply(r.open(root))
		r.do(core.StopTurn{Turn: r.open(root), Failure: &event.Failure{Code: "server"}})
		step("an error comes before a reply", head(), store.Head{Children: 2, SubBusy: 2, SubTokensIn: 20, SubTokensOut: 6, Rank: store.RankError})

		r.do(core.MarkSeen{Session: root, Principal: event.OwnerID})
		r.do(core.EndSilent{Turn: r.open(root)})
		step("SP-UNREAD-03 a silent turn and a look", head(), store.Head{Children: 2, SubBusy: 2, SubTokensIn: 20, SubTokensOut: 6, Rank: store.RankRest})

		door.away.Store(false)
		r.ask(inDeep)
		r.do(core.DeleteSession{Actor: owner, Session: left})
		step("what is deleted counts no more", head(), store.Head{Children: 1, SubBusy: 1, SubTokensIn: 10, SubTokensOut: 3, Rank: store.RankRest})

		r.do(core.StopTurn{Turn: inRight})
		step("all is quiet", head(), store.Head{Children: 1, SubTokensIn: 10, SubTokensOut: 3, Rank: store.RankRest})
		if _, err := r.loop.Do(context.Background(), core.DeleteSession{Actor: owner, Session: root}); err != nil {
			t.Error(err)
		}
		sameAsCounted(t, r)
		sameAsRebuilt(t, r)
	})
}
