package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// Problem is a path that could not be put back; an empty path is about the rewind as a whole.
type Problem struct {
	Path   string
	Reason text.Text
}

// Result is what a rewind did to files. Paths are below Root.
type Result struct {
	Root     string
	Restored []string
	Deleted  []string
	Problems []Problem
	Messages int    // that left the conversation
	UndoID   string // takes the rewind back; "" when nothing was done
}

// Request names what to rewind.
type Request struct {
	Actor    event.Actor
	Session  string
	Turn     string
	KeepChat bool // files only
}

// Rewind undoes one turn. Every path whose content is what the turn left gets back what stood there
// before; all others are left alone and told. A turn that is unknown or runs is a Problem without a
// path (decisions F10). fault.NotFound without the session, fault.Conflict while a turn runs in it.
func (s *Service) Rewind(ctx context.Context, q Request) (Result, error) {
	s.putting.Lock()
	defer s.putting.Unlock()
	found, err := s.find(ctx, q.Session, q.Turn)
	if err != nil {
		return Result{}, err
	}
	if !found.turn {
		return Result{Problems: []Problem{{Reason: text.New("rewind.no-turn", "id", q.Turn)}}}, nil
	}
	undo := store.Checkpoint{ID: event.NewID(), SID: found.sid, Turn: q.Turn, Root: found.checkpoint.Root}
	result, err := s.putBack(ctx, found, undo)
	if err != nil {
		return result, err
	}
	files := result.event(q.Turn, undo.ID)
	got, err := s.o.Loop.Do(ctx, core.RewindTurn{
		Actor: q.Actor, Session: q.Session, Turn: q.Turn, UndoID: undo.ID, Files: &files, KeepChat: q.KeepChat,
	})
	result.Messages, result.UndoID = int(got.Count), undo.ID
	return result, err
}

// Undo takes a rewind back, files and conversation, by the same rule: only what the rewind left is
// replaced. fault.NotFound for a rewind that is unknown or was taken back.
func (s *Service) Undo(ctx context.Context, actor event.Actor, session, undoID string) (Result, error) {
	s.putting.Lock()
	defer s.putting.Unlock()
	found, err := s.findUndo(ctx, session, undoID)
	if err != nil {
		return Result{}, err
	}
	again := store.Checkpoint{ID: event.NewID(), SID: found.sid, Turn: found.checkpoint.Turn, Root: found.checkpoint.Root}
	result, err := s.putBack(ctx, found, again)
	if err != nil {
		return result, err
	}
	_, err = s.o.Loop.Do(ctx, core.UndoRewind{
		Actor: actor, Session: session, UndoID: undoID, Files: result.event(found.checkpoint.Turn, undoID),
	})
	return result, err
}

// found is what is known of a turn or an undo.
type found struct {
	sid        int64
	turn       bool // it is there, and over
	checkpoint store.Checkpoint
	files      []store.FileChange
}

func (s *Service) find(ctx context.Context, session, turn string) (f found, err error) {
	err = s.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		if f.sid, err = idle(tx, session); err != nil {
			return err
		}
		t, err := tx.Turn(turn)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		dead, err := tx.DeadTurns(f.sid)
		if err != nil || t.SID != f.sid || dead[t.ID] || t.Status == "running" {
			return err
		}
		f.turn = true
		var there bool
		if f.checkpoint, there, err = tx.Checkpoint(turn); err != nil || !there || f.checkpoint.UndoneAt != 0 {
			f.checkpoint.Partial = nil
			return err
		}
		f.files, err = tx.CheckpointFiles(turn)
		return err
	})
	return f, err
}

// idle gives a session's number while no turn runs in it.
func idle(tx *store.ReadTx, session string) (int64, error) {
	row, err := tx.Session(session)
	if errors.Is(err, store.ErrNotFound) {
		return 0, fault.New(fault.NotFound, text.New("session.not-found", "id", session))
	}
	if err != nil {
		return 0, err
	}
	h, err := tx.Head(row.SID)
	if err == nil && h.RunningTurn != "" {
		err = fault.New(fault.Conflict, text.New("turn.running"))
	}
	return row.SID, err
}

func (s *Service) findUndo(ctx context.Context, session, undoID string) (f found, err error) {
	err = s.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		if f.sid, err = idle(tx, session); err != nil {
			return err
		}
		c, there, err := tx.Checkpoint(undoID)
		if err != nil {
			return err
		}
		if !there || c.SID != f.sid || c.ID == c.Turn || c.UndoneAt != 0 {
			return fault.New(fault.NotFound, text.New("rewind.no-undo", "id", undoID))
		}
		f.turn, f.checkpoint = true, c
		f.files, err = tx.CheckpointFiles(undoID)
		return err
	})
	return f, err
}

