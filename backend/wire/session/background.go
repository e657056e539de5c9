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

func (c *Conn) backgroundList(ctx context.Context, _ Empty) (BackgroundListResult, error) {
	b, err := c.tasks()
	if err != nil {
		return BackgroundListResult{}, err
	}
	tasks, err := b.List(ctx, c.server.o.Language())
	if tasks == nil {
		tasks = []BackgroundTask{}
	}
	return BackgroundListResult{Tasks: tasks}, err
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

// backgroundWatch succeeds whether or not the task registry is there (Spec SP-BG-16).
func (c *Conn) backgroundWatch(context.Context, Empty) (Empty, error) { return Empty{}, nil }

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
	return Empty{}, services.Background.StopAll(ctx, p.SessionID)
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
