package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/wire/session"
)

func TestBackgroundChanged(t *testing.T) {
	bubble(t, "SP-BG-15 SP-BG-17 start and end are pushed at once, to those who watch", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		p, deaf := s.person(t), s.person(t)
		for range 2 {
			p.do("background/watch", m{})
		}
		root := s.session("root")
		l := s.task(root)
		equal(t, p.heard(), []string{"running"})
		s.settled(root, l, word(event.ResultSucceeded))
		equal(t, p.heard(), []string{"completed"})
		equal(t, len(deaf.heard()), 0)
	})
	bubble(t, "SP-BG-17 SP-BG-26 SP-BG-27 a stop is pushed at once, when the task has settled, and tells her nothing", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		p := s.person(t)
		p.do("background/watch", m{})
		root := s.session("root")
		l := s.task(root)
		p.heard()
		p.do("background/stop", m{"taskId": l.id})
		<-l.ended
		equal(t, p.heard(), []string{"stopped"})
		equal(t, s.running(root), "")
		p.do("background/stop", m{"taskId": l.id})
		equal(t, len(p.heard()), 0)
		equal(t, p.tasks()[0].Status, session.TaskStopped)
	})
	bubble(t, "SP-BG-18 what tasks print is pushed at most once a second, together", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		p := s.person(t)
		p.do("background/watch", m{})
		root := s.session("root")
		one, two := s.task(root), s.task(root)
		time.Sleep(5 * time.Second)
		p.heard()
		one.print("a0\n")
		equal(t, p.heard(), []string{"running a0"})
		for i := range 29 { // to 2.9 s
			time.Sleep(100 * time.Millisecond)
			one.print(fmt.Sprintf("a%d\n", i+1))
			two.print(fmt.Sprintf("b%d\n", i+1))
		}
		equal(t, len(p.heard()), 2)
		time.Sleep(100 * time.Millisecond)
		if got := p.heard(); len(got) != 1 || !strings.Contains(got[0], "running a29") || !strings.Contains(got[0], "running b29") {
			t.Errorf("%q", got)
		}
		time.Sleep(time.Hour)
		equal(t, len(p.heard()), 0)
	})
	bubble(t, "SP-BG-19 a change of state takes along what was collected, and nothing old follows", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		p := s.person(t)
		p.do("background/watch", m{})
		root := s.session("root")
		one, two := s.task(root), s.task(root)
		time.Sleep(5 * time.Second)
		one.print("a0\n")
		p.heard()
		time.Sleep(300 * time.Millisecond)
		one.print("a1\n")
		two.print("b1\n")
		time.Sleep(300 * time.Millisecond)
		equal(t, len(p.heard()), 0)
		s.settled(root, one, word(event.ResultSucceeded))
		equal(t, p.heard(), []string{"completed a1, running b1"})
		time.Sleep(time.Hour)
		equal(t, len(p.heard()), 0)
	})
	bubble(t, "SP-BG-20 SP-BG-05 what is no longer kept, and what goes with its session, is named", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		p := s.person(t)
		root := s.session("root")
		child := s.child(root, "child")
		first := s.task(root)
		p.do("background/stop", m{"taskId": first.id})
		p.do("background/watch", m{})
		for range core.KeptTasks {
			p.do("background/stop", m{"taskId": s.task(root).id})
		}
		var removes []string
		for _, push := range pushed[session.BackgroundChanged](p, "background/changed") {
			removes = append(removes, push.Removes...)
		}
		equal(t, removes, []string{first.id})
		equal(t, len(p.tasks()), core.KeptTasks)
		equal(t, p.refused("background/output", m{"taskId": first.id}), "not-found")
		running, below := s.task(root), s.task(child)
		p.heard()
		p.do("session/delete", m{"sessionId": root})
		<-running.ended
		<-below.ended
		gone := map[string]bool{}
		for _, push := range pushed[session.BackgroundChanged](p, "background/changed") {
			equal(t, len(push.Upserts), 0)
			for _, id := range push.Removes {
				gone[id] = true
			}
		}
		if len(gone) != core.KeptTasks+2 || !gone[running.id] || !gone[below.id] {
			t.Errorf("%d are gone", len(gone))
		}
		equal(t, len(p.tasks()), 0)
		equal(t, p.refused("background/stop", m{"taskId": running.id}), "not-found")
	})
	bubble(t, "SP-BG-16 pushes start when the registry comes up", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		s.server.Update(func(all *session.Services) { all.Background = nil })
		p := s.person(t)
		p.do("background/watch", m{})
		root := s.session("root")
		l := s.task(root)
		l.print("words\n")
		time.Sleep(2 * time.Second)
		equal(t, len(p.heard()), 0)
		s.server.Update(func(all *session.Services) { all.Background = s.registry })
		s.settled(root, l, word(event.ResultSucceeded))
		equal(t, p.heard(), []string{"completed words"})
	})
	bubble(t, "SP-BG-20 a connection that fell behind is told all there is, and what is no more", func(t *testing.T) {
		d := newDesk(t, t.TempDir(), func(o *core.Options) { o.RingBytes = 4000 })
		s := &shop{desk: d}
		s.registry, s.leave = s.attend()
		s.server.Update(func(all *session.Services) { all.Background, all.Agent = s.registry, conductor{s.loop} })
		root, other := s.session("root"), s.session("other")
		l := s.task(other)
		slow := new(line)
		gate := make(chan struct{})
		close(gate)
		slow.Conn = s.server.Connect(session.Peer{
			Caller: principal.Caller{Scopes: principal.AllScopes()}, Disconnect: func(string) {},
			Room: func(ctx context.Context) bool {
				slow.mu.Lock()
				wait := gate
				slow.mu.Unlock()
				select {
				case <-wait:
					return true
				case <-ctx.Done():
					return false
				}
			},
		}, slow.take)
		p := &person{line: slow, t: t}
		defer p.Close()
		p.Receive(hello)
		p.answer(t, "0")
		p.do("background/watch", m{})
		slow.mu.Lock()
		gate = make(chan struct{})
		slow.mu.Unlock()
		s.do(core.RenameSession{Actor: console, Session: root, Title: "the pump is asleep in its wait"})
		synctest.Wait()
		s.do(core.DeleteSession{Actor: console, Session: other})
		<-l.ended
		begun := s.task(root)
		for range 100 {
			s.do(core.RenameSession{Actor: console, Session: root, Title: "x"})
		}
		synctest.Wait()
		equal(t, len(p.heard()), 0)
		close(gate)
		got := pushed[session.BackgroundChanged](p, "background/changed")
		if len(got) != 1 || len(got[0].Upserts) != 1 || got[0].Upserts[0].ID != begun.id {
			t.Fatalf("%+v", got)
		}
		equal(t, got[0].Removes, []string{l.id})
	})
}
