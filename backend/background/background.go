// Package background keeps the work that goes on without its turn: tool calls that outlasted their
// turn's patience, or that the model sent away at once. It owns their contexts, so that neither the
// end nor the abort of a turn reaches them, and the tail of what they print, in memory. That a task
// exists and how it ended is in the log, by commands of core; nothing here is read at start. It
// never decides whether a call may run, opens no turn itself, and knows no tool.
//
//	Registry.Conduct            a movable call, from its turn's goroutine
//	  job.start                   the work, one goroutine, under the registry's own context
//	  core.MoveTool               at once, or after the foreground limit
//	  Registry.follow             one goroutine a task: waits for the end, core.EndTask until written
//	Registry.Run                follows the log: what went with a session is stopped, what is no longer
//	                            kept is forgotten; when ctx ends every task is aborted
//	Registry.Stop, StopAll, Output, Progress    for clients and for her
package background

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// DefaultForeground is how long a call may keep its turn waiting (decisions G2).
const DefaultForeground = 30 * time.Second

// Why a task's context ended; context.Cause gives one of them to tools.
var (
	ErrStopped  = errors.New("the task has been stopped")
	ErrShutdown = errors.New("the program is ending")
	errGone     = errors.New("the task's session has been deleted")
)

const (
	// leaveWithin is how long work that was told to end may take; tools promise 2 s.
	leaveWithin = 2200 * time.Millisecond
	// settleWithin bounds the wait of whoever stops a task (decisions G6).
	settleWithin = 5 * time.Second
	// quitWithin is how long the end of the program waits for tasks, and for their ends to be written;
	// quitSlack is for the rest of it.
	quitWithin = 2500 * time.Millisecond
	quitSlack  = 300 * time.Millisecond
)

// Options of a registry. Loop is required.
type Options struct {
	Loop *core.Loop
	// Foreground gives the limit after which a call is moved, asked for each; nil is the default.
	Foreground func() time.Duration
	Log        *slog.Logger // nil discards
}

// Registry holds the tasks of this start. It is safe for concurrent use; Run is called once.
type Registry struct {
	loop       *core.Loop
	foreground func() time.Duration
	log        *slog.Logger

	tasks sync.WaitGroup // one per task whose end is not written yet
	work  sync.WaitGroup // one per piece of work; those left behind are not waited for
	write context.Context
	// giveUp ends write: ends that cannot be written are left for the next start.
	giveUp context.CancelFunc

	mu      sync.Mutex      // guards the two below
	jobs    map[string]*job // by task id: those that run and those that are kept
	closing bool
}

