package session_test

import (
	"context"
	"testing"
	"testing/synctest"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// conductor stops turns as the program's own dialogue service does.
type conductor struct{ loop *core.Loop }

func (c conductor) StopChildren(ctx context.Context, id string) error {
	_, err := c.loop.Do(ctx, core.StopDescendants{Actor: event.System(), Session: id})
	return err
}

// tasks is a task registry that notes of which sessions all tasks were stopped.
type tasks struct{ stopped []string }

func (*tasks) List(context.Context, text.Language) ([]session.BackgroundTask, error) { return nil, nil }

func (*tasks) Output(context.Context, session.BackgroundOutputParams) (session.BackgroundOutputResult, error) {
	return session.BackgroundOutputResult{}, errUnknown
}

func (*tasks) Stop(context.Context, string) error { return errUnknown }

func (r *tasks) StopAll(_ context.Context, id string) error {
	r.stopped = append(r.stopped, id)
	return nil
}

func TestStopAll(t *testing.T) {
	bubble(t, "SP-BG-30 SP-BG-31 SP-BG-33 SP-BG-34 turns and queues below are stopped and emptied, then the tasks; the session's own turn goes on", func(t *testing.T) {
		k := startKernel(t, t.TempDir())
		registry := new(tasks)
		s := serve(t, session.Options{Loop: k.loop, Services: session.Services{Background: registry}})
		w := watch(t, s)
		defer w.Close()
		root := k.session("root")
		child := k.child(root, "child")
		below := k.child(child, "below")
		own, under := k.turn(root), k.turn(below)
		k.turn(below) // waits
		stopAll := func() string {
			id := w.request("background/stopAll", root, "")
			synctest.Wait()
			w.mu.Lock()
			defer w.mu.Unlock()
			if e := w.pages[id].Error; e != nil {
				return e.Message
			}
			return ""
		}
		if got := stopAll(); got == "" || len(registry.stopped) != 0 || k.running(below) != under {
			t.Errorf("without an agent: %q, %v", got, registry.stopped)
		}
		s.Update(func(all *session.Services) { all.Agent = conductor{k.loop} })
		w.request("session/subscribe", below, "")
		if got := stopAll(); got != "" || len(registry.stopped) != 1 || registry.stopped[0] != root {
			t.Errorf("%q, %v", got, registry.stopped)
		}
		k.do(core.StopTurn{Turn: under})
		synctest.Wait()
		if k.running(root) != own || k.running(below) != "" {
			t.Errorf("running: %q, %q", k.running(root), k.running(below))
		}
		if got := w.state(below); len(got.Fixed) != 0 || len(got.Items) != 3 {
			t.Errorf("the queue is not empty or what it held is not shown: %v", got)
		}
		s.Update(func(all *session.Services) { all.Background = nil })
		next := k.turn(below)
		if got := stopAll(); got != "" {
			t.Errorf("without a registry: %q", got)
		}
		k.do(core.StopTurn{Turn: next})
		if k.running(below) != "" {
			t.Error("the turn goes on")
		}
		wrongs(t, w)
	})
}
