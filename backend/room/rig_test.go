package room_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/room"
	"aalis/backend/room/local"
	"aalis/backend/store"
	"aalis/backend/testkit"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// rig is a log with rooms: a platform that is played, the service, and a client that watches.
type rig struct {
	t        testing.TB
	dir      string
	st       *store.Store
	loop     *core.Loop
	service  *room.Service
	platform *local.Adapter
	server   *session.Server
	stop     func()

	mu    sync.Mutex // guards rules
	rules core.Rules
}

// here is what most tests need of a platform.
var here = local.Config{
	Owner: "me", Groups: []local.Group{{ID: "tea", Name: "Tea room", Members: []string{"Ann", "Bob", "me"}}}, Private: []string{"Ann", "me"},
}

const (
	tea = "local:10001:group:tea"
	ann = "local:10001:private:Ann"
)

func open(t testing.TB, c local.Config, change ...func(*room.Options)) *rig {
	t.Helper()
	return openOn(t, t.TempDir(), c, change...)
}

func openOn(t testing.TB, dir string, c local.Config, change ...func(*room.Options)) *rig {
	t.Helper()
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, st: st, platform: local.New(c), rules: core.Rules{Answer: core.AnswerAddressed}}
	if r.loop, err = core.New(core.Options{Store: st, Ruling: func(core.SettingRows, store.Session) (core.Rules, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.rules, nil
	}}); err != nil {
		t.Fatal(err)
	}
	o := room.Options{Loop: r.loop, Adapters: []room.Adapter{r.platform}, Language: func() text.Language { return text.English }}
	for _, f := range change {
		f(&o)
	}
	r.service = room.New(o)
	if r.server, err = session.NewServer(session.Options{
		Loop: r.loop, Language: func() text.Language { return text.English }, Services: session.Services{Agent: nobody{}, Rooms: r.service},
	}); err != nil {
		t.Fatal(err)
	}
	loop, stopLoop := context.WithCancel(context.Background())
	rooms, stopRooms := context.WithCancel(context.Background())
	wrote, served := make(chan error, 1), make(chan error, 1)
	go func() { wrote <- r.loop.Run(loop) }()
	if err := core.Recover(t.Context(), r.loop); err != nil {
		t.Fatal(err)
	}
	go func() { served <- r.service.Run(rooms) }()
	r.stop = sync.OnceFunc(func() {
		stopRooms()
		errs := []error{<-served}
		stopLoop()
		errs = append(errs, <-wrote)
		testkit.Check(t, st)
		if err := errors.Join(append(errs, st.Close())...); err != nil {
			t.Error(err)
		}
	})
	return r
}

// nobody is an agent that conducts nothing: the tests play it.
type nobody struct{}

func (nobody) StopChildren(context.Context, string) error { return nil }

// play runs a test in a bubble, on a rig of its own.
func play(t *testing.T, name string, test func(t *testing.T, r *rig), change ...func(*room.Options)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, here, change...)
			defer r.stop()
			synctest.Wait() // the adapter has connected
			test(t, r)
		})
	})
}

func (r *rig) rule(rules core.Rules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rules = rules
}

// say has a member speak, or do something.
func (r *rig) say(s local.Said) room.Heard {
	r.t.Helper()
	_, heard, err := r.platform.Say(context.Background(), s)
	if err != nil {
		r.t.Fatal(err)
	}
	return heard
}

// ask has Ann call her in the tea room, and gives the turn that opens.
func (r *rig) ask() (turn string) {
	r.t.Helper()
	return r.say(local.Said{Room: "tea", Member: "Ann", Text: "@Aalis, is there tea?"}).TurnID
}

func (r *rig) do(cmd core.Command) core.Receipt {
	r.t.Helper()
	got, err := r.loop.Do(context.Background(), cmd)
	if err != nil {
		r.t.Fatalf("%T: %v", cmd, err)
	}
	return got
}

// words are a message of hers that is not the last of its turn.
func (r *rig) words(turn, said string) {
	r.t.Helper()
	id := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
	r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: id, Text: said}})
}

// reply is the last message of a turn.
func (r *rig) reply(turn, said string) (item string) {
	r.t.Helper()
	id := r.do(core.StartMessage{Turn: turn, Step: 2}).ItemID
	r.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: id, Text: said}, Last: true})
	return id
}

