package core_test

import (
	"context"
	"fmt"
	"os"
	"slices"
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

// One command that fails with the whole transaction does not take the others of its group along.
func TestAFailingGroupRunsAgainOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var armed atomic.Bool
		r := open(t, t.TempDir(), func(o *store.Options, _ *core.Options) {
			o.Inject = func(q string) store.Failure {
				if armed.Load() && q == "COMMIT" {
					armed.Store(false)
					return store.FailIO
				}
				return store.NoFailure
			}
		})
		var ids []string
		for range 10 {
			ids = append(ids, r.session())
		}
		armed.Store(true)
		results := make(chan error, len(ids))
		for i, id := range ids {
			go func() {
				_, err := r.loop.Do(context.Background(), core.RenameSession{Actor: owner, Session: id, Title: fmt.Sprint("title ", i)})
				results <- err
			}()
		}
		failed := 0
		for range ids {
			if err := <-results; err != nil {
				failed++
			}
		}
		if failed > 1 {
			t.Errorf("%d of 10 commands failed with one lost commit", failed)
		}
		testkit.Check(t, r.st)
		if n := len(slices.Compact(ids)); n != 10 {
			t.Fatal(n)
		}
	})
}
