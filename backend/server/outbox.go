package server

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// parting is how a connection ends from our side.
type parting struct {
	code   websocket.StatusCode
	reason string
	// flush sends what waits first; without it, what waits is dropped.
	flush bool
}

// outbox holds what waits for one client, bounded by bytes; the writer bounds it by age.
type outbox struct {
	most int

	wake chan struct{} // one pending wake-up for the writer
	dead chan struct{} // closed when nobody writes any more

	mu      sync.Mutex // guards all below
	frames  []waiting
	bytes   int // waiting, and in the batch that is being written
	writing int // the part of bytes that is being written
	end     *parting
	ended   bool
	room    chan struct{} // closed when there is room again; nil: nobody waits
}

type waiting struct {
	frame string
	at    time.Time
	cost  int
}

// keepWaiting is how long a queue's array may be to outlive a burst.
const keepWaiting = 1024

func newOutbox(most int) *outbox {
	return &outbox{most: most, wake: make(chan struct{}, 1), dead: make(chan struct{})}
}

// costOf counts a frame's place in the queue too, so that empty frames are not free. A frame larger
// than half the bound counts as half: it passes where little waits, and what follows it has room.
func (o *outbox) costOf(frame string) int { return min(len(frame)+48, o.most/2) }

// send queues a frame. A client that is too far behind is parted from instead: what waits for it is
// dropped, so that memory never grows with a client's slowness.
func (o *outbox) send(frame string, slow parting) (overflow bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end != nil || o.ended {
		return false
	}
	w := waiting{frame, time.Now(), o.costOf(frame)}
	if o.bytes+w.cost > o.most {
		o.partLocked(slow)
		return true
	}
	o.frames = append(o.frames, w)
	o.bytes += w.cost
	o.wakeWriter()
	return false
}

// part ends the connection; the first parting stands. It reports whether it was this one.
func (o *outbox) part(p parting) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.partLocked(p)
}

func (o *outbox) partLocked(p parting) bool {
	if o.end != nil || o.ended {
		return false
	}
	o.end = &p
	if !p.flush {
		o.frames = nil
		o.bytes = o.writing
	}
	o.signalRoom()
	o.wakeWriter()
	return true
}

func (o *outbox) wakeWriter() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take gives the next frames, together at most about most bytes, and keeps the array of the batch
// before for the queue. With nothing left, end says how to part, if that was decided.
func (o *outbox) take(before []waiting, most int) (batch []waiting, end *parting) {
	clear(before) // the strings must not outlive their writing
	if cap(before) > keepWaiting {
		before = nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n, size := 0, 0
	o.writing = 0
	for n < len(o.frames) && (n == 0 || size+len(o.frames[n].frame) <= most) {
		size += len(o.frames[n].frame)
		o.writing += o.frames[n].cost
		n++
	}
	if n == 0 {
		return before[:0], o.end
	}
	if n == len(o.frames) {
		batch, o.frames = o.frames, before[:0]
		return batch, nil
	}
	batch = append(before[:0], o.frames[:n]...)
	clear(o.frames[:n])
	o.frames = o.frames[n:]
	return batch, nil
}

// wrote says that the batch has left.
func (o *outbox) wrote() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= o.writing
	o.writing = 0
	if o.bytes <= o.most/4 {
		o.signalRoom()
	}
}

func (o *outbox) signalRoom() {
	if o.room != nil {
		close(o.room)
		o.room = nil
	}
}

// kill drops everything: the connection is gone.
func (o *outbox) kill() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	o.ended = true
	o.frames, o.bytes, o.writing = nil, 0, 0
	o.signalRoom()
	close(o.dead)
}

func (o *outbox) queued() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes
}

// waitRoom returns true once at most a quarter of the bound waits.
func (o *outbox) waitRoom(ctx context.Context) bool {
	for {
		o.mu.Lock()
		if o.end != nil || o.ended {
			o.mu.Unlock()
			return false
		}
		if o.bytes <= o.most/4 {
			o.mu.Unlock()
			return true
		}
		if o.room == nil {
			o.room = make(chan struct{})
		}
		room := o.room
		o.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return false
		}
	}
}