// call makes a call in a turn.
func (r *rig) call(turn, tool string) string {
	r.t.Helper()
	id := r.do(core.ProposeTool{Turn: turn, Tool: tool, Step: 1}).ItemID
	r.do(core.CallTool{Turn: turn, CallID: id, Tool: tool, Args: json.RawMessage(`{}`), Effect: "write", Step: 1})
	return id
}

func (r *rig) answers(how, reason string) {
	r.t.Helper()
	if err := r.platform.Answers("tea", local.Answer{How: how, Reason: reason}); err != nil {
		r.t.Fatal(err)
	}
}

// item is one item as a client has it.
type item struct {
	Kind, ItemID, TurnID, Text, Topic, Entry, Outcome, Source, Tool, Status string

	At          int64
	Addressed   *bool
	Undelivered *struct{ Reason string }
	SentToRoom  bool
	Ext         *struct{ Sending bool }
	Speaker     speaker
	Forwards    []struct{ Facts *event.ForwardFacts }
	Attachment  *struct{ Kind, Name string }
	Entries     []struct {
		Text    string
		Speaker speaker
	}
}

type speaker struct {
	Platform, UserID, Nickname, Source string
	Owner                              bool
}

func (i item) undelivered() string {
	if i.Undelivered == nil {
		return ""
	}
	return i.Undelivered.Reason
}

func (i item) addressed() string {
	if i.Addressed == nil {
		return "absent"
	}
	return fmt.Sprint(*i.Addressed)
}

// client is a connection that keeps what it was shown.
type client struct {
	*session.Conn
	t testing.TB

	mu     sync.Mutex // guards all below
	answer chan json.RawMessage
	items  map[string]item
	order  []string
	pushes int // of items
	bytes  int
}

func (r *rig) connect() *client {
	c := &client{t: r.t, answer: make(chan json.RawMessage, 1), items: map[string]item{}}
	c.Conn = r.server.Connect(session.Peer{
		Caller: principal.Caller{
			Principal: principal.Principal{ID: principal.OwnerID, Kind: principal.Owner}, Scopes: principal.AllScopes(),
			Identity: principal.Identity{Platform: "webui", UserID: "console"},
		},
		Surface: "webui", Disconnect: func(string) {},
	}, c.take)
	c.ask("initialize", `{"protocolVersion":"0.2.0","client":{"name":"t","version":"1"}}`)
	return c
}

func (c *client) take(frame string) {
	var f struct {
		ID     json.RawMessage
		Method string
		Params struct{ Item item }
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(frame), &f); err != nil {
		c.t.Errorf("%v: %s", err, frame)
		return
	}
	switch {
	case f.Method == "":
		if f.Error != nil {
			f.Result = f.Error
		}
		c.answer <- f.Result
	case strings.HasPrefix(f.Method, "item/") && f.Method != "item/delta":
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pushes, c.bytes = c.pushes+1, c.bytes+len(frame)
		c.put(f.Params.Item)
	}
}

func (c *client) put(i item) {
	if _, known := c.items[i.ItemID]; !known {
		c.order = append(c.order, i.ItemID)
	}
	c.items[i.ItemID] = i
}

func (c *client) ask(method, params string) json.RawMessage {
	c.Receive(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
	return <-c.answer
}

// list asks for items: a snapshot, or a page of history.
func (c *client) list(method, id string) (all []item) {
	c.t.Helper()
	var got struct{ Items []item }
	raw := c.ask(method, fmt.Sprintf(`{"sessionId":%q}`, id))
	if err := json.Unmarshal(raw, &got); err != nil {
		c.t.Fatalf("%v: %s", err, raw)
	}
	return got.Items
}

// watch subscribes to a session.
func (r *rig) watch(id string) *client {
	r.t.Helper()
	c := r.connect()
	for _, i := range c.list("session/subscribe", id) {
		c.put(i)
	}
	return c
}

// stored is a session's newest page of history.
func (r *rig) stored(id string) []item {
	r.t.Helper()
	c := r.connect()
	defer c.Close()
	return c.list("session/history", id)
}

// shown is a session's snapshot.
func (r *rig) shown(id string) []item {
	r.t.Helper()
	c := r.connect()
	defer c.Close()
	return c.list("session/subscribe", id)
}

func (c *client) item(id string) item {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.items[id]
}

// find gives the item with an id, or the newest with a text.
func find(all []item, what string) (found item) {
	for _, i := range all {
		if i.ItemID == what || i.Text == what {
			found = i
		}
	}
	return found
}

func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

func out(words string) room.Outgoing { return room.Outgoing{Text: words} }
