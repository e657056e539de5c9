package session

import (
	"context"

	"aalis/backend/store"
)

// tasks gives the task registry (Spec SP-BG-32).
func (c *Conn) tasks() (Background, error) {
	if b := c.server.current().Background; b != nil {
		return b, nil
	}
	return nil, absent("wire.service-background")
}

// backgroundList gives the tasks of all sessions in the order in which they began (Spec SP-BG-04).
func (c *Conn) backgroundList(ctx context.Context, _ Empty) (BackgroundListResult, error) {
	b, err := c.tasks()
	if err != nil {
		return BackgroundListResult{}, err
	}
	result := BackgroundListResult{Tasks: []BackgroundTask{}}
	err = c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		all, err := tx.Tasks()
		for _, t := range all {
			result.Tasks = append(result.Tasks, c.task(b, t))
		}
		return err
	})
	return result, err
}

// task draws a background task. What the model gave and what the tool returned stays here (Spec
// SP-BG-13), but for the parts that the tool itself declares for display (Spec SP-BG-12).
func (c *Conn) task(b Background, t store.Task) BackgroundTask {
	out := BackgroundTask{
		ID: t.ID, SessionID: t.WireSession, Kind: "tool-call", Label: t.Label, Status: TaskStatus(t.Status), StartedAt: t.StartedAt, EndedAt: t.EndedAt,
		Call:     &TaskCall{Tool: t.Label, TurnID: t.Turn, CallID: t.Call.CallID},
		LastLine: t.LastLine, LastOutputAt: t.LastOutputAt, Reason: t.Reason.In(c.server.o.Language()), ExitCode: t.ExitCode,
	}
	if out.Status == TaskRunning {
		out.LastLine, out.LastOutputAt = b.Progress(t.ID)
	}
	if display := c.server.current().Display; display != nil {
		out.Display = display(t.Call.Tool, t.Call.Args, nil)
	}
	return out
}

func (c *Conn) backgroundOutput(ctx context.Context, p BackgroundOutputParams) (BackgroundOutputResult, error) {
	b, err := c.tasks()
	if err != nil {
		return BackgroundOutputResult{}, err
	}
	return b.Output(ctx, p)
}

func (c *Conn) backgroundStop(ctx context.Context, p TaskParams) (Empty, error) {
	b, err := c.tasks()
	if err != nil {
		return Empty{}, err
	}
	return Empty{}, b.Stop(ctx, p.TaskID)
}

// backgroundWatch succeeds whether or not the task registry is there (Spec SP-BG-16); to watch again
// changes nothing.
func (c *Conn) backgroundWatch(ctx context.Context, _ Empty) (Empty, error) {
	if c.server.o.Loop == nil {
		return Empty{}, nil
	}
	c.feed.mu.Lock()
	defer c.feed.mu.Unlock()
	return Empty{}, c.feed.tasks.watch(ctx, c)
}

// backgroundStopAll stops what goes on below a session, and the tasks of the whole subtree; the
// session's own turn goes on (Spec SP-BG-30, -31). Turns come first: where they cannot be stopped,
// nothing is (Spec SP-BG-34).
func (c *Conn) backgroundStopAll(ctx context.Context, p SessionParams) (Empty, error) {
	busy, err := c.turnsBelow(ctx, p.SessionID)
	if err != nil {
		return Empty{}, err
	}
	services := c.server.current()
	switch {
	case services.Agent != nil:
		err = services.Agent.StopChildren(ctx, p.SessionID)
	case busy:
		err = absent("wire.service-agent")
	}
	if err != nil || services.Background == nil {
		return Empty{}, err
	}
	if err := services.Background.StopAll(ctx, p.SessionID); err != nil || services.Agent == nil {
		return Empty{}, err
	}
	// A task that ended by itself between the two has told a descendant so, and opened a turn there.
	if busy, err = c.turnsBelow(ctx, p.SessionID); err != nil || !busy {
		return Empty{}, err
	}
	return Empty{}, services.Agent.StopChildren(ctx, p.SessionID)
}

// turnsBelow reports whether a descendant of a session has a running turn.
func (c *Conn) turnsBelow(ctx context.Context, id string) (busy bool, err error) {
	err = c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		s, _, err := open(tx, id)
		if err != nil {
			return err
		}
		tree, err := tx.Subtree(s.SID)
		if err != nil {
			return err
		}
		for _, below := range tree[1:] {
			h, err := tx.Head(below.SID)
			if err != nil {
				return err
			}
			busy = busy || h.RunningTurn != ""
		}
		return nil
	})
	return busy, err
}
