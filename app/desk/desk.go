// Package desk owns what the owner's desktop is told while no page is in front: a connection of the session
// protocol on the surface of the tray (spec/README 7), from which follow the approvals that wait, how
// many sessions she works in, what failed, and which turns ended. It answers approvals for the tray and
// the notifications. It draws nothing, decides nothing, and keeps nothing over a restart.
//
//	Desk.Run      connects, follows, and connects again when the connection ends
//	Desk.Present  says whether the owner is at the desk, again before that runs out
//	Desk.Decide   answers an approval with the hash it was shown with
//	Options.Changed, Options.Ended   tell the shell
package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"aalis/backend/wire/session"
)

// Connection is this end of a connection: what it is given are frames of the session protocol.
type Connection interface {
	Receive(frame string)
	Close()
}

// Options of a desk. All but Log are needed.
type Options struct {
	// Connect opens a connection on the surface of the tray. send must not block.
	Connect func(disconnect func(reason string), send func(frame string)) Connection
	// Version is the program's, for the handshake.
	Version string
	// Changed is called after a change with everything as it is now; several changes may be one call. It
	// and Ended must not wait for the desk, which reads nothing meanwhile.
	Changed func(State)
	// Ended is called when a turn of a session that is nobody's sub-task has ended.
	Ended func(Turn)
	Log   *slog.Logger // nil: none
}

// State is what there is to tell at a glance.
type State struct {
	Requests []Request // what waits for a word, newest first
	Working  int       // sessions in which she works
	Failed   bool      // a turn failed, and nobody has looked since
}

// Request is an approval that waits. Who and What are the words of people, models and tools as they are.
type Request struct {
	ID      string
	Session string
	Who     string // the titles of the session and of those above it, outermost first
	What    string // the command, the file, or the tool with its parameters
	Where   string // the folder a command runs in
	Expires time.Time

	hash string
}

// Turn is a turn that has ended.
type Turn struct {
	Session string
	Title   string
	Failed  bool
	Reason  string // why it failed, "" if she did not say
	Replied bool
	Room    bool // of a chat room
	Took    time.Duration
}

// Desk is the desk of one start. Make it with New and run it once.
type Desk struct {
	o    Options
	poke chan struct{} // holds a token when the presence changed
	mail chan struct{} // holds one when there is something in the inbox, or the connection ended

	mu       sync.Mutex // guards all below
	inbox    []string   // frames that came and were not read yet
	lost     bool       // the connection ended
	stale    bool       // what was told is not what is
	present  bool       // the owner is at the desk
	conn     Connection // nil while there is none
	settled  bool       // the connection has told what waits, if it may
	calls    map[int]chan answer
	nextCall int
	book     book
}

// New makes a desk that follows nothing yet.
func New(o Options) *Desk {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Desk{o: o, poke: make(chan struct{}, 1), mail: make(chan struct{}, 1), calls: make(map[int]chan answer), book: newBook()}
}

const (
	// presentEvery is how often presence is told again; it counts for ten minutes (Spec SP-PRES-04).
	presentEvery = 8 * time.Minute
	// gather is how long changes that come together are waited for before they are told.
	gather = 20 * time.Millisecond
	// again is the pause before the next connection.
	again = time.Second
	// answerWithin bounds the wait for an answer of a server in the same process.
	answerWithin = 10 * time.Second
)

