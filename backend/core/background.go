package core

import (
	"fmt"

	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

// KeptTasks is how many finished tasks of a session are kept. Spec SP-BG-05.
const KeptTasks = 20

// NoteTask says that a running task has printed something; Data is the task's id.
const NoteTask NoteKind = "task"

// MoveTool hands a call under way to the background: for its turn it is over, with a result that
// says so, and a task begins. Refused once the turn was interrupted: then the call belongs to it.
type MoveTool struct {
	Turn      string
	TaskID    string
	StartedAt int64        // when the work began, ms
	Result    event.Result // CallID, Text and DurationMS; the rest is filled in
}

func (c MoveTool) run(w *write) (Receipt, error) {
	t, err := w.live(c.Turn)
	if err != nil {
		return Receipt{}, err
	}
	called, call, err := w.called(t, c.Result.CallID)
	if err != nil {
		return Receipt{}, err
	}
	r := c.Result
	if r.Card, err = w.card(called, call); err != nil {
		return Receipt{}, err
	}
	if s := r.Card.Settlement; r.Card.Approval != "" && (s == nil || s.State != event.StateApproved) {
		return Receipt{}, fmt.Errorf("call %s was not approved: %w", call.CallID, store.ErrInvalid)
	}
	r.Status, r.TaskID = event.ResultSucceeded, c.TaskID
	over := []event.Kind{event.ToolResult}
	_, err = w.append(
		t.SID,
		event.Draft{
			Turn: t.ID, Parent: called.ID, Actor: event.System(), Payload: event.Backgrounding{TaskID: c.TaskID, Label: call.Tool, StartedAt: c.StartedAt},
			RejectIfParentHas: over, RejectIfHas: []event.Guard{{Event: t.StartedEvent, Kinds: []event.Kind{event.UserInterrupt, event.TurnEnded}}},
		},
		event.Draft{
			Turn: t.ID, Parent: called.ID, Actor: event.System(), Payload: r, IdemKey: "k:run:" + t.ID + ":tool:result:" + call.CallID,
			RejectIfParentHas: over,
		},
	)
	return Receipt{SessionID: called.Session, TurnID: t.ID, EventID: called.ID, ItemID: call.CallID}, err
}

// EndTask ends a background task, the oldest finished one beyond KeptTasks is dropped, and she is
// told of it unless it was stopped: the notice opens a turn or waits to join the running one. A task
// that has ended, or went with its session, is left alone (Receipt.Repeated).
type EndTask struct {
	TaskID string
	End    event.BackgroundEnd // TaskID and Dropped are filled in
	Result string              // what the tool returned, for her alone
	// Hold opens no turn: the notice waits for the next start.
	Hold bool
}

func (c EndTask) run(w *write) (Receipt, error) {
	t, found, err := w.Task(c.TaskID)
	if err != nil || !found || t.Status != event.TaskRunning {
		return Receipt{Repeated: err == nil}, err
	}
	kept, err := w.FinishedTasks(t.SID)
	if err != nil {
		return Receipt{}, err
	}
	c.End.Dropped = kept[:max(0, len(kept)+1-KeptTasks)]
	if err := w.endTask(t, c.End); err != nil {
		return Receipt{}, err
	}
	r := Receipt{SessionID: t.Session}
	if c.End.Status == event.TaskStopped {
		return r, nil
	}
	r.TurnID, r.EventID, err = w.tell(t, w.endNotice(t, c), c.Hold)
	return r, err
}

// endTask appends the end of a task: its execution's, then its own.
func (w *write) endTask(t store.Task, end event.BackgroundEnd) error {
	x := event.Execution{ExecutionID: t.Call.ExecutionID, Status: "failed"}
	switch end.Status {
	case event.TaskCompleted:
		x.Status = "succeeded"
	case event.TaskStopped:
		x.ErrorKind = "cancelled"
	case event.TaskAborted:
		x.ErrorKind = "unknown"
	default:
		x.ErrorKind = "internal"
	}
	end.TaskID = t.ID
	over := []event.Kind{event.BackgroundEnded}
	_, err := w.append(
		t.SID,
		event.Draft{Parent: t.ToolEvent, Actor: event.System(), Payload: x, RejectIfParentHas: over},
		event.Draft{Parent: t.ToolEvent, Actor: event.System(), Payload: end, RejectIfParentHas: over},
	)
	return err
}

// endNotice words the end of a task (decisions E13): a sentence for people, the tool's result for her.
func (w *write) endNotice(t store.Task, c EndTask) event.Notice {
	took := max(0, w.Now-t.StartedAt)
	facts := map[string]any{"taskId": t.ID, "tool": t.Label, "status": c.End.Status, "durationMs": took}
	how := c.End.Status
	if code := c.End.ExitCode; code != nil {
		facts["exitCode"] = *code
		how += fmt.Sprintf(", exit code %d", *code)
	}
	if c.End.LastLine != "" {
		facts["lastLine"] = c.End.LastLine
	}
	body := fmt.Sprintf("Background task %s (%s, call %s) has ended after %d s: %s.", t.ID, t.Label, t.Call.CallID, took/1000, how)
	if !c.End.Reason.IsZero() {
		body += " " + c.End.Reason.In(text.English)
	}
	if c.Result != "" {
		body += " What follows, to the end of this notice, is what the tool returned:\n" + c.Result
	}
	said := map[string]text.Key{event.TaskCompleted: "task.notice-completed", event.TaskFailed: "task.notice-failed"}
	sentence, ok := said[c.End.Status]
	if !ok {
		sentence = "task.notice-aborted"
	}
	return event.Notice{Topic: event.TopicBackground, Text: text.New(sentence, "tool", t.Label), NoticeID: t.ID, Facts: facts, Body: body}
}

// tell says something to her as an input would: it opens a turn, or waits to join the running one.
func (w *write) tell(t store.Task, n event.Notice, hold bool) (turn, id string, err error) {
	if n.Platform, err = w.platform(t.SID, t.Turn); err != nil {
		return "", "", err
	}
	return w.notify(t.SID, t.ToolEvent, n, hold)
}

// notify lets a notice enter a session as tell does; cause is the call it comes of.
func (w *write) notify(sid int64, cause string, n event.Notice, hold bool) (turn, id string, err error) {
	s, err := w.SessionBySID(sid)
	if err != nil {
		return "", "", err
	}
	h, err := w.Head(sid)
	if err != nil {
		return "", "", err
	}
	id = event.NewID()
	d := event.Draft{ID: id, Parent: cause, Actor: event.System(), IdemKey: noticeKey(n)}
	if h.RunningTurn != "" || hold {
		n.State = event.InputPending
		d.Payload = n
		_, err = w.append(sid, d)
		return h.RunningTurn, id, err
	}
	n.State, d.Turn = event.InputOpened, event.NewID()
	d.Payload = n
	_, err = w.append(sid, d, w.started(s, event.TurnStart{TurnID: d.Turn, Trigger: id, Source: n.Topic, Platform: n.Platform}))
	return d.Turn, id, err
}

func noticeKey(n event.Notice) string { return "k:notice:" + n.NoticeID }

// platform is where a turn was opened from: its settings go for what comes of the turn.
func (w *write) platform(sid int64, id string) (string, error) {
	turn, err := w.Turn(id)
	if err != nil {
		return "", err
	}
	e, _, err := w.EventAt(sid, turn.StartedSeq)
	start, _ := e.Payload.(event.TurnStart)
	return start.Platform, err
}

// buryTasks ends the running tasks of a session that is being deleted, and names all it had.
func (w *write) buryTasks(sid int64) (ids []string, err error) {
	all, err := w.TasksOf(sid)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		ids = append(ids, t.ID)
		if t.Status != event.TaskRunning {
			continue
		}
		if err := w.endTask(t, event.BackgroundEnd{Status: event.TaskStopped}); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// CutTasks ends the tasks that an earlier start had running. Kernel 9.5.
type CutTasks struct{}

func (CutTasks) run(w *write) (Receipt, error) {
	all, err := w.RunningTasks(0)
	if err != nil {
		return Receipt{}, err
	}
	var r Receipt
	for _, t := range all {
		if t.Epoch == w.loop.epoch {
			continue
		}
		end := event.BackgroundEnd{Status: event.TaskAborted, Reason: text.New("task.restarted")}
		if _, err := (EndTask{TaskID: t.ID, End: end, Hold: true}).run(w); err != nil {
			return Receipt{}, err
		}
		r.Count++
	}
	return r, nil
}