// putBack compares, keeps the present content under undo, and then replaces it. The undo is on disk
// before the first file changes, so that even a rewind that was cut off can be looked into.
func (s *Service) putBack(ctx context.Context, f found, undo store.Checkpoint) (Result, error) {
	result := Result{Root: f.checkpoint.Root}
	if f.checkpoint.Partial != nil {
		result.Problems = append(result.Problems, Problem{Reason: *f.checkpoint.Partial})
	}
	s.keeping.RLock()
	defer s.keeping.RUnlock()
	var plan []store.FileChange
	var root *os.Root
	if len(f.files) > 0 {
		var err error
		if root, err = os.OpenRoot(f.checkpoint.Root); err != nil {
			result.Problems = append(result.Problems, Problem{Reason: text.New("checkpoint.unreadable", "reason", err.Error())})
			root = nil
		} else {
			defer root.Close()
		}
	}
	if root != nil {
		var err error
		if plan, err = s.plan(root, f, &result); err != nil {
			return result, err
		}
	}
	undone := make([]store.FileChange, 0, len(plan))
	for _, c := range plan {
		undone = append(undone, store.FileChange{Path: c.Path, Before: c.After, After: c.Before})
	}
	if _, err := s.o.Loop.Do(ctx, core.RecordFiles{Checkpoint: undo, Files: undone}); err != nil {
		return result, fmt.Errorf("keeping what stands there now: %w", err)
	}
	r := restorer{service: s, root: root, result: &result}
	r.all(plan)
	return result, nil
}

// plan chooses the paths that still have what the turn left, and keeps that.
func (s *Service) plan(root *os.Root, f found, result *Result) (plan []store.FileChange, err error) {
	seen := s.folder(f.checkpoint.Root)
	seen.mu.Lock()
	defer seen.mu.Unlock()
	clear(seen.seen) // every byte is looked at now
	v := view{service: s, root: root, folder: seen, keep: true, budget: 1 << 40}
	for _, c := range f.files {
		now, err := v.image(c.Path)
		if err != nil {
			return nil, fmt.Errorf("looking at %s: %w", c.Path, err)
		}
		switch {
		case c.Before.Kind == store.ImageLarge || c.Before.Kind == store.ImageOther:
			result.skip(c.Path, text.New("rewind.not-kept", "max", MaxFile>>20))
		case same(now, c.After):
			plan = append(plan, c)
		case same(now, c.Before):
			result.skip(c.Path, text.New("rewind.already"))
		default:
			result.skip(c.Path, text.New("rewind.changed"))
		}
	}
	return plan, nil
}

func (r *Result) skip(path string, why text.Text) {
	r.Problems = append(r.Problems, Problem{Path: path, Reason: why})
}

// event is what the log keeps of it.
func (r *Result) event(turn, undoID string) event.Restored {
	e := event.Restored{Turn: turn, UndoID: undoID, Restored: orNone(r.Restored), Deleted: orNone(r.Deleted), Skipped: []event.Skipped{}}
	for _, p := range r.Problems {
		e.Skipped = append(e.Skipped, event.Skipped{Path: p.Path, Reason: p.Reason.In(text.English)})
	}
	return e
}

func orNone(all []string) []string {
	if all == nil {
		return []string{}
	}
	return all
}

// depth orders paths from the root down.
func depth(a, b store.FileChange) int {
	if n := strings.Count(a.Path, "/") - strings.Count(b.Path, "/"); n != 0 {
		return n
	}
	return strings.Compare(a.Path, b.Path)
}

// all puts paths back: what is in the way goes first, the deepest before what holds it; then folders
// come back from the root down; then what they hold.
func (r *restorer) all(plan []store.FileChange) {
	slices.SortFunc(plan, depth)
	failed := map[string]bool{}
	for _, c := range slices.Backward(plan) {
		if c.After.Kind != store.ImageAbsent && c.After.Kind != c.Before.Kind {
			failed[c.Path] = !r.remove(c)
		}
	}
	for _, c := range plan {
		if c.Before.Kind == store.ImageFolder && !failed[c.Path] {
			r.folder(c)
		}
	}
	for _, c := range plan {
		if failed[c.Path] {
			continue
		}
		switch c.Before.Kind {
		case store.ImageFile:
			r.file(c)
		case store.ImageLink:
			r.link(c)
		}
	}
}
