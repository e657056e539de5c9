package session_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/background"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/wire/session"
)

// registry lets the protocol reach the registry of background tasks as the program does.
type registry struct{ *background.Registry }

func (r registry) Output(ctx context.Context, p session.BackgroundOutputParams) (session.BackgroundOutputResult, error) {
	text, end, truncated, err := r.Registry.Output(ctx, p.TaskID, p.After)
	return session.BackgroundOutputResult{Text: text, End: end, Truncated: truncated}, err
}

// attend opens a registry over the log; it ends with the test, or when stop is called.
func (k *kernel) attend() (r registry, stop func()) {
	k.t.Helper()
	r = registry{background.New(background.Options{Loop: k.loop})}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			k.t.Error(err)
		}
	})
	before := k.stop
	k.stop = sync.OnceFunc(func() {
		stop()
		before()
	})
	k.t.Cleanup(k.stop)
	return r, stop
}

// labour is a task whose work the test does.
type labour struct {
	t        testing.TB
	id, call string
	out      chan string
	finish   chan background.Result
	ended    chan struct{}
}

// send moves a new call of a turn to the background.
func (k *kernel) send(r registry, turn, tool, args string) *labour {
	k.t.Helper()
	call := k.do(core.ProposeTool{Turn: turn, Tool: tool, Step: 1}).ItemID
	k.do(core.CallTool{Turn: turn, CallID: call, Tool: tool, Args: json.RawMessage(args), Effect: "write", Step: 1})
	return k.labour(r, turn, call, tool)
}

// labour moves a call that was made.
func (k *kernel) labour(r registry, turn, call, tool string) *labour {
	k.t.Helper()
	l := k.begin(r, turn, call, tool)
	if l == nil {
		k.t.Fatalf("call %s was not moved", call)
	}
	return l
}

// begin is labour where the log may refuse: then it gives nil.
func (k *kernel) begin(r registry, turn, call, tool string) *labour {
	k.t.Helper()
	l := &labour{t: k.t, call: call, out: make(chan string), finish: make(chan background.Result), ended: make(chan struct{})}
	got, err := r.Conduct(context.Background(), background.Work{
		Turn: turn, Call: call, Tool: tool, AtOnce: true, Started: time.Now(), Show: func(string) error { return nil },
		Do: func(ctx context.Context, out func(string)) background.Result {
			defer close(l.ended)
			for {
				select {
				case piece := <-l.out:
					out(piece)
				case r := <-l.finish:
					return r
				case <-ctx.Done():
					return background.Result{Status: event.ResultFailed}
				}
			}
		},
	})
	if err != nil {
		return nil
	}
	l.id = got.TaskID
	return l
}

func (l *labour) print(words string) {
	select {
	case l.out <- words:
		synctest.Wait()
	case <-l.ended:
		l.t.Error("the task has ended")
	}
}

func (l *labour) end(r background.Result) {
	select {
	case l.finish <- r:
	case <-l.ended:
		l.t.Error("the task has ended already")
	}
}

// any does something with a task, whether it still runs or not.
func (l *labour) any(what int) {
	var out chan string
	var finish chan background.Result
	code := what
	switch {
	case what < 2:
		out = l.out
	default:
		finish = l.finish
	}
	select {
	case out <- "words 字 😀\n":
	case finish <- background.Result{Status: event.ResultSucceeded, Text: "done", ExitCode: &code}:
	case <-l.ended:
	}
}

// taskStep is what is done in the background. Steps are about the newest task:
//
//	registry, no-registry     the task registry comes up, or goes
//	move                      the newest call goes on in the background
//	prints WORDS              "\n" in words is a new line
//	ends [exit=N] WORDS       its tool returns
func (s *stage) taskStep(turn, word, rest string) {
	s.t.Helper()
	e := &s.engine
	switch word {
	case "registry":
		r, _ := s.kernel.attend()
		e.registry = r
		s.server.Update(func(all *session.Services) { all.Background = r })
	case "no-registry":
		s.server.Update(func(all *session.Services) { all.Background = nil })
	case "move":
		e.labour = s.kernel.labour(e.registry, turn, e.call, "run_command")
	case "prints":
		e.labour.print(strings.ReplaceAll(rest, `\n`, "\n"))
	case "ends":
		r := background.Result{Status: event.ResultSucceeded, Text: rest}
		if exit, after, ok := strings.Cut(rest, " "); ok && strings.HasPrefix(exit, "exit=") {
			code, _ := strconv.Atoi(exit[len("exit="):])
			if r.ExitCode, r.Text = &code, after; code != 0 {
				r.Status = event.ResultFailed
			}
		}
		e.labour.end(r)
	default:
		s.t.Fatalf("no step %q", word)
	}
}
