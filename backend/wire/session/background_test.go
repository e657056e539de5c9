package session_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/background"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/wire/session"
)

// conductor stops turns as the program's own dialogue service does.
type conductor struct{ loop *core.Loop }

func (c conductor) StopChildren(ctx context.Context, id string) error {
	_, err := c.loop.Do(ctx, core.StopDescendants{Actor: event.System(), Session: id})
	return err
}

// shop is a desk with a task registry.
type shop struct {
	*desk
	registry registry
	leave    func() // ends the registry
}

func newShop(t *testing.T, dir string) *shop {
	t.Helper()
	s := &shop{desk: newDesk(t, dir)}
	s.registry, s.leave = s.attend()
	s.server.Update(func(all *session.Services) { all.Background, all.Agent = s.registry, conductor{s.loop} })
	return s
}

// task is work that goes on while the turn it came from is over.
func (s *shop) task(sessionID string) *labour {
	s.t.Helper()
	turn := s.turn(sessionID)
	l := s.send(s.registry, turn, "run_command", `{"command":"make secret"}`)
	s.do(core.EndSilent{Turn: turn})
	return l
}

// settled ends a task and the turn in which she is told of it.
func (s *shop) settled(sessionID string, l *labour, r background.Result) {
	s.t.Helper()
	l.end(r)
	synctest.Wait()
	if turn := s.running(sessionID); turn != "" {
		s.do(core.EndSilent{Turn: turn})
	}
}

func (p *person) tasks() []session.BackgroundTask {
	p.t.Helper()
	return call[session.BackgroundListResult](p, "background/list", m{}).Tasks
}

// heard lists the background pushes since it was last asked: tasks by what they are, then what went.
func (p *person) heard() (all []string) {
	p.t.Helper()
	for _, push := range pushed[session.BackgroundChanged](p, "background/changed") {
		var said []string
		for _, t := range push.Upserts {
			said = append(said, strings.TrimSpace(fmt.Sprintf("%s %s", t.Status, t.LastLine)))
		}
		for range push.Removes {
			said = append(said, "gone")
		}
		all = append(all, strings.Join(said, ", "))
	}
	return all
}

func word(status string) background.Result {
	return background.Result{Status: status, Text: "a secret result"}
}

