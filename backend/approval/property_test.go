package approval_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/testkit"
)

// world is what the rules of presence and of the clocks say, in the plainest words: nothing in it
// lasts 10 minutes, so that presence ends by reports and closing only.
type world struct {
	r       *rig
	now     time.Time
	clients []*person
	asked   []*question
	left    time.Time
}

type person struct {
	*client
	here     bool
	shown    map[string]bool // requested and not settled
	requests []string
	settles  []string
}

type question struct {
	asked
	state string // as rig.state
	at    time.Time
}

func (w *world) anybody() bool {
	for _, p := range w.clients {
		if p.here {
			return true
		}
	}
	return false
}

func (w *world) settle(q *question, state string, at time.Time) {
	q.state, q.at = state, at
	for _, p := range w.clients {
		if p.shown[q.ID] {
			delete(p.shown, q.ID)
			p.settles = append(p.settles, q.ID)
		}
	}
}

func (w *world) show(p *person, q *question) {
	p.requests = append(p.requests, q.ID)
	p.shown[q.ID] = true
}

// deadline is the moment at which a question that nobody answers is settled, and how.
func (w *world) deadline(q *question) (at time.Time, state string) {
	at, state = time.UnixMilli(q.ExpiresAt), "expired/timeout"
	if w.anybody() {
		return at, state
	}
	alone := w.left
	if asked := time.UnixMilli(q.At); asked.After(alone) {
		alone = asked
	}
	if end := alone.Add(30 * time.Second); end.Before(at) {
		return end, "denied/absent"
	}
	return at, state
}

// pass lets time go by in the model as in the rig.
func (w *world) pass(d time.Duration) {
	pass(d)
	w.now = w.now.Add(d)
	for { // in the order of time, because that is the order of pushes
		var next *question
		var when time.Time
		var how string
		for _, q := range w.asked {
			if q.state != "pending" {
				continue
			}
			if at, state := w.deadline(q); !at.After(w.now) && (next == nil || at.Before(when)) {
				next, when, how = q, at, state
			}
		}
		if next == nil {
			return
		}
		w.settle(next, how, when)
	}
}

func (w *world) report(p *person, here bool) {
	p.client.here(here)
	if p.here && !here {
		w.left = w.now
	}
	if here && !p.here {
		for _, q := range w.asked {
			if q.state == "pending" {
				w.show(p, q)
			}
		}
	}
	p.here = here
}

func TestEverythingSettlesOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// Drawn before the bubble, so that a run is one list of words.
		steps := rapid.SliceOfN(rapid.SampledFrom(strings.Fields(
			"ask ask ask here here here away away close approve deny stop pass1 pass10 pass29 pass30 pass100")), 1, 24).Draw(rt, "steps")
		who := rapid.SliceOfN(rapid.IntRange(0, 5), len(steps), len(steps)).Draw(rt, "who")
		var failure string
		synctest.Test(t, func(t *testing.T) { failure = walk(t, steps, who) })
		if failure != "" {
			rt.Fatal(failure)
		}
	})
}

// walk takes the steps in the rig and in the model, and says where they differ.
func walk(t *testing.T, steps []string, who []int) string {
	w := &world{r: start(t, t.TempDir()), now: time.Now()}
	for range 3 {
		w.clients = append(w.clients, &person{client: w.r.console(), shown: map[string]bool{}})
	}
	var total time.Duration
	for i, step := range steps {
		p := w.clients[who[i]%len(w.clients)]
		switch step {
		case "ask":
			w.pass(time.Millisecond) // two of one moment have no order
			q := &question{asked: w.r.ask(w.r.turn()), state: "pending"}
			w.asked = append(w.asked, q)
			if !w.anybody() {
				w.settle(q, "denied/absent", w.now)
				break
			}
			for _, p := range w.clients {
				if p.here {
					w.show(p, q)
				}
			}
		case "here", "away":
			w.report(p, step == "here")
		case "close":
			p.Close()
			if p.here {
				w.left = w.now
			}
			*p = person{client: w.r.console(), shown: map[string]bool{}}
		case "approve", "deny", "stop":
			w.decide(step, p, who[i])
		default:
			var seconds time.Duration
			fmt.Sscanf(step, "pass%d", &seconds)
			if total += seconds * time.Second; total < 9*time.Minute {
				w.pass(seconds * time.Second)
			}
		}
		if diff := w.differs(); diff != "" {
			return fmt.Sprintf("after %v: %s", steps[:i+1], diff)
		}
	}
	w.pass(301 * time.Second)
	testkit.Check(t, w.r.st)
	return w.differs()
}