// Run follows until ctx ends.
func (d *Desk) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := d.follow(ctx); err != nil && ctx.Err() == nil {
			d.o.Log.Warn("the tray lost its connection", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

// Present says whether the owner is at the desk: there is something to ask them with, and they are not
// away.
func (d *Desk) Present(there bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.present != there {
		d.present = there
		d.pokeLocked()
	}
}

// Looked says that the owner has seen what failed so far.
func (d *Desk) Looked() {
	d.mu.Lock()
	changed := d.book.forgive()
	state := d.book.state()
	d.mu.Unlock()
	if changed {
		d.o.Changed(state)
	}
}

// Decide answers an approval. One that is not waiting any more is no error: whoever was first has
// decided, and the list says so. While the connection is being made again, it is one.
func (d *Desk) Decide(ctx context.Context, id string, approve bool) error {
	d.mu.Lock()
	r, waits := d.book.requests[id]
	settled := d.settled
	d.mu.Unlock()
	switch {
	case !waits && !settled:
		return errLost
	case !waits:
		return nil
	}
	decision := session.Deny
	if approve {
		decision = session.Approve
	}
	err := d.call(ctx, "approval/respond", session.ApprovalRespondParams{ApprovalID: id, Decision: decision, ContentHash: r.hash}, nil)
	if settledElsewhere(err) {
		return nil
	}
	return err
}

// follow is the life of one connection.
func (d *Desk) follow(ctx context.Context) error {
	conn := d.o.Connect(d.disconnected, d.receive)
	d.mu.Lock()
	d.conn, d.lost, d.inbox = conn, false, nil
	d.book.renew()
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.conn, d.settled = nil, false
		d.book.age()
		for id, waiting := range d.calls {
			delete(d.calls, id)
			close(waiting)
		}
		d.mu.Unlock()
		conn.Close()
	}()
	reading, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop()
	ended := make(chan struct{})
	parts.Go(func() {
		defer close(ended)
		d.read(reading)
	})
	if err := d.open(ctx); err != nil {
		return err
	}
	return d.report(ctx, ended)
}

// open shakes hands and begins to watch; what runs already is in the first page of the list.
func (d *Desk) open(ctx context.Context) error {
	var hello session.InitializeResult
	err := d.call(ctx, "initialize", session.InitializeParams{ProtocolVersion: session.Version, Client: session.ClientInfo{Name: "aalis-tray", Version: d.o.Version}}, &hello)
	if err != nil {
		return fmt.Errorf("shaking hands: %w", err)
	}
	if err := d.call(ctx, "sessions/watch", session.Empty{}, nil); err != nil {
		return fmt.Errorf("watching the sessions: %w", err)
	}
	var first session.SessionsListResult
	if err := d.call(ctx, "sessions/list", session.SessionsListParams{Limit: 200}, &first); err != nil {
		return fmt.Errorf("listing the sessions: %w", err)
	}
	d.mu.Lock()
	d.book.begin(first.Sessions, time.Now())
	d.stale = true
	d.wakeLocked()
	d.mu.Unlock()
	return nil
}

// report tells the server who is there, until the connection or ctx ends.
func (d *Desk) report(ctx context.Context, ended <-chan struct{}) error {
	told := false
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var due bool
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ended:
			return errLost
		case <-timer.C:
			due = true
		case <-d.poke:
		}
		d.mu.Lock()
		there := d.present
		d.mu.Unlock()
		if there == told && (!due || !there) {
			d.settle()
			continue
		}
		if err := d.call(ctx, "presence/update", session.PresenceUpdateParams{Active: there}, nil); err != nil {
			return fmt.Errorf("telling who is there: %w", err)
		}
		told = there
		d.settle() // what waits came before the answer
		timer.Stop()
		if there {
			timer.Reset(presentEvery)
		}
	}
}

func (d *Desk) settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settled = true
}

func (d *Desk) pokeLocked() {
	select {
	case d.poke <- struct{}{}:
	default:
	}
}

// call sends a request and waits for its answer.
func (d *Desk) call(ctx context.Context, method string, params, result any) error {
	d.mu.Lock()
	conn := d.conn
	if conn == nil {
		d.mu.Unlock()
		return errLost
	}
	d.nextCall++
	id, waiting := d.nextCall, make(chan answer, 1)
	d.calls[id] = waiting
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.calls, id)
		d.mu.Unlock()
	}()
	frame, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("encoding a request: %w", err)
	}
	conn.Receive(string(frame))
	ctx, done := context.WithTimeout(ctx, answerWithin)
	defer done()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case got, open := <-waiting:
		if !open {
			return errLost
		}
		return got.into(result)
	}
}
