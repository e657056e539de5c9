package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/wire/session"
)

func TestRestart(t *testing.T) {
	bubble(t, "SP-SUB-16 SP-TOOL-11 FAIL-A24 after a restart there is another epoch, one for all, seq goes on, and what was cut off is stopped with what was said", func(t *testing.T) {
		dir := t.TempDir()
		k := startKernel(t, dir)
		s := serve(t, session.Options{Loop: k.loop})
		w, other := watch(t, s), watch(t, s)
		id := k.session("one")
		turn := k.turn(id)
		item := k.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
		k.ask(turn)
		k.stream(item, "half a ")
		w.request("session/subscribe", id, "")
		other.request("session/subscribe", k.session("two"), "")
		k.stream(item, "sentence")
		time.Sleep(time.Second)
		synctest.Wait()
		epoch, seq := w.views[id].epoch, w.views[id].seq
		for _, v := range other.views {
			if v.epoch != epoch {
				t.Errorf("epochs %s and %s", epoch, v.epoch)
			}
		}
		w.Close()
		other.Close()
		k.stop()

		k = startKernel(t, dir)
		if err := core.Recover(context.Background(), k.loop); err != nil {
			t.Fatal(err)
		}
		w = watch(t, serve(t, session.Options{Loop: k.loop}))
		defer w.Close()
		w.request("session/subscribe", id, "")
		v := w.views[id]
		if v.epoch == epoch || v.seq <= seq {
			t.Errorf("epoch %s after %s, seq %d after %d", v.epoch, epoch, v.seq, seq)
		}
		if got := v.items[item]["text"]; got != "half a sentence" {
			t.Errorf("%q", got)
		}
		if got := v.items[turn]["outcome"]; got != string(session.OutcomeAborted) {
			t.Errorf("the turn is %v", got)
		}
		cards := 0
		for _, i := range v.items {
			if i["kind"] == session.KindToolCall {
				cards++
				if i["status"] != string(session.CallAborted) {
					t.Errorf("the card is %v", i["status"])
				}
			}
		}
		if cards != 1 {
			t.Errorf("%d cards", cards)
		}
	})
	bubble(t, "SP-SUB-36 SP-CONN-05 a connection that has closed is pushed nothing more", func(t *testing.T) {
		k := startKernel(t, t.TempDir())
		w := watch(t, serve(t, session.Options{Loop: k.loop}))
		id := k.session("one")
		w.request("session/subscribe", id, "")
		k.do(core.AddNotice{Session: id, Notice: event.Notice{Topic: "event-marker"}})
		synctest.Wait()
		if w.count("item/completed") != 1 {
			t.Error("no push before")
		}
		w.Close()
		k.do(core.AddNotice{Session: id, Notice: event.Notice{Topic: "event-marker"}})
		synctest.Wait()
		if w.count("item/completed") != 1 {
			t.Error("pushed after it has closed")
		}
	})
	bubble(t, "SP-CONN-01 SP-CONN-03 SP-FILE-08 the service connects and resolves files; a handle that was never issued stands for nothing", func(t *testing.T) {
		var service interface {
			Connect(session.Peer, func(frame string)) *session.Conn
			ResolveFile(ctx context.Context, sessionID, handle string) (session.File, bool)
		} = serve(t, session.Options{})
		var c interface {
			Receive(frame string)
			Close()
		} = service.Connect(session.Peer{}, func(string) {})
		defer c.Close()
		if file, ok := service.ResolveFile(t.Context(), "s", "h"); ok {
			t.Error(file)
		}
	})
	bubble(t, "a subscription of a deleted session ends silently", func(t *testing.T) {
		k := startKernel(t, t.TempDir())
		w := watch(t, serve(t, session.Options{Loop: k.loop}))
		defer w.Close()
		id := k.session("one")
		w.request("session/subscribe", id, "")
		k.do(core.DeleteSession{Actor: console, Session: id})
		synctest.Wait()
		if n := w.count("session/resync") + w.count("item/completed"); n != 0 {
			t.Errorf("%d pushes", n)
		}
		again := w.request("session/history", id, "")
		synctest.Wait()
		if w.pages[again].Error == nil {
			t.Error("its history is still there")
		}
		wrongs(t, w)
	})
}
