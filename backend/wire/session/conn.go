package session

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/text"
	"aalis/backend/wire/jsonrpc"
)

// Sizes of frames, in bytes (SEC-09). Transports that can refuse to read more than FirstFrame or
// MostFrame do; here they bound what is parsed.
const (
	// FirstFrame bounds a frame before the handshake.
	FirstFrame = 64 << 10
	// LargeFrame is what frames of most methods may have at most; turn/send carries attachments.
	LargeFrame = 1 << 20
	// MostFrame bounds every frame.
	MostFrame = 72 << 20
)

// mostCalls bounds the concurrent requests of one connection; the next one waits for a place.
const mostCalls = 16

// Conn is one connection's end in the protocol (Spec SP-CONN-03). Handshake, subscriptions and watches
// belong to it and never reach another (Spec SP-CONN-10).
type Conn struct {
	server *Server
	peer   Peer
	id     string // names the connection to the services

	// order is held by the request whose turn it is: requests are checked in order of arrival, and
	// those of methods that are not concurrent run in it.
	order sync.Mutex
	// after is what the request at its turn wants done once its result has been sent, before anything
	// else is read or pushed. Guarded by order.
	after func()
	// turnedAway is the reason why a handshake failed for good. Guarded by order.
	turnedAway *jsonrpc.Error

	joined sync.Once    // the connection has been named to the approval service
	seen   atomic.Int64 // when somebody was last there, in Unix milliseconds; 0 for nobody

	slots chan struct{} // a place in it for each concurrent request
	calls sync.WaitGroup

	shaken bool // guarded by server.mu

	feed feed // what the connection follows, and how far

	out struct {
		sync.Mutex // held while a frame is handed over, so that frames leave in one order
		send       func(frame string)
		closed     bool
	}

	mu      sync.Mutex // guards the fields below
	closed  bool
	active  map[int]context.CancelCauseFunc // requests under way
	next    int
	ended   chan struct{} // closed when the connection is closed and no request is under way
	leaving []func()      // what Close tells the services
}

// errClosed is the cause with which requests end when their connection does.
var errClosed = errors.New("the connection has ended")

func newConn(s *Server, peer Peer, send func(frame string)) *Conn {
	c := &Conn{
		server: s,
		peer:   peer,
		id:     event.NewID(),
		slots:  make(chan struct{}, mostCalls),
		active: make(map[int]context.CancelCauseFunc),
		ended:  make(chan struct{}),
	}
	c.out.send = send
	return c
}

// Initialized reports whether the handshake is done.
func (c *Conn) Initialized() bool {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.shaken
}

// Close says that the connection is gone: its watches, subscriptions and presence end, its requests are
// cancelled, and send is not called any more once it has returned (Spec SP-CONN-05). Calling it again
// does no harm. It must not be called from within send.
func (c *Conn) Close() {
	c.out.Lock()
	c.out.closed = true
	c.out.Unlock()

	c.server.mu.Lock()
	c.server.conns = slices.DeleteFunc(c.server.conns, func(other *Conn) bool { return other == c })
	c.server.mu.Unlock()

	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	for _, cancel := range c.active {
		cancel(errClosed)
	}
	if len(c.active) == 0 {
		close(c.ended)
	}
	leaving := c.leaving
	c.leaving = nil
	c.mu.Unlock()
	for _, tell := range leaving {
		tell()
	}
}

// atClose has fn called when the connection closes, at once when it has.
func (c *Conn) atClose(fn func()) {
	c.mu.Lock()
	closed := c.closed
	if !closed {
		c.leaving = append(c.leaving, fn)
	}
	c.mu.Unlock()
	if closed {
		fn()
	}
}

// begin opens a request's context, which ends with the connection. It is false on a closed one.
func (c *Conn) begin() (ctx context.Context, end func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	n := c.next
	c.next++
	c.active[n] = cancel
	return ctx, func() {
		cancel(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.active, n)
		if c.closed && len(c.active) == 0 {
			close(c.ended)
		}
	}, true
}

// send hands a frame to the transport. A transport that panics is like one whose client does not
// listen: nothing here can mend it, and Receive never fails (Spec SP-CONN-04).
func (c *Conn) send(frame string) {
	defer func() {
		if broken := recover(); broken != nil {
			c.server.log.Error("a transport panicked", "panic", broken, "stack", string(debug.Stack()))
		}
	}()
	c.out.Lock()
	defer c.out.Unlock()
	if !c.out.closed {
		c.out.send(frame)
	}
}

