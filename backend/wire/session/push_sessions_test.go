package session_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/wire/session"
)

// watcher is a person who watches the list.
func (d *desk) watcher(t *testing.T) *person {
	t.Helper()
	p := d.person(t)
	p.do("sessions/watch", m{})
	return p
}

// one gives the only push since it was last asked.
func (p *person) one() session.SessionsChanged {
	p.t.Helper()
	all := p.changes()
	if len(all) != 1 {
		p.t.Fatalf("%d pushes: %+v", len(all), all)
	}
	return all[0]
}

func TestEveryTriggerPushes(t *testing.T) {
	bubble(t, "SP-INC-04 SP-INC-05 SP-INC-06 SP-INC-07 each trigger pushes once, with the changed sessions, their ancestors, and the groups", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		w, other := d.watcher(t), d.person(t)
		root := d.session("root")
		w.one()
		child := d.child(root, "child")
		equal(t, w.one().Upserts[0].ChildCount, 1)

		var turn, action string
		for _, step := range []struct {
			name string
			do   func()
			want []string // titles of the upserts
		}{
			{"filed", func() { d.child(child, "grandchild") }, []string{"root", "child", "grandchild"}},
			{"renamed", func() { other.do("session/rename", m{"sessionId": child, "title": "kid"}) }, []string{"root", "kid"}},
			{"turn starts", func() { turn = d.turn(child) }, []string{"root", "kid"}},
			{"tokens", func() { d.do(core.RecordModelCall{Turn: turn, Call: event.ModelCall{Prompt: 1, Completion: 1}}) }, []string{"root", "kid"}},
			{"approval pushed", func() { action = d.ask(turn) }, []string{"root", "kid"}},
			{"approval settled", func() { d.approve(action) }, []string{"root", "kid"}},
			{"turn ends, completed", func() { d.reply(turn) }, []string{"root", "kid"}},
			{"seen", func() { other.do("session/markSeen", m{"sessionId": child}) }, []string{"root", "kid"}},
			{"archived", func() { other.do("session/archive", m{"sessionId": root}) }, []string{"root", "kid", "grandchild"}},
			{"unarchived", func() { other.do("session/unarchive", m{"sessionId": child}) }, []string{"root", "kid", "grandchild"}},
		} {
			step.do()
			got := w.one()
			if t.Failed() {
				t.Fatal(step.name)
			}
			equal(t, titlesOf(got.Upserts), step.want)
			equal(t, got.Removes, []string{})
			for _, s := range got.Upserts {
				equal(t, s, other.find(s.Title))
			}
		}
		d.room("onebot:a:group:1", "", "a")
		w.changes()
		other.do("session/delete", m{"sessionId": child})
		got := w.one()
		equal(t, titlesOf(got.Upserts), []string{"root"})
		equal(t, got.Upserts[0].ChildCount, 0)
		equal(t, len(got.Removes), 2)
		equal(t, got.Removes[0], child)
		equal(t, got.Groups, call[session.SessionsListResult](other, "sessions/list", m{}).Groups)
		other.do("session/delete", m{"sessionId": "onebot:a:group:1"})
		got = w.one()
		equal(t, got.Removes, []string{"onebot:a:group:1"})
		equal(t, got.Groups, []session.RoomGroup{})
	})
	bubble(t, "SP-INC-08 what is pushed twice is told twice, also when it waits", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		id := d.session("s")
		w := d.slowWatcher(t)
		w.block(d)
		for range 3 {
			d.do(core.RenameSession{Actor: console, Session: id, Title: "same"})
		}
		w.release()
		all := w.changes()
		equal(t, len(all), 3)
		equal(t, all[0], all[2])
	})
	bubble(t, "SP-INC-06 a session that changed and is gone by the time it is told of is only removed", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		id := d.session("s")
		w := d.slowWatcher(t)
		w.block(d)
		d.do(core.RenameSession{Actor: console, Session: id, Title: "renamed"})
		d.do(core.DeleteSession{Actor: console, Session: id})
		w.release()
		for i, push := range w.changes() {
			equal(t, push, session.SessionsChanged{
				Upserts: []session.SessionSummary{}, Removes: [][]string{{}, {id}}[i], Groups: []session.RoomGroup{},
			})
		}
	})
}

