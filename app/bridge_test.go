package app

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// page is the window's page as the bridge reaches it.
type page struct {
	mu     sync.Mutex // guards events
	events []string
}

func (p *page) emit(event string, data ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, strings.TrimSpace(event+" "+fmt.Sprint(data...)))
}

func (p *page) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.events)
}

// echo is the other end: it answers every frame, and keeps what its transport gave it.
type echo struct {
	send       func(string)
	disconnect func(string)
	closed     bool
}

func (e *echo) Receive(frame string) { e.send("re: " + frame) }
func (e *echo) Close()               { e.closed = true }

func TestBridge(t *testing.T) {
	in := func(t *testing.T, test func(t *testing.T, b *Bridge, p *page, all *[]*echo)) {
		synctest.Test(t, func(t *testing.T) {
			p, all := &page{}, &[]*echo{}
			b := newBridge(func(disconnect, send func(string)) connection {
				e := &echo{send: send, disconnect: disconnect}
				*all = append(*all, e)
				return e
			}, p.emit)
			test(t, b, p, all)
			b.close()
		})
	}
	t.Run("SP-TRANS-07 frames go in as they are and come out in order", func(t *testing.T) {
		in(t, func(t *testing.T, b *Bridge, p *page, all *[]*echo) {
			if err := b.Send("early"); err == nil {
				t.Error("a frame before Open was taken")
			}
			if err := b.Open(); err != nil {
				t.Fatal(err)
			}
			var want []string
			for n := range 500 {
				if err := b.Send(fmt.Sprint(n)); err != nil {
					t.Fatal(err)
				}
				want = append(want, fmt.Sprintf("frame re: %d", n))
			}
			synctest.Wait()
			if got := p.seen(); !slices.Equal(got, want) {
				t.Errorf("got %d events: %v…", len(got), got[:min(5, len(got))])
			}
		})
	})
	t.Run("a reload ends the connection before it", func(t *testing.T) {
		in(t, func(t *testing.T, b *Bridge, p *page, all *[]*echo) {
			for range 2 {
				if err := b.Open(); err != nil {
					t.Fatal(err)
				}
			}
			first, second := (*all)[0], (*all)[1]
			first.send("late")
			first.disconnect("late")
			second.send("now")
			synctest.Wait()
			if got := p.seen(); !first.closed || second.closed || !slices.Equal(got, []string{"frame now"}) {
				t.Errorf("closed %v %v, %v", first.closed, second.closed, got)
			}
		})
	})
	t.Run("SP-CONN-07 a disconnect comes after what was sent, once", func(t *testing.T) {
		in(t, func(t *testing.T, b *Bridge, p *page, all *[]*echo) {
			if err := b.Open(); err != nil {
				t.Fatal(err)
			}
			e := (*all)[0]
			e.send("one")
			e.disconnect("bye")
			e.disconnect("again")
			e.send("after")
			synctest.Wait()
			if got := p.seen(); !slices.Equal(got, []string{"frame one", "disconnect bye"}) {
				t.Error(got)
			}
			if err := b.Open(); err != nil { // the page comes back
				t.Fatal(err)
			}
		})
	})
	t.Run("SEC-09 a page that takes nothing is disconnected instead of filling the memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var e *echo
			stuck := make(chan struct{})
			var events []string
			b := newBridge(func(disconnect, send func(string)) connection {
				e = &echo{send: send, disconnect: disconnect}
				return e
			}, func(event string, _ ...any) {
				<-stuck
				events = append(events, event)
			})
			if err := b.Open(); err != nil {
				t.Fatal(err)
			}
			e.send("first")
			synctest.Wait() // emitted, and stuck there
			megabyte := strings.Repeat("x", 1<<20)
			for range mostQueued>>20 + 10 {
				e.send(megabyte)
			}
			l := b.current
			l.mu.Lock()
			if l.queue != nil || l.reason == nil {
				t.Error("still queueing", len(l.queue))
			}
			l.mu.Unlock()
			close(stuck)
			synctest.Wait()
			if !slices.Equal(events, []string{"frame", "disconnect"}) {
				t.Error(events)
			}
			b.close()
		})
	})
	t.Run("SP-CONN-06 nothing opens or comes out after the end", func(t *testing.T) {
		in(t, func(t *testing.T, b *Bridge, p *page, all *[]*echo) {
			if err := b.Open(); err != nil {
				t.Fatal(err)
			}
			b.close()
			b.close()
			(*all)[0].send("late")
			synctest.Wait()
			if len(p.seen()) != 0 || !(*all)[0].closed || b.Open() == nil {
				t.Error(p.seen())
			}
		})
	})
}
