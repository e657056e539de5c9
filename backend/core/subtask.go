package core

import (
	"slices"
	"strings"
	"unicode/utf8"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/text"
)

// TaskCaps bound what she may delegate below one root session. They bind her, not the owner.
type TaskCaps struct {
	Depth   int   // levels of sub-tasks below the root
	Running int   // sub-tasks of a tree that work at once
	Total   int   // sub-tasks of a tree that there are, whether they have ended or not
	Tokens  int64 // that all sub-tasks of a tree may use, deleted ones included
}

// DefaultTaskCaps are those that nobody has set.
func DefaultTaskCaps() TaskCaps {
	return TaskCaps{Depth: 3, Running: 4, Total: 40, Tokens: 2_000_000}
}

// Caps gives what is set for the tree of a root. It is asked in the writer and must not block.
type Caps func(rows SettingRows, root store.Session) (TaskCaps, error)

func (w *write) taskCaps(rootSID int64) (TaskCaps, error) {
	if w.loop.caps == nil {
		return DefaultTaskCaps(), nil
	}
	root, err := w.SessionBySID(rootSID)
	if err != nil {
		return TaskCaps{}, err
	}
	return w.loop.caps(w.Tx, root)
}

// mayDelegate refuses what goes beyond a cap of the tree; one that is reached is told with what can be
// done. making is for a new sub-task, waking for one that does not work for her yet, which is itself among
// those that work when the owner has woken it.
func (w *write) mayDelegate(s store.Session, making, waking, itself bool) error {
	caps, err := w.taskCaps(s.RootSID)
	if err != nil {
		return err
	}
	use, err := w.TreeUse(s.RootSID)
	if err != nil {
		return err
	}
	if itself {
		use.Running--
	}
	up, err := w.Ancestors(s)
	switch {
	case err != nil:
		return err
	case making && len(up) >= caps.Depth:
		return fault.New(fault.Conflict, text.New("subtask.cap-depth", "max", caps.Depth))
	case making && use.Sessions >= caps.Total:
		return fault.New(fault.Conflict, text.New("subtask.cap-total", "max", caps.Total))
	case waking && use.Running >= caps.Running:
		return fault.New(fault.Conflict, text.New("subtask.cap-running", "max", caps.Running))
	case use.Tokens >= caps.Tokens:
		return fault.New(fault.Conflict, text.New("subtask.cap-tokens", "max", caps.Tokens))
	}
	return nil
}

// spent reports whether a turn that no person opened may call no more model. What a call will use is
// not known before it, so each sub-task that works may go beyond the cap by one call.
func (w *write) spent(t store.Turn) (bool, error) {
	s, err := w.SessionBySID(t.SID)
	if err != nil || s.Origin != "task" || t.Source == "" {
		return false, err
	}
	caps, err := w.taskCaps(s.RootSID)
	if err != nil {
		return false, err
	}
	use, err := w.TreeUse(s.RootSID)
	return use.Tokens >= caps.Tokens, err
}

// SpawnSubtask makes a sub-session of a running turn's session and tells it what to do; it works at
// once, in its parent's place and by its root's settings. fault.Conflict where a cap is reached.
// Receipt.SessionID is the sub-session's and TurnID its turn's.
type SpawnSubtask struct {
	Turn, CallID string
	Name         string // "" is the beginning of the task
	Task         string
	Settings     []store.Setting // what it is set to beside that
}

// nameRunes is how much of a task names it.
const nameRunes = 60

func (c SpawnSubtask) run(w *write) (Receipt, error) {
	t, err := w.live(c.Turn)
	if err != nil {
		return Receipt{}, err
	}
	called, _, err := w.called(t, c.CallID)
	if err != nil {
		return Receipt{}, err
	}
	s, err := w.SessionBySID(t.SID)
	if err != nil {
		return Receipt{}, err
	}
	if s.ArchivedAt != 0 {
		return Receipt{}, fault.New(fault.Conflict, text.New("session.archived-parent"))
	}
	if err := w.mayDelegate(s, true, true, false); err != nil {
		return Receipt{}, err
	}
	made, err := (CreateSession{
		Actor: event.Agent(), Origin: "task", Name: orElse(c.Name, nameOf(c.Task)), Parent: s.ID, SpawnedBy: called.ID, Harness: s.Harness,
	}).run(w)
	if err != nil {
		return Receipt{}, err
	}
	child, err := w.session(made.SessionID)
	if err != nil {
		return Receipt{}, err
	}
	for _, one := range c.Settings {
		if _, err := w.SetSessionSetting(child.SID, one); err != nil {
			return Receipt{}, err
		}
	}
	return w.say(s, child, t, c.Task)
}

// nameOf is the beginning of a task's first line.
func nameOf(task string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(task), "\n")
	if utf8.RuneCountInString(line) > nameRunes {
		line = strings.TrimSpace(string([]rune(line)[:nameRunes])) + "…"
	}
	return line
}

// say tells a sub-session something in the name of the turn above it.
func (w *write) say(s, child store.Session, t store.Turn, words string) (Receipt, error) {
	platform, err := w.platform(t.SID, t.ID)
	if err != nil {
		return Receipt{}, err
	}
	by := event.Agent()
	by.Platform = platform
	return (SendInput{Actor: by, Session: child.ID, Source: event.TopicSubtask, Input: event.Input{
		Text: words, FromTurn: t.ID,
		Speaker: event.Speaker{Platform: platform, UserID: event.ParentSpeaker + s.WireID(), Source: event.TopicSubtask},
	}}).run(w)
}

