// Package server owns the door: the loopback listeners, who may come in (Host, Origin, credentials,
// limits), the WebSocket transport of the session protocol, the pages of the interface, and where
// local clients find the running instance (run/server.json). SECURITY.md says what it protects and
// from whom.
//
// It knows no session, turn or approval: a connection is handed as frames to Sessions, a request as
// an http.Request with its Caller in the context to a Mount. It never listens on anything but
// loopback, and no credential ever reaches a log line. The composition root makes one Server and
// runs it.
//
//	Server.Run                    listen, self-check, server.json, ready; then until the context ends
//	  door.ServeHTTP              Host → 421, Origin → 403; before any other work
//	    door.identify             credential → principal.Caller, 401
//	    buckets.take              429
//	    bound                     body → 413
//	      Mount.Handler           /v1, /api, /managed
//	      door.signIn …           /signin, /auth, /signout, /pair, /internal/…
//	      door.acceptSession      /session: upgrade, then one socket
//	        socket.read           frames in → Connection.Receive
//	        socket.write          outbox → corked writes
//	    pages.ServeHTTP           the interface's files, no credential needed
package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"sync"
	"time"

	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/settings/field"
	"aalis/backend/text"
)

// Peer is what the session protocol learns of a connection's other end (Spec SP-CONN-02). None of it
// comes from the client's words.
type Peer struct {
	Caller  principal.Caller
	Surface string
	// Disconnect ends the connection after everything sent so far. It may be called from anywhere,
	// more than once, and does not block.
	Disconnect func(reason string)
	// Queued gives the bytes that were sent but not yet taken by the client's system.
	Queued func() int
	// Room waits until a sender that has a choice may send more without coming near the bound at which
	// the connection is ended as too slow. It returns false when the connection has ended.
	Room func(ctx context.Context) bool
}

// Connection is one connection's end in the session protocol (Spec SP-CONN-03).
type Connection interface {
	// Receive takes one whole frame and returns when its answer has been sent. The transport calls it
	// from one goroutine, frame after frame.
	Receive(frame string)
	// Close says that the connection is gone; nothing is sent any more.
	Close()
	// Initialized reports whether the handshake is done: until then frames may have 64 KiB only.
	Initialized() bool
}

// Sessions is the session protocol's server as a transport sees it (Spec SP-CONN-01). send never
// blocks, and does nothing once the connection has ended.
type Sessions interface {
	Connect(peer Peer, send func(frame string)) Connection
}

// Mount is a protocol's place in the address space. The door has checked Host, Origin, limits and the
// credential before Handler is called; CallerOf gives who it is.
type Mount struct {
	Handler http.Handler
	// Public lets requests without any credential through; then CallerOf says false.
	Public bool
	// MaxBody bounds request bodies, 0 is 1 MiB. Bodies are read whole before Handler is called.
	MaxBody int64
	// Refuse writes the door's refusals in the protocol's own form; nil is the door's form.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, code, message string)
}

// Options says what a Server is made of. Authority, DataDir and Installation are needed.
type Options struct {
	DataDir      string // where run/server.json goes
	Installation string // 8 hexadecimal digits that name this installation for ever
	Version      string
	Epoch        string // of this start

	// Listen has loopback addresses such as 127.0.0.1:8080; none means a free port on 127.0.0.1.
	Listen []string
	// OtherPort takes a free port where one of Listen is taken, instead of failing.
	OtherPort bool

	Authority *principal.Authority
	Sessions  Sessions         // nil: the service is absent
	Mounts    map[string]Mount // by http.ServeMux pattern, such as "/v1/"
	Pages     fs.FS            // the built interface with its index.html; nil: none
	Health    func(ctx context.Context) error
	// Activate shows the window, for a second start, at a link of the program's own or at "" for where it
	// was; nil or false: there is none.
	Activate func(link string) bool
	Language func() text.Language // nil: English
	Files    Files                // what went with messages; nil: the service is absent
	// Choices answers /api/models/{service}: what a setting can be set to (Spec SP-CONF-34). nil: nothing.
	Choices func(ctx context.Context, service, dependency string) (field.Listing, error)
	Log     *slog.Logger // nil: none
	Limits  Limits

	// Ready is called once, when every listener accepts and server.json stands.
	Ready func(Running)
}

