package store

import (
	"encoding/json"
	"fmt"

	"aalis/backend/event"
)

// The reducer: the only code that writes projections. Given the same events in the same order it
// makes the same rows, whenever it runs; Rebuild and a property test hold it to that. It never
// refuses: what may happen was decided before.

type reducer func(tx *Tx, h *Head, e event.Event) error

// reducers has a line for every kind; nil says that the kind changes no row but its own.
var reducers = map[event.Kind]reducer{
	event.SessionCreated:     reduceCreated,
	event.SessionUpdated:     reduceUpdated,
	event.SessionDeleted:     reduceDeleted,
	event.HistoryRewound:     reduceRewound,
	event.HistoryCleared:     reduceCleared,
	event.HistoryCompacted:   reduceCompacted,
	event.CheckpointRestored: nil,
	event.UserMessage:        reduceInput,
	event.InputChanged:       reduceInputChanged,
	event.InputDropped:       reduceInputDropped,
	event.UserInterrupt:      reduceInterrupt,
	event.HostNotice:         reduceNotice,
	event.ChatMessage:        nil,
	event.TurnStarted:        reduceTurnStarted,
	event.TurnInputJoined:    reduceInputJoined,
	event.TurnEnded:          reduceTurnEnded,
	event.MessageStarted:     nil,
	event.AgentMessage:       reduceMessage,
	event.DeliveryUpdated:    reduceDelivery,
	event.ReasoningStarted:   nil,
	event.AgentReasoning:     nil,
	event.ModelCalled:        reduceModelCalled,
	event.PlanUpdated:        func(_ *Tx, h *Head, e event.Event) error { h.PlanSeq = e.Seq; return nil },
	event.ToolProposed:       nil,
	event.ToolCalled:         reduceToolCalled,
	event.ToolResult:         reduceToolResult,
	event.ToolEffect:         nil,
	event.ToolBackgrounded:   reduceBackgrounded,
	event.ActionRequested:    reduceActionRequested,
	event.ActionResolved:     reduceActionResolved,
	event.ExecutionUpdated:   reduceExecution,
	event.BackgroundEnded:    reduceBackgroundEnded,
	event.Failed:             nil,
}

func reduce(tx *Tx, h *Head, e event.Event) error {
	fn := reducers[e.Kind]
	if fn == nil || e.Payload == nil {
		return nil
	}
	if err := fn(tx, h, e); err != nil {
		return fmt.Errorf("reducing %s: %w", e.Kind, err)
	}
	return nil
}

