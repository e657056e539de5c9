package subtask

import (
	"context"
	"errors"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/backend/tool"
)

// stopWithin is how long a stop waits for what it stopped.
const stopWithin = 2500 * time.Millisecond

// Options are what the desk of the program works with. Loop is required.
type Options struct {
	Loop *core.Loop
	// StopTasks stops the background tasks of a session and of everything below it; nil: there are none.
	StopTasks func(ctx context.Context, sessionID string) error
	// Model gives what a session is set to for a model, and whether it takes the model's id; nil takes none.
	Model func(id string) (store.Setting, bool)
}

// Over is the desk that works by commands and rows.
func Over(o Options) Desk {
	if o.StopTasks == nil {
		o.StopTasks = func(context.Context, string) error { return nil }
	}
	if o.Model == nil {
		o.Model = func(string) (store.Setting, bool) { return store.Setting{}, false }
	}
	return desk{o}
}

type desk struct{ Options }

// Create makes a sub-task that works at once.
func (d desk) Create(ctx context.Context, call tool.Call, o Order) (core.Subtask, error) {
	spawn := core.SpawnSubtask{Turn: call.TurnID, CallID: call.CallID, Name: o.Name, Task: o.Task}
	if o.Model != "" {
		set, takes := d.Model(o.Model)
		if !takes {
			return core.Subtask{}, fault.New(fault.Invalid, text.New("subtask.no-model", "id", o.Model))
		}
		spawn.Settings = append(spawn.Settings, set)
	}
	made, err := d.Loop.Do(ctx, spawn)
	if err != nil {
		return core.Subtask{}, err
	}
	return d.one(ctx, call.SessionID, made.SessionID)
}

// Send tells a sub-task something more.
func (d desk) Send(ctx context.Context, call tool.Call, id, message string) (core.Subtask, error) {
	if _, err := d.Loop.Do(ctx, core.TellSubtask{Turn: call.TurnID, Subtask: id, Text: message}); err != nil {
		return core.Subtask{}, err
	}
	return d.one(ctx, call.SessionID, id)
}

// Check shows how they stand now.
func (d desk) Check(ctx context.Context, call tool.Call, ids []string) ([]core.Subtask, error) {
	got, err := d.Loop.Do(ctx, core.LookAtSubtasks{Session: call.SessionID, IDs: ids})
	return got.Subtasks, err
}

// Wait waits for the end of all. See Desk.
func (d desk) Wait(ctx context.Context, call tool.Call, ids []string, within time.Duration) ([]core.Subtask, error) {
	if err := d.await(ctx, call.SessionID, ids, within); err != nil {
		return nil, err
	}
	return d.Check(ctx, call, ids)
}

// Stop stops one with everything below it.
func (d desk) Stop(ctx context.Context, call tool.Call, id string) (core.Subtask, error) {
	if _, err := d.Loop.Do(ctx, core.StopSubtask{Session: call.SessionID, Subtask: id}); err != nil {
		return core.Subtask{}, err
	}
	if err := d.StopTasks(ctx, id); err != nil {
		return core.Subtask{}, err
	}
	if err := d.await(ctx, call.SessionID, []string{id}, stopWithin); err != nil {
		return core.Subtask{}, err
	}
	all, err := d.Check(ctx, call, []string{id})
	if err != nil || len(all) != 1 {
		return core.Subtask{}, err
	}
	return all[0], nil
}

// Delete deletes one with everything below it.
func (d desk) Delete(ctx context.Context, call tool.Call, id string) error {
	_, err := d.Loop.Do(ctx, core.DropSubtask{Session: call.SessionID, Subtask: id})
	return err
}

// await returns when all have ended or the time is over: nil then, too.
func (d desk) await(ctx context.Context, session string, ids []string, within time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cursor := d.Loop.Cursor() // before the rows are read, so that nothing lies between
	for {
		over, err := d.over(ctx, session, ids)
		if err != nil || over {
			return err
		}
		for woken := false; !woken; {
			entries, err := cursor.Next(limited)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case limited.Err() != nil:
				return nil
			case errors.Is(err, core.ErrFellBehind):
				woken = true
			case err != nil:
				return err
			}
			for _, e := range entries {
				woken = woken || e.Fact != nil && ends(e.Fact.Kind)
			}
		}
	}
}

// ends reports whether a sub-task may have come to rest by an event.
func ends(k event.Kind) bool {
	switch k {
	case event.TurnEnded, event.BackgroundEnded, event.SessionDeleted, event.InputDropped:
		return true
	}
	return false
}

func (d desk) over(ctx context.Context, session string, ids []string) (over bool, err error) {
	err = d.Loop.Read(ctx, func(tx *store.ReadTx) error {
		over = true
		for _, id := range ids {
			t, err := look(tx, session, id)
			if err != nil {
				return err
			}
			over = over && t.State.Over()
		}
		return nil
	})
	return over, err
}

func (d desk) one(ctx context.Context, session, id string) (t core.Subtask, err error) {
	err = d.Loop.Read(ctx, func(tx *store.ReadTx) error {
		t, err = look(tx, session, id)
		return err
	})
	return t, err
}

// look reads a sub-task of a session; of any other it knows nothing.
func look(tx *store.ReadTx, session, id string) (core.Subtask, error) {
	parent, err := tx.Session(session)
	if errors.Is(err, store.ErrNotFound) {
		return core.Subtask{}, core.NoSession(session)
	}
	if err != nil {
		return core.Subtask{}, err
	}
	child, err := tx.Session(id)
	if errors.Is(err, store.ErrNotFound) || err == nil && (child.ParentSID != parent.SID || child.Origin != "task") {
		return core.Subtask{}, core.NoSubtask(id)
	}
	if err != nil {
		return core.Subtask{}, err
	}
	row, err := tx.Subtask(child.SID)
	return core.SubtaskOf(row), err
}
