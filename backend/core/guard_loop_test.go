package core_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/testkit"
)

// message opens a turn with a message in a new session.
func (r *rig) message() (session, turn, item string) {
	r.t.Helper()
	session = r.session()
	turn = r.do(core.SendInput{Actor: owner, Session: session, Input: say("go")}).TurnID
	return session, turn, r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
}

// rows lists a session's rows of text.
func (r *rig) texts(session string) (all []string) {
	r.t.Helper()
	sid := r.sid(session)
	r.read(func(tx *store.ReadTx) error {
		rows, err := tx.Rows(sid, -1, 1<<20)
		for _, w := range rows {
			if w.Event == nil {
				all = append(all, w.Text)
			}
		}
		return err
	})
	return all
}

// Text has its row 50 ms after its first piece, whoever writes meanwhile or not (kernel 0.4).
func TestTextIsWrittenWithin50Milliseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s, _, m := r.message()
		for _, step := range []struct {
			piece string
			wait  time.Duration
			rows  []string
		}{
			{"a", 20 * time.Millisecond, nil},
			{"b", 29 * time.Millisecond, nil},
			{"c", time.Millisecond, []string{"abc"}},
			{"d", 50 * time.Millisecond, []string{"abc", "d"}},
		} {
			if err := r.loop.Text(m, step.piece); err != nil {
				t.Fatal(err)
			}
			time.Sleep(step.wait)
			synctest.Wait()
			if got := r.texts(s); !slices.Equal(got, step.rows) {
				t.Errorf("%v after %q: rows %q, want %q", step.wait, step.piece, got, step.rows)
			}
		}
	})
}

// Text that cannot be written is tried again after 50 ms, doubling to 5 s, and not in between
// (kernel 0.9); the pauses begin anew after a success.
func TestThePausesBetweenTriesOfACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		var tries []time.Time // by the writer, read when it is idle
		r := open(t, t.TempDir(), func(o *store.Options, _ *core.Options) {
			o.Inject = func(q string) store.Failure {
				if !strings.HasPrefix(q, "INSERT INTO deltas") {
					return store.NoFailure
				}
				tries = append(tries, time.Now())
				if broken.Load() {
					return store.FailIO
				}
				return store.NoFailure
			}
		})
		s, _, m := r.message()
		for range 2 {
			tries = nil
			broken.Store(true)
			start := time.Now()
			if err := r.loop.Text(m, "x"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(25 * time.Second)
			broken.Store(false)
			time.Sleep(6 * time.Second)
			synctest.Wait()
			var pauses []time.Duration
			for _, at := range tries {
				pauses = append(pauses, at.Sub(start))
				start = at
			}
			ms := time.Millisecond
			want := []time.Duration{50 * ms, 50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 5000 * ms, 5000 * ms, 5000 * ms}
			if !slices.Equal(pauses, want) {
				t.Errorf("tried at intervals of %v, want %v", pauses, want)
			}
		}
		if got := r.texts(s); !slices.Equal(got, []string{"x", "x"}) {
			t.Errorf("rows %q", got)
		}
	})
}

// What was shown or given before the end is written at the end; what comes later is refused.
func TestTheLastTextAndTheLastCommandsAreWritten(t *testing.T) {
	t.Run("text", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			s, turn, m := r.message()
			if err := r.loop.Text(m, "shown"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			r.stop()
			if _, err := r.loop.Do(context.Background(), core.StopTurn{Turn: turn}); !errors.Is(err, core.ErrClosed) {
				t.Errorf("a command behind the end: %v", err)
			}
			if err := r.loop.Text(m, "late"); !errors.Is(err, core.ErrClosed) {
				t.Errorf("text behind the end: %v", err)
			}
			if got := open(t, r.dir).texts(s); !slices.Equal(got, []string{"shown"}) {
				t.Errorf("rows %q", got)
			}
		})
	})
	t.Run("a command", func(t *testing.T) {
		for range 20 { // whether the writer sees the end or the command first is a matter of luck
			synctest.Test(t, func(t *testing.T) {
				r, g := openGated(t)
				s := r.session()
				g.open = make(chan struct{})
				g.shut.Store(true)
				var all sync.WaitGroup
				all.Go(func() { _, _ = r.loop.Do(context.Background(), core.EraseDeleted{}) })
				synctest.Wait()
				all.Go(func() {
					if _, err := r.loop.Do(context.Background(), core.RenameSession{Actor: owner, Session: s, Title: "last"}); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				all.Go(r.stop)
				synctest.Wait()
				close(g.open)
				all.Wait()
				if got := kinds(open(t, r.dir).events(s)); got[len(got)-1] != event.SessionUpdated {
					t.Errorf("events %v", got)
				}
			})
		}
	})
}

// A caller whose time is over before it asks is not served; one that has asked gets its outcome.
func TestAContextGovernsAdmissionOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, g := openGated(t)
		s := r.session()
		gone, leave := context.WithCancelCause(context.Background())
		why := errors.New("left")
		g.open = make(chan struct{})
		g.shut.Store(true)
		var asked sync.WaitGroup
		asked.Go(func() {
			if _, err := r.loop.Do(gone, core.RenameSession{Actor: owner, Session: s, Title: "a"}); err != nil {
				t.Errorf("what was done is told as %v", err)
			}
		})
		synctest.Wait()
		leave(why)
		synctest.Wait()
		close(g.open)
		asked.Wait()
		if _, err := r.loop.Do(gone, core.RenameSession{Actor: owner, Session: s, Title: "b"}); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		if n := len(r.events(s)); n != 2 {
			t.Errorf("%d events, want the genesis and one change", n)
		}
	})
}