func TestBackgroundList(t *testing.T) {
	bubble(t, "SP-BG-02 SP-BG-03 SP-BG-04 SP-BG-06 SP-BG-07 SP-BG-08 SP-BG-10 the tasks of all sessions, archived or not, running and ended; no turns", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		p := s.person(t)
		equal(t, p.tasks(), []session.BackgroundTask{})
		root, room := s.session("root"), s.room("onebot:1:group:2", "", "1")
		child := s.child(root, "child")
		start := time.Now().UnixMilli()
		ended, running := s.task(root), s.task(room)
		s.turn(child) // runs, and is none of them
		p.do("session/archive", m{"sessionId": root})
		time.Sleep(time.Second)
		ended.print("first\nlast\n")
		running.print("on it")
		time.Sleep(time.Second)
		code := 2
		s.settled(root, ended, background.Result{Status: event.ResultFailed, ExitCode: &code})
		got := p.tasks()
		for i := range got {
			equal(t, got[i].Call.TurnID != "", true)
			got[i].Call.TurnID = ""
		}
		equal(t, got, []session.BackgroundTask{
			{
				ID: ended.id, SessionID: root, Kind: "tool-call", Label: "run_command", Call: &session.TaskCall{Tool: "run_command", CallID: ended.call},
				Status: "failed", StartedAt: start, EndedAt: start + 2000, LastLine: "last", LastOutputAt: start + 1000, Reason: "It ended with exit code 2.", ExitCode: &code,
			},
			{
				ID: running.id, SessionID: room, Kind: "tool-call", Label: "run_command", Call: &session.TaskCall{Tool: "run_command", CallID: running.call},
				Status: "running", StartedAt: start, LastLine: "on it", LastOutputAt: start + 1000,
			},
		})
		s.language = "zh-CN"
		equal(t, p.tasks()[0].Reason, "以退出码 2 结束。")
	})
	bubble(t, "SP-BG-12 display is of the parameters, without exit code, and absent without the tool", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		s.server.Update(func(all *session.Services) { all.Display = displays })
		p := s.person(t)
		root := s.session("root")
		code := 0
		s.settled(root, s.task(root), background.Result{Status: event.ResultSucceeded, ExitCode: &code})
		const list = `{"tasks":[{`
		raw, _ := p.request("background/list", m{})
		if got := string(raw); !strings.HasPrefix(got, list) || !strings.Contains(got, `"exitCode":0,"display":{"kind":"command","command":"make secret"}}]}`) {
			t.Error(got)
		}
		s.server.Update(func(all *session.Services) { all.Display = nil })
		raw, _ = p.request("background/list", m{})
		if got := string(raw); !strings.HasSuffix(got, `"exitCode":0}]}`) {
			t.Error(got)
		}
	})
	bubble(t, "SP-BG-13 neither parameters nor results are in any frame of the background", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		p := s.person(t)
		p.do("background/watch", m{})
		root := s.session("root")
		l := s.task(root)
		synctest.Wait() // its start has been pushed, by itself
		l.print("words\n")
		time.Sleep(2 * time.Second)
		p.tasks()
		s.settled(root, l, word(event.ResultSucceeded))
		p.tasks()
		frames := 0
		for _, frame := range p.sent() {
			if strings.Contains(frame, l.id) {
				frames++
			}
			if strings.Contains(frame, "secret") {
				t.Error(frame)
			}
		}
		if frames < 5 {
			t.Errorf("%d frames", frames)
		}
	})
	t.Run("SP-BG-09 SP-BG-11 SP-BG-25 after a restart: exit codes stay, what ran is aborted with a reason, no output is left", func(t *testing.T) {
		dir := t.TempDir()
		var ended, cut string
		synctest.Test(t, func(t *testing.T) {
			s := newShop(t, dir)
			root := s.session("root")
			one, two := s.task(root), s.task(root)
			ended, cut = one.id, two.id
			two.print("words\n")
			code := 7
			s.settled(root, one, background.Result{Status: event.ResultFailed, ExitCode: &code})
			s.stop()
		})
		synctest.Test(t, func(t *testing.T) {
			s := newShop(t, dir)
			if err := core.Recover(t.Context(), s.loop); err != nil {
				t.Fatal(err)
			}
			p := s.person(t)
			got := p.tasks()
			if len(got) != 2 || got[0].ID != ended || *got[0].ExitCode != 7 || got[1].ID != cut || got[1].Status != "aborted" || got[1].Reason == "" || got[1].LastLine != "words" {
				t.Errorf("%+v", got)
			}
			equal(t, call[session.BackgroundOutputResult](p, "background/output", m{"taskId": cut}), session.BackgroundOutputResult{})
			equal(t, call[session.BackgroundOutputResult](p, "background/output", m{"taskId": cut, "after": 3}), session.BackgroundOutputResult{})
			p.do("background/stop", m{"taskId": cut})
			equal(t, p.tasks()[1].Status, session.TaskAborted)
		})
	})
}

func TestBackgroundCounts(t *testing.T) {
	bubble(t, "SP-INC-04 SP-INC-05 SP-TREE-05 SP-LIST-30 start, end and deletion of a task push the session with all above it", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		p := s.person(t)
		root := s.session("root")
		child := s.child(root, "child")
		p.do("sessions/watch", m{})
		counts := func() (all []string) {
			p.t.Helper()
			for _, push := range p.changes() {
				for _, line := range push.Upserts {
					all = append(all, fmt.Sprintf("%s %d", line.Title, line.Background))
				}
			}
			return all
		}
		last := func(want ...string) {
			t.Helper()
			got := counts()
			if len(got) < len(want) {
				t.Fatalf("%q", got)
			}
			equal(t, got[len(got)-len(want):], want)
		}
		l := s.task(child)
		last("root 1", "child 1")
		equal(t, p.list(m{"background": true}), []string{"root"})
		p.do("background/stop", m{"taskId": l.id})
		last("root 0", "child 0")
		equal(t, p.list(m{"background": true}), []string{})
		s.task(child)
		counts()
		p.do("session/delete", m{"sessionId": child})
		last("root 0")
	})
}