// Receive takes one whole frame. It returns when the frame has been answered or, for the methods that
// are served concurrently, when it is its turn and there is a place for it; so calls from one goroutine
// are requests in their order. It never fails, whatever the frame holds (Spec SP-CONN-04), and does
// nothing once the connection has ended (Spec SP-CONN-06).
//
//	jsonrpc.Parse        envelope (-32700, -32600)
//	admit                size, handshake (-32600), method (-32601), right (forbidden)
//	Entry.Call           params (-32602), then the handler
//	reply                result or error, exactly one
func (c *Conn) Receive(frame string) {
	ctx, end, ok := c.begin()
	if !ok {
		return
	}
	c.order.Lock()
	defer c.order.Unlock()
	req, fail := c.parse(frame)
	if fail == nil {
		fail = c.admit(req, len(frame))
	}
	if fail != nil {
		c.send(jsonrpc.Failure(req.ID, fail, c.server.o.Language()))
		end()
		return
	}
	if !methods[req.Method].Concurrent {
		defer end()
		c.serve(ctx, req)
		return
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		end()
		return
	}
	c.calls.Go(func() {
		defer end()
		defer func() { <-c.slots }()
		c.serve(ctx, req)
	})
}

func (c *Conn) parse(frame string) (jsonrpc.Request, *jsonrpc.Error) {
	most := MostFrame
	if !c.Initialized() {
		most = FirstFrame
	}
	if len(frame) > most {
		return jsonrpc.Request{}, jsonrpc.Refuse(jsonrpc.InvalidRequest, "wire.frame-large", "max", most, "n", len(frame))
	}
	return jsonrpc.Parse([]byte(frame))
}

// admit checks what must hold before params are looked at, in the order of the contract.
func (c *Conn) admit(req jsonrpc.Request, size int) *jsonrpc.Error {
	entry, known := methods[req.Method]
	shaken := c.Initialized()
	switch {
	case size > LargeFrame && !entry.Large:
		return jsonrpc.Refuse(jsonrpc.InvalidRequest, "wire.frame-large", "max", LargeFrame, "n", size)
	case c.turnedAway != nil:
		return &jsonrpc.Error{Code: jsonrpc.InvalidRequest, Message: c.turnedAway.Message}
	case !shaken && !entry.BeforeHandshake:
		return jsonrpc.Refuse(jsonrpc.InvalidRequest, "wire.handshake-first")
	case shaken && entry.BeforeHandshake:
		return jsonrpc.Refuse(jsonrpc.InvalidRequest, "wire.handshake-done")
	case !known:
		return jsonrpc.Refuse(jsonrpc.MethodNotFound, "wire.method-unknown", "method", jsonrpc.Shorten(req.Method))
	case entry.Needs != "" && !c.peer.Caller.Can(principal.Scope(entry.Needs)):
		return jsonrpc.ErrorOf(fault.New(fault.Forbidden, text.New("wire.right-missing", "right", entry.Needs)))
	}
	return nil
}

// serve runs a request and answers it.
func (c *Conn) serve(ctx context.Context, req jsonrpc.Request) {
	entry := methods[req.Method]
	result, err := entry.Call(ctx, c, c.server.schemas.Params(req.Method), req.Params)
	var frame string
	if err == nil {
		frame, err = jsonrpc.Result(req.ID, result)
	}
	if err != nil {
		frame = c.failure(ctx, req, err)
	}
	c.send(frame)
	if entry.Concurrent {
		return
	}
	if after := c.after; after != nil {
		c.after = nil
		after()
	}
}

// failure tells a client what it may know of an error, and the log the rest; that a request was cut
// off by its connection's end is no news.
func (c *Conn) failure(ctx context.Context, req jsonrpc.Request, err error) string {
	e := jsonrpc.ErrorOf(err)
	if e.Code == jsonrpc.InternalError && context.Cause(ctx) != errClosed {
		attrs := []any{"method", req.Method, "id", jsonrpc.Shorten(string(req.ID)), "error", err}
		if broken, ok := errors.AsType[*jsonrpc.Panic](err); ok {
			attrs = append(attrs, "stack", string(broken.Stack))
		}
		c.server.log.Error("a request failed", attrs...)
	}
	return jsonrpc.Failure(req.ID, e, c.server.o.Language())
}
