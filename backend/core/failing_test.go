package core_test

import (
	"context"
	"os"
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

// scenario is a scripted load with everything in it. It stops at no error: clients and engines go on
// whatever they are told. It gives the ids that were acknowledged.
func scenario(r *rig) (told []string) {
	d := newDriver(r.loop, func(n int) int { return n - 1 })
	stream := func(items *[]string) func() error {
		return func() error {
			if len(*items) == 0 {
				return nil
			}
			return r.loop.Text((*items)[len(*items)-1], "streamed text")
		}
	}
	think, write, print := stream(&d.thoughts), stream(&d.messages), stream(&d.calls)
	pause := func() error { time.Sleep(60 * time.Millisecond); return nil }
	send := func() error {
		got, err := d.do(core.SendInput{Actor: owner, Session: pick(d, d.sessions), Input: say("words")})
		if err == nil {
			told = append(told, got.EventID)
		}
		return err
	}
	remove := func() error {
		_, err := d.do(core.DeleteSession{Actor: owner, Session: d.sessions[0]})
		return err
	}
	child := func() error {
		if len(d.sessions) == 0 {
			return nil
		}
		got, err := d.do(core.CreateSession{Actor: owner, Parent: d.sessions[0]})
		if err == nil {
			d.sessions = append(d.sessions, got.SessionID)
		}
		return err
	}
	for _, step := range []func() error{
		d.create, d.create, send, d.startReasoning, think, pause, think, d.endReasoning, d.startMessage, write, d.endMessage, d.account,
		d.propose, d.callTool, d.request, d.answer, print, pause, send, d.complete, d.startMessage, write, d.finish, d.join,
		d.startMessage, pause, write, d.finish, d.rename, child, send, d.startMessage, write, d.propose, d.callTool, d.request, d.abort, d.stop,
		send, d.stop, d.archive, d.seen, d.rewind, d.notice, remove, d.erase, d.erase,
	} {
		if len(d.sessions) > 0 || len(d.turns) == 0 {
			_ = step()
		}
	}
	return told
}

// A disk that fails at one write, whichever it is, costs at most the commands that heard of it.
func TestAStoreWhoseNthWriteFails(t *testing.T) {
	writes := 0
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir(), func(o *store.Options, _ *core.Options) {
			o.Inject = func(string) store.Failure { writes++; return store.NoFailure }
		})
		saw := watch(t, r.loop)
		scenario(r)
		synctest.Wait()
		covers(t, saw())
		r.stop()
	})
	t.Logf("%d writes", writes)
	// Every write fails in one of the three ways here, the ways taking turns; in all three with
	// AALIS_EVERY_WAY set, which takes minutes.
	ways := []store.Failure{store.FailConstraint, store.FailFull, store.FailIO}
	for way, how := range ways {
		for n := 1; n <= writes; n++ {
			if os.Getenv("AALIS_EVERY_WAY") == "" && n%len(ways) != way {
				continue
			}
			synctest.Test(t, func(t *testing.T) { failAt(t, n, how) })
			if t.Failed() {
				t.Fatalf("write %d of %d failing as %d", n, writes, how)
			}
		}
	}
}

// covers holds the scenario to what it is for.
func covers(t *testing.T, saw []core.Entry) {
	t.Helper()
	have := map[event.Kind]bool{}
	for _, e := range saw {
		if e.Fact != nil {
			have[e.Fact.Kind] = true
		}
	}
	for _, k := range []event.Kind{
		event.SessionCreated, event.SessionUpdated, event.SessionDeleted, event.UserMessage, event.TurnStarted, event.TurnInputJoined,
		event.UserInterrupt, event.MessageStarted, event.AgentMessage, event.ReasoningStarted, event.AgentReasoning, event.ModelCalled,
		event.ToolProposed, event.ToolCalled, event.ToolResult, event.ActionRequested, event.ActionResolved, event.ExecutionUpdated,
		event.TurnEnded, event.HistoryRewound, event.HostNotice,
	} {
		if !have[k] {
			t.Errorf("the scenario has no %s", k)
		}
	}
}

func failAt(t *testing.T, n int, how store.Failure) {
	var count atomic.Int64
	dir := t.TempDir()
	r := open(t, dir, func(o *store.Options, _ *core.Options) {
		o.Inject = func(string) store.Failure {
			if count.Add(1) == int64(n) {
				return how
			}
			return store.NoFailure
		}
	})
	saw := watch(t, r.loop)
	told := scenario(r)
	time.Sleep(10 * time.Second) // the longest pause between tries
	synctest.Wait()
	testkit.Check(t, r.st)
	sameAsRebuilt(t, r)
	sameAsSeen(t, r, saw())
	r.stop()
	again := open(t, dir)
	defer again.stop()
	if err := again.st.IntegrityCheck(); err != nil {
		t.Error(err)
	}
	again.read(func(tx *store.ReadTx) error {
		for _, id := range told {
			if _, found, err := tx.Event(id); err != nil || !found {
				t.Errorf("event %s was acknowledged and is gone (%v)", id, err)
			}
		}
		return nil
	})
}