// New makes a registry. It takes work at once.
func New(o Options) *Registry {
	if o.Foreground == nil {
		o.Foreground = func() time.Duration { return DefaultForeground }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Registry{loop: o.Loop, foreground: o.Foreground, log: o.Log, jobs: map[string]*job{}}
	r.write, r.giveUp = context.WithCancel(context.Background())
	return r
}

// Work is a tool call that may go on without its turn.
type Work struct {
	Turn, Call, Tool string
	AtOnce           bool
	Started          time.Time
	// Show streams what it prints to the call's card, until the call is moved. An error means that the
	// turn has been stopped.
	Show func(piece string) error
	// Do does it, once. It returns soon after ctx's end, and never fails: a failure is a result.
	Do func(ctx context.Context, out func(piece string)) Result
}

// Result is what the model reads of a call.
type Result struct {
	Status      string // of event.Result
	Text        string
	ExitCode    *int
	Truncated   bool
	NotExecuted bool
	// TaskID is set when the call was moved: it is over for its turn, and its result is written.
	TaskID string
}

// Conduct does the work of a call and gives its result; work that outlasts the foreground limit, or
// that is to go at once, is moved, and the result says so. When ctx ends before that the work is
// stopped, and the error is ctx's cause.
func (r *Registry) Conduct(ctx context.Context, w Work) (Result, error) {
	j := newJob(r, w)
	if w.AtOnce {
		moved, err := r.move(ctx, j)
		if err != nil && !errors.Is(err, ErrShutdown) {
			return Result{}, err
		}
		if err == nil {
			return moved, nil
		}
	}
	j.start()
	limit := time.NewTimer(r.foreground())
	defer limit.Stop()
	if w.AtOnce {
		limit.Stop() // there is no background any more
	}
	for {
		select {
		case <-j.done:
			if err := context.Cause(ctx); err != nil {
				return Result{}, err
			}
			return j.result, j.cause
		case <-ctx.Done():
			r.abandon(j, context.Cause(ctx))
			return Result{}, context.Cause(ctx)
		case <-j.ctx.Done(): // its card takes no more: the turn has been stopped
			r.abandon(j, nil)
			return Result{}, context.Cause(j.ctx)
		case <-limit.C:
		}
		moved, err := r.move(ctx, j)
		if err == nil {
			return moved, nil
		}
		if !errors.Is(err, ErrShutdown) {
			r.abandon(j, err)
			return Result{}, err
		}
	}
}

// abandon stops work that was not moved.
func (r *Registry) abandon(j *job, cause error) {
	j.cancel(cause)
	if !j.wait(leaveWithin) {
		r.log.Error("tool does not stop and is left behind", "tool", j.Tool)
	}
}

// move makes a task of a job. ErrShutdown means that nothing moves any more.
func (r *Registry) move(ctx context.Context, j *job) (Result, error) {
	id := event.NewID()
	moved := make(chan bool, 1)
	r.mu.Lock()
	if r.closing {
		r.mu.Unlock()
		return Result{}, ErrShutdown
	}
	r.jobs[id] = j // before anybody can know of it
	r.tasks.Go(func() { r.follow(j, moved) })
	r.mu.Unlock()
	printed := j.detach(id)
	said := j.farewell(id, r.foreground(), printed)
	_, err := r.loop.Do(ctx, core.MoveTool{Turn: j.Turn, TaskID: id, StartedAt: j.Started.UnixMilli(), Result: event.Result{
		CallID: j.Call, Text: said, DurationMS: time.Since(j.Started).Milliseconds(),
	}})
	if err != nil {
		r.forget(id)
		moved <- false
		return Result{}, err
	}
	j.commit()
	if j.AtOnce {
		j.start()
	}
	moved <- true
	return Result{Status: event.ResultSucceeded, Text: said, TaskID: id}, nil
}

// follow waits for the end of a task and writes it.
func (r *Registry) follow(j *job, moved <-chan bool) {
	if !<-moved {
		return
	}
	defer close(j.settled)
	select {
	case <-j.done:
	case <-j.ctx.Done():
		if !j.wait(leaveWithin) {
			r.log.Error("tool does not stop and is left behind", "tool", j.Tool, "task", j.id)
		}
	}
	end := j.end()
	end.Hold = end.Hold || r.ending() // nobody is there to conduct a turn
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		_, err := r.loop.Do(r.write, end)
		if err == nil {
			return
		}
		if errors.Is(err, core.ErrClosed) || r.write.Err() != nil {
			r.log.Error("the end of a task is left for the next start", "task", j.id, "err", err)
			return
		}
		r.log.Warn("the end of a task cannot be written yet", "task", j.id, "err", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-r.write.Done():
		}
		timer.Stop()
	}
}

const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

func (r *Registry) forget(ids ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		delete(r.jobs, id)
	}
}

func (r *Registry) ending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closing
}

func (r *Registry) job(id string) *job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[id]
}

// Running is the number of tasks that have not ended.
func (r *Registry) Running() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		if !j.over() {
			n++
		}
	}
	return n
}

// Stop aborts a task and returns when its end is written, after 5 s at most; one that has ended stays
// as it is. fault.NotFound for an unknown one. Spec SP-BG-26, SP-BG-28.
func (r *Registry) Stop(ctx context.Context, taskID string) error {
	if _, err := r.task(ctx, taskID); err != nil {
		return err
	}
	return r.stop(ctx, []string{taskID})
}