// Server is the door. Make it with New, run it once with Run.
type Server struct {
	o        Options
	door     *door
	sockets  *sockets
	requests context.CancelFunc // ends the requests that stream
}

var installationForm = regexp.MustCompile(`^[0-9a-f]{8}$`)

// New checks the options; nothing is opened yet.
func New(o Options) (*Server, error) {
	if !installationForm.MatchString(o.Installation) {
		return nil, fault.New(fault.Invalid, text.New("door.installation"))
	}
	if len(o.Listen) == 0 {
		o.Listen = []string{"127.0.0.1:0"}
	}
	for _, address := range o.Listen {
		if _, err := parseLoopback(address); err != nil {
			return nil, err
		}
	}
	if o.Language == nil {
		o.Language = func() text.Language { return text.English }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Limits = o.Limits.withDefaults()
	s := &Server{o: o, sockets: newSockets(o.Limits)}
	s.door = newDoor(o, s.sockets)
	return s, nil
}

const (
	// stopWithin bounds the end of Run, whatever is connected.
	stopWithin = 1500 * time.Millisecond
	// partingTime is how long a client has to answer a close frame.
	partingTime = 500 * time.Millisecond
	// selfCheckWithin bounds the question to our own listeners at start.
	selfCheckWithin = 2 * time.Second
)

// Run listens, serves until ctx ends, and parts from every client within two seconds. An error that
// is a fault names an address that cannot be had.
func (s *Server) Run(ctx context.Context) error {
	bound, err := listenAll(s.o.Listen, s.o.OtherPort, s.o.Limits)
	if err != nil {
		return err
	}
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.requests = cancel
	defer cancel()
	server := s.httpServer(requests)

	serving, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	var wg sync.WaitGroup
	for _, listener := range bound.listeners {
		wg.Go(func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				failed(fmt.Errorf("serving %s: %w", listener.Addr(), err))
			}
		})
	}
	err = s.announce(serving, bound)
	if err == nil {
		<-serving.Done()
		err = context.Cause(serving)
	}
	if ctx.Err() != nil {
		err = nil // being told to end is no failure, whatever it interrupted
	}
	s.stop(server)
	wg.Wait()
	return errors.Join(err, retract(s.o.DataDir, s.o.Epoch))
}

func (s *Server) httpServer(requests context.Context) *http.Server {
	return &http.Server{
		Handler:                      s.door,
		ReadHeaderTimeout:            s.o.Limits.HeaderTime,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               16 << 10,
		DisableGeneralOptionsHandler: true, // `OPTIONS *` passes the door too
		ErrorLog:                     slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
		BaseContext:                  func(net.Listener) context.Context { return requests },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
}

// announce asks every listener for an answer, writes server.json and calls Ready.
func (s *Server) announce(ctx context.Context, bound bound) error {
	for _, listener := range bound.listeners {
		if err := selfCheck(ctx, listener.Addr().String()); err != nil {
			return err
		}
	}
	running := bound.running(s.o.Installation, s.o.Epoch)
	if err := publish(s.o.DataDir, running); err != nil {
		return err
	}
	s.o.Log.Info("listening", "url", running.URL, "addresses", len(bound.listeners))
	if s.o.Ready != nil {
		s.o.Ready(running)
	}
	return nil
}

// stop ends everything in stopWithin: no new connections, streams cancelled, sockets told; what has
// not left by then is cut off.
func (s *Server) stop(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	s.requests()
	reason := text.New("door.stopping").In(s.o.Language())
	var wg sync.WaitGroup
	wg.Go(func() {
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	})
	wg.Go(func() {
		if left := s.sockets.stop(ctx, reason); left > 0 {
			s.o.Log.Warn("connections cut off while a frame was being handled", "count", left)
		}
	})
	wg.Wait()
}
