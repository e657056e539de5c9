package app

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// ending is a parting with all that it touches written down.
type ending struct {
	*parting

	mu    sync.Mutex // guards all below
	turns int
	tasks int
	said  []string
	asked chan string // answers of the toolkit's dialog
}

func newEnding(turns, tasks int) *ending {
	e := &ending{turns: turns, tasks: tasks, asked: make(chan string)}
	e.parting = &parting{
		busy: func() (int, int, int) {
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.turns, e.tasks, 1
		},
		show:  func(q question) { e.say("show", q.ID, q.Kind, q.Turns, q.Tasks, q.Waiting) },
		over:  func(id string) { e.say("over", id) },
		wait:  func(kind string, on bool) { e.say("wait", kind, on) },
		ask:   func(q question) string { e.say("ask", q.ID); return <-e.asked },
		leave: func(kind string) { e.say("leave", kind) },
	}
	return e
}

func (e *ending) say(args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said = append(e.said, fmt.Sprintln(args...))
}

func (e *ending) rest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.turns, e.tasks = 0, 0
}

func (e *ending) want(kinds ...string) {
	for _, k := range kinds {
		e.parting.want(k)
	}
}

func (e *ending) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range want {
		want[i] += "\n"
	}
	if !slices.Equal(e.said, want) {
		t.Errorf("said %q, want %q", e.said, want)
	}
}

func TestTheEnd(t *testing.T) {
	run := func(name string, turns, tasks int, test func(t *testing.T, e *ending)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnding(turns, tasks)
				test(t, e)
				close(e.asked)
				e.close()
			})
		})
	}
	run("nothing runs: it ends at once, and once", 0, 0, func(t *testing.T, e *ending) {
		e.want(partQuit, partQuit)
		e.expect(t, "leave quit")
	})
	run("FAIL-H1 a turn runs: stop ends it, after a question", 2, 0, func(t *testing.T, e *ending) {
		e.want(partQuit)
		e.decide("1", choiceSeen)
		time.Sleep(time.Hour)
		e.expect(t, "show 1 quit 2 0 1")
		e.decide("7", choiceStop) // to no question
		e.decide("1", choiceStop)
		e.decide("1", choiceStop)
		e.expect(t, "show 1 quit 2 0 1", "leave quit")
	})
	run("FAIL-H2 a background task asks as well, and cancel changes nothing", 0, 1, func(t *testing.T, e *ending) {
		e.want(partRestart)
		e.decide("1", choiceSeen)
		e.decide("1", choiceCancel)
		time.Sleep(time.Hour)
		e.rest()
		time.Sleep(time.Hour)
		e.expect(t, "show 1 restart 0 1 1", "over 1")
	})
	run("FAIL-H1 finish waits for the end of the work", 1, 0, func(t *testing.T, e *ending) {
		e.want(partRestart)
		e.decide("1", choiceSeen)
		e.decide("1", choiceFinish)
		time.Sleep(time.Hour)
		e.expect(t, "show 1 restart 1 0 1", "wait restart true")
		e.rest()
		time.Sleep(time.Second)
		e.expect(t, "show 1 restart 1 0 1", "wait restart true", "leave restart")
	})
	run("a wait can be given up", 1, 0, func(t *testing.T, e *ending) {
		e.finish(partQuit)
		e.decide("", choiceCancel)
		e.rest()
		time.Sleep(time.Hour)
		e.expect(t, "wait quit true", "wait quit false")
	})
	run("a page that shows nothing leaves it to the toolkit's dialog", 1, 0, func(t *testing.T, e *ending) {
		e.want(partQuit)
		time.Sleep(seenWithin + time.Second)
		e.expect(t, "show 1 quit 1 0 1", "ask 1")
		e.asked <- choiceStop
		e.expect(t, "show 1 quit 1 0 1", "ask 1", "leave quit")
	})
	run("a second wish asks anew, and the first question is over", 1, 0, func(t *testing.T, e *ending) {
		e.want(partQuit, partRestart)
		e.decide("1", choiceStop)
		e.decide("2", choiceSeen)
		e.again()
		e.expect(t, "show 1 quit 1 0 1", "show 2 restart 1 0 1", "show 2 restart 1 0 1")
		time.Sleep(time.Hour) // the patience of the first is over, too
		e.decide("2", choiceFinish)
		e.again()
		e.expect(t, "show 1 quit 1 0 1", "show 2 restart 1 0 1", "show 2 restart 1 0 1", "wait restart true", "wait restart true")
	})
}
