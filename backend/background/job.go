package background

import (
	"context"
	"fmt"
	"sync"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/text"
)

const (
	// noteEvery is how often a task says at most that it has printed something.
	noteEvery = 200 * time.Millisecond
	// shownUnits is how much of what was printed so far a moved call's result holds.
	shownUnits = 2000
)

// job is a piece of work, moved or not.
type job struct {
	Work
	registry *Registry
	ctx      context.Context // ends when the work is to stop; its cause says why
	cancel   context.CancelCauseFunc
	done     chan struct{} // closed when Do has returned; result and cause are then set
	settled  chan struct{} // of a task: closed when its end is written

	result Result
	cause  error // why the work was to stop when it returned, nil for an end of its own

	mu     sync.Mutex // guards all below
	id     string     // of the task it becomes; its card takes no more
	moved  bool       // the log has the task
	output ring
	at     time.Time   // of the last output
	noted  time.Time   // of the last note
	later  *time.Timer // the note that is still to come
}

func newJob(r *Registry, w Work) *job {
	j := &job{Work: w, registry: r, done: make(chan struct{}), settled: make(chan struct{})}
	j.ctx, j.cancel = context.WithCancelCause(context.Background())
	return j
}

// start lets the work begin.
func (j *job) start() {
	j.registry.work.Go(func() {
		defer close(j.done)
		j.result = j.Do(j.ctx, j.print)
		j.cause = context.Cause(j.ctx)
		j.quiet()
	})
}

func (j *job) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// wait reports whether the work ends within a time.
func (j *job) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-j.done:
		return true
	case <-timer.C:
		return false
	}
}

// print takes what the work prints: for its card while it has one, and for the task it may become.
func (j *job) print(piece string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.output.add(piece)
	j.at = time.Now()
	if j.id != "" {
		j.announce()
		return
	}
	if err := j.Show(piece); err != nil {
		j.cancel(err)
	}
}

// announce notes that the task has printed something, now or a little later. Called under mu.
func (j *job) announce() {
	if j.later != nil {
		return
	}
	note := core.Note{Kind: core.NoteTask, Data: j.id}
	wait := noteEvery - j.at.Sub(j.noted)
	if wait <= 0 {
		j.noted = j.at
		j.registry.loop.Note(note)
		return
	}
	j.later = time.AfterFunc(wait, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.later == nil {
			return // the work is over: its end says the rest
		}
		j.later, j.noted = nil, time.Now()
		j.registry.loop.Note(note)
	})
}

// quiet takes back the note that is still to come, and the room for more output.
func (j *job) quiet() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.output.shrink()
	if j.later != nil {
		j.later.Stop()
		j.later = nil
	}
}

// detach makes a task of the job: its card takes no more. It gives the tail of what was printed.
func (j *job) detach(id string) (printed string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.id = id
	_, end, _ := j.output.after(0)
	printed, _, _ = j.output.after(max(0, end-shownUnits))
	return printed
}

func (j *job) wasMoved() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.moved
}

func (j *job) commit() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.moved = true
}

// farewell is what the model reads of a call that was moved.
func (j *job) farewell(id string, limit time.Duration, printed string) string {
	said := fmt.Sprintf("It goes on in the background as task %s. You will be told when it has ended; until then read_task shows what it prints and stop_task ends it. Do not wait for it.", id)
	if j.AtOnce {
		return said
	}
	said = fmt.Sprintf("After %d s it has not ended. %s", int(limit.Seconds()), said)
	if printed != "" {
		said += " The end of what it has printed so far:\n" + printed
	}
	return said
}

func (j *job) printed(after int64) (printed string, end int64, truncated bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.output.after(after)
}

func (j *job) progress() (line string, at int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.at.IsZero() {
		return "", 0
	}
	return lastLine(j.output.kept()), j.at.UnixMilli()
}

// end words how the task came out. Spec SP-BG-09.
func (j *job) end() core.EndTask {
	line, at := j.progress()
	e := core.EndTask{TaskID: j.id, End: event.BackgroundEnd{LastLine: line, LastOutputAt: at}}
	cause := context.Cause(j.ctx)
	if j.over() {
		cause = j.cause
		e.End.ExitCode, e.Result = j.result.ExitCode, j.result.Text
	}
	switch {
	case cause == ErrShutdown:
		e.End.Status, e.End.Reason, e.Hold = event.TaskAborted, text.New("task.restarted"), true
	case cause != nil:
		e.End.Status = event.TaskStopped
	case j.result.Status == event.ResultSucceeded:
		e.End.Status = event.TaskCompleted
	default:
		e.End.Status, e.End.Reason = event.TaskFailed, j.reason()
	}
	return e
}

func (j *job) reason() text.Text {
	switch {
	case j.result.Status == event.ResultTimedOut:
		return text.New("task.timeout")
	case j.result.ExitCode != nil && *j.result.ExitCode != 0:
		return text.New("task.exit", "code", *j.result.ExitCode)
	}
	return text.New("task.failed")
}
