package session

import (
	"context"
	"maps"
	"slices"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
)

// tasksEvery is how often progress of tasks is pushed at most (Spec SP-BG-18).
const tasksEvery = time.Second

// tasksFeed is what the connection was told of background tasks. Guarded by feed.mu.
type tasksFeed struct {
	watching bool
	known    map[string]printed // tasks it may know, for the removes of what it will never hear of
	dirty    map[string]bool    // tasks that have printed something it may not have been told
	sent     time.Time          // when it was last told anything
}

// printed is how far a task's output had come when the connection was told of it.
type printed struct {
	line string
	at   int64
}

// watch begins behind the newest entry shown.
func (f *tasksFeed) watch(ctx context.Context, c *Conn) error {
	if f.watching {
		return nil
	}
	known := map[string]printed{}
	if err := c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		all, err := tx.Tasks()
		for _, t := range all {
			known[t.ID] = printed{}
		}
		return err
	}); err != nil {
		return err
	}
	*f = tasksFeed{watching: true, known: known, dirty: map[string]bool{}}
	return nil
}

// due is how long progress that was collected has to wait.
func (f *tasksFeed) due(now time.Time) (pause time.Duration, dirty bool) {
	return max(0, tasksEvery-now.Sub(f.sent)), len(f.dirty) > 0
}

// pushTasks tells of tasks that began, ended or went away, at once, and takes along what was
// collected (Spec SP-BG-17, -19, -20). What tasks print is collected for flushTasks.
func (c *Conn) pushTasks(ctx context.Context, entries []core.Entry) {
	f := &c.feed.tasks
	if !f.watching || c.server.current().Background == nil {
		return
	}
	var changed, removed []string
	for _, e := range entries {
		if e.Note != nil && e.Note.Kind == core.NoteTask {
			if id, ok := e.Note.Data.(string); ok {
				f.dirty[id] = true
			}
		}
		if e.Fact == nil {
			continue
		}
		switch p := e.Fact.Payload.(type) {
		case event.Backgrounding:
			changed = append(changed, p.TaskID)
		case event.BackgroundEnd:
			changed, removed = append(changed, p.TaskID), append(removed, p.Dropped...)
		case event.Deleted:
			removed = append(removed, p.Tasks...)
		}
	}
	if len(changed)+len(removed) > 0 {
		c.tellTasks(ctx, changed, removed)
	}
}

// flushTasks tells what was collected, when it is time.
func (c *Conn) flushTasks(ctx context.Context) {
	f := &c.feed.tasks
	if pause, dirty := f.due(time.Now()); dirty && pause == 0 {
		c.tellTasks(ctx, nil, nil)
	}
}

// tellTasks pushes changed tasks as they are now, with those whose progress was collected as long as
// they run. One that has gone meanwhile is left out: its own push follows, or is this one.
func (c *Conn) tellTasks(ctx context.Context, changed, removed []string) {
	f := &c.feed.tasks
	collected := slices.Sorted(maps.Keys(f.dirty))
	clear(f.dirty)
	b := c.server.current().Background
	if b == nil {
		return
	}
	push := BackgroundChanged{Upserts: []BackgroundTask{}, Removes: append([]string{}, removed...)}
	if err := c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		told, gone := map[string]bool{}, map[string]bool{}
		for _, id := range removed {
			gone[id] = true
		}
		add := func(id string, progress bool) error {
			t, found, err := tx.Task(id)
			if err != nil || !found || told[id] || gone[id] {
				return err
			}
			task := c.task(b, t)
			if progress && (task.Status != TaskRunning || f.known[id] == printed{task.LastLine, task.LastOutputAt}) {
				return nil
			}
			told[id] = true
			push.Upserts = append(push.Upserts, task)
			return nil
		}
		for _, id := range changed {
			if err := add(id, false); err != nil {
				return err
			}
		}
		for _, id := range collected {
			if err := add(id, true); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		c.feedFailed(ctx, err)
		return
	}
	if len(push.Upserts)+len(push.Removes) == 0 {
		return
	}
	for _, t := range push.Upserts {
		f.known[t.ID] = printed{t.LastLine, t.LastOutputAt}
	}
	for _, id := range push.Removes {
		delete(f.known, id)
	}
	f.sent = time.Now()
	c.push("background/changed", push)
}

// resyncTasks makes up for entries the connection will never see: it is told every task there is, and
// that those it knew and that are no more are gone. Called under feed.mu.
func (c *Conn) resyncTasks(ctx context.Context) {
	f := &c.feed.tasks
	if !f.watching {
		return
	}
	var now, gone []string
	there := map[string]bool{}
	if err := c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		all, err := tx.Tasks()
		for _, t := range all {
			now, there[t.ID] = append(now, t.ID), true
		}
		return err
	}); err != nil {
		c.feedFailed(ctx, err)
		return
	}
	for id := range f.known {
		if !there[id] {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	c.tellTasks(ctx, now, gone)
}
