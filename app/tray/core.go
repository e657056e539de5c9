package tray

import (
	"slices"
	"sync"
	"time"

	"aalis/backend/text"
)

// deaf is how long after an answer another click on the same request is taken for the same one. When the
// answer has not arrived, a later click tries again.
const deaf = 2 * time.Second

// core is what the tray of every system has: the state, the items it makes of it, and what a click on
// one of them means.
type core struct {
	o  Options
	wg sync.WaitGroup // calls of the options' functions

	mu     sync.Mutex // guards all below
	closed bool
	state  State
	next   int32 // the next id that nothing has had
	known  map[Request]*asked
	byID   map[int32]*asked // what Approve and Deny items belong to
}

func newCore(o Options) *core {
	return &core{o: o, next: firstFree, known: map[Request]*asked{}, byID: map[int32]*asked{}}
}

// set keeps the state. What waits no longer cannot be decided from this moment on.
func (c *core) set(s State) {
	s.Requests = slices.Clone(s.Requests)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = s
	c.forget()
}

// look gives what is to be shown now.
func (c *core) look() (items []item, tip string, icon appearance) {
	lang := text.English
	if c.o.Language != nil {
		lang = c.o.Language()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.items(lang), words(c.state, lang), appearanceOf(c.state)
}

// click does what the item stands for. An id of something that is over does nothing.
func (c *core) click(id int32) {
	switch id {
	case showID, moreID:
		c.tell(c.o.Show)
	case openID:
		c.tell(c.o.Open)
	case newID:
		c.tell(c.o.New)
	case quitID:
		c.tell(c.o.Quit)
	case restartID:
		c.mu.Lock()
		waits := c.state.Update != ""
		c.mu.Unlock()
		if waits {
			c.tell(c.o.Restart)
		}
	default:
		c.decide(id)
	}
}

func (c *core) decide(id int32) {
	c.mu.Lock()
	a := c.byID[id]
	if a == nil || a.busy || time.Now().UnixMilli() < a.deafUntil {
		c.mu.Unlock()
		return
	}
	a.busy = true
	c.mu.Unlock()
	c.tell(func() {
		c.o.Decide(a.ID, id == a.approve)
		c.mu.Lock()
		defer c.mu.Unlock()
		a.busy, a.deafUntil = false, time.Now().Add(deaf).UnixMilli()
	})
}

// tell calls f in a goroutine that close waits for.
func (c *core) tell(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed && f != nil {
		c.wg.Go(f)
	}
}

// close ends the telling and waits for what has been told.
func (c *core) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.wg.Wait()
}
