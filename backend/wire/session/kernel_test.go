package session_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
)

// kernel is a log with its writer running, as the program has it.
type kernel struct {
	t    testing.TB
	dir  string
	st   *store.Store
	loop *core.Loop
	stop func()
}

// attended is an Admission with somebody in front of the screen, or nobody.
type attended struct {
	mu     sync.Mutex // guards absent
	absent bool
}

func (a *attended) Admit(event.Policy) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.absent {
		return event.SourceAbsent
	}
	return ""
}

func (a *attended) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.absent = true
}

// startKernel opens the log in dir; a test of a restart calls stop and opens the folder again.
func startKernel(t testing.TB, dir string, change ...func(*core.Options)) *kernel {
	t.Helper()
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	o := core.Options{Store: st, Admission: new(attended)}
	for _, c := range change {
		c(&o)
	}
	loop, err := core.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- loop.Run(ctx) }()
	k := &kernel{t: t, dir: dir, st: st, loop: loop}
	k.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(k.stop)
	return k
}

// do runs a command that must go through.
func (k *kernel) do(cmd core.Command) core.Receipt {
	k.t.Helper()
	got, err := k.loop.Do(context.Background(), cmd)
	if err != nil {
		k.t.Fatalf("%T: %v", cmd, err)
	}
	return got
}

// console is the owner in front of the program's own surface.
var console = event.Actor{Kind: "owner", Principal: event.OwnerID, Platform: "webui", UserID: "console", Owner: true, Via: "session"}

// session files a session of the owner's.
func (k *kernel) session(name string) string {
	k.t.Helper()
	return k.do(core.CreateSession{Actor: console, Name: name}).SessionID
}

// child files a sub-task.
func (k *kernel) child(parent, name string) string {
	k.t.Helper()
	return k.do(core.CreateSession{Actor: console, Name: name, Parent: parent}).SessionID
}

// room files a group chat; its wire id is the address.
func (k *kernel) room(address, instance, account string) string {
	k.t.Helper()
	k.do(core.CreateSession{
		Actor: console, Origin: "im", Kind: "room", Name: "a group", ExtKey: address, Platform: "onebot", Instance: instance, Account: account,
		Place: "window:" + address, Chat: &event.Window{Type: "group", MultiParty: true, Name: "group of " + address},
	})
	return address
}

// turn opens a turn.
func (k *kernel) turn(session string) string {
	k.t.Helper()
	return k.do(core.SendInput{Actor: console, Session: session, Input: event.Input{
		Text: "hello", Speaker: event.Speaker{Platform: "webui", UserID: "console", Owner: true},
	}}).TurnID
}

// reply ends a turn with her words.
func (k *kernel) reply(turn string) {
	k.t.Helper()
	id := k.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
	k.do(core.EndMessage{Turn: turn, Message: event.Message{MessageID: id, Text: "hi"}, Last: true})
}

// fail ends a turn with an error.
func (k *kernel) fail(turn string, why event.Failure) {
	k.t.Helper()
	k.do(core.StopTurn{Turn: turn, Failure: &why})
}

// ask makes a call of a turn that waits for the owner; the result is the approval's id.
func (k *kernel) ask(turn string) string {
	k.t.Helper()
	call := k.do(core.ProposeTool{Turn: turn, Tool: "run_command", Step: 1}).ItemID
	k.do(core.CallTool{Turn: turn, CallID: call, Tool: "run_command", Args: json.RawMessage(`{}`), Effect: "write", Step: 1})
	return k.do(core.RequestAction{Turn: turn, CallID: call, Tool: "run_command"}).EventID
}

// approve answers an approval with yes.
func (k *kernel) approve(action string) {
	k.t.Helper()
	k.do(core.AnswerAction{
		Actor: console, ActionID: action, Approve: true, Hash: k.hash(action), May: true,
		By: event.Answerer{Platform: "webui", UserID: "console", Owner: true},
	})
}

// hash is what an answer to an approval must name.
func (k *kernel) hash(action string) (hash string) {
	k.t.Helper()
	k.read(func(tx *store.ReadTx) error {
		a, _, err := tx.Action(action)
		hash = a.Hash
		return err
	})
	return hash
}

// read reads one instant of the log's rows.
func (k *kernel) read(fn func(tx *store.ReadTx) error) {
	k.t.Helper()
	if err := k.loop.Read(context.Background(), fn); err != nil {
		k.t.Fatal(err)
	}
}