func reduceCreated(tx *Tx, h *Head, e event.Event) error {
	c := e.Payload.(event.Created)
	var chat string
	if c.Chat != nil {
		b, err := json.Marshal(c.Chat)
		if err != nil {
			return err
		}
		chat = string(b)
	}
	meta := "{}"
	if len(c.Metadata) > 0 {
		meta = string(c.Metadata)
	}
	var parent int64
	root := e.SID
	if c.Parent != "" {
		found, err := tx.c.one("SELECT sid, root_sid FROM sessions WHERE id = ?", []any{c.Parent}, func(r row) { parent, root = r.int(0), r.int(1) })
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("parent %s: %w", c.Parent, ErrNotFound)
		}
	}
	if c.ExtKey != "" {
		// The address of a deleted room may be used again. It is let go here and not at the deletion,
		// because until now clients know the deleted room by it.
		if _, err := tx.c.exec("UPDATE sessions SET ext_key = NULL WHERE ext_key = ? AND deleted_at IS NOT NULL", c.ExtKey); err != nil {
			return err
		}
	}
	if _, err := tx.c.exec(`INSERT INTO sessions(sid, id, ext_key, tenant_id, initiator_id, origin, kind, app_id, project_id, place_key,
		platform, instance, account, chat, parent_sid, root_sid, spawned_by_event_id, harness_id, harness_version, environment_id,
		name, title, metadata, created_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		e.SID, c.ID, null(c.ExtKey), c.Tenant, c.Initiator, c.Origin, c.SessionKind, null(c.App), null(c.Project), null(c.Place),
		null(c.Platform), null(c.Instance), null(c.Account), null(chat), zero(parent), root, null(c.SpawnedBy), c.Harness, c.HarnessV,
		c.Environment, null(c.Name), null(c.Title), meta, e.At); err != nil {
		if isUnique(err) {
			return fmt.Errorf("%w (%w)", ErrConflict, err)
		}
		return err
	}
	h.UpdatedAt, h.RecordAt = e.At, e.At
	switch {
	case parent != 0:
		h.List = ListChild
	case c.SessionKind == "room":
		h.List = ListRoom
	}
	tx.dirty[e.SID] = true
	if parent != 0 {
		up, err := tx.change(parent)
		if err != nil {
			return err
		}
		up.Children++
	}
	return tx.touch(e.SID)
}

func reduceUpdated(tx *Tx, h *Head, e event.Event) error {
	u := e.Payload.(event.Updated)
	if u.Title != nil {
		if _, err := tx.c.exec("UPDATE sessions SET title = ? WHERE sid = ?", null(*u.Title), e.SID); err != nil {
			return err
		}
	}
	if u.Gate != nil {
		if _, err := tx.c.exec("UPDATE sessions SET gate = ? WHERE sid = ?", *u.Gate, e.SID); err != nil {
			return err
		}
	}
	if u.Archived != nil {
		var at int64
		h.List &^= ListArchived
		if *u.Archived {
			at = e.At
			h.List |= ListArchived
		}
		if _, err := tx.c.exec("UPDATE sessions SET archived_at = ? WHERE sid = ?", zero(at), e.SID); err != nil {
			return err
		}
	}
	if err := reduceWindow(tx, e.SID, u); err != nil {
		return err
	}
	h.RecordAt = e.At
	return tx.touch(e.SID)
}

func reduceDeleted(tx *Tx, h *Head, e event.Event) error {
	if _, err := tx.c.exec("UPDATE sessions SET deleted_at = ?, title = NULL, name = NULL, metadata = '{}' WHERE sid = ?", e.At, e.SID); err != nil {
		return err
	}
	up, err := tx.parent(e.SID)
	if err != nil {
		return err
	}
	if up != 0 {
		p, err := tx.change(up)
		if err != nil {
			return err
		}
		if p.List != ListDeleted {
			p.Children--
		}
	}
	if err := tx.ancestors(e.SID, func(a *Head) {
		a.SubAttention -= h.Pending
		if h.busy() {
			a.SubBusy--
		}
		a.SubTokensIn -= h.TokensIn
		a.SubTokensOut -= h.TokensOut
	}); err != nil {
		return err
	}
	h.List, h.RecordAt = ListDeleted, e.At
	if err := tx.touch(e.SID); err != nil {
		return err
	}
	tx.removed[e.SID] = true
	return nil
}

func reduceRewound(tx *Tx, _ *Head, e event.Event) error {
	r := e.Payload.(event.Rewound)
	if r.Scope == event.RewindUndone {
		_, err := tx.c.exec("DELETE FROM dead_turns WHERE sid = ? AND turn_id = ?", e.SID, r.Turn)
		return err
	}
	_, err := tx.c.exec("INSERT OR IGNORE INTO dead_turns(sid, turn_id, marker_seq) VALUES (?, ?, ?)", e.SID, r.Turn, e.Seq)
	return err
}

func reduceCleared(_ *Tx, h *Head, e event.Event) error {
	h.ClearedSeq = e.Payload.(event.Cleared).Through
	h.UsageSeq = 0 // the context is to be measured anew
	return nil
}

func reduceCompacted(tx *Tx, h *Head, e event.Event) error {
	c := e.Payload.(event.Compacted)
	h.CompactedSeq = e.Seq
	if c.Usage != nil {
		h.UsageSeq = e.Seq
	}
	return tx.spent(h, e.SID, int64(c.Prompt), int64(c.Completion))
}

// spent adds tokens to a session and all above it.
func (tx *Tx) spent(h *Head, sid, in, out int64) error {
	h.TokensIn += in
	h.TokensOut += out
	if err := tx.ancestors(sid, func(a *Head) { a.SubTokensIn += in; a.SubTokensOut += out }); err != nil {
		return err
	}
	return tx.touch(sid)
}

func reduceInput(tx *Tx, _ *Head, e event.Event) error {
	in := e.Payload.(event.Input)
	_, err := tx.c.exec("INSERT INTO inputs(event_id, sid, seq, state, turn_id) VALUES (?, ?, ?, ?, ?)", e.ID, e.SID, e.Seq, in.State, null(e.Turn))
	if err != nil {
		return err
	}
	return tx.name(e, in.Attachments...)
}

func reduceMessage(tx *Tx, _ *Head, e event.Event) error {
	return tx.name(e, e.Payload.(event.Message).Attachments...)
}

func reduceInputChanged(tx *Tx, _ *Head, e event.Event) error {
	c := e.Payload.(event.InputChange)
	_, err := tx.c.exec("UPDATE inputs SET changed = ? WHERE event_id = ? AND state = 'pending'", c.Text, c.InputID)
	return err
}

func reduceInputDropped(tx *Tx, _ *Head, e event.Event) error {
	return tx.setInput(e.Payload.(event.InputDrop).InputID, "dropped", "")
}

func reduceInputJoined(tx *Tx, _ *Head, e event.Event) error {
	return tx.setInput(e.Payload.(event.InputJoin).InputID, "joined", e.Turn)
}

func (tx *Tx) setInput(id, state, turn string) error {
	_, err := tx.c.exec("UPDATE inputs SET state = ?, turn_id = ? WHERE event_id = ? AND state = 'pending'", state, null(turn), id)
	return err
}

func reduceTurnStarted(tx *Tx, h *Head, e event.Event) error {
	t := e.Payload.(event.TurnStart)
	if _, err := tx.c.exec(`INSERT INTO turns(id, sid, started_seq, started_event_id, started_at, trigger_event_id, source, status, epoch)
		VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?)`, t.TurnID, e.SID, e.Seq, e.ID, e.At, null(t.Trigger), null(t.Source), t.Epoch); err != nil {
		return err
	}
	if t.Trigger != "" {
		if err := tx.setInput(t.Trigger, "opened", t.TurnID); err != nil {
			return err
		}
	}
	was := h.busy()
	h.RunningTurn, h.RecordAt = t.TurnID, e.At
	if err := tx.busyChanged(h, was); err != nil {
		return err
	}
	return tx.touch(e.SID)
}

func reduceInterrupt(tx *Tx, _ *Head, e event.Event) error {
	_, err := tx.c.exec("UPDATE turns SET cancel_seq = ? WHERE id = ? AND status = 'running' AND cancel_seq IS NULL", e.Seq, e.Payload.(event.Interrupt).Turn)
	return err
}

func reduceTurnEnded(tx *Tx, h *Head, e event.Event) error {
	t := e.Payload.(event.TurnEnd)
	status := map[string]string{event.Replied: "done", event.Silent: "done", event.Aborted: "canceled", event.Errored: "failed"}[t.Outcome]
	limited := 0
	if t.Limit {
		limited = 1
	}
	if _, err := tx.c.exec("UPDATE turns SET status = ?, phase = 'ending', ended_seq = ?, outcome = ?, limited = ? WHERE id = ?",
		status, e.Seq, t.Outcome, limited, t.TurnID); err != nil {
		return err
	}
	was := h.busy()
	h.RunningTurn, h.LastOutcome, h.LastEndedAt, h.LastError, h.RecordAt = "", t.Outcome, e.At, "", e.At
	switch {
	case t.Cause == event.CauseInterrupted:
		h.LastOutcome = event.Aborted
	case t.Outcome == event.Replied:
		h.LastReplyAt = e.At
	case t.Outcome == event.Errored && t.Reason != nil:
		b, err := json.Marshal(t.Reason)
		if err != nil {
			return err
		}
		h.LastError = string(b)
	}
	if err := tx.busyChanged(h, was); err != nil {
		return err
	}
	return tx.touch(e.SID)
}

// busyChanged tells the ancestors when the session became busy or idle. Spec SP-TREE-05, SP-TREE-06.
func (tx *Tx) busyChanged(h *Head, was bool) error {
	by := int64(1)
	if was == h.busy() {
		return nil
	}
	if was {
		by = -1
	}
	return tx.ancestors(h.SID, func(a *Head) { a.SubBusy += by })
}

func reduceModelCalled(tx *Tx, h *Head, e event.Event) error {
	c := e.Payload.(event.ModelCall)
	in, out := int64(c.Prompt), int64(c.Completion)
	h.UsageSeq = e.Seq
	if e.Turn != "" {
		if _, err := tx.c.exec("UPDATE turns SET completion = completion + ? WHERE id = ?", out, e.Turn); err != nil {
			return err
		}
	}
	return tx.spent(h, e.SID, in, out)
}

func reduceToolCalled(tx *Tx, h *Head, e event.Event) error {
	c := e.Payload.(event.Call)
	h.OpenTools++
	if err := tx.phase(e.Turn, "tool"); err != nil {
		return err
	}
	retry := 0
	if c.Effect == "read" {
		retry = 1
	}
	_, err := tx.c.exec(`INSERT INTO work_items(work_id, sid, root_sid, turn_id, tool_event_id, app_id, environment_id, execution_mode, tool_name,
		effect, retry_safe, status, execution_status, available_at, lease_owner, lease_token, started_at, attempts, created_at, updated_at)
		SELECT ?, s.sid, s.root_sid, ?, ?, 'local', s.environment_id, 'inproc', ?, ?, ?, 'leased', 'accepted', ?, t.epoch, ?, ?, 1, ?, ?
		FROM sessions s LEFT JOIN turns t ON t.id = ? WHERE s.sid = ?`,
		c.ExecutionID, null(e.Turn), e.ID, c.Tool, c.Effect, retry, e.At, c.ExecutionID, e.At, e.At, e.At, e.Turn, e.SID)
	return err
}

func reduceToolResult(tx *Tx, h *Head, e event.Event) error {
	h.OpenTools--
	if err := tx.phase(e.Turn, "model"); err != nil {
		return err
	}
	r := e.Payload.(event.Result)
	if r.TaskID != "" { // handed to the background: the work goes on
		return nil
	}
	status, execution := "failed", "failed"
	switch r.Status {
	case event.ResultSucceeded:
		status, execution = "succeeded", "succeeded"
	case event.ResultCancelled:
		status = "cancelled"
	}
	_, err := tx.c.exec("UPDATE work_items SET status = ?, execution_status = ?, error_kind = ?, lease_token = NULL, updated_at = ? WHERE tool_event_id = ?",
		status, execution, null(r.ErrorKind), e.At, e.Parent)
	return err
}

func reduceExecution(tx *Tx, _ *Head, e event.Event) error {
	x := e.Payload.(event.Execution)
	status, lease := "leased", null(x.ExecutionID)
	switch x.Status {
	case "pending-confirmation":
		status, lease = "blocked", ""
	case "succeeded", "failed":
		status, lease = x.Status, ""
	}
	_, err := tx.c.exec("UPDATE work_items SET status = ?, execution_status = ?, error_kind = ?, lease_token = ?, updated_at = ? WHERE work_id = ?",
		status, x.Status, null(x.ErrorKind), lease, e.At, x.ExecutionID)
	return err
}

func (tx *Tx) phase(turn, phase string) error {
	_, err := tx.c.exec("UPDATE turns SET phase = ? WHERE id = ? AND status = 'running'", phase, turn)
	return err
}

func reduceActionRequested(tx *Tx, h *Head, e event.Event) error {
	a := e.Payload.(event.Action)
	policy, err := json.Marshal(a.Policy)
	if err != nil {
		return err
	}
	refused := 0
	if a.Refused {
		refused = 1
	}
	if _, err := tx.c.exec(`INSERT INTO actions(event_id, sid, root_sid, turn_id, tool_event_id, kind, revision, content_hash, policy, requested_at,
		expires_at, refused, state) SELECT ?, sid, root_sid, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending' FROM sessions WHERE sid = ?`,
		e.ID, null(e.Turn), null(e.Parent), a.ActionKind, a.Revision, a.Hash, string(policy), e.At, zero(a.ExpiresAt), refused, e.SID); err != nil {
		return err
	}
	if a.Refused { // never shown to anybody: no attention. Spec SP-TREE-04
		return nil
	}
	if err := tx.phase(e.Turn, "action"); err != nil {
		return err
	}
	h.Pending++
	if err := tx.ancestors(e.SID, func(up *Head) { up.SubAttention++ }); err != nil {
		return err
	}
	return tx.touch(e.SID)
}

func reduceActionResolved(tx *Tx, h *Head, e event.Event) error {
	r := e.Payload.(event.Resolution)
	if _, err := tx.c.exec("UPDATE actions SET state = ?, resolved_event_id = ? WHERE event_id = ?", r.State, e.ID, e.Parent); err != nil {
		return err
	}
	if r.Refused {
		return nil
	}
	if err := tx.phase(e.Turn, "tool"); err != nil {
		return err
	}
	h.Pending--
	if err := tx.ancestors(e.SID, func(up *Head) { up.SubAttention-- }); err != nil {
		return err
	}
	return tx.touch(e.SID)
}