func TestBackgroundOutput(t *testing.T) {
	bubble(t, "SP-BG-21 SP-BG-22 SP-BG-23 SP-BG-24 output by position, in UTF-16 units, the tail of it", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		p := s.person(t)
		root := s.session("root")
		l := s.task(root)
		output := func(params m) session.BackgroundOutputResult {
			t.Helper()
			params["taskId"] = l.id
			return call[session.BackgroundOutputResult](p, "background/output", params)
		}
		equal(t, output(m{}), session.BackgroundOutputResult{})
		l.print("漢😀\n")
		equal(t, output(m{}), session.BackgroundOutputResult{Text: "漢😀\n", End: 4})
		equal(t, output(m{"after": 1}), session.BackgroundOutputResult{Text: "😀\n", End: 4})
		equal(t, output(m{"after": 4}), session.BackgroundOutputResult{End: 4})
		equal(t, output(m{"after": 400}), session.BackgroundOutputResult{End: 4})
		for _, wrong := range []any{-1, 1.5, "1", nil} {
			equal(t, p.refused("background/output", m{"taskId": l.id, "after": wrong}), invalidParams)
		}
		l.print(strings.Repeat("x", 64<<10))
		got := output(m{"after": 3})
		equal(t, []any{len(got.Text), got.End, got.Truncated}, []any{64 << 10, int64(4 + 64<<10), true})
		equal(t, output(m{"after": 4}).Truncated, false)
		s.settled(root, l, word(event.ResultSucceeded))
		equal(t, output(m{"after": 4 + 64<<10 - 2}), session.BackgroundOutputResult{Text: "xx", End: 4 + 64<<10})
		equal(t, p.refused("background/output", m{"taskId": "none"}), "not-found")
	})
}

func TestStopAll(t *testing.T) {
	bubble(t, "SP-BG-29 SP-BG-30 SP-BG-31 SP-BG-33 SP-BG-34 turns and queues below are stopped and emptied, then the tasks; the session's own turn goes on", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		s.server.Update(func(all *session.Services) { all.Agent = nil })
		w := watch(t, s.server)
		defer w.Close()
		root := s.session("root")
		child := s.child(root, "child")
		below := s.child(child, "below")
		mine, theirs, others := s.task(root), s.task(child), s.task(s.session("other"))
		own, under := s.turn(root), s.turn(below)
		s.turn(below) // waits
		p := s.person(t)
		statuses := func() (all []session.TaskStatus) {
			for _, task := range p.tasks() {
				all = append(all, task.Status)
			}
			return all
		}
		equal(t, p.refused("background/stopAll", m{"sessionId": root}), "unsupported")
		equal(t, statuses(), []session.TaskStatus{"running", "running", "running"})
		equal(t, s.running(below), under)
		s.server.Update(func(all *session.Services) { all.Agent = conductor{s.loop} })
		w.request("session/subscribe", below, "")
		p.do("background/stopAll", m{"sessionId": root})
		<-mine.ended
		<-theirs.ended
		equal(t, statuses(), []session.TaskStatus{"stopped", "stopped", "running"})
		s.do(core.StopTurn{Turn: under})
		synctest.Wait()
		s.read(func(tx *store.ReadTx) error {
			turn, err := tx.Turn(own)
			if turn.CancelSeq != 0 {
				t.Error("the session's own turn was told to stop")
			}
			return err
		})
		if s.running(root) != own || s.running(below) != "" {
			t.Errorf("running: %q, %q", s.running(root), s.running(below))
		}
		if got := w.state(below); len(got.Fixed) != 0 || len(got.Items) != 3 {
			t.Errorf("the queue is not empty or what it held is not shown: %v", got)
		}
		s.server.Update(func(all *session.Services) { all.Background = nil })
		next := s.turn(below)
		p.do("background/stopAll", m{"sessionId": root})
		s.do(core.StopTurn{Turn: next})
		if s.running(below) != "" {
			t.Error("the turn goes on")
		}
		others.end(background.Result{Status: event.ResultSucceeded})
		wrongs(t, w)
	})
	bubble(t, "SP-BG-30 a task that ends by itself in the middle opens no turn below that goes on", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		p := s.person(t)
		root := s.session("root")
		child := s.child(root, "child")
		l := s.task(child)
		s.turn(child) // so that there is something to stop
		between := ending{conductor{s.loop}, func() { l.end(background.Result{Status: event.ResultSucceeded}); time.Sleep(time.Second) }, new(atomic.Int32)}
		s.do(core.StopTurn{Turn: s.running(child)})
		s.server.Update(func(all *session.Services) { all.Agent = between })
		p.Receive(ask("77", "background/stopAll", fmt.Sprintf(`{"sessionId":%q}`, root)))
		time.Sleep(2 * time.Second)
		turn := s.running(child)
		if turn == "" || between.calls.Load() != 2 {
			t.Fatalf("no turn was opened in the middle, or it was left alone: %d stops", between.calls.Load())
		}
		s.read(func(tx *store.ReadTx) error {
			row, err := tx.Turn(turn)
			if row.CancelSeq == 0 {
				t.Error("it goes on")
			}
			return err
		})
		s.do(core.StopTurn{Turn: turn})
	})
	bubble(t, "SP-BG-32 SP-BG-33 SP-BG-35 without a registry there are no tasks to list, read or stop; what is unknown is not found", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		p := s.person(t)
		root := s.session("root")
		l := s.task(root)
		for _, method := range []string{"background/output", "background/stop"} {
			equal(t, p.refused(method, m{"taskId": "none"}), "not-found")
		}
		equal(t, p.refused("background/stopAll", m{"sessionId": "none"}), "not-found")
		s.server.Update(func(all *session.Services) { all.Background = nil })
		equal(t, p.refused("background/list", m{}), "unsupported")
		for _, method := range []string{"background/output", "background/stop"} {
			equal(t, p.refused(method, m{"taskId": l.id}), "unsupported")
		}
		equal(t, p.refused("background/stopAll", m{"sessionId": "none"}), "not-found")
		p.do("background/stopAll", m{"sessionId": root})
		l.end(background.Result{Status: event.ResultSucceeded})
	})
}