// StopAll does the same to the running tasks of a session and of everything below it.
func (r *Registry) StopAll(ctx context.Context, sessionID string) error {
	var ids []string
	err := r.loop.Read(ctx, func(tx *store.ReadTx) error {
		s, err := tx.Session(sessionID)
		if errors.Is(err, store.ErrNotFound) {
			return core.NoSession(sessionID)
		}
		if err != nil {
			return err
		}
		tree, err := tx.Subtree(s.SID)
		if err != nil {
			return err
		}
		for _, s := range tree {
			running, err := tx.RunningTasks(s.SID)
			if err != nil {
				return err
			}
			for _, t := range running {
				ids = append(ids, t.ID)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.stop(ctx, ids)
}

func (r *Registry) stop(ctx context.Context, ids []string) error {
	var stopped []*job
	for _, id := range ids {
		if j := r.job(id); j != nil {
			j.cancel(ErrStopped)
			stopped = append(stopped, j)
		}
	}
	timer := time.NewTimer(settleWithin)
	defer timer.Stop()
	for _, j := range stopped {
		select {
		case <-j.settled:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// task finds a task's row; fault.NotFound without one.
func (r *Registry) task(ctx context.Context, id string) (t store.Task, err error) {
	err = r.loop.Read(ctx, func(tx *store.ReadTx) error {
		var found bool
		if t, found, err = tx.Task(id); err != nil || found {
			return err
		}
		return fault.New(fault.NotFound, text.New("task.not-found", "id", id))
	})
	return t, err
}

// Output gives what a task printed after a position, and how much that is in all, in UTF-16 units;
// truncated says that something between is no longer kept. A task of an earlier start has no output
// left. fault.NotFound for an unknown one. Spec SP-BG-21 to SP-BG-25.
func (r *Registry) Output(ctx context.Context, taskID string, after int64) (printed string, end int64, truncated bool, err error) {
	if _, err := r.task(ctx, taskID); err != nil {
		return "", 0, false, err
	}
	if j := r.job(taskID); j != nil {
		printed, end, truncated = j.printed(after)
	}
	return printed, end, truncated, nil
}

// Progress gives the last line a task of this start has printed and when it last printed, ms.
func (r *Registry) Progress(taskID string) (line string, at int64) {
	if j := r.job(taskID); j != nil {
		return j.progress()
	}
	return "", 0
}

// Task gives a task of a session, for her; fault.NotFound for any other.
func (r *Registry) Task(ctx context.Context, sessionID, taskID string) (store.Task, error) {
	t, err := r.task(ctx, taskID)
	if err == nil && t.Session != sessionID {
		err = fault.New(fault.NotFound, text.New("task.not-found", "id", taskID))
	}
	return t, err
}

// Run follows the log until ctx ends; then it aborts every task, writes their ends, and returns
// within 3 s. An error before that means that the log can no longer be followed.
func (r *Registry) Run(ctx context.Context) error {
	err := r.attend(ctx)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, r.shutdown())
}

func (r *Registry) attend(ctx context.Context) error {
	cursor := r.loop.Cursor() // before the rows are read, so that nothing lies between
	if err := r.reread(ctx); err != nil {
		return err
	}
	for {
		entries, err := cursor.Next(ctx)
		if errors.Is(err, core.ErrFellBehind) {
			err = r.reread(ctx)
		}
		if err != nil {
			return fmt.Errorf("following the log: %w", err)
		}
		for _, e := range entries {
			if e.Fact == nil {
				continue
			}
			switch p := e.Fact.Payload.(type) {
			case event.BackgroundEnd:
				r.forget(p.Dropped...)
			case event.Deleted:
				r.bury(p.Tasks)
			}
		}
	}
}

// bury stops and forgets what went with its session.
func (r *Registry) bury(ids []string) {
	for _, id := range ids {
		if j := r.job(id); j != nil {
			j.cancel(errGone)
		}
	}
	r.forget(ids...)
}

// reread buries what has no row any more.
func (r *Registry) reread(ctx context.Context) error {
	r.mu.Lock()
	var ids []string
	for id, j := range r.jobs {
		if j.wasMoved() {
			ids = append(ids, id)
		}
	}
	r.mu.Unlock()
	var gone []string
	err := r.loop.Read(ctx, func(tx *store.ReadTx) error {
		for _, id := range ids {
			_, found, err := tx.Task(id)
			if err != nil {
				return err
			}
			if !found {
				gone = append(gone, id)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the tasks: %w", err)
	}
	r.bury(gone)
	return nil
}

func (r *Registry) shutdown() error {
	r.mu.Lock()
	r.closing = true
	for _, j := range r.jobs {
		j.cancel(ErrShutdown)
	}
	r.mu.Unlock()
	defer r.giveUp()
	late := time.AfterFunc(quitWithin, r.giveUp)
	defer late.Stop()
	over := make(chan struct{})
	var waiter sync.WaitGroup // ends with the tasks, which may be later than this function
	waiter.Go(func() { r.tasks.Wait(); close(over) })
	timer := time.NewTimer(quitWithin + quitSlack)
	defer timer.Stop()
	select {
	case <-over:
		return nil
	case <-timer.C:
		return errors.New("background tasks could not be ended in time and are left for the next start")
	}
}
