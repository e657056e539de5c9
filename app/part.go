package app

import (
	"strconv"
	"sync"
	"time"
)

// Words of the question before the program ends.
const (
	partQuit    = "quit"
	partRestart = "restart"

	choiceSeen   = "seen"
	choiceFinish = "finish"
	choiceStop   = "stop"
	choiceCancel = "cancel"
)

// question is what a person is asked before the program ends while something runs.
type question struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Turns   int    `json:"turns"`
	Tasks   int    `json:"tasks"`
	Waiting int    `json:"waiting"` // approvals
}

// seenWithin is how long a page may take to show a question before the toolkit's own dialog asks it.
const seenWithin = 8 * time.Second

// parting owns the end of the program as a person wishes it: what runs is asked about, finished, or
// stopped, and whatever is stopped is marked and its queue kept, as after a signal. It knows no window;
// a signal, a logout, and the end of the server do not ask it.
type parting struct {
	busy func() (turns, tasks, waiting int)
	// show puts a question on the page; over takes it off again; wait says that the end is waited for.
	show func(question)
	over func(id string)
	wait func(kind string, on bool)
	// ask is the question without a page. It blocks, and gives a choice.
	ask func(question) (choice string)
	// leave ends the program. It is called once.
	leave func(kind string)

	wg sync.WaitGroup // what asks in the page's stead, and what waits for the end of the work

	mu       sync.Mutex // guards all below
	asked    int
	open     *question // shown and not answered
	seen     bool      // the page has drawn it
	patience *time.Timer
	waiting  string        // the kind of end that is waited for, "" for none
	enough   chan struct{} // closed when it is waited for no more
	left     bool
}

// want is the wish to end. While something runs it asks; a second wish shows the same question again.
func (p *parting) want(kind string) {
	p.mu.Lock()
	if p.left {
		p.mu.Unlock()
		return
	}
	turns, tasks, waiting := p.busy()
	if turns+tasks == 0 {
		p.leaveLocked(kind) // unlocks
		return
	}
	p.closeLocked()
	p.asked++
	q := question{ID: strconv.Itoa(p.asked), Kind: kind, Turns: turns, Tasks: tasks, Waiting: waiting}
	p.open, p.seen = &q, false
	p.patience = time.AfterFunc(seenWithin, func() { p.unseen(q) })
	p.mu.Unlock()
	p.show(q)
}

// again shows the page what it must know after it has loaded.
func (p *parting) again() {
	p.mu.Lock()
	open, waiting := p.open, p.waiting
	p.mu.Unlock()
	if open != nil {
		p.show(*open)
	}
	if waiting != "" {
		p.wait(waiting, true)
	}
}

// unseen asks with the toolkit's own dialog what no page has shown.
func (p *parting) unseen(q question) {
	p.mu.Lock()
	shown := p.open == nil || p.open.ID != q.ID || p.seen
	if shown || p.left {
		p.mu.Unlock()
		return
	}
	p.wg.Go(func() { p.decide(q.ID, p.ask(q)) }) // under the lock that close takes
	p.mu.Unlock()
}

// decide takes an answer. One to a question that is not open means nothing, except that a cancel always
// ends the waiting.
func (p *parting) decide(id, choice string) {
	p.mu.Lock()
	if p.left {
		p.mu.Unlock()
		return
	}
	if choice == choiceCancel && p.waiting != "" && (p.open == nil || p.open.ID != id) {
		kind := p.waiting
		p.stopWaitingLocked()
		p.mu.Unlock()
		p.wait(kind, false)
		return
	}
	if p.open == nil || p.open.ID != id {
		p.mu.Unlock()
		return
	}
	if choice == choiceSeen {
		p.seen = true
		p.mu.Unlock()
		return
	}
	kind := p.open.Kind
	p.closeLocked()
	switch choice {
	case choiceStop:
		p.leaveLocked(kind) // unlocks
	case choiceFinish:
		p.finishLocked(kind) // unlocks
	default:
		p.mu.Unlock()
		p.over(id)
	}
}

// finish ends the program as soon as nothing runs, without asking.
func (p *parting) finish(kind string) {
	p.mu.Lock()
	if p.left {
		p.mu.Unlock()
		return
	}
	p.finishLocked(kind)
}

func (p *parting) finishLocked(kind string) {
	p.stopWaitingLocked()
	enough := make(chan struct{})
	p.waiting, p.enough = kind, enough
	p.wg.Go(func() { p.await(enough) })
	p.mu.Unlock()
	p.wait(kind, true)
}

// lookEvery is how often the work that is waited for is looked at.
const lookEvery = 250 * time.Millisecond

// await leaves once nothing runs any more.
func (p *parting) await(enough <-chan struct{}) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if turns, tasks, _ := p.busy(); turns+tasks == 0 {
			p.mu.Lock()
			if p.waiting == "" || p.left {
				p.mu.Unlock()
				return
			}
			p.leaveLocked(p.waiting)
			return
		}
		select {
		case <-enough:
			return
		case <-look.C:
		}
	}
}

func (p *parting) stopWaitingLocked() {
	if p.waiting != "" {
		close(p.enough)
	}
	p.waiting = ""
}

func (p *parting) leaveLocked(kind string) {
	p.closeLocked()
	p.stopWaitingLocked()
	p.left = true
	p.mu.Unlock()
	p.leave(kind)
}

func (p *parting) closeLocked() {
	if p.patience != nil {
		p.patience.Stop()
	}
	p.open, p.patience = nil, nil
}

// close asks nothing any more, and waits for a dialog that is open.
func (p *parting) close() {
	p.mu.Lock()
	p.closeLocked()
	p.stopWaitingLocked()
	p.left = true
	p.mu.Unlock()
	p.wg.Wait()
}