func TestWatching(t *testing.T) {
	bubble(t, "SP-INC-01 SP-INC-02 SP-INC-11 SP-INC-12 who watches is pushed once, whatever section, and from then on; nobody else", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		id := d.session("before")
		w, idle := d.watcher(t), d.person(t)
		equal(t, len(w.changes()), 0)
		w.do("sessions/watch", m{})
		d.session("mine")
		w.one()
		d.room("onebot:a:group:1", "", "a")
		w.one()
		d.do(core.ArchiveSession{Actor: console, Session: id})
		w.one()
		d.turn(id)
		equal(t, titlesOf(w.one().Upserts), []string{"before"})
		equal(t, len(idle.changes()), 0)
		again := d.person(t)
		d.session("unwatched")
		equal(t, len(again.changes()), 0)
	})
	bubble(t, "SP-INC-10 nothing is pushed once the connection has ended", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		w := d.watcher(t)
		w.Close()
		d.session("s")
		equal(t, len(w.changes()), 0)
	})
	bubble(t, "SP-INC-12 what moves fast is told to the end, and the last word is the state", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		w := d.watcher(t)
		id := d.session("s")
		for i := range 300 {
			d.do(core.RenameSession{Actor: console, Session: id, Title: fmt.Sprint(i)})
		}
		all := w.changes()
		equal(t, all[len(all)-1].Upserts, []session.SessionSummary{w.find("299")})
	})
}

// TestLaggingWatcher lets a connection fall out of the ring.
func TestLaggingWatcher(t *testing.T) {
	bubble(t, "SP-INC-05 SP-INC-06 a connection that lost entries is told everything that changed meanwhile, and what was deleted", func(t *testing.T) {
		d := newDesk(t, t.TempDir(), func(o *core.Options) { o.RingBytes = 4000 })
		root := d.session("root")
		child, gone, still, looked := d.child(root, "child"), d.session("gone"), d.session("still"), d.session("looked at")
		d.reply(d.turn(looked))
		w, slow := d.watcher(t), d.slowWatcher(t)
		slow.block(d)
		later()
		d.do(core.MarkSeen{Session: looked, Principal: event.OwnerID})
		d.do(core.RenameSession{Actor: console, Session: child, Title: "renamed"})
		d.do(core.DeleteSession{Actor: console, Session: gone})
		for range 100 {
			d.do(core.RenameSession{Actor: console, Session: child, Title: "renamed"})
		}
		w.changes()
		slow.release()
		told := map[string]session.SessionSummary{}
		removed := map[string]bool{}
		for _, push := range slow.changes() {
			for _, s := range push.Upserts {
				told[s.ID] = s
			}
			for _, id := range push.Removes {
				removed[id] = true
			}
		}
		equal(t, removed, map[string]bool{gone: true})
		equal(t, told[root], w.find("root"))
		equal(t, told[child], w.find("renamed"))
		equal(t, told[looked], w.find("looked at"))
		for id, s := range told {
			if id == still || s.Title == "the last that is read" {
				t.Errorf("what did not change was told: %s", s.Title)
			}
		}
		d.session("afterwards")
		equal(t, titlesOf(slow.one().Upserts), []string{"afterwards"})
	})
	bubble(t, "many changes at once are one push, with every session in it", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		var ids []string
		for i := range 60 {
			ids = append(ids, d.session(fmt.Sprint(i)))
		}
		slow := d.slowWatcher(t)
		slow.block(d)
		for i, id := range ids {
			if i%2 == 0 {
				d.do(core.RenameSession{Actor: console, Session: id, Title: "renamed"})
			} else {
				d.do(core.DeleteSession{Actor: console, Session: id})
			}
		}
		slow.release()
		got := slow.one()
		equal(t, []int{len(got.Upserts), len(got.Removes)}, []int{30, 30})
	})
	bubble(t, "a large tree is told in parts", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		root := d.session("root")
		for i := range 600 {
			d.child(root, fmt.Sprint(i))
		}
		w := d.watcher(t)
		d.do(core.ArchiveSession{Actor: console, Session: root})
		var sizes []int
		for _, push := range w.changes() {
			sizes = append(sizes, len(push.Upserts))
		}
		equal(t, sizes, []int{500, 101})
	})
}

