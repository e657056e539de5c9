package session_test

import (
	"context"
	"testing"
	"testing/synctest"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/wire/session"
)

func TestWhatASnapshotLeavesOut(t *testing.T) {
	bubble(t, "SP-QUEUE-07 after a restart there is no queue item until the queue changes", func(t *testing.T) {
		dir := t.TempDir()
		k := startKernel(t, dir)
		id := k.session("one")
		k.turn(id)
		waiting := core.SendInput{Actor: console, Session: id, Input: event.Input{Text: "later", Speaker: event.Speaker{Platform: "webui", UserID: "console", Owner: true}}}
		k.do(waiting)
		w := watch(t, serve(t, session.Options{Loop: k.loop}))
		w.request("session/subscribe", id, "")
		if w.views[id].fixed[session.QueueID] == nil {
			t.Fatal("it waits in no queue before")
		}
		w.Close()
		k.stop()

		k = startKernel(t, dir)
		if err := core.Recover(context.Background(), k.loop); err != nil {
			t.Fatal(err)
		}
		w = watch(t, serve(t, session.Options{Loop: k.loop}))
		defer w.Close()
		w.request("session/subscribe", id, "")
		if queue := w.views[id].fixed[session.QueueID]; queue != nil {
			t.Errorf("a queue right after the start: %v", queue)
		}
		k.do(waiting)
		synctest.Wait()
		if w.views[id].fixed[session.QueueID] == nil {
			t.Error("no queue after it has changed")
		}
	})
	bubble(t, "SP-TURNI-05 what opened no turn has no turn item in history", func(t *testing.T) {
		k := startKernel(t, t.TempDir())
		id := k.session("one")
		k.do(core.SendInput{Actor: console, Session: id, Swallow: true, Input: event.Input{Text: "kept", Speaker: event.Speaker{Platform: "webui", UserID: "console", Owner: true}}})
		w := watch(t, serve(t, session.Options{Loop: k.loop}))
		defer w.Close()
		w.request("session/subscribe", id, "")
		kinds := map[any]int{}
		for _, i := range w.views[id].items {
			kinds[i["kind"]]++
		}
		if kinds[session.KindTurn] != 0 || kinds[session.KindUserMessage] != 1 {
			t.Errorf("%v", kinds)
		}
	})
}
