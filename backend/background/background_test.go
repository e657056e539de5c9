package background

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
)

func TestConduct(t *testing.T) {
	bubble(t, "SP-BG-01 a call that is quick stays in its turn", func(t *testing.T, r *rig) {
		s := r.session("")
		h := r.call(r.turn(s))
		time.Sleep(29 * time.Second)
		h.print("one\n")
		code := 0
		h.end(Result{Status: event.ResultSucceeded, Text: "fine", ExitCode: &code})
		<-h.back
		if h.err != nil || h.got.Text != "fine" || h.got.TaskID != "" || h.got.ExitCode == nil || r.registry.Running() != 0 {
			t.Errorf("%+v, %v", h.got, h.err)
		}
		if len(facts[event.Backgrounding](r, s)) != 0 || strings.Join(h.shown, "") != "one\n" {
			t.Errorf("moved, or not shown: %q", h.shown)
		}
	})
	bubble(t, "SP-BG-01 SP-TOOL-24 one that outlasts the foreground limit is moved, with what it has printed so far", func(t *testing.T, r *rig) {
		s := r.session("")
		turn := r.turn(s)
		h := r.call(turn)
		<-h.began
		began := h.work.Started
		h.print("one\n")
		time.Sleep(DefaultForeground - time.Millisecond)
		synctest.Wait()
		if len(facts[event.Backgrounding](r, s)) != 0 {
			t.Error("moved too early")
		}
		time.Sleep(time.Millisecond)
		<-h.back
		if h.err != nil || h.got.TaskID == "" || !strings.Contains(h.got.Text, h.got.TaskID) || !strings.HasSuffix(h.got.Text, "\none\n") || !strings.Contains(h.got.Text, "30 s") {
			t.Errorf("%+v, %v", h.got, h.err)
		}
		res := facts[event.Result](r, s)
		if len(res) != 1 || res[0].TaskID != h.got.TaskID || res[0].Text != h.got.Text || res[0].DurationMS != 30_000 {
			t.Errorf("%+v", res)
		}
		if got := h.task(); got.StartedAt != began.UnixMilli() || got.Status != event.TaskRunning {
			t.Errorf("%+v", got)
		}
		h.print("two\n")
		text, end, _, err := r.registry.Output(t.Context(), h.got.TaskID, 0)
		if err != nil || text != "one\ntwo\n" || end != 8 || strings.Join(h.shown, "") != "one\n" {
			t.Errorf("%q %d %v; its card has %q", text, end, err, h.shown)
		}
		r.do(core.EndSilent{Turn: turn})
		h.end(Result{Status: event.ResultSucceeded, Text: "all of it"})
		if n := facts[event.Notice](r, s); len(n) != 1 || !strings.Contains(n[0].Body, "all of it") {
			t.Errorf("%+v", n)
		}
	})
	bubble(t, "SP-BG-01 one that is to go at once is moved before it begins", func(t *testing.T, r *rig) {
		s := r.session("")
		var known int
		h := r.call(r.turn(s), atOnce, func(h *hand) {
			do := h.work.Do
			h.work.Do = func(ctx context.Context, out func(string)) Result {
				known = len(facts[event.Backgrounding](r, s))
				return do(ctx, out)
			}
		})
		<-h.back
		<-h.began
		if h.got.TaskID == "" || known != 1 {
			t.Errorf("%+v; %d known to the log when it began", h.got, known)
		}
		h.end(Result{Status: event.ResultSucceeded})
	})
	bubble(t, "SP-TURN-16 the end of a turn stops its work until that is moved, and not after", func(t *testing.T, r *rig) {
		aborted := errors.New("aborted")
		s := r.session("")
		turn := r.turn(s)
		before, after := r.call(turn), r.call(turn, atOnce)
		<-after.back
		<-before.began
		before.stop(aborted)
		after.stop(aborted)
		<-before.back
		synctest.Wait()
		if !errors.Is(before.err, aborted) || <-before.causes != aborted {
			t.Errorf("%v", before.err)
		}
		if got := after.task().Status; got != event.TaskRunning || r.registry.Running() != 1 {
			t.Error(got)
		}
		after.end(Result{Status: event.ResultSucceeded})
	})
	bubble(t, "a turn that was stopped in the log moves nothing: the work ends with it", func(t *testing.T, r *rig) {
		s := r.session("")
		turn := r.turn(s)
		later := r.call(turn)
		<-later.began
		r.do(core.AbortTurn{Actor: owner, Session: s})
		unknown := make(chan struct{})
		go func() {
			defer close(unknown)
			_, err := r.registry.Conduct(context.Background(), Work{Turn: turn, Call: later.work.Call, AtOnce: true, Do: func(context.Context, func(string)) Result {
				t.Error("it ran")
				return Result{}
			}})
			if !errors.Is(err, core.ErrTurnOver) {
				t.Error(err)
			}
		}()
		<-unknown
		time.Sleep(DefaultForeground)
		<-later.back
		if !errors.Is(later.err, core.ErrTurnOver) || !errors.Is(<-later.causes, core.ErrTurnOver) || r.registry.Running() != 0 {
			t.Errorf("%v", later.err)
		}
		r.do(core.StopTurn{Turn: turn})
	})
	bubble(t, "a card that takes no more stops its work", func(t *testing.T, r *rig) {
		s := r.session("")
		turn := r.turn(s)
		h := r.call(turn)
		<-h.began
		r.do(core.AbortTurn{Actor: owner, Session: s})
		h.print("late")
		<-h.back
		if !errors.Is(h.err, core.ErrItemClosed) {
			t.Error(h.err)
		}
		r.do(core.StopTurn{Turn: turn})
	})
	bubble(t, "work that does not listen is left behind", func(t *testing.T, r *rig) {
		deaf := func(h *hand) {
			h.work.Do = func(context.Context, func(string)) Result { time.Sleep(time.Minute); return Result{} }
		}
		turn := r.turn(r.session(""))
		h, moved := r.call(turn, deaf), r.call(turn, deaf, atOnce)
		<-moved.back
		start := time.Now()
		h.stop(errors.New("aborted"))
		<-h.back
		if err := r.registry.Stop(t.Context(), moved.got.TaskID); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 2*leaveWithin || moved.task().Status != event.TaskStopped {
			t.Errorf("took %v; %s", took, moved.task().Status)
		}
		time.Sleep(2 * time.Minute)
	})
}