// A disk that stays full: commands say so, text waits, turns are stopped when too much of it does,
// and everything is written when there is room again. Kernel 0.9.
func TestAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		r := open(t, t.TempDir(), func(o *store.Options, _ *core.Options) {
			o.Inject = func(string) store.Failure {
				if full.Load() {
					return store.FailFull
				}
				return store.NoFailure
			}
		})
		saw := watch(t, r.loop)
		s := r.session()
		turn := r.do(core.SendInput{Actor: owner, Session: s, Input: say("go")}).TurnID
		m := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
		full.Store(true)
		if _, err := r.loop.Do(context.Background(), core.RenameSession{Actor: owner, Session: s, Title: "new"}); err == nil {
			t.Fatal("a command on a full disk was acknowledged")
		}
		chunk := make([]byte, 1<<20)
		for i := range chunk {
			chunk[i] = 'a'
		}
		for range 9 {
			if err := r.loop.Text(m, string(chunk)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		alarms := 0
		for _, e := range saw() {
			if e.Note != nil && e.Note.Kind == core.NoteStorage {
				alarms++
			}
		}
		if alarms != 1 {
			t.Errorf("%d storage alarms, want 1", alarms)
		}
		full.Store(false)
		time.Sleep(6 * time.Second)
		r.do(core.StopTurn{Turn: turn, Failure: &event.Failure{Code: "storage"}})
		for _, e := range r.events(s) {
			if p, ok := e.Payload.(event.Message); ok && len(p.Text) != 9<<20 {
				t.Errorf("%d bytes of 9 MiB are in the log", len(p.Text))
			}
		}
		testkit.Check(t, r.st)
		sameAsRebuilt(t, r)
	})
}

// gate holds the writer inside a statement until it is opened, and decides how later statements fare.
type gate struct {
	shut atomic.Bool
	open chan struct{}
	fail func(query string) store.Failure
}

func (g *gate) ask(query string) store.Failure {
	if g.shut.CompareAndSwap(true, false) {
		<-g.open
	}
	if g.fail == nil {
		return store.NoFailure
	}
	return g.fail(query)
}

func openGated(t testing.TB) (*rig, *gate) {
	t.Helper()
	g := &gate{}
	return open(t, t.TempDir(), func(o *store.Options, _ *core.Options) { o.Inject = g.ask }), g
}

// together gives text and commands to the writer while it is busy, so that it takes them as one group in
// this order; fail judges the statements from then on.
func (r *rig) together(g *gate, texts map[string]string, fail func(query string) store.Failure, cmds ...core.Command) []error {
	r.t.Helper()
	g.open = make(chan struct{})
	g.shut.Store(true)
	errs := make([]error, len(cmds))
	var all sync.WaitGroup
	all.Go(func() { _, _ = r.loop.Do(context.Background(), core.EraseDeleted{}) })
	synctest.Wait()
	for item, words := range texts {
		if err := r.loop.Text(item, words); err != nil {
			r.t.Error(err)
		}
	}
	for i, cmd := range cmds {
		all.Go(func() { _, errs[i] = r.loop.Do(context.Background(), cmd) })
		synctest.Wait()
	}
	g.fail = fail
	close(g.open)
	all.Wait()
	g.fail = nil
	return errs
}

// A commit that fails costs its group nothing: every command runs again, alone.
func TestAFailingGroupRunsAgainOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, g := openGated(t)
		saw := watch(t, r.loop)
		var cmds []core.Command
		for range 10 {
			cmds = append(cmds, core.RenameSession{Actor: owner, Session: r.session(), Title: "new"})
		}
		commits, commands, lost := 0, 0, 0
		errs := r.together(g, nil, func(q string) store.Failure {
			switch q {
			case "SAVEPOINT command":
				commands++
			case "COMMIT":
				if commits++; commits == 2 { // the first is of the command the writer was busy with
					lost = commands - 1
					return store.FailIO
				}
			}
			return store.NoFailure
		}, cmds...)
		if lost != len(cmds) {
			t.Errorf("%d commands were in the group that was lost, want %d", lost, len(cmds))
		}
		for i, err := range errs {
			if err != nil {
				t.Errorf("command %d: %v", i, err)
			}
		}
		synctest.Wait()
		testkit.Check(t, r.st)
		sameAsSeen(t, r, saw())
	})
}

// A command that takes the whole transaction along, each time, fails alone: the rest of its group and
// the text that waits are written, once.
func TestAGroupLosesOnlyTheCommandThatBreaksIt(t *testing.T) {
	for name, how := range map[string]store.Failure{"full": store.FailFull, "io": store.FailIO} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, g := openGated(t)
				saw := watch(t, r.loop)
				a, b := r.session(), r.session()
				m := r.do(core.StartMessage{Turn: r.do(core.SendInput{Actor: owner, Session: a, Input: say("go")}).TurnID, Step: 1}).ItemID
				errs := r.together(
					g, map[string]string{m: "waits"}, func(q string) store.Failure {
						if strings.Contains(q, "session_reads") {
							return how
						}
						return store.NoFailure
					},
					core.RenameSession{Actor: owner, Session: a, Title: "one"},
					core.MarkSeen{Session: b, Principal: event.OwnerID},
					core.RenameSession{Actor: owner, Session: b, Title: "two"},
				)
				if errs[0] != nil || errs[1] == nil || errs[2] != nil {
					t.Errorf("got %v", errs)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				for session, title := range map[string]string{a: "one", b: "two"} {
					n := 0
					for _, e := range r.events(session) {
						if u, ok := e.Payload.(event.Updated); ok && *u.Title == title {
							n++
						}
					}
					if n != 1 {
						t.Errorf("%d renames to %s", n, title)
					}
				}
				testkit.Check(t, r.st)
				sameAsRebuilt(t, r)
				sameAsSeen(t, r, saw())
			})
		})
	}
}