// child finds a direct sub-session that she made; she may reach no other (domain 7.2: only the parent may).
func (w *write) child(s store.Session, id string) (store.Session, error) {
	c, err := w.Session(id)
	if err != nil || c.ParentSID != s.SID || c.Origin != "task" {
		return c, NoSubtask(id)
	}
	return c, nil
}

// NoSubtask is the fault for an id that names no sub-task of the session.
func NoSubtask(id string) *fault.Fault {
	return fault.New(fault.NotFound, text.New("subtask.not-found", "id", id))
}

// TellSubtask says something more to a sub-task: it joins the turn that runs there, or opens one.
type TellSubtask struct {
	Turn    string // of the session above
	Subtask string
	Text    string
}

func (c TellSubtask) run(w *write) (Receipt, error) {
	t, err := w.live(c.Turn)
	if err != nil {
		return Receipt{}, err
	}
	s, err := w.SessionBySID(t.SID)
	if err != nil {
		return Receipt{}, err
	}
	child, err := w.child(s, c.Subtask)
	if err != nil {
		return Receipt{}, err
	}
	if child.ArchivedAt != 0 {
		return Receipt{}, fault.New(fault.Conflict, text.New("subtask.archived"))
	}
	h, err := w.Head(child.SID)
	if err != nil {
		return Receipt{}, err
	}
	hers, err := w.hers(h.RunningTurn)
	if err != nil {
		return Receipt{}, err
	}
	if err := w.mayDelegate(s, false, !hers, h.RunningTurn != ""); err != nil {
		return Receipt{}, err
	}
	return w.say(s, child, t, c.Text)
}

// hers reports whether a turn is one that she has opened and that goes on: what is said to it joins it.
// What is said to another, or to one that is being stopped, may have to open a turn of its own.
func (w *write) hers(turn string) (bool, error) {
	if turn == "" {
		return false, nil
	}
	t, err := w.Turn(turn)
	return t.Source == event.TopicSubtask && t.CancelSeq == 0, err
}

// LookAtSubtasks gives how sub-tasks of a session stand, all of them when none is named. What waits in
// the session's queue to tell her of one that has ended is taken out: she has been told.
type LookAtSubtasks struct {
	Session string
	IDs     []string
}

func (c LookAtSubtasks) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	var named []store.Session
	if len(c.IDs) == 0 {
		all, err := w.ChildSessions(s.SID)
		if err != nil {
			return Receipt{}, err
		}
		named = slices.DeleteFunc(all, func(o store.Session) bool { return o.Origin != "task" })
	}
	for _, id := range c.IDs {
		child, err := w.child(s, id)
		if err != nil {
			return Receipt{}, err
		}
		named = append(named, child)
	}
	r := Receipt{SessionID: s.ID}
	for _, child := range named {
		row, err := w.Subtask(child.SID)
		if err != nil {
			return Receipt{}, err
		}
		if row.AtRest() {
			if err := w.withdrawNotices(s.SID, child.ID); err != nil {
				return Receipt{}, err
			}
		}
		r.Subtasks = append(r.Subtasks, SubtaskOf(row))
	}
	return r, nil
}

// withdrawNotices takes out of a queue what waits there to tell of a sub-task.
func (w *write) withdrawNotices(sid int64, child string) error {
	waiting, err := w.PendingInputs(sid)
	if err != nil {
		return err
	}
	for _, in := range waiting {
		if n := in.Notice; n == nil || n.Topic != event.TopicSubtask || n.Facts[factSubtask] != child {
			continue
		}
		if _, err := w.append(sid, event.Draft{Parent: in.EventID, Actor: event.Agent(), Payload: event.InputDrop{
			InputID: in.EventID, Reason: event.DropRemoved, Input: in,
		}}); err != nil {
			return err
		}
	}
	return nil
}

// StopSubtask stops what runs in a sub-task and below it and empties their queues; background tasks are
// stopped by whoever runs them. One that has ended stays as it is.
type StopSubtask struct {
	Session string // above it
	Subtask string
}

func (c StopSubtask) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	child, err := w.child(s, c.Subtask)
	if err != nil {
		return Receipt{}, err
	}
	by := event.Agent()
	if err := w.dropInputs(child.SID, "stopped", by); err != nil {
		return Receipt{}, err
	}
	if _, _, err := w.stopRunning(child.SID, by, "stopped"); err != nil {
		return Receipt{}, err
	}
	_, err = StopDescendants{Actor: by, Session: child.ID}.run(w)
	return Receipt{SessionID: child.ID}, err
}

// DropSubtask deletes a sub-task with everything below it. fault.Conflict where the owner has written
// in it: what a person said is not hers to delete.
type DropSubtask struct {
	Session string // above it
	Subtask string
}

func (c DropSubtask) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	child, err := w.child(s, c.Subtask)
	if err != nil {
		return Receipt{}, err
	}
	tree, err := w.Subtree(child.SID)
	if err != nil {
		return Receipt{}, err
	}
	var sids []int64
	for _, one := range tree {
		sids = append(sids, one.SID)
	}
	spoke, err := w.OwnerSpoke(sids)
	if err != nil {
		return Receipt{}, err
	}
	if spoke {
		return Receipt{}, fault.New(fault.Conflict, text.New("subtask.owner-spoke"))
	}
	if err := w.withdrawNotices(s.SID, child.ID); err != nil {
		return Receipt{}, err
	}
	return DeleteSession{Actor: event.Agent(), Session: child.ID}.run(w)
}