func TestHowTasksEnd(t *testing.T) {
	seven := 7
	for _, c := range []struct {
		name   string
		result Result
		want   string
		reason string
	}{
		{"well", Result{Status: event.ResultSucceeded}, event.TaskCompleted, ""},
		{"with an exit code that is not 0", Result{Status: event.ResultFailed, ExitCode: &seven}, event.TaskFailed, "It ended with exit code 7."},
		{"with an error in its result", Result{Status: event.ResultFailed, Text: `{"error":"x"}`}, event.TaskFailed, "The tool reported an error."},
		{"by its time limit", Result{Status: event.ResultTimedOut}, event.TaskFailed, "It took longer than it may and was ended."},
	} {
		bubble(t, "SP-BG-09 SP-BG-10 SP-BG-11 "+c.name, func(t *testing.T, r *rig) {
			h := r.moved(r.session(""))
			h.print("a\nlast words\n")
			at := time.Now()
			time.Sleep(time.Second)
			h.end(c.result)
			got := h.task()
			if got.Status != c.want || got.Reason.String() != c.reason || got.EndedAt != time.Now().UnixMilli() || got.LastLine != "last words" || got.LastOutputAt != at.UnixMilli() {
				t.Errorf("%+v", got)
			}
			if (got.ExitCode == nil) != (c.result.ExitCode == nil) {
				t.Errorf("exit code %v", got.ExitCode)
			}
		})
	}
	bubble(t, "SP-BG-09 SP-BG-26 SP-BG-27 SP-BG-28 stopped, once it has settled, without a notice; and again nothing happens", func(t *testing.T, r *rig) {
		s := r.session("")
		h := r.moved(s)
		for range 2 {
			if err := r.registry.Stop(t.Context(), h.got.TaskID); err != nil {
				t.Error(err)
			}
			if got := h.task(); got.Status != event.TaskStopped {
				t.Errorf("%+v", got)
			}
		}
		if n := facts[event.Notice](r, s); len(n) != 0 || <-h.causes != ErrStopped {
			t.Errorf("%+v", n)
		}
		if err := r.registry.Stop(t.Context(), "none"); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
	})
	bubble(t, "SP-BG-26 stopping waits a few seconds at most", func(t *testing.T, r *rig) {
		h := r.moved(r.session(""))
		r.failing.Store(true)
		start := time.Now()
		if err := r.registry.Stop(t.Context(), h.got.TaskID); err != nil || time.Since(start) != settleWithin {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		r.failing.Store(false)
		time.Sleep(maxPause)
		if got := h.task().Status; got != event.TaskStopped {
			t.Errorf("written as %s", got)
		}
	})
	bubble(t, "SP-BG-09 SP-BG-30 all of a session and below, and no others", func(t *testing.T, r *rig) {
		root := r.session("")
		child := r.session(root)
		in := []*hand{r.moved(root), r.moved(root), r.moved(child), r.moved(r.session(child))}
		out := r.moved(r.session(""))
		if err := r.registry.StopAll(t.Context(), root); err != nil {
			t.Error(err)
		}
		for _, h := range in {
			if got := h.task().Status; got != event.TaskStopped {
				t.Error(got)
			}
		}
		if got := out.task().Status; got != event.TaskRunning || r.registry.Running() != 1 {
			t.Error(got)
		}
		if err := r.registry.StopAll(t.Context(), "none"); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
		out.end(Result{Status: event.ResultSucceeded})
	})
	bubble(t, "SP-BG-09 a task that had ended when it was told to is what it was", func(t *testing.T, r *rig) {
		j := newJob(r.registry, Work{Do: func(context.Context, func(string)) Result { return Result{Status: event.ResultSucceeded} }})
		j.start()
		<-j.done
		j.cancel(ErrStopped)
		if got := j.end().End.Status; got != event.TaskCompleted {
			t.Error(got)
		}
	})
}

func TestDeletedSession(t *testing.T) {
	bubble(t, "SP-BG-20 SP-BG-35 the tasks of a deleted session are stopped and forgotten; archiving leaves them", func(t *testing.T, r *rig) {
		s := r.session("")
		h := r.moved(s)
		r.do(core.ArchiveSession{Actor: owner, Session: s})
		synctest.Wait()
		if r.registry.Running() != 1 {
			t.Error("archiving stopped it")
		}
		r.do(core.DeleteSession{Actor: owner, Session: s})
		synctest.Wait()
		if r.registry.Running() != 0 || <-h.causes != errGone || r.registry.job(h.got.TaskID) != nil {
			t.Error("it goes on")
		}
		if _, _, _, err := r.registry.Output(t.Context(), h.got.TaskID, 0); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
	})
	bubble(t, "SP-BG-05 the output of a task that is no longer kept is let go", func(t *testing.T, r *rig) {
		s := r.session("")
		var first *hand
		for range core.KeptTasks + 1 {
			h := r.moved(s)
			h.print("words")
			if err := r.registry.Stop(t.Context(), h.got.TaskID); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = h
			}
		}
		synctest.Wait()
		r.registry.mu.Lock()
		defer r.registry.mu.Unlock()
		if len(r.registry.jobs) != core.KeptTasks || r.registry.jobs[first.got.TaskID] != nil {
			t.Errorf("%d are held", len(r.registry.jobs))
		}
	})
}

