package turn_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/engine"
	"aalis/backend/engine/enginetest"
	"aalis/backend/engine/native"
	"aalis/backend/event"
	"aalis/backend/provider"
	"aalis/backend/provider/scripted"
	"aalis/backend/store"
	"aalis/backend/testkit"
	"aalis/backend/tool"
	"aalis/backend/turn"
)

var owner = event.Actor{Kind: "owner", Principal: event.OwnerID, Platform: "webui", UserID: "console", Owner: true, Via: "session"}

func say(words string) event.Input {
	return event.Input{Text: words, Speaker: event.Speaker{Platform: "webui", UserID: "console", Owner: true}}
}

// admission is an Admission that refuses everything for one reason, "" for none.
type admission string

func (a admission) Admit(event.Policy) string { return string(a) }

// records keeps what is logged.
type records struct {
	mu  sync.Mutex // guards all
	all []string
}

func (l *records) Enabled(context.Context, slog.Level) bool { return true }
func (l *records) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *records) WithGroup(string) slog.Handler            { return l }
func (l *records) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
	return nil
}

func (l *records) count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.all {
		if strings.Contains(line, words) {
			n++
		}
	}
	return n
}

// rig is an open store with a running loop and a running reactor over the native engine, a scripted
// model and small real tools.
type rig struct {
	t       testing.TB
	st      *store.Store
	loop    *core.Loop
	reactor *turn.Reactor
	model   *scripted.Model
	tools   *enginetest.Tools
	log     *records

	stopReactor func() // gives what Run returned, when something is wrong with it, to stopped
	stopped     func(error)
	kill        func() // ends loop and store under a reactor that may still run
	stop        func()
}

// setup is what a test may change.
type setup struct {
	dir     string
	script  string
	place   string
	limit   int
	extra   []tool.Definition
	engines map[string]engine.Engine // beside or instead of aalis
	store   store.Options
	core    core.Options
	lazy    bool // the reactor is not started
	// set is what sessions are set to, by key.
	set   map[string]json.RawMessage
	files func(hash string, most int64) ([]byte, error)
	// background makes what does the work of calls that may go on without their turn.
	background func(*core.Loop) func(context.Context, turn.Work) (engine.ToolResult, error)
}

func open(t testing.TB, s setup) *rig {
	t.Helper()
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	if s.core.Admission == nil {
		s.core.Admission = admission("")
	}
	s.store.Dir = s.dir
	r := &rig{t: t, model: scripted.New(scripted.MustParse(s.script)...), tools: &enginetest.Tools{}, log: &records{}}
	var err error
	if r.st, err = store.Open(s.store); err != nil {
		t.Fatal(err)
	}
	s.core.Store, s.core.Log = r.st, slog.New(r.log)
	if r.loop, err = core.New(s.core); err != nil {
		t.Fatal(err)
	}
	set, err := provider.NewSet(provider.Config{
		Providers: []provider.ProviderConfig{{ID: "test", Type: "scripted", Models: []provider.ModelConfig{{Name: "m", ContextWindow: 4096}}}},
	}, map[string]provider.Kind{"scripted": r.model.Kind()})
	if err != nil {
		t.Fatal(err)
	}
	engines := map[string]engine.Engine{
		"aalis": native.New(native.Config{Models: set, Tools: tool.NewRegistry(append(r.tools.Definitions(), s.extra...)...), Log: slog.New(r.log)}),
	}
	for id, e := range s.engines {
		engines[id] = e
	}
	if s.place == "" {
		s.place = s.dir
	}
	var background func(context.Context, turn.Work) (engine.ToolResult, error)
	if s.background != nil {
		background = s.background(r.loop)
	}
	r.reactor = turn.New(turn.Options{
		Background: background, Files: s.files,
		Settings: func(context.Context, string, string, string) (map[string]json.RawMessage, error) {
			return s.set, nil
		},
		Loop: r.loop, Engines: engines, ToolLimit: s.limit, Log: slog.New(r.log),
		Place: func(key string) engine.Place { return engine.Place{Key: key, Root: s.place} },
	})
	r.start(s.lazy)
	return r
}

// start runs loop, recovery and reactor in the order the program does.
func (r *rig) start(lazy bool) {
	ctx, cancel := context.WithCancel(context.Background())
	looped := make(chan error, 1)
	go func() { looped <- r.loop.Run(ctx) }()
	if err := core.Recover(ctx, r.loop); err != nil {
		r.t.Fatal(err)
	}
	followed := make(chan error, 1)
	if lazy {
		followed <- nil
	} else {
		go func() { followed <- r.reactor.Run(ctx) }()
	}
	r.stopped = func(err error) { r.t.Error(err) }
	r.stopReactor = sync.OnceFunc(func() {
		within, done := context.WithTimeout(context.Background(), 5*time.Second)
		defer done()
		if err := r.reactor.Stop(within); err != nil {
			r.t.Error(err)
		}
		if err := <-followed; err != nil {
			r.stopped(err)
		}
	})
	r.kill = sync.OnceFunc(func() {
		cancel()
		if err := <-looped; err != nil {
			r.t.Error(err)
		}
		if err := r.st.Close(); err != nil {
			r.t.Error(err)
		}
	})
	r.stop = sync.OnceFunc(func() {
		r.stopReactor()
		r.kill()
	})
	r.t.Cleanup(r.stop)
}

