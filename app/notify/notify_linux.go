package notify

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"aalis/app/bus"
)

const (
	// News that nobody could be shown in this time is none any more. What is urgent waits.
	news = time.Minute
	// A daemon that ends with what it shows, again and again, is not fed for ever.
	mostOften = 4
	// A second press within this time is the same one.
	deaf = 2 * time.Second
	// What the end of the program waits for a daemon to take things back.
	closeWithin = 500 * time.Millisecond
	// Keys of news that is over are remembered up to this many notes.
	remembered = 1000
)

// Notifier shows notifications. It lives on a connection of its own to the session bus, and on the next
// one when that has died.
type Notifier struct {
	o         Options
	stop      context.CancelFunc
	wg        sync.WaitGroup // the connection's keeper
	acts      sync.WaitGroup // calls of Act
	available atomic.Bool
	changed   chan struct{} // holds one: there is something to show or to withdraw
	leaving   chan struct{} // closed by Close
	left      chan struct{} // holds one: what was shown is withdrawn

	mu      sync.Mutex // guards all below, and the notes
	closed  bool
	serving bool // a connection is there
	notes   map[string]*note
	waiting []*note // in their order
	gone    []place // to be withdrawn
}

// place is where a note is shown: the number is the daemon's, and means nothing to the next one.
type place struct {
	daemon string // its unique name on the bus
	id     uint32
}

// note is a Note and what has become of it.
type note struct {
	Note
	asked     time.Time
	at        place // where it is shown; zero while it waits or when it is over
	times     int   // it was sent
	withdrawn bool
	deafUntil time.Time
}

// Start returns at once; a desktop without notifications is no error.
func Start(o Options) *Notifier {
	ctx, stop := context.WithCancel(context.Background())
	n := &Notifier{
		o: o, stop: stop, changed: make(chan struct{}, 1), leaving: make(chan struct{}), left: make(chan struct{}, 1),
		notes: map[string]*note{},
	}
	n.wg.Go(func() { bus.Keep(ctx, o.Log, n.serve) })
	return n
}

// Show shows a note, once per key until it is withdrawn. It never waits for the desktop.
func (n *Notifier) Show(what Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.notes[what.Key] != nil {
		return
	}
	n.forget()
	it := &note{Note: what, asked: time.Now()}
	n.notes[what.Key] = it
	n.waiting = append(n.waiting, it)
	raise(n.changed)
}

// Withdraw takes a note back, shown or not. Its key may be shown again.
func (n *Notifier) Withdraw(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	it := n.notes[key]
	if it == nil {
		return
	}
	delete(n.notes, key)
	it.withdrawn = true
	if it.at != (place{}) {
		n.gone = append(n.gone, it.at)
		raise(n.changed)
	}
}

// Available reports whether the desktop shows notifications.
func (n *Notifier) Available() bool { return n.available.Load() }

// Close withdraws what is shown and waits for what the notifier has started.
func (n *Notifier) Close() {
	n.mu.Lock()
	first, serving := !n.closed, n.serving
	n.closed = true
	n.mu.Unlock()
	if first {
		close(n.leaving)
		if serving {
			select {
			case <-n.left:
			case <-time.After(closeWithin):
			}
		}
	}
	n.stop()
	n.wg.Wait()
	n.acts.Wait()
}

func raise(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// forget keeps the memory of news that is over bounded. It needs the lock.
func (n *Notifier) forget() {
	if len(n.notes) < remembered {
		return
	}
	waits := make(map[*note]bool, len(n.waiting))
	for _, it := range n.waiting {
		waits[it] = true
	}
	for key, it := range n.notes {
		if !it.Urgent && it.at == (place{}) && !waits[it] {
			delete(n.notes, key)
		}
	}
}

// next takes the note that is to be sent now, nil for none.
func (n *Notifier) next() *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.waiting) > 0 {
		it := n.waiting[0]
		if !it.withdrawn && it.times < mostOften && (it.Urgent || time.Since(it.asked) < news) {
			return it
		}
		n.waiting = n.waiting[1:]
	}
	return nil
}

func (n *Notifier) tried(it *note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	it.times++
}

// sent is told of a note that a daemon shows, or that it refused.
func (n *Notifier) sent(it *note, at place) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) > 0 && n.waiting[0] == it {
		n.waiting = n.waiting[1:]
	}
	it.at = at
	if it.withdrawn && at != (place{}) {
		n.gone = append(n.gone, at)
	}
}

// lost is told that a daemon has ended: what it showed is gone. What is urgent waits for the next one.
func (n *Notifier) lost(but string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, it := range n.notes {
		if it.at == (place{}) || it.at.daemon == but {
			continue
		}
		it.at = place{}
		if it.Urgent {
			n.waiting = append(n.waiting, it)
		}
	}
	slices.SortFunc(n.waiting, func(a, b *note) int { return a.asked.Compare(b.asked) })
}

// shownAt finds a note by the daemon's number.
func (n *Notifier) shownAt(at place) *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, it := range n.notes {
		if it.at == at {
			return it
		}
	}
	return nil
}

// over is told that a note is shown no longer. That decides nothing.
func (n *Notifier) over(it *note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	it.at = place{}
}

// pressed is told of a button.
func (n *Notifier) pressed(it *note, word string) {
	action, has := meant(it.Note, word)
	n.mu.Lock()
	defer n.mu.Unlock()
	if !has || n.closed || it.withdrawn || time.Now().Before(it.deafUntil) {
		return
	}
	if action != Open {
		it.deafUntil = time.Now().Add(deaf)
	}
	n.acts.Go(func() { n.o.Act(it.Key, action) })
}

// withdrawals takes what is to be withdrawn; all there is when the program ends.
func (n *Notifier) withdrawals() []place {
	n.mu.Lock()
	defer n.mu.Unlock()
	gone := n.gone
	n.gone = nil
	if n.closed {
		for _, it := range n.notes {
			if it.at != (place{}) {
				gone = append(gone, it.at)
				it.at = place{}
			}
		}
	}
	return gone
}

func (n *Notifier) setServing(yes bool) (closed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.serving = yes
	return n.closed
}
