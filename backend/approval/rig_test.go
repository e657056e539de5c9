package approval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/approval"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// rig is the program as far as approvals go: a log with its writer, the approval service, and the
// session protocol for whoever connects.
type rig struct {
	t      testing.TB
	dir    string
	st     *store.Store
	loop   *core.Loop
	svc    *approval.Service
	server *session.Server
	log    *journal
	lang   text.Language
	full   atomic.Bool // the disk takes nothing
	stop   func()
}

// journal is the program's own log.
type journal struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(b)
}

// lines gives the lines about settlements, without their times.
func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []string
	for line := range strings.Lines(j.buf.String()) {
		if _, found, ok := strings.Cut(strings.TrimSpace(line), `msg="an approval was settled" `); ok {
			out = append(out, found)
		}
	}
	return out
}

func start(t testing.TB, dir string, change ...func(*core.Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir, log: new(journal), lang: text.English}
	st, err := store.Open(store.Options{Dir: dir, Inject: func(string) store.Failure {
		if r.full.Load() {
			return store.FailFull
		}
		return store.NoFailure
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.st = st
	logger := slog.New(slog.NewTextHandler(r.log, nil))
	r.svc = approval.New(approval.Options{Log: logger})
	o := core.Options{Store: st, Admission: r.svc}
	for _, c := range change {
		c(&o)
	}
	if r.loop, err = core.New(o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	asking, quiet := context.WithCancel(context.Background())
	var writing, watching sync.WaitGroup
	writing.Go(func() {
		if err := r.loop.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	watching.Go(func() {
		if err := r.svc.Run(asking, r.loop); err != nil {
			t.Error(err)
		}
	})
	r.server, err = session.NewServer(session.Options{
		Name: "aalis", Loop: r.loop, Services: session.Services{Approvals: r.svc}, Log: logger,
		Language: func() text.Language { return r.lang },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.stop = sync.OnceFunc(func() {
		if err := r.server.Close(context.Background()); err != nil {
			t.Error(err)
		}
		quiet()
		watching.Wait()
		cancel()
		writing.Wait()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// bubble runs a named test with a clock of its own, on a running rig.
func bubble(t *testing.T, name string, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, start(t, t.TempDir())) })
	})
}

// pass lets time go by and everything it causes happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *rig) do(cmd core.Command) core.Receipt {
	r.t.Helper()
	got, err := r.loop.Do(context.Background(), cmd)
	if err != nil {
		r.t.Fatalf("%T: %v", cmd, err)
	}
	synctest.Wait()
	return got
}

var owner = event.Actor{Kind: "owner", Principal: event.OwnerID, Platform: "webui", UserID: "console", Owner: true, Via: "session"}

// turn opens a turn in a new session of the owner's.
func (r *rig) turn() (turn string) {
	r.t.Helper()
	return r.send(r.do(core.CreateSession{Actor: owner, Name: "root"}).SessionID)
}

func (r *rig) send(session string) (turn string) {
	r.t.Helper()
	return r.do(core.SendInput{Actor: owner, Session: session, Input: event.Input{
		Text: "hello", Speaker: event.Speaker{Platform: "webui", UserID: "console", Owner: true},
	}}).TurnID
}

// alone opens a turn that no person asked for.
func (r *rig) alone(session string) (turn string) {
	r.t.Helper()
	return r.do(core.SendInput{
		Actor: event.System(), Session: session, Source: "interval",
		Input: event.Input{Text: "tick", Speaker: event.Speaker{Source: "interval"}},
	}).TurnID
}

// asked is an approval as the log has it.
type asked struct {
	store.Action
	call    string
	refused bool
}

const facts = `{"command":"ls -l","cwd":"/home/me","params":{"command":"ls -l"}}`

// ask raises an approval in a turn.
func (r *rig) ask(turn string) asked {
	r.t.Helper()
	return r.askAbout(turn, facts, false)
}

func (r *rig) askAbout(turn, facts string, ineligible bool) asked {
	r.t.Helper()
	call := r.do(core.ProposeTool{Turn: turn, Tool: "run_command", Step: 1}).ItemID
	r.do(core.CallTool{Turn: turn, CallID: call, Tool: "run_command", Args: json.RawMessage(`{"command":"ls -l"}`), Effect: "write", Step: 1})
	got := r.do(core.RequestAction{Turn: turn, CallID: call, Tool: "run_command", Facts: json.RawMessage(facts), Ineligible: ineligible})
	return asked{Action: r.action(got.EventID), call: call, refused: got.Done}
}

func (r *rig) read(fn func(tx *store.ReadTx) error) {
	r.t.Helper()
	if err := r.loop.Read(context.Background(), fn); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) action(id string) (a store.Action) {
	r.t.Helper()
	r.read(func(tx *store.ReadTx) (err error) {
		a, _, err = tx.Action(id)
		return err
	})
	return a
}

// state is where an approval stands: pending, or state/source.
func (r *rig) state(id string) string {
	r.t.Helper()
	all := r.resolutions(id)
	if len(all) == 0 {
		return r.action(id).State
	}
	if len(all) > 1 {
		r.t.Errorf("%d resolutions: %+v", len(all), all)
	}
	if row := r.action(id).State; row != all[0].State {
		r.t.Errorf("the row says %s, the log %s", row, all[0].State)
	}
	return all[0].State + "/" + all[0].Source
}

func (r *rig) resolutions(id string) (all []event.Resolution) {
	r.t.Helper()
	a := r.action(id)
	r.read(func(tx *store.ReadTx) error {
		events, err := tx.Children(a.SID, id)
		for _, e := range events {
			if res, ok := e.Payload.(event.Resolution); ok {
				all = append(all, res)
			}
		}
		return err
	})
	return all
}

func (r *rig) expect(id, want string) {
	r.t.Helper()
	if got := r.state(id); got != want {
		r.t.Errorf("after the wait the approval is %s, want %s", got, want)
	}
}

// client is one connection and what it was sent.
type client struct {
	*session.Conn
	t    testing.TB
	next int

	mu    sync.Mutex // guards what follows
	sent  []frame
	ended []string
	full  chan struct{} // set while the transport has no room; closed when it has again
}

// block lets the transport have no room for what the client need not be sent.
func (c *client) block() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = make(chan struct{})
}

func (c *client) unblock() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.full)
	c.full = nil
}

func (c *client) room(ctx context.Context) bool {
	c.mu.Lock()
	full := c.full
	c.mu.Unlock()
	if full == nil {
		return ctx.Err() == nil
	}
	select {
	case <-full:
		return true
	case <-ctx.Done():
		return false
	}
}

type frame struct {
	At     time.Time `json:"-"`
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    *struct{ Code string }
	}
}

// dial connects somebody and shakes hands.
func (r *rig) dial(who principal.Caller, surface string) *client {
	r.t.Helper()
	c := &client{t: r.t}
	c.Conn = r.server.Connect(session.Peer{
		Caller: who, Surface: surface,
		Disconnect: func(reason string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ended = append(c.ended, reason)
		},
		Queued: func() int { return 0 },
		Room:   c.room,
	}, func(text string) {
		f := frame{At: time.Now()}
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			r.t.Errorf("%v: %s", err, text)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.sent = append(c.sent, f)
	})
	c.call("initialize", `{"protocolVersion":"0.2.0","client":{"name":"t","version":"1"}}`)
	synctest.Wait()
	return c
}

// console is the owner at one of the program's own surfaces.
func (r *rig) console() *client { return r.dial(principal.DesktopCaller(), "webui") }

// present is a console where somebody is.
func (r *rig) present() *client {
	c := r.console()
	c.here(true)
	return c
}

// stranger is a client with a token of its own.
func (r *rig) stranger(scopes ...principal.Scope) *client {
	return r.dial(principal.Caller{
		Principal: principal.Principal{ID: event.OwnerID, Kind: principal.Owner},
		Scopes:    scopes, Identity: principal.Identity{Platform: "client", UserID: "console"}, Surface: "client",
	}, "client")
}

// call sends a request and gives its answer.
func (c *client) call(method, params string) frame {
	c.t.Helper()
	c.next++
	id := fmt.Sprint(c.next)
	c.Receive(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	synctest.Wait()
	return c.answer(id)
}

func (c *client) answer(id string) frame {
	c.t.Helper()
	for _, f := range c.frames() {
		if f.Method == "" && string(f.ID) == id {
			return f
		}
	}
	c.t.Fatalf("no answer to %s", id)
	return frame{}
}

func (c *client) frames() []frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]frame(nil), c.sent...)
}