// tiny is a loop whose ring has room for a few entries and whose disk can be full.
func tiny(t testing.TB, full *atomic.Bool) *rig {
	return open(t, t.TempDir(), func(o *store.Options, c *core.Options) {
		c.RingBytes = 4000
		o.Inject = func(string) store.Failure {
			if full.Load() {
				return store.FailFull
			}
			return store.NoFailure
		}
	})
}

// The ring is bounded, but text that is in no row yet does not fall out (kernel 0.8).
func TestTheRingKeepsTextThatIsInNoRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		r := tiny(t, &full)
		s, _, m := r.message()
		slow := r.loop.Cursor()
		full.Store(true)
		for range 20 {
			if err := r.loop.Text(m, strings.Repeat("x", 1000)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		seen := 0
		for seen < 20_000 {
			got, err := slow.Next(t.Context())
			if err != nil {
				t.Fatalf("after %d bytes: %v", seen, err)
			}
			for _, e := range got {
				seen += len(e.Piece.Text)
			}
		}
		behind := slow.Floor()
		full.Store(false)
		time.Sleep(6 * time.Second)
		r.do(core.RenameSession{Actor: owner, Session: s, Title: "new"})
		if slow.Floor() <= behind {
			t.Error("the ring holds what is in rows beyond its bound")
		}
	})
}

// A cursor that entries have passed by hears of it, once, and goes on from the newest.
func TestACursorThatFallsBehindIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		r := tiny(t, &full)
		s := r.session()
		slow := r.loop.Cursor()
		for range 20 {
			r.do(core.RenameSession{Actor: owner, Session: s, Title: "new"})
		}
		if got, err := slow.Next(t.Context()); !errors.Is(err, core.ErrFellBehind) {
			t.Fatalf("%d entries, %v", len(got), err)
		}
		if got, err := slow.Take(); len(got) > 0 || err != nil {
			t.Errorf("%d entries, %v", len(got), err)
		}
		r.do(core.RenameSession{Actor: owner, Session: s, Title: "newer"})
		if got, err := slow.Next(t.Context()); len(got) != 1 || err != nil {
			t.Errorf("%d entries, %v", len(got), err)
		}
	})
}

// What a snapshot lacks on a connection is what lies between the head it shows and the connection's
// own place, of its session alone, or nothing can be said (kernel 0.6).
func TestWhatASnapshotLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		r := tiny(t, &full)
		s, _, m := r.message()
		other, _, n := r.message()
		c := r.loop.Cursor()
		full.Store(true)
		text := func(item, words string) {
			t.Helper()
			if err := r.loop.Text(item, words); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		text(m, "one")
		text(n, "elsewhere")
		text(m, "two")
		if _, err := c.Take(); err != nil {
			t.Fatal(err)
		}
		text(m, "not there yet")
		lacks := func(session string, after, floor int64) (words []string, ok bool) {
			entries, ok := c.Since(r.sid(session), after, floor)
			for _, e := range entries {
				if e.Piece != nil {
					words = append(words, e.Piece.Text)
				}
			}
			return words, ok
		}
		var head store.Head
		r.read(func(tx *store.ReadTx) (err error) { head, err = tx.Head(r.sid(s)); return err })
		if got, ok := lacks(s, head.Tick, c.Floor()); !ok || !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("%q, %v", got, ok)
		}
		if got, ok := lacks(s, c.Position()-1, c.Floor()); !ok || !slices.Equal(got, []string{"two"}) {
			t.Errorf("behind the first: %q, %v", got, ok)
		}
		if got, ok := lacks(other, 0, c.Floor()); !ok || !slices.Equal(got, []string{"elsewhere"}) {
			t.Errorf("elsewhere: %q, %v", got, ok)
		}
		before := c.Floor()
		full.Store(false)
		time.Sleep(6 * time.Second)
		for range 20 {
			r.do(core.RenameSession{Actor: owner, Session: s, Title: "new"})
		}
		if _, ok := lacks(s, head.Tick, before); ok {
			t.Error("it claims to know what has fallen out since")
		}
	})
}

