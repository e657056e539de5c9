package app

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Bridge is the window's transport of the session protocol, bound to its page as
// window.go.app.Bridge: Open and Send go in, the events "frame" and "disconnect" come out; Options is
// what a browser asks the server's /api/models for, Save what it does with a download. It knows no frame's meaning. Only the page calls it;
// the window makes it.
//
// Every bound call runs in a goroutine of its own; the page awaits one before it makes the next. What
// goes out keeps its order, because one goroutine emits it.
type Bridge struct {
	connect func(disconnect func(reason string), send func(frame string)) connection
	emit    func(event string, data ...any)
	options func(ctx context.Context, source, dependency string) (string, error)
	files   http.Handler                               // what Save reads
	ask     func(name string) (path string, err error) // where Save writes; "" for nowhere
	window  hooks                                      // nil: the page is in no window

	mu      sync.Mutex // guards all below
	current *pageLink
	closed  bool
}

// mostQueued bounds what waits for a page that takes nothing: the page is disconnected, reloads its
// view of things and goes on.
const mostQueued = 64 << 20

var errBridgeClosed = errors.New("the window is closing")

func newBridge(connect func(func(string), func(string)) connection, emit func(string, ...any)) *Bridge {
	return &Bridge{connect: connect, emit: emit}
}

// Open begins a connection for the page as it is now. The page calls it when it listens, so after each
// load; the connection of the load before ends.
func (b *Bridge) Open() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errBridgeClosed
	}
	if b.current != nil {
		b.current.close()
	}
	b.current = newPageLink(b.connect, b.emit)
	return nil
}

// Send takes one frame of the page. It returns when the frame has been dealt with.
func (b *Bridge) Send(frame string) error {
	b.mu.Lock()
	l := b.current
	b.mu.Unlock()
	if l == nil {
		return errors.New("call Open before Send")
	}
	l.conn.Receive(frame)
	return nil
}

// optionsTime is how long a page waits for choices: a provider that is down must not hold it up.
const optionsTime = 15 * time.Second

// Options gives the choices of a setting as JSON text: {models, details?, problems?}. dependency is the
// value of the setting it depends on, "" without one (Spec SP-CONF-34, -36).
func (b *Bridge) Options(source, dependency string) (string, error) {
	if b.options == nil {
		return "", errBridgeClosed
	}
	ctx, cancel := context.WithTimeout(context.Background(), optionsTime)
	defer cancel()
	return b.options(ctx, source, dependency)
}

// close ends the connection, for good.
func (b *Bridge) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.current != nil {
		b.current.close()
	}
}

// pageLink is the connection of one load of the page.
type pageLink struct {
	conn connection
	emit func(string, ...any)
	wg   sync.WaitGroup

	mu     sync.Mutex // guards all below
	queue  []string
	bytes  int
	reason *string // why the connection ends, said after everything in the queue
	closed bool
	wake   chan struct{}
}

func newPageLink(connect func(func(string), func(string)) connection, emit func(string, ...any)) *pageLink {
	l := &pageLink{emit: emit, wake: make(chan struct{}, 1)}
	l.wg.Go(l.write)
	l.conn = connect(l.disconnect, l.send)
	return l
}

// send queues a frame; it never blocks.
func (l *pageLink) send(frame string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.reason != nil {
		return
	}
	if l.bytes += len(frame); l.bytes > mostQueued {
		reason := ""
		l.queue, l.reason = nil, &reason
	} else {
		l.queue = append(l.queue, frame)
	}
	l.tellLocked()
}

// disconnect ends the connection after everything that was sent (Spec SP-CONN-02).
func (l *pageLink) disconnect(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reason == nil {
		l.reason = &reason
	}
	l.tellLocked()
}

func (l *pageLink) tellLocked() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// write emits what is queued, in order, until the connection ends.
func (l *pageLink) write() {
	for range l.wake {
		for {
			l.mu.Lock()
			frames, reason, closed := l.queue, l.reason, l.closed
			l.queue, l.bytes = nil, 0
			l.mu.Unlock()
			switch {
			case closed:
				return
			case len(frames) > 0:
				for _, frame := range frames {
					l.emit("frame", frame)
				}
				continue
			case reason != nil:
				l.emit("disconnect", *reason)
				return
			}
			break
		}
	}
}

// close ends the connection at once; nothing is emitted for it when it has returned.
func (l *pageLink) close() {
	l.mu.Lock()
	l.closed = true
	l.tellLocked()
	l.mu.Unlock()
	l.wg.Wait()
	l.conn.Close()
}
