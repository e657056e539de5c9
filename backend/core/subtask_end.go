package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

// SubtaskState is how far a sub-task is.
type SubtaskState string

// The states. A sub-task has ended when nothing of it goes on, background tasks and its own sub-tasks
// included; what is said to it then wakes it.
const (
	SubtaskRunning     SubtaskState = "running"
	SubtaskAsking      SubtaskState = "waiting" // for the owner's answer, itself or below it
	SubtaskCompleted   SubtaskState = "completed"
	SubtaskFailed      SubtaskState = "failed"
	SubtaskStopped     SubtaskState = "stopped"
	SubtaskInterrupted SubtaskState = "interrupted" // cut off by the end of the program
)

// Over reports whether it has ended.
func (s SubtaskState) Over() bool { return s != SubtaskRunning && s != SubtaskAsking }

// Subtask is a sub-task as she is shown it.
type Subtask struct {
	ID        string
	Name      string
	State     SubtaskState
	Reply     string    // its last words, once it has completed
	Reason    text.Text // why it failed, or why its reply may not be all
	StartedAt int64     // of its newest turn, ms
	EndedAt   int64     // 0 while it works
	Tokens    int64     // used by it and by everything below it
	Children  int64
}

// SubtaskOf says how a sub-session stands.
func SubtaskOf(row store.Subtask) Subtask {
	h := row.Head
	t := Subtask{
		ID: row.Session.ID, Name: orElse(row.Session.Title, row.Session.Name), State: stateOf(row), Children: h.Children,
		Tokens: h.TokensIn + h.TokensOut + h.SubTokensIn + h.SubTokensOut,
	}
	if row.Last != nil {
		t.StartedAt = row.Last.StartedAt
	}
	if !t.State.Over() {
		return t
	}
	t.EndedAt = h.LastEndedAt
	switch {
	case t.State == SubtaskCompleted:
		t.Reply = row.Reply
		if row.End.Limit {
			t.Reason = text.New("subtask.limit")
		}
	case t.State == SubtaskInterrupted:
		t.Reason = text.New("subtask.restarted")
	case row.End.Reason != nil:
		t.Reason = *row.End.Reason
	}
	return t
}

func stateOf(row store.Subtask) SubtaskState {
	switch {
	case row.Head.Pending+row.Head.SubAttention > 0:
		return SubtaskAsking
	case !row.AtRest():
		return SubtaskRunning
	case row.End.Cause == event.CauseInterrupted:
		return SubtaskInterrupted
	}
	switch row.End.Outcome {
	case event.Errored:
		return SubtaskFailed
	case event.Replied, event.Silent:
		return SubtaskCompleted
	}
	return SubtaskStopped
}

// factSubtask is the fact of a notice that names the sub-task.
const factSubtask = "subtaskId"

// replyBytes bounds how much of a reply stands in the notice of an end.
const replyBytes = 16 << 10

// tellParents lets the sessions above know what has come to rest by a command. It runs at the end of
// every command, in its transaction: an end and the word of it are one fact.
func (w *write) tellParents() error {
	looked := map[int64]bool{}
	hold := false // an end that comes of a stop, or of the end of the program, wakes nobody
	var at []int64
	for _, e := range w.events {
		switch p := e.Payload.(type) {
		case event.InputDrop, event.Deleted:
		case event.TurnEnd:
			hold = hold || p.Outcome == event.Aborted
		case event.BackgroundEnd:
			hold = hold || p.Status == event.TaskStopped || p.Status == event.TaskAborted
		default:
			continue
		}
		at = append(at, e.SID)
	}
	for _, sid := range at {
		for sid != 0 && !looked[sid] {
			looked[sid] = true
			s, err := w.SessionBySID(sid)
			if err != nil {
				return err
			}
			if s.Origin == "task" && s.DeletedAt == 0 && s.ParentSID != 0 {
				if err := w.tellParent(s, hold); err != nil {
					return err
				}
			}
			sid = s.ParentSID
		}
	}
	return nil
}

// tellParent tells the session above a sub-task that it has come to rest, once for each of its turns
// that was its last. What was stopped is not told, as with background tasks (decisions, domain 7.3).
func (w *write) tellParent(s store.Session, hold bool) error {
	row, err := w.Subtask(s.SID)
	if err != nil || row.Cause == "" || row.Last == nil || !row.AtRest() {
		return err
	}
	end := SubtaskOf(row)
	if end.State == SubtaskStopped {
		return nil
	}
	n := endOfSubtask(end, row.Last.ID)
	if _, told, err := w.EventByKey(s.ParentSID, noticeKey(n)); err != nil || told {
		return err
	}
	cause, found, err := w.Event(row.Cause)
	if err != nil || !found {
		return err
	}
	if n.Platform, err = w.platform(s.ParentSID, cause.Turn); err != nil {
		return err
	}
	if !hold && end.State != SubtaskInterrupted {
		if hold, err = w.awaited(s.ParentSID, s.ID); err != nil {
			return err
		}
	} else {
		hold = true
	}
	_, _, err = w.notify(s.ParentSID, cause.ID, n, hold)
	return err
}

// awaited reports whether a session waits for a sub-task in the background: the end of that wait says
// what is to be said, and the notice only stays in the queue in case that it does not.
func (w *write) awaited(sid int64, child string) (bool, error) {
	tasks, err := w.RunningTasks(sid)
	if err != nil {
		return false, err
	}
	for _, t := range tasks {
		var args struct {
			IDs []string `json:"subtask_ids"`
		}
		if t.Call.Tool == event.WaitSubtasks && json.Unmarshal(t.Call.Args, &args) == nil && slices.Contains(args.IDs, child) {
			return true, nil
		}
	}
	return false, nil
}

// endOfSubtask words the end of a sub-task: a sentence for people, its reply for her.
func endOfSubtask(t Subtask, turn string) event.Notice {
	took := max(0, t.EndedAt-t.StartedAt)
	facts := map[string]any{factSubtask: t.ID, "name": t.Name, "status": string(t.State), "durationMs": took}
	body := fmt.Sprintf("Sub-task %s (%s) has ended after %d s: %s.", t.ID, t.Name, took/1000, t.State)
	if !t.Reason.IsZero() {
		body += " " + t.Reason.In(text.English)
	}
	switch {
	case t.Reply != "":
		body += " What follows, to the end of this notice, is its reply:\n" + cutReply(t.Reply)
	case t.State == SubtaskCompleted:
		body += " It said nothing at the end."
	}
	sentence := map[SubtaskState]text.Key{
		SubtaskCompleted: "subtask.notice-completed", SubtaskFailed: "subtask.notice-failed", SubtaskInterrupted: "subtask.notice-interrupted",
	}[t.State]
	return event.Notice{Topic: event.TopicSubtask, Text: text.New(sentence, "name", t.Name), NoticeID: turn, Facts: facts, Body: body}
}

func cutReply(reply string) string {
	if len(reply) <= replyBytes {
		return reply
	}
	return strings.ToValidUTF8(reply[:replyBytes], "") + "\n[cut here; check_subtask shows all of it]"
}