// forget drops what it was sent so far.
func (c *client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = nil
}

func (c *client) here(active bool) {
	c.t.Helper()
	if f := c.call("presence/update", fmt.Sprintf(`{"active":%t}`, active)); string(f.Result) != "{}" {
		c.t.Errorf("presence/update: %+v", f.Error)
	}
}

// respond answers an approval; the result is "" or the error's code.
func (c *client) respond(id, decision, hash, note string) string {
	c.t.Helper()
	params, _ := json.Marshal(map[string]string{"approvalId": id, "decision": decision, "contentHash": hash, "note": note})
	return c.call("approval/respond", string(params)).outcome()
}

// outcome is "" for a result, else the error's code.
func (f frame) outcome() string {
	switch {
	case f.Error == nil:
		return ""
	case f.Error.Data == nil:
		return fmt.Sprint(f.Error.Code)
	}
	return f.Error.Data.Code
}

func pushed[P any](c *client, method string) []P {
	c.t.Helper()
	all := []P{}
	for _, f := range c.frames() {
		if f.Method != method {
			continue
		}
		var p P
		if err := json.Unmarshal(f.Params, &p); err != nil {
			c.t.Errorf("%v: %s", err, f.Params)
		}
		all = append(all, p)
	}
	return all
}

// requested lists the approvals that the client was sent, by id, in order.
func (c *client) requested() []string {
	c.t.Helper()
	ids := []string{}
	for _, p := range pushed[session.ApprovalRequested](c, "approval/requested") {
		ids = append(ids, p.Approval.ID)
	}
	return ids
}

func (c *client) settled() []string {
	c.t.Helper()
	ids := []string{}
	for _, p := range pushed[session.ApprovalSettled](c, "approval/settled") {
		ids = append(ids, p.ApprovalID)
	}
	return ids
}

// same compares lists of ids.
func same(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