// ending is a dialogue service that is slow to answer: meanwhile something else happens, once.
type ending struct {
	conductor
	meanwhile func()
	calls     *atomic.Int32
}

func (e ending) StopChildren(ctx context.Context, id string) error {
	err := e.conductor.StopChildren(ctx, id)
	if e.calls.Add(1) == 1 {
		e.meanwhile()
	}
	return err
}

func TestBackgroundNotice(t *testing.T) {
	bubble(t, "SP-NOTICE-02 SP-NOTICE-05 SP-UMSG-11 SP-QUEUE-03 SP-QUEUE-04 SP-REFR-01 the notice waits in the queue as its sentence, joins the turn, and history has it where it did", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		w := watch(t, s.server)
		defer w.Close()
		root := s.session("root")
		w.request("session/subscribe", root, "")
		l := s.task(root)
		turn := s.turn(root)
		l.end(word(event.ResultSucceeded))
		synctest.Wait()
		queue := w.state(root).Fixed["queue"]
		entry := queue["entries"].([]any)[0].(map[string]any)
		equal(t, entry["text"], any("The background task run_command is done."))
		equal(t, entry["speaker"].(map[string]any)["source"], any("background-task"))
		s.do(core.JoinInputs{Turn: turn})
		s.reply(turn)
		synctest.Wait()
		live := w.state(root)
		found := 0
		for _, item := range live.Items {
			if item["kind"] == "notice" {
				found++
				equal(t, []any{item["topic"], item["noticeId"], item["entry"], item["turnId"]}, []any{"background-task", any(l.id), "joined", any(turn)})
				equal(t, item["facts"].(map[string]any)["status"], any("completed"))
			}
		}
		equal(t, found, 1)
		equal(t, len(live.Fixed), 0)
		w.forget(root)
		w.request("session/subscribe", root, "")
		synctest.Wait()
		equal(t, w.state(root).Items, live.Items)
		equal(t, w.state(root).Order, live.Order)
		wrongs(t, w)
	})
	bubble(t, "SP-NOTICE-03 SP-TURNI-01 without a turn the notice opens one", func(t *testing.T) {
		s := newShop(t, t.TempDir())
		w := watch(t, s.server)
		defer w.Close()
		root := s.session("root")
		w.request("session/subscribe", root, "")
		l := s.task(root)
		l.end(word(event.ResultSucceeded))
		synctest.Wait()
		turn := s.running(root)
		items := func() map[string]map[string]any { return w.state(root).Items }
		equal(t, items()[turn]["source"], any("background-task"))
		check := func() {
			t.Helper()
			found := 0
			for _, item := range items() {
				if item["kind"] == "notice" {
					found++
					equal(t, []any{item["text"], item["entry"], item["turnId"]}, []any{"The background task run_command is done.", "opened", any(turn)})
				}
			}
			equal(t, found, 1)
		}
		check()
		w.forget(root)
		w.request("session/subscribe", root, "") // in flight
		check()
		s.reply(turn)
		synctest.Wait()
		w.forget(root)
		w.request("session/subscribe", root, "")
		check()
		wrongs(t, w)
	})
}