func TestUnread(t *testing.T) {
	bubble(t, "SP-UNREAD-01 SP-UNREAD-02 SP-UNREAD-03 SP-UNREAD-04 a reply makes unread until the owner looks, nothing else does", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		id := d.session("s")
		equal(t, p.find("s").Unread, false)
		later()
		d.do(core.EndSilent{Turn: d.turn(id)})
		d.do(core.StopTurn{Turn: d.turn(id)})
		d.fail(d.turn(id), event.Failure{Code: "model"})
		equal(t, p.find("s").Unread, false)
		d.reply(d.turn(id))
		equal(t, p.find("s").Unread, true)
		p.do("session/markSeen", m{"sessionId": id})
		equal(t, p.find("s").Unread, false)
		later()
		d.do(core.EndSilent{Turn: d.turn(id)})
		d.fail(d.turn(id), event.Failure{Code: "model"})
		equal(t, p.find("s").Unread, false)
		d.reply(d.turn(id))
		equal(t, p.find("s").Unread, true)
		child := d.child(id, "child")
		later()
		d.reply(d.turn(child))
		p.do("session/markSeen", m{"sessionId": id})
		equal(t, p.find("child").Unread, true)
		equal(t, p.find("s").Unread, false)
	})
	bubble(t, "SP-UNREAD-05 SP-INC-04 the moment holds for every client, now and after a restart", func(t *testing.T) {
		dir := t.TempDir()
		d := newDesk(t, dir)
		p, w := d.person(t), d.watcher(t)
		for _, name := range []string{"seen", "unseen"} {
			d.reply(d.turn(d.session(name)))
		}
		w.changes()
		p.do("session/markSeen", m{"sessionId": p.find("seen").ID})
		got := w.one().Upserts
		equal(t, titlesOf(got), []string{"seen"})
		equal(t, got[0].Unread, false)
		p.Close()
		w.Close()
		d.stop()
		d = newDesk(t, dir)
		p = d.person(t)
		equal(t, []bool{p.find("seen").Unread, p.find("unseen").Unread}, []bool{false, true})
		equal(t, p.list(m{}), []string{"unseen", "seen"})
	})
	bubble(t, "SP-UNREAD-06 looking at a room is allowed and changes nothing", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		room := d.room("onebot:a:group:1", "", "a")
		d.reply(d.turn(room))
		w := d.watcher(t)
		w.do("session/markSeen", m{"sessionId": room})
		equal(t, w.find("a group").Unread, false)
		equal(t, len(w.changes()), 0)
	})
}

// slowPerson is a person whose client can be told to stop reading.
type slowPerson struct {
	*person
	mu   sync.Mutex // guards open
	open chan struct{}
}

func (d *desk) slowWatcher(t *testing.T) *slowPerson {
	t.Helper()
	s := &slowPerson{person: &person{line: new(line), t: t}, open: make(chan struct{})}
	close(s.open)
	s.Conn = d.server.Connect(session.Peer{
		Caller: principal.Caller{Scopes: principal.AllScopes()},
		Room: func(ctx context.Context) bool {
			s.mu.Lock()
			open := s.open
			s.mu.Unlock()
			select {
			case <-open:
				return true
			case <-ctx.Done():
				return false
			}
		},
	}, s.take)
	t.Cleanup(s.Close)
	s.Receive(hello)
	s.do("sessions/watch", m{})
	return s
}

// block stops reading. One batch passes still, because the connection has been asking for it: it is
// used up here.
func (s *slowPerson) block(d *desk) {
	s.mu.Lock()
	s.open = make(chan struct{})
	s.mu.Unlock()
	d.session("the last that is read")
	s.one()
}

func (s *slowPerson) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.open)
}