// decide has somebody answer one of the approvals, or stops its turn.
func (w *world) decide(step string, p *person, n int) {
	if len(w.asked) == 0 {
		return
	}
	q := w.asked[n%len(w.asked)]
	if step == "stop" {
		w.r.do(core.StopTurn{Turn: q.Turn})
		if q.state == "pending" {
			w.settle(q, "cancelled/turn-ended", w.now)
		}
		return
	}
	got, want := p.respond(q.ID, step, q.Hash, ""), "approval-settled"
	if q.state == "pending" {
		want = ""
		w.settle(q, map[string]string{"approve": "approved/answer", "deny": "denied/answer"}[step], w.now)
	}
	if got != want {
		w.r.t.Errorf("answering gave %q, want %q", got, want)
	}
}

// differs compares what happened with the model: each state, its moment, and every push.
func (w *world) differs() string {
	var b strings.Builder
	for i, q := range w.asked {
		if got := w.r.state(q.ID); got != q.state {
			fmt.Fprintf(&b, "approval %d is %s, want %s\n", i, got, q.state)
		}
		if all := w.r.resolutions(q.ID); len(all) == 1 && !time.UnixMilli(all[0].At).Equal(q.at) {
			fmt.Fprintf(&b, "approval %d was settled at %v, want %v\n", i, time.UnixMilli(all[0].At), q.at)
		}
	}
	for i, p := range w.clients {
		if diff := cmp.Diff(strings.Join(p.requests, " "), strings.Join(p.client.requested(), " ")); diff != "" {
			fmt.Fprintf(&b, "requests to %d: %s\n", i, diff)
		}
		want, got := map[string]int{}, map[string]int{}
		for _, id := range p.settles {
			want[id]++
		}
		for _, id := range p.client.settled() {
			got[id]++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			fmt.Fprintf(&b, "settlements to %d: %s\n", i, diff)
		}
	}
	return b.String()
}

// TestEndsThatMeet has the clock, answers, the end of the turn and the leaving of all come at one
// moment, in whatever order the machine takes them.
func TestEndsThatMeet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		moment := rapid.SampledFrom([]time.Duration{10 * time.Second, 30 * time.Second, 300 * time.Second}).Draw(rt, "moment")
		left := rapid.Bool().Draw(rt, "everybody has left")
		ends := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("approve deny stop abort leave close back")), 2, 6).Draw(rt, "ends")
		var failure string
		synctest.Test(t, func(t *testing.T) { failure = meet(t, moment, left, ends) })
		if failure != "" {
			rt.Fatal(failure)
		}
	})
}

func meet(t *testing.T, moment time.Duration, left bool, ends []string) string {
	r := start(t, t.TempDir())
	var clients []*client
	for range ends {
		clients = append(clients, r.present())
	}
	watcher := r.present()
	a := r.ask(r.turn())
	session := r.sessionOf(a)
	if left {
		for _, c := range append(clients, watcher) {
			c.here(false)
		}
	}
	var all sync.WaitGroup
	for i, end := range ends {
		all.Go(func() {
			time.Sleep(moment)
			c := clients[i]
			switch end {
			case "approve", "deny":
				c.Receive(fmt.Sprintf(`{"jsonrpc":"2.0","id":"end","method":"approval/respond","params":{"approvalId":%q,"decision":%q,"contentHash":%q}}`, a.ID, end, a.Hash))
			case "stop":
				_, _ = r.loop.Do(context.Background(), core.StopTurn{Turn: a.Turn})
			case "abort":
				_, _ = r.loop.Do(context.Background(), core.AbortTurn{Actor: owner, Session: session})
			case "leave", "back":
				c.Receive(fmt.Sprintf(`{"jsonrpc":"2.0","id":"end","method":"presence/update","params":{"active":%t}}`, end == "back"))
			case "close":
				c.Close()
			}
		})
	}
	all.Wait()
	synctest.Wait()
	won := 0
	for i, end := range ends {
		if end != "approve" && end != "deny" {
			continue
		}
		switch got := clients[i].answer(`"end"`).outcome(); got {
		case "":
			won++
		case "approval-settled":
		default:
			return "an answer gave " + got
		}
	}
	pass(301 * time.Second)
	res := r.resolutions(a.ID)
	if len(res) != 1 {
		return fmt.Sprintf("%d resolutions", len(res))
	}
	if answered := res[0].Source == event.SourceAnswer; answered != (won == 1) || won > 1 {
		return fmt.Sprintf("%d answers won, the source is %s", won, res[0].Source)
	}
	if got := watcher.settled(); len(got) != 1 {
		return fmt.Sprintf("somebody who was asked was told %d times", len(got))
	}
	testkit.Check(t, r.st)
	return ""
}
