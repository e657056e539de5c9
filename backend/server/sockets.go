package server

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// sockets are the WebSocket connections of one server: their number, and their common end.
type sockets struct {
	most, each int

	mu       sync.Mutex // guards all below
	places   int
	byID     map[string]int // places by credential
	live     map[*socket]struct{}
	stopping string        // the reason, once the server stops
	empty    chan struct{} // closed when the last place is given back while stopping
}

func newSockets(l Limits) *sockets {
	return &sockets{most: l.Sockets, each: l.SocketsEach, byID: make(map[string]int), live: make(map[*socket]struct{})}
}

// reserve takes a place for a credential; full has the bound that is reached, or is 0. ok is false
// once the server is stopping.
func (s *sockets) reserve(id string) (full int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping != "":
		return 0, false
	case s.byID[id] >= s.each:
		return s.each, true
	case s.places >= s.most:
		return s.most, true
	}
	s.places++
	s.byID[id]++
	return 0, true
}

// release gives a place back; so may be nil where the upgrade failed.
func (s *sockets) release(id string, so *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, so)
	s.places--
	if s.byID[id]--; s.byID[id] == 0 {
		delete(s.byID, id)
	}
	if s.places == 0 && s.empty != nil {
		close(s.empty)
		s.empty = nil
	}
}

// join makes a socket part of the common end; one that comes while the server stops ends at once.
func (s *sockets) join(so *socket) {
	s.mu.Lock()
	s.live[so] = struct{}{}
	reason := s.stopping
	s.mu.Unlock()
	if reason != "" {
		so.end(reason, time.Now().Add(partingTime))
	}
}

// end parts with 1000 and the reason, at the latest at the given time.
func (s *socket) end(reason string, last time.Time) {
	s.out.part(parting{websocket.StatusNormalClosure, reason, true})
	s.raw.endBy(last)
}

// stop ends every socket and waits for them until ctx ends. It returns how many were still busy.
func (s *sockets) stop(ctx context.Context, reason string) (left int) {
	s.mu.Lock()
	s.stopping = reason
	empty := make(chan struct{})
	if s.places == 0 {
		close(empty)
	} else {
		s.empty = empty
	}
	ending := make([]*socket, 0, len(s.live))
	for so := range s.live {
		ending = append(ending, so)
	}
	s.mu.Unlock()
	last := time.Now().Add(stopWithin * 2 / 3)
	for _, so := range ending {
		so.end(reason, last)
	}
	select {
	case <-empty:
		return 0
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for so := range s.live {
		so.out.kill()
		_ = so.raw.Close()
	}
	return len(s.live)
}
