package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"aalis/backend/principal"
	"aalis/backend/wire/session"
)

// watcher is a client as the protocol describes one: it keeps what it was told of the sessions it
// subscribed, and checks that it is told in order.
type watcher struct {
	*session.Conn
	t testing.TB

	mu     sync.Mutex // guards everything below
	views  map[string]*view
	asked  map[string]string // session by request id
	next   int
	pages  map[string]page // answers to session/history
	wrong  []string
	pushed map[string]int // by method
	queued int
	blocks chan struct{} // while not nil, the transport has no room
}

// view is one session as a client knows it.
type view struct {
	live  bool // between a snapshot and the next resync, or unsubscribe
	seq   int64
	epoch string
	order []string
	items map[string]map[string]any
	fixed map[string]map[string]any // plan, usage, queue
	older string
}

type page struct {
	Items  []map[string]any
	Before string
	Error  *struct{ Message string }
}

type frame struct {
	ID     json.RawMessage
	Method string
	Params struct {
		SessionID string
		Epoch     string
		Seq       int64
		ItemID    string
		Text      string
		Item      map[string]any
	}
	Result json.RawMessage
	Error  *struct{ Message string }
}

func watch(t testing.TB, s *session.Server) *watcher {
	t.Helper()
	w := &watcher{t: t, views: make(map[string]*view), asked: make(map[string]string), pages: make(map[string]page), pushed: make(map[string]int)}
	w.Conn = s.Connect(session.Peer{
		Caller: principal.Caller{
			Principal: principal.Principal{ID: principal.OwnerID, Kind: principal.Owner}, Scopes: principal.AllScopes(),
			Identity: principal.Identity{Platform: "webui", UserID: "console"},
		},
		Surface:    "webui",
		Disconnect: func(reason string) { w.complain("disconnected: %s", reason) },
		Queued: func() int {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.queued
		},
		Room: w.room,
	}, w.receive)
	w.Receive(hello)
	return w
}

func (w *watcher) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// request sends a frame about a session and gives its id.
func (w *watcher) request(method, sessionID, more string) string {
	w.mu.Lock()
	w.next++
	id := fmt.Sprint(w.next)
	if method == "session/subscribe" {
		w.asked[id] = sessionID
	}
	w.mu.Unlock()
	w.Receive(ask(id, method, fmt.Sprintf(`{"sessionId":%q%s}`, sessionID, more)))
	return id
}

func (w *watcher) receive(text string) {
	var f frame
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		w.complain("%v: %s", err, text)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pushed[f.Method]++
	switch {
	case strings.HasPrefix(f.Method, "item/"), f.Method == "session/resync":
		w.push(f, text)
	case f.Method == "" && w.asked[string(f.ID)] != "":
		w.snapshot(w.asked[string(f.ID)], f)
	case f.Method == "":
		p := page{Error: f.Error}
		_ = json.Unmarshal(f.Result, &p)
		w.pages[string(f.ID)] = p
	}
}

func (w *watcher) snapshot(id string, f frame) {
	var s struct {
		Epoch  string
		Seq    int64
		Items  []map[string]any
		Before string
	}
	if f.Error != nil || json.Unmarshal(f.Result, &s) != nil {
		w.wrong = append(w.wrong, fmt.Sprintf("no snapshot: %v", f.Error))
		return
	}
	v := &view{live: true, seq: s.Seq, epoch: s.Epoch, items: make(map[string]map[string]any), fixed: make(map[string]map[string]any), older: s.Before}
	w.views[id] = v
	for _, item := range s.Items {
		itemID := item["itemId"].(string)
		if v.items[itemID] != nil || v.fixed[itemID] != nil {
			w.wrong = append(w.wrong, "SP-SUB-33: twice in one snapshot: "+itemID)
		}
		v.put(item)
	}
}

func (w *watcher) push(f frame, text string) {
	p := f.Params
	v := w.views[p.SessionID]
	if v == nil {
		w.wrong = append(w.wrong, "SP-SUB-13, -14: pushed without a subscription or before its answer: "+text)
		return
	}
	if p.Epoch != v.epoch || p.Seq <= v.seq {
		w.wrong = append(w.wrong, fmt.Sprintf("SP-SUB-15, -17: not above %d: %s", v.seq, text))
	}
	v.seq = p.Seq
	switch f.Method {
	case "session/resync":
		v.live = false
	case "item/delta":
		if quoted, _ := json.Marshal(p.Text); len(text) > len(quoted)+200 {
			w.wrong = append(w.wrong, fmt.Sprintf("FAIL-E11: %d bytes for %d of text", len(text), len(p.Text)))
		}
		item := v.items[p.ItemID]
		if item == nil {
			if v.live {
				w.wrong = append(w.wrong, "a delta of an item that was never started: "+text)
			}
			return
		}
		key := "text"
		if item["kind"] == "tool-call" {
			key = "output"
		}
		had, _ := item[key].(string)
		item[key] = had + p.Text
	default:
		v.put(p.Item)
	}
}

func (v *view) put(item map[string]any) {
	id := item["itemId"].(string)
	switch item["kind"] {
	case "plan", "usage", "queue":
		v.fixed[id] = item
		return
	}
	if v.items[id] == nil {
		at := len(v.order)
		for at > 0 && v.items[v.order[at-1]]["at"].(float64) > item["at"].(float64) {
			at--
		}
		v.order = slices.Insert(v.order, at, id)
	}
	v.items[id] = item
}

// room lets the pump wait while the transport has none.
func (w *watcher) room(ctx context.Context) bool {
	w.mu.Lock()
	blocks := w.blocks
	w.mu.Unlock()
	if blocks == nil {
		return ctx.Err() == nil
	}
	select {
	case <-blocks:
		return true
	case <-ctx.Done():
		return false
	}
}

// block makes the transport slow, or quick again.
func (w *watcher) block(slow bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued = 0
	if slow {
		w.queued = 1000
		if w.blocks == nil {
			w.blocks = make(chan struct{})
		}
	} else if w.blocks != nil {
		close(w.blocks)
		w.blocks = nil
	}
}

// count is how many frames of a method there were.
func (w *watcher) count(method string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pushed[method]
}

func (w *watcher) stale(sessionID string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.views[sessionID]
	return v != nil && !v.live
}

func (w *watcher) subscribed(sessionID string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.views[sessionID] != nil
}

func (w *watcher) forget(sessionID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.views, sessionID)
}

// state is what lasts of a view: without the cards that are seen live only, and what is empty. The
// place of a turn is not the same live, where it comes first, and in history.
func (w *watcher) state(sessionID string) state {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.views[sessionID]
	s := state{Items: make(map[string]map[string]any), Fixed: maps.Clone(v.fixed)}
	for _, id := range v.order {
		item := v.items[id]
		if item["notExecuted"] == true {
			continue
		}
		s.Items[id] = item
		if item["kind"] != "turn" {
			s.Order = append(s.Order, id)
		}
	}
	for id, item := range s.Fixed {
		if list, ok := item["entries"].([]any); ok && len(list) == 0 {
			delete(s.Fixed, id)
		}
	}
	return s
}

type state struct {
	Items map[string]map[string]any
	Order []string
	Fixed map[string]map[string]any
}
