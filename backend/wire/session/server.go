package session

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"aalis/backend/contract/schema"
	"aalis/backend/core"
	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/text"
	"aalis/backend/wire/jsonrpc"
)

// Peer is a connection's other end as its transport knows it (Spec SP-CONN-02). None of it comes from
// the client's words.
type Peer struct {
	Caller  principal.Caller
	Surface string
	// Disconnect ends the connection after everything sent so far. It may be called from anywhere,
	// more than once, and does not block.
	Disconnect func(reason string)
	// Queued gives the bytes that were sent and have not left yet.
	Queued func() int
	// Room waits until a sender that has a choice may send more; false means the connection has ended.
	Room func(ctx context.Context) bool
}

// Options says what a Server is made of.
type Options struct {
	// Name is the product's, as server.name in the handshake.
	Name string
	// AppName reads the name in the host configuration; nil, or an empty one, is DefaultAppName.
	AppName func() string
	// Language reads the owner's language; nil is English. It is asked for every frame, so that a
	// change reaches the next one (Spec SP-I18N-05).
	Language func() text.Language
	Services Services
	// Loop is the log that is shown. Nil only in tests of what needs none.
	Loop *core.Loop
	Log  *slog.Logger // nil: none
}

// DefaultAppName is the name without a host configuration (Spec SP-INIT-10).
const DefaultAppName = "Aalis"

// Server is the session service: it knows its connections and which services are there. It has no
// goroutine of its own; everything happens in its callers', and in those of its connections.
type Server struct {
	o       Options
	schemas *jsonrpc.Schemas
	log     *slog.Logger
	epoch   string // of this start, as clients see it
	handles handles

	mu       sync.Mutex // guards the fields below; no callback but send is called under it
	services Services
	conns    []*Conn // in order of arrival
	closed   bool
	usages   map[int64]bool // sessions whose usage is being computed
}

// NewServer checks that the published contract knows every method; after a change of the methods it
// does not until build/gen.sh has run.
func NewServer(o Options) (*Server, error) {
	schemas, err := jsonrpc.LoadSchemas(schema.Session)
	if err != nil {
		return nil, err
	}
	for name := range methods {
		if schemas.Params(name) == nil {
			return nil, fmt.Errorf("the published contract has no method %s: run build/gen.sh", name)
		}
	}
	if o.AppName == nil {
		o.AppName = func() string { return "" }
	}
	if o.Language == nil {
		o.Language = func() text.Language { return text.English }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, schemas: schemas, log: o.Log, services: o.Services, handles: newHandles(), usages: make(map[int64]bool)}
	if o.Loop != nil {
		s.epoch = shortEpoch(o.Loop.Epoch())
	}
	return s, nil
}

// Connect takes a connection that its transport has authenticated (Spec SP-CONN-01). send hands over
// one whole frame as JSON text; it must not block, and is called by one goroutine at a time, in the
// order in which the client is to read. A server that has stopped disconnects at once.
func (s *Server) Connect(peer Peer, send func(frame string)) *Conn {
	c := newConn(s, peer, send)
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.conns = append(s.conns, c)
	}
	s.mu.Unlock()
	if closed {
		c.Close()
		peer.Disconnect(s.say(text.New("wire.stopping")))
	}
	return c
}

// Update changes which services are there and tells every connection that has shaken hands when a
// feature bit changed (Spec SP-FEAT-05 to -07). edit must not call the server.
func (s *Server) Update(edit func(*Services)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.services.features()
	edit(&s.services)
	if after := s.services.features(); after != before {
		s.broadcastLocked("features/changed", FeaturesChanged{Features: after})
	}
}

func (s *Server) broadcastLocked(method string, params any) {
	frame, err := jsonrpc.Notification(method, params)
	if err != nil {
		s.log.Error("a notification does not encode", "method", method, "error", err)
		return
	}
	for _, c := range s.conns {
		if c.shaken {
			c.send(frame)
		}
	}
}

// Close disconnects every connection (Spec SP-CONN-08) and waits, as long as ctx allows, until their
// requests have ended. Connections that come later are disconnected at once.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	conns := slices.Clone(s.conns)
	s.mu.Unlock()
	reason := s.say(text.New("wire.stopping"))
	for _, c := range conns {
		c.peer.Disconnect(reason)
		c.Close()
	}
	for _, c := range conns {
		select {
		case <-c.ended:
		case <-ctx.Done():
			return fmt.Errorf("waiting for requests to end: %w", context.Cause(ctx))
		}
	}
	return nil
}

func (s *Server) appName() string {
	if name := s.o.AppName(); name != "" {
		return name
	}
	return DefaultAppName
}

// say renders a sentence in the owner's language (Spec SP-I18N-02, -04).
func (s *Server) say(t text.Text) string { return t.In(s.o.Language()) }

// current gives the services of this moment.
func (s *Server) current() Services {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.services
}

// absent is the answer of a method whose service is not there.
func absent(service text.Key) error {
	return fault.New(fault.Unsupported, text.New("unsupported", "service", text.New(service)))
}
