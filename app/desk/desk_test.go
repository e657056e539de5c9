package desk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aalis/app/desk"
	"aalis/backend"
	"aalis/backend/text"
)

// rig is the whole program with a desk on it, and the owner's window beside.
type rig struct {
	t    *testing.T
	b    *backend.Backend
	desk *desk.Desk

	mu    sync.Mutex // guards all below
	state desk.State
	since time.Time // of the state
	turns []desk.Turn
	links []*cut
}

// cut is a connection that can be ended from outside.
type cut struct {
	desk.Connection
	end func(string)
}

func start(t *testing.T) *rig {
	t.Helper()
	b, err := backend.Open(t.Context(), backend.Config{DataDir: t.TempDir(), Language: text.English})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, b: b}
	ctx, cancel := context.WithCancel(context.Background())
	ran, ready := make(chan error, 1), make(chan struct{})
	go func() { ran <- b.Run(ctx, func(backend.Ready) { close(ready) }) }()
	<-ready
	r.desk = desk.New(desk.Options{
		Connect: func(disconnect, send func(string)) desk.Connection {
			c := &cut{b.ConnectTray(disconnect, send), disconnect}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.links = append(r.links, c)
			return c
		},
		Version: "1", Changed: func(s desk.State) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.state, r.since = s, time.Now()
		},
		Ended: func(turn desk.Turn) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.turns = append(r.turns, turn)
		},
	})
	following, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { r.desk.Run(following) })
	t.Cleanup(func() {
		stop()
		wg.Wait()
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	return r
}

// until waits for a state; what it says is reported when it does not come.
func (r *rig) until(what string, is func(desk.State) bool) desk.State {
	r.t.Helper()
	end := time.Now().Add(10 * time.Second)
	for {
		r.mu.Lock()
		s := r.state
		r.mu.Unlock()
		if is(s) {
			return s
		}
		if time.Now().After(end) {
			r.t.Fatalf("%s never came; it is %+v", what, s)
		}
		time.Sleep(time.Millisecond)
	}
}

// there waits until the presence has been told.
func (r *rig) there() {
	r.t.Helper()
	r.until("presence", func(desk.State) bool { return r.b.AtTray() })
}

func (r *rig) ended(n int) []desk.Turn {
	r.t.Helper()
	r.until(fmt.Sprint(n, " ends"), func(desk.State) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.turns) >= n
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turns
}

// page is a page of the owner's, as the window has one.
type page struct {
	t    *testing.T
	next int
	conn interface{ Receive(string) }

	mu      sync.Mutex // guards answers
	answers map[int]chan json.RawMessage
}

func (r *rig) page() *page {
	r.t.Helper()
	p := &page{t: r.t, answers: map[int]chan json.RawMessage{}}
	conn := r.b.Connect(func(string) {}, func(frame string) {
		var in struct {
			ID     *int            `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if json.Unmarshal([]byte(frame), &in) != nil || in.ID == nil {
			return
		}
		if in.Error != nil {
			in.Result = in.Error
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.answers[*in.ID] <- in.Result
	})
	r.t.Cleanup(conn.Close)
	p.conn = conn
	p.call("initialize", map[string]any{"protocolVersion": "0.2.0", "client": map[string]string{"name": "page", "version": "1"}})
	return p
}

func (p *page) call(method string, params any) string {
	p.t.Helper()
	p.next++
	answer := make(chan json.RawMessage, 1)
	p.mu.Lock()
	p.answers[p.next] = answer
	p.mu.Unlock()
	frame, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": p.next, "method": method, "params": params})
	if err != nil {
		p.t.Fatal(err)
	}
	p.conn.Receive(string(frame))
	return string(<-answer)
}

// session makes one with a title and says something in it.
func (p *page) session(title, words string) string {
	p.t.Helper()
	var made struct {
		Session struct {
			ID string `json:"id"`
		} `json:"session"`
	}
	if err := json.Unmarshal([]byte(p.call("session/create", map[string]any{})), &made); err != nil {
		p.t.Fatal(err)
	}
	p.call("session/rename", map[string]string{"sessionId": made.Session.ID, "title": title})
	p.say(made.Session.ID, words)
	return made.Session.ID
}

func (p *page) say(session, words string) {
	p.t.Helper()
	p.call("turn/send", map[string]any{"sessionId": session, "content": words})
}

func TestTheDesk(t *testing.T) {
	t.Run("SP-PRES-02 an owner at the desk is asked there, and FAIL-B11 what is answered elsewhere is gone within 300 ms", func(t *testing.T) {
		r := start(t)
		r.desk.Present(true)
		p := r.page()
		r.there()
		p.session("Garden", "run: echo one && touch a")
		s := r.until("a request", func(s desk.State) bool { return len(s.Requests) == 1 })
		got := s.Requests[0]
		if got.Who != "Garden" || got.What != "echo one && touch a" || got.Where == "" || time.Until(got.Expires) < 4*time.Minute || s.Working != 1 {
			t.Fatalf("%+v", s)
		}
		second := p.session("Kitchen", "write: notes.txt\nhello")
		s = r.until("two requests", func(s desk.State) bool { return len(s.Requests) == 2 })
		if s.Requests[0].Who != "Kitchen" || s.Requests[0].Session != second || !strings.Contains(s.Requests[0].What, "notes.txt") || s.Requests[1].ID != got.ID || s.Working != 2 {
			t.Fatalf("newest first: %+v", s.Requests)
		}
		// Answered by another surface.
		var snapshot struct {
			Approvals []struct{ ID, ContentHash string } `json:"approvals"`
		}
		if err := json.Unmarshal([]byte(p.call("session/subscribe", map[string]string{"sessionId": second})), &snapshot); err != nil {
			t.Fatal(err)
		}
		a := snapshot.Approvals[0]
		began := time.Now()
		p.call("approval/respond", map[string]string{"approvalId": a.ID, "decision": "deny", "contentHash": a.ContentHash})
		r.until("one request", func(s desk.State) bool { return len(s.Requests) == 1 && s.Requests[0].ID == got.ID })
		r.mu.Lock()
		took := r.since.Sub(began)
		r.mu.Unlock()
		if took > 300*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		// A stale click, on what is settled, does nothing.
		if err := r.desk.Decide(t.Context(), a.ID, true); err != nil {
			t.Error(err)
		}
		if err := r.desk.Decide(t.Context(), got.ID, true); err != nil {
			t.Error(err)
		}
		r.until("rest", func(s desk.State) bool { return len(s.Requests) == 0 && s.Working == 0 })
		history := p.call("session/history", map[string]any{"sessionId": got.Session})
		if !strings.Contains(history, `"state":"approved"`) || !strings.Contains(history, `"source":"answer"`) {
			t.Error(history)
		}
	})
	t.Run("FAIL-B14 with nobody at the desk a request is refused at once", func(t *testing.T) {
		r := start(t)
		p := r.page()
		id := p.session("Alone", "run: touch never")
		r.until("the end", func(desk.State) bool {
			return strings.Contains(p.call("session/history", map[string]any{"sessionId": id}), `"source":"absent"`)
		})
	})
	t.Run("FAIL-B10 who comes back is shown what waits", func(t *testing.T) {
		r := start(t)
		p := r.page()
		p.call("presence/update", map[string]bool{"active": true})
		p.session("Elsewhere", "run: touch later")
		r.until("her to work", func(s desk.State) bool { return s.Working == 1 })
		if s := r.until("anything", func(desk.State) bool { return true }); len(s.Requests) != 0 {
			t.Fatalf("shown to nobody: %+v", s)
		}
		r.desk.Present(true)
		s := r.until("the request", func(s desk.State) bool { return len(s.Requests) == 1 })
		if s.Requests[0].Who != "Elsewhere" {
			t.Errorf("%+v", s)
		}
		// A connection that is lost is made again, and tells the same.
		r.mu.Lock()
		first := r.links[0]
		r.mu.Unlock()
		lost := time.Now()
		first.end("gone")
		r.until("another connection", func(desk.State) bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.links) == 2 && r.since.After(lost)
		})
		r.until("the same", func(s desk.State) bool {
			return len(s.Requests) == 1 && s.Requests[0].Who == "Elsewhere" && s.Working == 1
		})
		r.until("an answer to be taken", func(desk.State) bool { return r.desk.Decide(t.Context(), s.Requests[0].ID, false) == nil })
		r.until("rest", func(s desk.State) bool { return len(s.Requests) == 0 && s.Working == 0 })
	})
	t.Run("FAIL-B1 a sub-task's request shows the way to it", func(t *testing.T) {
		r := start(t)
		r.desk.Present(true)
		p := r.page()
		r.there()
		root := p.session("Root", "hello")
		r.ended(1)
		parent := root
		for depth := 1; depth <= 5; depth++ {
			var made struct {
				Session struct {
					ID string `json:"id"`
				} `json:"session"`
			}
			if err := json.Unmarshal([]byte(p.call("session/create", map[string]string{"parentId": parent})), &made); err != nil || made.Session.ID == "" {
				t.Fatal(err)
			}
			parent = made.Session.ID
			p.call("session/rename", map[string]string{"sessionId": parent, "title": fmt.Sprint("Step ", depth)})
			p.say(parent, fmt.Sprint("run: touch depth-", depth))
		}
		s := r.until("all five", func(s desk.State) bool { return len(s.Requests) == 5 })
		var ways []string
		for _, q := range s.Requests { // the five ask when they come to it, in any order
			ways = append(ways, q.Who)
		}
		slices.Sort(ways)
		path := "Root"
		for depth, got := range ways {
			path += fmt.Sprint(" › Step ", depth+1)
			if got != path {
				t.Errorf("%q, want %q", got, path)
			}
		}
		for _, q := range s.Requests {
			if err := r.desk.Decide(t.Context(), q.ID, true); err != nil {
				t.Error(err)
			}
		}
		r.until("rest", func(s desk.State) bool { return len(s.Requests) == 0 && s.Working == 0 })
		if turns := r.ended(1); len(turns) != 1 {
			t.Errorf("sub-tasks end without news: %+v", turns)
		}
	})
}

func TestTurnsThatEnd(t *testing.T) {
	r := start(t)
	p := r.page()
	id := p.session("Long", "slow: 3")
	first := r.ended(1)[0]
	if first.Session != id || first.Title != "Long" || !first.Replied || first.Failed || first.Took < 200*time.Millisecond || first.Took > 5*time.Second {
		t.Errorf("%+v", first)
	}
	p.say(id, "fail: out of luck")
	if second := r.ended(2)[1]; !second.Failed || second.Replied || second.Session != id {
		t.Errorf("%+v", second)
	}
	r.until("a failure", func(s desk.State) bool { return s.Failed })
	r.desk.Looked()
	r.until("no failure", func(s desk.State) bool { return !s.Failed })
	p.call("session/rename", map[string]string{"sessionId": id, "title": "Other"})
	p.say(id, "hello")
	if all := r.ended(3); all[2].Title != "Other" || len(all) != 3 {
		t.Errorf("a change that is no end was told as one: %+v", all)
	}
	r.until("no failure", func(s desk.State) bool { return !s.Failed && s.Working == 0 })
}
