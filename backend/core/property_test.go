package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/testkit"
)

// Whatever is done in whatever order: the invariants I1 to I8 hold, the rows are what the log makes
// of them, a reader from any position reads the same, and cursors saw exactly the log.
func TestAnyOrderOfCommandsKeepsTheInvariants(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// A seed, because drawn numbers are small ones most of the time and drawn slices short.
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		choices := make([]int, rapid.IntRange(100, 2000).Draw(rt, "choices"))
		for i := range choices {
			choices[i] = random.IntN(1 << 16)
		}
		if said := testkit.Try(t, func(t testing.TB) { anyOrder(t, choices) }); len(said) > 0 {
			rt.Fatal(strings.Join(said, "\n"))
		}
	})
}

func anyOrder(t testing.TB, choices []int) {
	r := open(t, t.TempDir(), func(_ *store.Options, co *core.Options) {
		co.Ruling = func(core.SettingRows, store.Session) (core.Rules, error) {
			return core.Rules{Answer: core.AnswerAddressed}, nil
		}
	})
	defer r.stop()
	saw := watch(t, r.loop)
	left := choices
	choose := func(n int) int {
		if len(left) == 0 {
			return 0
		}
		c := left[0] % n
		left = left[1:]
		return c
	}
	d := newDriver(r.loop, choose)
	for len(left) > 0 {
		if err := d.step(); err != nil {
			t.Fatal(err)
		}
		if choose(4) == 0 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	time.Sleep(time.Second) // the text that waits is written
	synctest.Wait()
	testkit.Check(t, r.st)
	sameAsRebuilt(t, r)
	sameAsCounted(t, r)
	sameAsReplay(t, r, choose)
	sameAsSeen(t, r, saw())
}

func sameAsRebuilt(t testing.TB, r *rig) {
	t.Helper()
	live, err := r.st.Projections()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.st.Rebuild(time.Now().UnixMilli()); err != nil {
		t.Fatal(err)
	}
	rebuilt, err := r.st.Projections()
	if err != nil {
		t.Fatal(err)
	}
	compare(t, live, rebuilt)
}

// sameAsReplay reads every session from a position of its own and compares with the whole.
func sameAsReplay(t testing.TB, r *rig, choose func(int) int) {
	t.Helper()
	r.read(func(tx *store.ReadTx) error {
		sessions, err := tx.AllSessions()
		if err != nil {
			return err
		}
		for _, s := range sessions {
			whole, err := tx.Rows(s.SID, -1, 1<<20)
			if err != nil {
				return err
			}
			from := choose(len(whole)+1) - 1
			ctx, cancel := context.WithCancel(context.Background())
			rows := r.loop.Rows(s.SID, int64(from))
			var got []store.Row
			for len(got) < len(whole)-from-1 && s.ErasedAt == 0 && s.DeletedAt == 0 {
				page, err := rows.Next(ctx)
				if err != nil {
					cancel()
					return err
				}
				got = append(got, page...)
			}
			cancel()
			if s.DeletedAt == 0 && !slices.EqualFunc(got, whole[from+1:], func(a, b store.Row) bool {
				return a.Seq == b.Seq && a.Text == b.Text && (a.Event == nil) == (b.Event == nil) && (a.Event == nil || a.Event.ID == b.Event.ID)
			}) {
				t.Errorf("session %s read from %d differs from the whole", s.ID, from)
			}
		}
		return nil
	})
}

// watch follows the loop from now on.
func watch(t testing.TB, loop *core.Loop) func() []core.Entry {
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex // guards all
	var all []core.Entry
	cursor := loop.Cursor()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			got, err := cursor.Next(ctx)
			if err != nil {
				return
			}
			mu.Lock()
			all = append(all, got...)
			mu.Unlock()
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return func() []core.Entry {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// sameAsSeen compares what a cursor saw with the rows: every event once, in order, with rising
// ticks, and the text of every item the same.
func sameAsSeen(t testing.TB, r *rig, saw []core.Entry) {
	t.Helper()
	facts, pieces := map[int64][]int64{}, map[string]*strings.Builder{}
	var last int64
	for _, e := range saw {
		if e.Tick <= last {
			t.Errorf("tick %d after %d", e.Tick, last)
		}
		last = e.Tick
		switch {
		case e.Fact != nil:
			facts[e.SID] = append(facts[e.SID], e.Fact.Seq)
		case e.Piece != nil:
			if pieces[e.Piece.ItemID] == nil {
				pieces[e.Piece.ItemID] = &strings.Builder{}
			}
			pieces[e.Piece.ItemID].WriteString(e.Piece.Text)
		}
	}
	r.read(func(tx *store.ReadTx) error {
		sessions, err := tx.AllSessions()
		if err != nil {
			return err
		}
		for _, s := range sessions {
			rows, err := tx.Rows(s.SID, -1, 1<<20)
			if err != nil {
				return err
			}
			var want []int64
			for _, w := range rows {
				if w.Event != nil {
					want = append(want, w.Seq)
				}
			}
			if !slices.Equal(want, facts[s.SID]) {
				t.Errorf("session %s: the cursor saw %v, the log has %v", s.ID, facts[s.SID], want)
			}
			if s.DeletedAt == 0 {
				sameText(t, tx, rows, pieces)
			}
		}
		return nil
	})
}

func sameText(t testing.TB, tx *store.ReadTx, rows []store.Row, pieces map[string]*strings.Builder) {
	t.Helper()
	for _, w := range rows {
		if w.Event == nil {
			continue
		}
		var id string
		streamed := ""
		switch p := w.Event.Payload.(type) {
		case event.MessageStart:
			id = p.MessageID
		case event.ReasoningStart:
			id = p.ItemID
		case event.Call:
			id = p.CallID
		default:
			continue
		}
		stored, err := tx.Text(w.Event.SID, w.Seq, 1<<32-1)
		if err != nil {
			t.Error(err)
		}
		if pieces[id] != nil {
			streamed = pieces[id].String()
		}
		if stored != streamed && stored != "not streamed" {
			t.Errorf("item %s: seen %q, stored %q", id, streamed, stored)
		}
	}
}

func TestCancelAgainstFinish(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			s := r.session()
			turn := r.do(core.SendInput{Actor: owner, Session: s, Input: say("go")}).TurnID
			m := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
			var both sync.WaitGroup
			var finished, cancelled error
			both.Go(func() {
				_, finished = r.loop.Do(context.Background(), core.EndMessage{Turn: turn, Message: event.Message{MessageID: m}, Last: true})
			})
			both.Go(func() {
				_, cancelled = r.loop.Do(context.Background(), core.AbortTurn{Actor: owner, Session: s, Turn: turn})
			})
			both.Wait()
			if (finished == nil) == (cancelled == nil) {
				t.Errorf("finish: %v, cancel: %v; exactly one must hold", finished, cancelled)
			}
			if cancelled == nil {
				r.do(core.StopTurn{Turn: turn})
			} else if !fault.Is(cancelled, fault.ExpectedTurnMismatch) {
				t.Errorf("the cancel that came late says %v", cancelled)
			}
			testkit.Check(t, r.st)
		})
	}
}

func TestFiftyAnswersToOneApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		turn := r.do(core.SendInput{Actor: owner, Session: r.session(), Input: say("go")}).TurnID
		call := r.call(turn)
		a := r.do(core.RequestAction{Turn: turn, CallID: call, Tool: "run_command", Facts: json.RawMessage(`{"params":{}}`)}).EventID
		hash := r.hash(a)
		var all sync.WaitGroup
		var mu sync.Mutex // guards the counters
		won, lost := 0, 0
		for n := range 50 {
			all.Go(func() {
				_, err := r.loop.Do(context.Background(), core.AnswerAction{
					Actor: owner, ActionID: a, Approve: n%2 == 0, Hash: hash, May: true, By: event.Answerer{Platform: "webui", Owner: true},
				})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won++
				case fault.Is(err, fault.ApprovalSettled):
					lost++
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won != 1 || lost != 49 {
			t.Errorf("%d answers won and %d lost", won, lost)
		}
	})
}

func (r *rig) hash(action string) (hash string) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		a, found, err := tx.Action(action)
		if err == nil && !found {
			err = errors.New("no such action")
		}
		hash = a.Hash
		return err
	})
	return hash
}

// Many writers at once, under the race detector: the log stays whole.
func TestManyWritersAtOnce(t *testing.T) {
	r := open(t, t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			d := newDriver(r.loop, rand.IntN)
			for range 60 {
				if err := d.step(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	testkit.Check(t, r.st)
	sameAsRebuilt(t, r)
	sameAsCounted(t, r)
}

// Two messages of one turn share a transaction, one with text that waits and one that was never streamed;
// and a command that is refused after it has numbered a row gives the number back.
func TestRowsOfTextAreNumberedWithoutGapOrDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		turn := r.do(core.SendInput{Actor: owner, Session: r.session(), Input: say("go")}).TurnID
		streamed, whole := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID, r.do(core.StartMessage{Turn: turn, Step: 2}).ItemID
		if err := r.loop.Text(streamed, "waits"); err != nil {
			t.Fatal(err)
		}
		r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: whole, Text: "at once"}})
		empty := r.do(core.StartMessage{Turn: turn, Step: 3}).ItemID
		r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: empty}})
		// It gets a row and its number before it is refused: the message has ended.
		if _, err := r.loop.Do(context.Background(), core.EndMessage{Turn: turn, Message: event.Message{MessageID: empty, Text: "again"}}); err == nil {
			t.Error("a message ended twice")
		}
		last := r.do(core.StartMessage{Turn: turn, Step: 4}).ItemID
		r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: last, Text: "last"}, Last: true})
		testkit.Check(t, r.st)
	})
}