// A head says up to which entry its rows go, so that what a snapshot of rows has is not shown again as
// lacking (kernel 0.5).
func TestAHeadIsAsNewAsItsRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		s, _, m := r.message()
		c := r.loop.Cursor()
		for _, words := range []string{"one", "two", "three"} {
			if err := r.loop.Text(m, words); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if _, err := c.Take(); err != nil {
			t.Fatal(err)
		}
		var head store.Head
		r.read(func(tx *store.ReadTx) (err error) { head, err = tx.Head(r.sid(s)); return err })
		if lacks, ok := c.Since(r.sid(s), head.Tick, c.Floor()); !ok || len(lacks) != 0 || head.Tick != c.Position() {
			t.Errorf("the head is of tick %d, the newest entry of %d; %d entries are lacking", head.Tick, c.Position(), len(lacks))
		}
	})
}

// Whoever hears of an item, by its receipt or in the log, may stream into it at once.
func TestAnItemIsOpenBeforeAnybodyHearsOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		turn := r.open(r.session())
		cursor := r.loop.Cursor()
		ctx, end := context.WithCancel(t.Context())
		var reader sync.WaitGroup
		reader.Go(func() {
			for {
				entries, err := cursor.Next(ctx)
				if err != nil {
					return
				}
				for _, e := range entries {
					if e.Fact != nil && e.Fact.Kind == event.MessageStarted {
						if err := r.loop.Text(e.Fact.ID, "seen"); err != nil {
							t.Errorf("in the log: %v", err)
						}
					}
				}
			}
		})
		for range 200 {
			m := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
			if err := r.loop.Text(m, "told"); err != nil {
				t.Errorf("by its receipt: %v", err)
			}
		}
		synctest.Wait()
		end()
		reader.Wait()
	})
}

// A head that stands elsewhere than its log is found when the loop is made, and made anew, before
// anything gets a number from it (kernel 9).
func TestHeadsAreComparedWithTheLogAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		s, _, m := r.message()
		if err := r.loop.Text(m, "words"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		sid := r.sid(s)
		r.stop()
		st, err := store.Open(store.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		tx, err := st.Begin(time.Now().UnixMilli(), func() int64 { return 1 })
		if err != nil {
			t.Fatal(err)
		}
		h, err := tx.Head(sid)
		if err != nil {
			t.Fatal(err)
		}
		tick := h.Tick
		h.LastSeq, h.Pending = h.LastSeq+3, 7
		if err := errors.Join(tx.MarkSeen(sid, event.OwnerID), tx.Commit(), st.Close()); err != nil {
			t.Fatal(err)
		}
		r = open(t, dir)
		r.do(core.RenameSession{Actor: owner, Session: s, Title: "new"})
		testkit.Check(t, r.st)
		sameAsRebuilt(t, r)
		if r.loop.Cursor().Position() <= tick {
			t.Error("the order began anew")
		}
	})
}

// Rows gives a session's rows as they are committed, and ends with the session or the loop.
func TestRowsFollowTheLog(t *testing.T) {
	next := func(t *testing.T, rows *core.Rows) (n int, err error) {
		ctx, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		page, err := rows.Next(ctx)
		return len(page), err
	}
	t.Run("of a session", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			s, _, m := r.message()
			rows := r.loop.Rows(r.sid(s), -1)
			if n, err := next(t, rows); n != 4 || err != nil {
				t.Fatalf("%d rows, %v", n, err)
			}
			var got atomic.Int64
			go func() {
				n, err := next(t, rows)
				if err != nil {
					t.Error(err)
				}
				got.Store(int64(n))
			}()
			synctest.Wait()
			if err := r.loop.Text(m, "words"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got.Load() != 0 {
				t.Error("a row was given before it was there")
			}
			time.Sleep(50 * time.Millisecond)
			synctest.Wait()
			if got.Load() != 1 {
				t.Errorf("%d rows after the commit", got.Load())
			}
			r.do(core.DeleteSession{Actor: owner, Session: s})
			if n, err := next(t, rows); n == 0 || err != nil {
				t.Errorf("the tombstone: %d rows, %v", n, err)
			}
			if n, err := next(t, rows); !errors.Is(err, core.ErrGone) {
				t.Errorf("behind the tombstone: %d rows, %v", n, err)
			}
		})
	})
	t.Run("to the loop's end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			st, err := store.Open(store.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			loop, err := core.New(core.Options{Store: st})
			if err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- loop.Run(ctx) }()
			if _, err := loop.Do(ctx, core.CreateSession{Actor: owner}); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { _, err := next(t, loop.Rows(1, 0)); ended <- err }()
			synctest.Wait()
			end()
			if err := errors.Join(<-done, <-ended); !errors.Is(err, core.ErrClosed) {
				t.Errorf("got %v", err)
			}
		})
	})
}
