package store

import (
	"cmp"
	"encoding/json"
	"fmt"

	"aalis/backend/event"
	"aalis/backend/text"
)

// Task is one row of background_tasks, with the call it came from.
type Task struct {
	ID           string
	SID          int64
	Session      string // session id
	WireSession  string // session id as clients see it
	ToolEvent    string // the tool.called it came from
	Turn         string // of the call
	Call         event.Call
	Status       string
	Label        string
	StartedAt    int64
	EndedAt      int64 // 0 while it runs
	LastLine     string
	LastOutputAt int64
	Reason       text.Text
	ExitCode     *int
	Epoch        string // of the start it was moved in
}

const taskQuery = `SELECT b.id, b.sid, s.id, coalesce(s.ext_key, s.id), b.tool_event_id, e.turn_id, e.payload, b.status, b.label, b.started_at,
	b.ended_at, b.last_line, b.last_output_at, b.reason, b.exit_code, b.epoch
	FROM background_tasks b JOIN sessions s ON s.sid = b.sid LEFT JOIN events e ON e.id = b.tool_event_id `

// livingTask keeps tasks of deleted sessions out: their rows are there until the session is erased.
const livingTask = "s.deleted_at IS NULL"

func scanTask(r row) (Task, error) {
	t := Task{
		ID: r.str(0), SID: r.int(1), Session: r.str(2), WireSession: r.str(3), ToolEvent: r.str(4), Turn: r.str(5), Status: r.str(7), Label: r.str(8),
		StartedAt: r.int(9), EndedAt: r.int(10), LastLine: r.str(11), LastOutputAt: r.int(12), Epoch: r.str(15),
	}
	p, err := event.Decode(event.ToolCalled, r.bytes(6))
	if err != nil {
		return t, fmt.Errorf("reading the call of task %s: %w", t.ID, err)
	}
	t.Call, _ = p.(event.Call) // nil once erased
	if !r.null(13) {
		if err := json.Unmarshal(r.bytes(13), &t.Reason); err != nil {
			return t, fmt.Errorf("reading the reason of task %s: %w", t.ID, err)
		}
	}
	if !r.null(14) {
		code := int(r.int(14))
		t.ExitCode = &code
	}
	return t, nil
}

func (r reads) tasks(where string, args ...any) ([]Task, error) {
	var all []Task
	err := r.each(taskQuery+where, args, func(w row) error {
		t, err := scanTask(w)
		all = append(all, t)
		return err
	})
	return all, err
}

// Tasks lists every background task there is, running or kept, in the order in which they began.
func (r reads) Tasks() ([]Task, error) {
	return r.tasks("WHERE " + livingTask + " ORDER BY b.started_at, e.key")
}

// TasksOf is Tasks of one session.
func (r reads) TasksOf(sid int64) ([]Task, error) {
	return r.tasks("WHERE b.sid = ? AND "+livingTask+" ORDER BY b.started_at, e.key", sid)
}

// RunningTasks is Tasks of those that run, in all sessions when sid is 0.
func (r reads) RunningTasks(sid int64) ([]Task, error) {
	return r.tasks("WHERE b.status = 'running' AND (?1 = 0 OR b.sid = ?1) AND "+livingTask+" ORDER BY b.started_at, e.key", sid)
}

// Task finds a task; found is false for one that never was, was dropped, or went with its session.
func (r reads) Task(id string) (t Task, found bool, err error) {
	all, err := r.tasks("WHERE b.id = ? AND "+livingTask, id)
	if err != nil || len(all) == 0 {
		return Task{}, false, err
	}
	return all[0], true, nil
}

// FinishedTasks lists the finished tasks of a session that are kept, by the order of their ends.
func (r reads) FinishedTasks(sid int64) (ids []string, err error) {
	// By the log, because moments of ends may be the same, and clocks go backwards.
	err = r.each(`SELECT b.id FROM background_tasks b JOIN events e ON e.sid = b.sid AND e.parent_id = b.tool_event_id AND e.type = 'background.ended'
		WHERE b.sid = ? AND b.status <> 'running' ORDER BY e.key`, []any{sid}, func(w row) error { ids = append(ids, w.str(0)); return nil })
	return ids, err
}

func reduceBackgrounded(tx *Tx, h *Head, e event.Event) error {
	b := e.Payload.(event.Backgrounding)
	at := b.StartedAt
	if at == 0 {
		at = e.At
	}
	if _, err := tx.c.exec(`INSERT INTO background_tasks(id, sid, tool_event_id, status, label, started_at, epoch)
		SELECT ?, ?, ?, 'running', ?, ?, coalesce((SELECT epoch FROM turns WHERE id = ?), '')`, b.TaskID, e.SID, e.Parent, b.Label, at, e.Turn); err != nil {
		return err
	}
	was := h.busy()
	h.OpenBackground++
	if err := tx.busyChanged(h, was); err != nil {
		return err
	}
	return tx.touch(e.SID)
}

func reduceBackgroundEnded(tx *Tx, h *Head, e event.Event) error {
	b := e.Payload.(event.BackgroundEnd)
	var reason string
	if !b.Reason.IsZero() {
		j, err := json.Marshal(b.Reason)
		if err != nil {
			return err
		}
		reason = string(j)
	}
	if _, err := tx.c.exec("UPDATE background_tasks SET status = ?, ended_at = ?, last_line = ?, last_output_at = ?, reason = ?, exit_code = ? WHERE id = ?",
		b.Status, e.At, null(b.LastLine), zero(b.LastOutputAt), null(reason), b.ExitCode, b.TaskID); err != nil {
		return err
	}
	for _, id := range b.Dropped {
		if _, err := tx.c.exec("DELETE FROM background_tasks WHERE id = ? AND sid = ?", id, e.SID); err != nil {
			return err
		}
	}
	was := h.busy()
	h.OpenBackground--
	if err := tx.busyChanged(h, was); err != nil {
		return err
	}
	return tx.touch(e.SID)
}

// reduceNotice lets a notice that enters a turn wait and enter like any input.
func reduceNotice(tx *Tx, _ *Head, e event.Event) error {
	n := e.Payload.(event.Notice)
	if n.Attachment != nil {
		if err := tx.name(e, *n.Attachment); err != nil {
			return err
		}
	}
	if n.State == "" {
		return nil
	}
	_, err := tx.c.exec("INSERT INTO inputs(event_id, sid, seq, state, turn_id) VALUES (?, ?, ?, ?, ?)", e.ID, e.SID, e.Seq, n.State, null(e.Turn))
	return err
}

// waiting reads a queued row, as it reads now; ok is false for one that was erased.
func waiting(r row) (in event.Waiting, ok bool, err error) {
	p, err := event.Decode(event.Kind(r.str(4)), r.bytes(2))
	if err != nil {
		return in, false, err
	}
	in = event.Waiting{EventID: r.str(0), At: r.int(1)}
	switch p := p.(type) {
	case event.Input:
		in.Input = p
		if !r.null(3) {
			in.Text = r.str(3)
		}
	case event.Notice:
		in.Notice = &p
		in.State, in.Addressed = p.State, p.Addressed
		if p.Speaker != nil {
			in.Speaker = *p.Speaker
		}
		in.Speaker.Platform, in.Speaker.Source = p.Platform, cmp.Or(p.Source, p.Topic)
	default:
		return in, false, nil
	}
	return in, true, nil
}