// bubble runs fn with a rig in a bubble and holds the log to its invariants afterwards.
func bubble(t *testing.T, s setup, fn func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := open(t, s)
		defer r.stop()
		fn(r)
		r.check()
		if t.Failed() {
			r.dump()
		}
	})
}

// check holds the log to its invariants, the rows to the log.
func (r *rig) check() {
	r.t.Helper()
	testkit.Check(r.t, r.st)
}

func (r *rig) dump() {
	for _, s := range r.sessions() {
		for _, e := range r.events(s) {
			r.t.Logf("%s %d %s %+v", s, e.Seq, e.Kind, e.Payload)
		}
	}
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	r.t.Log(strings.Join(r.log.all, "\n"))
}

func (r *rig) do(cmd core.Command) core.Receipt {
	r.t.Helper()
	got, err := r.loop.Do(context.Background(), cmd)
	if err != nil {
		r.t.Fatalf("%T: %v", cmd, err)
	}
	return got
}

func (r *rig) session() string {
	r.t.Helper()
	return r.do(core.CreateSession{Actor: owner}).SessionID
}

// send says something and gives the turn it opened or waits for.
func (r *rig) send(session, words string) (turnID string) {
	r.t.Helper()
	return r.do(core.SendInput{Actor: owner, Session: session, Input: say(words)}).TurnID
}

func (r *rig) read(fn func(tx *store.ReadTx) error) {
	r.t.Helper()
	if err := r.st.Read(context.Background(), fn); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) sessions() (ids []string) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		all, err := tx.AllSessions()
		for _, s := range all {
			ids = append(ids, s.ID)
		}
		return err
	})
	return ids
}

func (r *rig) events(session string) (all []event.Event) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		s, err := tx.SessionOrTomb(session)
		if err != nil {
			return err
		}
		all, err = tx.Between(s.SID, -1, 1<<32-1)
		return err
	})
	return all
}

// payloads lists what a session's log says of one kind.
func payloads[P event.Payload](r *rig, session string) []P {
	r.t.Helper()
	var all []P
	for _, e := range r.events(session) {
		if p, ok := e.Payload.(P); ok {
			all = append(all, p)
		}
	}
	return all
}

// outcomes lists how the turns of a session ended.
func (r *rig) outcomes(session string) (all []string) {
	r.t.Helper()
	for _, e := range payloads[event.TurnEnd](r, session) {
		all = append(all, e.Outcome)
	}
	return all
}

// queue lists the words that wait.
func (r *rig) queue(session string) (waiting []string) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		s, err := tx.Session(session)
		if err != nil {
			return err
		}
		all, err := tx.PendingInputs(s.SID)
		for _, in := range all {
			waiting = append(waiting, in.Text)
		}
		return err
	})
	return waiting
}

// settle lets the turns go on until nothing moves without time.
func settle() { synctest.Wait() }

// until waits for a condition; in a bubble it takes no time.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.dump()
			r.t.Fatalf("waited in vain: %s", what)
		}
	}
}

// idle waits until no turn runs.
func (r *rig) idle() {
	r.t.Helper()
	r.until("no turn runs", func() bool { return r.reactor.Running() == 0 && len(r.runningTurns()) == 0 })
}

func (r *rig) runningTurns() (ids []string) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) error {
		all, err := tx.RunningTurns()
		for _, t := range all {
			ids = append(ids, t.ID)
		}
		return err
	})
	return ids
}

// pending waits for an approval and gives it.
func (r *rig) pending() (a store.Action) {
	r.t.Helper()
	r.until("an approval is asked for", func() bool {
		r.read(func(tx *store.ReadTx) error {
			all, err := tx.PendingActions(0)
			if len(all) > 0 {
				a = all[0]
			}
			return err
		})
		return a.ID != ""
	})
	return a
}

func (r *rig) answer(approve bool, note string) {
	r.t.Helper()
	a := r.pending()
	r.do(core.AnswerAction{
		Actor: owner, ActionID: a.ID, Approve: approve, Hash: a.Hash, Note: note, May: true, By: event.Answerer{Platform: "webui", Owner: true},
	})
}

func same[T comparable](t testing.TB, what string, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
