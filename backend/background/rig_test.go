package background

import (
	"context"
	"encoding/json"
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

var owner = event.Actor{Kind: "owner", Principal: event.OwnerID, Platform: "webui", UserID: "console", Owner: true, Via: "session"}

// rig is a registry over an open log.
type rig struct {
	t        testing.TB
	st       *store.Store
	loop     *core.Loop
	registry *Registry
	failing  atomic.Bool // the disk takes nothing
	ran      error       // what Run returned

	quit, stop func()
}

func open(t testing.TB, dir string) *rig {
	t.Helper()
	r := &rig{t: t}
	var err error
	r.st, err = store.Open(store.Options{Dir: dir, Inject: func(string) store.Failure {
		if r.failing.Load() {
			return store.FailIO
		}
		return store.NoFailure
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.loop, err = core.New(core.Options{Store: r.st}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	looped := make(chan error, 1)
	go func() { looped <- r.loop.Run(ctx) }()
	if err := core.Recover(ctx, r.loop); err != nil {
		t.Fatal(err)
	}
	r.registry = New(Options{Loop: r.loop})
	attending, leave := context.WithCancel(ctx)
	attended := make(chan error, 1)
	go func() { attended <- r.registry.Run(attending) }()
	r.quit = sync.OnceFunc(func() {
		leave()
		r.ran = <-attended
	})
	r.stop = sync.OnceFunc(func() {
		r.quit()
		cancel()
		<-looped
		if err := r.st.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

func bubble(t *testing.T, name string, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			defer r.stop()
			test(t, r)
			synctest.Wait()
			testkit.Check(t, r.st)
			if r.quit(); r.ran != nil {
				t.Error(r.ran)
			}
		})
	})
}

func (r *rig) do(cmd core.Command) core.Receipt {
	r.t.Helper()
	got, err := r.loop.Do(context.Background(), cmd)
	if err != nil {
		r.t.Fatalf("%T: %v", cmd, err)
	}
	return got
}

func (r *rig) session(parent string) string {
	r.t.Helper()
	return r.do(core.CreateSession{Actor: owner, Parent: parent}).SessionID
}

// turn opens a turn, or gives the one that runs.
func (r *rig) turn(session string) string {
	r.t.Helper()
	return r.do(core.SendInput{Actor: owner, Session: session, Input: event.Input{Text: "go", Speaker: event.Speaker{Platform: "webui", Owner: true}}}).TurnID
}

// hand is a call whose work the test does.
type hand struct {
	r      *rig
	turn   string
	work   Work
	out    chan string
	finish chan Result
	began  chan struct{}
	stop   context.CancelCauseFunc // of its turn
	shown  []string
	got    Result
	err    error
	back   chan struct{} // closed when Conduct has returned
	causes chan error    // why the work was told to end
}

// call makes a call in a turn and conducts its work.
func (r *rig) call(turn string, change ...func(*hand)) *hand {
	r.t.Helper()
	id := r.do(core.ProposeTool{Turn: turn, Tool: "run_command", Step: 1}).ItemID
	r.do(core.CallTool{Turn: turn, CallID: id, Tool: "run_command", Args: json.RawMessage(`{"command":"secret"}`), Effect: "write", Step: 1})
	h := &hand{r: r, turn: turn, out: make(chan string), finish: make(chan Result), began: make(chan struct{}), back: make(chan struct{}), causes: make(chan error, 1)}
	h.work = Work{
		Turn: turn, Call: id, Tool: "run_command", Started: time.Now(),
		Show: func(piece string) error { h.shown = append(h.shown, piece); return r.loop.Text(id, piece) },
		Do: func(ctx context.Context, out func(string)) Result {
			close(h.began)
			for {
				select {
				case piece := <-h.out:
					out(piece)
				case result := <-h.finish:
					return result
				case <-ctx.Done():
					h.causes <- context.Cause(ctx)
					return Result{Status: event.ResultFailed, Text: "[stopped]"}
				}
			}
		},
	}
	for _, c := range change {
		c(h)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	h.stop = stop
	go func() {
		defer close(h.back)
		h.got, h.err = r.registry.Conduct(ctx, h.work)
	}()
	return h
}

func atOnce(h *hand) { h.work.AtOnce = true }

// moved is a task that runs, and whose turn is over.
func (r *rig) moved(session string) *hand {
	r.t.Helper()
	turn := r.turn(session)
	h := r.call(turn, atOnce)
	<-h.back
	if h.err != nil || h.got.TaskID == "" {
		r.t.Fatalf("not moved: %+v, %v", h.got, h.err)
	}
	r.do(core.EndSilent{Turn: turn})
	return h
}

func (h *hand) print(piece string) { h.out <- piece; synctest.Wait() }

func (h *hand) end(r Result) { h.finish <- r; synctest.Wait() }

func (h *hand) task() (t store.Task) {
	h.r.t.Helper()
	if err := h.r.loop.Read(context.Background(), func(tx *store.ReadTx) (err error) { t, _, err = tx.Task(h.got.TaskID); return err }); err != nil {
		h.r.t.Fatal(err)
	}
	return t
}

func facts[P event.Payload](r *rig, session string) (all []P) {
	r.t.Helper()
	if err := r.loop.Read(context.Background(), func(tx *store.ReadTx) error {
		s, err := tx.SessionOrTomb(session)
		if err != nil {
			return err
		}
		events, err := tx.Between(s.SID, -1, 1<<32-1)
		for _, e := range events {
			if p, ok := e.Payload.(P); ok {
				all = append(all, p)
			}
		}
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
	return all
}