func TestShutdown(t *testing.T) {
	t.Run("SP-BG-09 SP-BG-25 the end of the program aborts tasks, she is told at the next start, and no output is left", func(t *testing.T) {
		dir := t.TempDir()
		var s, task string
		synctest.Test(t, func(t *testing.T) {
			r := open(t, dir)
			s = r.session("")
			h := r.moved(s)
			task = h.got.TaskID
			h.print("words\n")
			start := time.Now()
			r.quit()
			if r.ran != nil || time.Since(start) > time.Second || <-h.causes != ErrShutdown {
				t.Errorf("%v after %v", r.ran, time.Since(start))
			}
			if got := h.task(); got.Status != event.TaskAborted || got.LastLine != "words" || got.Reason.String() == "" {
				t.Errorf("%+v", got)
			}
			if len(facts[event.TurnStart](r, s)) != 1 {
				t.Error("a turn was opened")
			}
			late := r.call(r.turn(s), atOnce) // the registry moves no more
			<-late.began
			time.Sleep(2 * DefaultForeground)
			late.end(Result{Status: event.ResultSucceeded, Text: "in the foreground"})
			<-late.back
			if late.err != nil || late.got.TaskID != "" || late.got.Text != "in the foreground" {
				t.Errorf("%+v %v", late.got, late.err)
			}
			r.stop()
		})
		synctest.Test(t, func(t *testing.T) {
			r := open(t, dir)
			if n := facts[event.TurnStart](r, s); len(n) != 3 || n[2].Source != event.TopicBackground {
				t.Errorf("%+v", n)
			}
			text, end, truncated, err := r.registry.Output(t.Context(), task, 0)
			if text != "" || end != 0 || truncated || err != nil {
				t.Errorf("%q %d %v %v", text, end, truncated, err)
			}
			if err := r.registry.Stop(t.Context(), task); err != nil {
				t.Error(err)
			}
			r.stop()
		})
	})
	t.Run("FAIL-G6 work that does not listen, and a disk that takes nothing, do not hold it up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			s := r.session("")
			turn := r.turn(s)
			h := r.call(turn, atOnce, func(h *hand) {
				h.work.Do = func(context.Context, func(string)) Result { time.Sleep(time.Minute); return Result{} }
			})
			<-h.back
			r.failing.Store(true)
			start := time.Now()
			r.quit()
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("took %v", took)
			}
			r.failing.Store(false)
			time.Sleep(2 * time.Minute)
			r.stop()
		})
	})
}

func TestNotes(t *testing.T) {
	bubble(t, "SP-BG-18 a task that prints much says so five times a second, at once and once more at the end", func(t *testing.T, r *rig) {
		h := r.moved(r.session(""))
		cursor := r.loop.Cursor()
		notes := func() (n int) {
			synctest.Wait()
			entries, err := cursor.Take()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Note != nil && e.Note.Kind == core.NoteTask && e.Note.Data == h.got.TaskID {
					n++
				}
			}
			return n
		}
		h.print("first")
		if n := notes(); n != 1 {
			t.Errorf("%d notes at once", n)
		}
		for range 999 {
			h.print("x\n")
			time.Sleep(time.Millisecond)
		}
		if n := notes(); n < 4 || n > 5 {
			t.Errorf("%d notes in a second", n)
		}
		time.Sleep(noteEvery)
		notes()
		time.Sleep(time.Hour)
		if n := notes(); n != 0 {
			t.Errorf("%d notes of silence", n)
		}
		h.print("a")
		h.print("last")
		h.end(Result{Status: event.ResultSucceeded})
		notes()
		time.Sleep(time.Hour)
		if n := notes(); n != 0 {
			t.Errorf("%d notes behind the end", n)
		}
	})
}
