package backend

import (
	"context"

	"aalis/backend/checkpoint"
	"aalis/backend/engine"
	"aalis/backend/event"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// checkpoints lets turns keep what they change, and the protocol rewind them.
type checkpoints struct {
	s    *checkpoint.Service
	lang func() text.Language
}

func (c checkpoints) guard(ctx context.Context, turnID string, place engine.Place, g engine.Guard) (func(context.Context, bool) error, error) {
	call := checkpoint.Call{Turn: turnID, Root: place.Root, Paths: g.Paths}
	if g.Anywhere {
		call.Paths = nil
	}
	guarded, err := c.s.Guard(ctx, call)
	if err != nil {
		return nil, err
	}
	return guarded.Done, nil
}

func (c checkpoints) Rewind(ctx context.Context, by event.Actor, p session.TurnRewindParams) (session.TurnRewindResult, error) {
	keep := p.Scope == session.RewindCode
	got, err := c.s.Rewind(ctx, checkpoint.Request{Actor: by, Session: p.SessionID, Turn: p.TurnID, KeepChat: keep})
	if err != nil {
		return session.TurnRewindResult{}, err
	}
	result := c.result(got)
	if !keep {
		rewound := got.UndoID != ""
		result.DeletedMessages, result.ChatDeleted = &got.Messages, &rewound
	}
	return result, nil
}

func (c checkpoints) Undo(ctx context.Context, by event.Actor, p session.RewindUndoParams) (session.TurnRewindResult, error) {
	got, err := c.s.Undo(ctx, by, p.SessionID, p.UndoID)
	if err != nil {
		return session.TurnRewindResult{}, err
	}
	return c.result(got), nil
}

func (c checkpoints) result(got checkpoint.Result) session.TurnRewindResult {
	r := session.TurnRewindResult{OK: len(got.Problems) == 0, Restored: addresses(got.Restored), Deleted: addresses(got.Deleted), Errors: []session.RewindError{}}
	for _, p := range got.Problems {
		uri := ""
		if p.Path != "" {
			uri = address(p.Path)
		}
		r.Errors = append(r.Errors, session.RewindError{URI: uri, Reason: p.Reason.In(c.lang())})
	}
	if got.UndoID != "" {
		r.Ext = &session.RewindExt{UndoID: got.UndoID, Root: got.Root}
	}
	return r
}

// address is the storage address of a path in a session's place.
func address(path string) string { return "workspace:/" + path }

func addresses(paths []string) []string {
	all := make([]string, 0, len(paths))
	for _, p := range paths {
		all = append(all, address(p))
	}
	return all
}
