package store

import (
	"encoding/json"
	"fmt"
	"strings"

	"aalis/backend/event"
)

// Session is the lasting half of a session's row.
type Session struct {
	SID        int64
	ID         string
	ExtKey     string
	Tenant     string
	Initiator  string
	Origin     string
	Kind       string
	Place      string
	Platform   string
	Instance   string
	Account    string
	Chat       *event.Window
	ParentSID  int64
	RootSID    int64
	Harness    string
	Name       string // "": the default name
	Title      string
	Gate       string
	ArchivedAt int64
	DeletedAt  int64
	ErasedAt   int64
	CreatedAt  int64
}

// WireID is the id clients see: a room's address, else the session's id (spec/README, decision 1).
func (s Session) WireID() string {
	if s.ExtKey != "" {
		return s.ExtKey
	}
	return s.ID
}

const sessionColumns = `s.sid, s.id, s.ext_key, s.tenant_id, s.initiator_id, s.origin, s.kind, s.place_key, s.platform, s.instance, s.account,
	s.chat, s.parent_sid, s.root_sid, s.harness_id, s.name, s.title, s.gate, s.archived_at, s.deleted_at, s.erased_at, s.created_at`

const sessionWidth = 22

func scanSession(r row) Session {
	s := Session{
		SID: r.int(0), ID: r.str(1), ExtKey: r.str(2), Tenant: r.str(3), Initiator: r.str(4), Origin: r.str(5), Kind: r.str(6), Place: r.str(7),
		Platform: r.str(8), Instance: r.str(9), Account: r.str(10), ParentSID: r.int(12), RootSID: r.int(13), Harness: r.str(14),
		Name: r.str(15), Title: r.str(16), Gate: r.str(17), ArchivedAt: r.int(18), DeletedAt: r.int(19), ErasedAt: r.int(20), CreatedAt: r.int(21),
	}
	if !r.null(11) {
		s.Chat = &event.Window{}
		_ = json.Unmarshal(r.bytes(11), s.Chat) // the column's CHECK holds it to JSON
	}
	return s
}

// Session finds a session by its id or a room by its address. Deleted sessions are ErrNotFound.
func (r reads) Session(id string) (Session, error) {
	s, err := r.SessionOrTomb(id)
	if err == nil && s.DeletedAt != 0 {
		return s, ErrNotFound
	}
	return s, err
}

// SessionOrTomb is Session, deleted ones included.
func (r reads) SessionOrTomb(id string) (Session, error) {
	var s Session
	for _, where := range []string{"s.id = ?", "s.ext_key = ?"} {
		found, err := r.c.one("SELECT "+sessionColumns+" FROM sessions s WHERE "+where, []any{id}, func(w row) { s = scanSession(w) })
		if err != nil || found {
			return s, err
		}
	}
	return s, ErrNotFound
}

// SessionBySID finds a session by its internal number, deleted ones included.
func (r reads) SessionBySID(sid int64) (Session, error) {
	var s Session
	found, err := r.c.one("SELECT "+sessionColumns+" FROM sessions s WHERE s.sid = ?", []any{sid}, func(w row) { s = scanSession(w) })
	if err == nil && !found {
		err = ErrNotFound
	}
	return s, err
}

func (r reads) sessionID(sid int64) (id string, err error) {
	_, err = r.c.one("SELECT id FROM sessions WHERE sid = ?", []any{sid}, func(w row) { id = w.str(0) })
	return id, err
}

// Subtree lists a session and all its living descendants, parents before children.
func (r reads) Subtree(sid int64) ([]Session, error) {
	var all []Session
	err := r.each(`WITH RECURSIVE tree(sid, depth) AS (SELECT ?, 0 UNION ALL SELECT c.sid, depth + 1 FROM tree JOIN sessions c ON c.parent_sid = tree.sid)
		SELECT `+sessionColumns+` FROM tree JOIN sessions s ON s.sid = tree.sid WHERE s.deleted_at IS NULL ORDER BY tree.depth, s.sid`,
		[]any{sid}, func(w row) error { all = append(all, scanSession(w)); return nil })
	return all, err
}

// Ancestors lists the sessions above, root first.
func (r reads) Ancestors(s Session) ([]Session, error) {
	var up []Session
	for s.ParentSID != 0 {
		p, err := r.SessionBySID(s.ParentSID)
		if err != nil {
			return nil, err
		}
		up = append([]Session{p}, up...)
		s = p
	}
	return up, nil
}

const eventColumns = "e.sid, e.seq, e.id, e.type, e.turn_id, e.parent_id, e.actor, e.payload, e.idem_key, e.ch_seq, e.at, s.id"

const eventFrom = " FROM events e JOIN sessions s ON s.sid = e.sid "

func scanEvent(r row) (event.Event, error) {
	e := event.Event{
		SID: r.int(0), Seq: r.int(1), ID: r.str(2), Kind: event.Kind(r.str(3)), Turn: r.str(4), Parent: r.str(5), IdemKey: r.str(8),
		ChatSeq: r.int(9), At: r.int(10), Session: r.str(11),
	}
	if err := json.Unmarshal(r.bytes(6), &e.Actor); err != nil {
		return e, fmt.Errorf("decoding the actor of %s: %w", e.ID, err)
	}
	p, err := event.Decode(e.Kind, r.bytes(7))
	if err != nil {
		return e, fmt.Errorf("reading event %s: %w", e.ID, err)
	}
	e.Payload = p
	return e, nil
}

func (r reads) events(where string, args ...any) ([]event.Event, error) {
	var all []event.Event
	err := r.each("SELECT "+eventColumns+eventFrom+where, args, func(w row) error {
		e, err := scanEvent(w)
		all = append(all, e)
		return err
	})
	return all, err
}

func (r reads) event(where string, args ...any) (event.Event, bool, error) {
	all, err := r.events(where+" LIMIT 1", args...)
	if err != nil || len(all) == 0 {
		return event.Event{}, false, err
	}
	return all[0], true, nil
}

// Event finds an event by its id.
func (r reads) Event(id string) (event.Event, bool, error) { return r.event("WHERE e.id = ?", id) }

// EventAt finds the event with a seq.
func (r reads) EventAt(sid, seq int64) (event.Event, bool, error) {
	return r.event("WHERE e.key = ?", key(sid, seq))
}

// EventByKey finds an event by its idempotency key.
func (r reads) EventByKey(sid int64, idem string) (event.Event, bool, error) {
	return r.event("WHERE e.sid = ? AND e.idem_key = ?", sid, idem)
}

// Child finds the first child of an event that has the kind.
func (r reads) Child(sid int64, parent string, kind event.Kind) (event.Event, bool, error) {
	return r.event("WHERE e.sid = ? AND e.parent_id = ? AND e.type = ? ORDER BY e.seq", sid, parent, string(kind))
}

// Children lists the children of an event in order.
func (r reads) Children(sid int64, parent string) ([]event.Event, error) {
	return r.events("WHERE e.sid = ? AND e.parent_id = ? ORDER BY e.key", sid, parent)
}

// Between lists a session's events with from < seq <= to, in order.
func (r reads) Between(sid, from, to int64) ([]event.Event, error) {
	return r.events("WHERE e.key > ? AND e.key <= ? ORDER BY e.key", key(sid, from), key(sid, to))
}

// TurnEvents lists the events of a turn that started at a seq, in order.
func (r reads) TurnEvents(t Turn) ([]event.Event, error) {
	to := t.EndedSeq
	if to == 0 {
		to = 1<<32 - 1
	}
	return r.events("WHERE e.key >= ? AND e.key <= ? AND e.turn_id = ? ORDER BY e.key", key(t.SID, t.StartedSeq), key(t.SID, to), t.ID)
}

// TurnInputs lists the inputs that opened or joined a turn, in order.
func (r reads) TurnInputs(sid int64, turn string) ([]event.Event, error) {
	return r.events("JOIN inputs i ON i.event_id = e.id WHERE i.turn_id = ? AND i.sid = ? ORDER BY e.key", turn, sid)
}

// Backwards calls each with a session's events of some kinds below a seq, newest first, until it
// returns false.
func (r reads) Backwards(sid, below int64, kinds []event.Kind, each func(event.Event) (more bool, err error)) error {
	marks := strings.TrimSuffix(strings.Repeat("?,", len(kinds)), ",")
	args := []any{key(sid, 0), key(sid, below)}
	for _, k := range kinds {
		args = append(args, string(k))
	}
	// The + keeps the planner on the key: an index on type would need a sort of the whole session.
	return r.each("SELECT "+eventColumns+eventFrom+"WHERE e.key >= ? AND e.key < ? AND +e.type IN ("+marks+") ORDER BY e.key DESC", args, func(w row) error {
		e, err := scanEvent(w)
		if err != nil {
			return err
		}
		more, err := each(e)
		if err == nil && !more {
			err = errStop
		}
		return err
	})
}

// Text is the streamed text of the item opened at start, up to and without the row below.
func (r reads) Text(sid, start, below int64) (string, error) {
	var b strings.Builder
	err := r.each("SELECT text FROM deltas WHERE key > ? AND key < ? AND start_seq = ? ORDER BY key", []any{key(sid, start), key(sid, below), start},
		func(w row) error { b.WriteString(w.str(0)); return nil })
	return b.String(), err
}

// Row is one row of the log: an event, or a piece of streamed text.
type Row struct {
	Seq     int64
	Event   *event.Event
	Kind    event.DeltaKind // of a piece
	Start   int64
	Idx     int64
	ChatSeq int64
	At      int64
	Text    string
}

// Rows lists events and pieces of a session with seq > after in order, at most limit.
func (r reads) Rows(sid, after int64, limit int) ([]Row, error) {
	var all []Row
	err := r.each(`SELECT key, 0, id, type, turn_id, parent_id, actor, payload, idem_key, ch_seq, at, 0, 0, 0 FROM events WHERE key > ?1 AND key <= ?2
		UNION ALL SELECT key, 1, NULL, NULL, NULL, NULL, NULL, text, NULL, ch_seq, at, kind, start_seq, idx FROM deltas WHERE key > ?1 AND key <= ?2
		ORDER BY key LIMIT ?3`, []any{key(sid, after), key(sid, 1<<32-1), limit}, func(w row) error {
		seq := w.int(0) & (1<<32 - 1)
		if w.int(1) == 1 {
			all = append(all, Row{Seq: seq, Kind: event.DeltaKind(w.int(11)), Start: w.int(12), Idx: w.int(13), ChatSeq: w.int(9), At: w.int(10), Text: w.str(7)})
			return nil
		}
		e := event.Event{SID: sid, Seq: seq, ID: w.str(2), Kind: event.Kind(w.str(3)), Turn: w.str(4), Parent: w.str(5), IdemKey: w.str(8), ChatSeq: w.int(9), At: w.int(10)}
		if err := json.Unmarshal(w.bytes(6), &e.Actor); err != nil {
			return fmt.Errorf("decoding the actor of %s: %w", e.ID, err)
		}
		p, err := event.Decode(e.Kind, w.bytes(7))
		if err != nil {
			return fmt.Errorf("reading event %s: %w", e.ID, err)
		}
		e.Payload = p
		all = append(all, Row{Seq: seq, Event: &e, ChatSeq: e.ChatSeq, At: e.At})
		return nil
	})
	if err != nil {
		return nil, err
	}
	id, err := r.sessionID(sid)
	for _, w := range all {
		if w.Event != nil {
			w.Event.Session = id
		}
	}
	return all, err
}

// Turn is one row of turns.
type Turn struct {
	ID           string
	SID          int64
	Session      string // session id
	StartedSeq   int64
	StartedEvent string
	StartedAt    int64
	Trigger      string
	Source       string
	Status       string
	Phase        string
	CancelSeq    int64
	EndedSeq     int64
	Outcome      string
	Limited      bool
	Completion   int64
	Epoch        string
}

const turnColumns = `(SELECT s.id FROM sessions s WHERE s.sid = turns.sid), id, sid, started_seq, started_event_id, started_at, trigger_event_id, source, status, phase, cancel_seq, ended_seq, outcome,
	limited, completion, epoch`

func scanTurn(r row) Turn {
	return Turn{
		Session: r.str(0), ID: r.str(1), SID: r.int(2), StartedSeq: r.int(3), StartedEvent: r.str(4), StartedAt: r.int(5), Trigger: r.str(6),
		Source: r.str(7), Status: r.str(8), Phase: r.str(9), CancelSeq: r.int(10), EndedSeq: r.int(11), Outcome: r.str(12),
		Limited: r.int(13) != 0, Completion: r.int(14), Epoch: r.str(15),
	}
}

func (r reads) turns(where string, args ...any) ([]Turn, error) {
	var all []Turn
	err := r.each("SELECT "+turnColumns+" FROM turns "+where, args, func(w row) error { all = append(all, scanTurn(w)); return nil })
	return all, err
}

// Turn finds a turn by its id; ErrNotFound without one.
func (r reads) Turn(id string) (Turn, error) {
	all, err := r.turns("WHERE id = ?", id)
	if err == nil && len(all) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Turn{}, err
	}
	return all[0], nil
}

// RunningTurns lists every turn that has not ended.
func (r reads) RunningTurns() ([]Turn, error) {
	return r.turns("WHERE status = 'running' ORDER BY sid")
}

// LastTurn is the session's newest turn; found is false before the first.
func (r reads) LastTurn(sid int64) (t Turn, found bool, err error) {
	all, err := r.turns("WHERE sid = ? ORDER BY started_seq DESC LIMIT 1", sid)
	if err != nil || len(all) == 0 {
		return Turn{}, false, err
	}
	return all[0], true, nil
}

// DeadTurns lists the turns a session's readers skip.
func (r reads) DeadTurns(sid int64) (map[string]bool, error) {
	dead := map[string]bool{}
	err := r.each("SELECT turn_id FROM dead_turns WHERE sid = ?", []any{sid}, func(w row) error { dead[w.str(0)] = true; return nil })
	return dead, err
}

// PendingInputs lists the queue of a session in order, as it reads now.
func (r reads) PendingInputs(sid int64) ([]event.Waiting, error) {
	var all []event.Waiting
	err := r.each("SELECT e.id, e.at, e.payload, i.changed, e.type FROM inputs i JOIN events e ON e.id = i.event_id WHERE i.sid = ? AND i.state = 'pending' ORDER BY i.seq",
		[]any{sid}, func(w row) error {
			in, ok, err := waiting(w)
			if ok {
				all = append(all, in)
			}
			return err
		})
	return all, err
}

// Plan gives a session's to-do list as it is now; it is empty where there is none.
func (r reads) Plan(sid int64) (event.Plan, error) {
	h, err := r.Head(sid)
	if err != nil || h.PlanSeq == 0 {
		return event.Plan{}, err
	}
	e, _, err := r.EventAt(sid, h.PlanSeq)
	p, _ := e.Payload.(event.Plan) // nil when erased
	return p, err
}

// InputState tells what has become of an input: pending, opened, joined, dropped or swallowed.
func (r reads) InputState(eventID string) (sid int64, state string, found bool, err error) {
	found, err = r.c.one("SELECT sid, state FROM inputs WHERE event_id = ?", []any{eventID}, func(w row) { sid, state = w.int(0), w.str(1) })
	return sid, state, found, err
}

// SessionsWithPendingInputs lists sessions whose queue waits though no turn runs.
func (r reads) SessionsWithPendingInputs() ([]int64, error) {
	var all []int64
	err := r.each(`SELECT DISTINCT i.sid FROM inputs i JOIN session_heads h ON h.sid = i.sid
		WHERE i.state = 'pending' AND h.running_turn_id IS NULL AND h.list <> 9 ORDER BY i.sid`, nil, func(w row) error { all = append(all, w.int(0)); return nil })
	return all, err
}

// Action is one row of actions.
type Action struct {
	ID        string
	SID       int64
	RootSID   int64
	Turn      string
	ToolEvent string
	Kind      string
	Revision  int64
	Hash      string
	Policy    event.Policy
	At        int64
	ExpiresAt int64
	Refused   bool
	State     string
	Resolved  string
}

const actionColumns = `event_id, sid, root_sid, turn_id, tool_event_id, kind, revision, content_hash, policy, requested_at, expires_at, refused,
	state, resolved_event_id`

func scanAction(r row) (Action, error) {
	a := Action{
		ID: r.str(0), SID: r.int(1), RootSID: r.int(2), Turn: r.str(3), ToolEvent: r.str(4), Kind: r.str(5), Revision: r.int(6), Hash: r.str(7),
		At: r.int(9), ExpiresAt: r.int(10), Refused: r.int(11) != 0, State: r.str(12), Resolved: r.str(13),
	}
	if err := json.Unmarshal(r.bytes(8), &a.Policy); err != nil {
		return a, fmt.Errorf("decoding the policy of %s: %w", a.ID, err)
	}
	return a, nil
}

func (r reads) actions(where string, args ...any) ([]Action, error) {
	var all []Action
	err := r.each("SELECT "+actionColumns+" FROM actions "+where, args, func(w row) error {
		a, err := scanAction(w)
		all = append(all, a)
		return err
	})
	return all, err
}

// Action finds an action; found is false for an id that was never given out.
func (r reads) Action(id string) (a Action, found bool, err error) {
	all, err := r.actions("WHERE event_id = ?", id)
	if err != nil || len(all) == 0 {
		return Action{}, false, err
	}
	return all[0], true, nil
}

// PendingActions lists what waits for an answer, in all sessions when sid is 0, oldest first.
func (r reads) PendingActions(sid int64) ([]Action, error) {
	if sid == 0 {
		return r.actions("WHERE state = 'pending' ORDER BY requested_at, event_id")
	}
	return r.actions("WHERE sid = ? AND state = 'pending' ORDER BY requested_at, event_id", sid)
}

// ActionsSince lists the actions of all sessions that were requested at a moment or later, oldest
// first, however they stand. It reads the whole table.
func (r reads) ActionsSince(at int64) ([]Action, error) {
	return r.actions("WHERE requested_at >= ? ORDER BY requested_at, event_id", at)
}

// ActionRate counts a tree's pending actions, and those shown since a moment. Spec decisions H3.
func (r reads) ActionRate(rootSID, since int64) (pending, shown int64, err error) {
	_, err = r.c.one(`SELECT coalesce(sum(state = 'pending'), 0), coalesce(sum(requested_at >= ?), 0) FROM actions
		WHERE root_sid = ? AND refused = 0 AND (state = 'pending' OR requested_at >= ?)`, []any{since, rootSID, since},
		func(w row) { pending, shown = w.int(0), w.int(1) })
	return pending, shown, err
}

// MaxTick is the newest place in the order that any row holds.
func (r reads) MaxTick() (tick int64, err error) {
	_, err = r.c.one("SELECT coalesce(max(tick), 0) FROM session_heads", nil, func(w row) { tick = w.int(0) })
	return tick, err
}

// Seen is when a principal last looked at a session, 0 for never.
func (r reads) Seen(sid int64, principal string) (at int64, err error) {
	_, err = r.c.one("SELECT seen_at FROM session_reads WHERE sid = ? AND principal_id = ?", []any{sid, principal}, func(w row) { at = w.int(0) })
	return at, err
}

// AllSessions lists every session there ever was, deleted ones included, for checks and repairs.
func (r reads) AllSessions() ([]Session, error) {
	var all []Session
	err := r.each("SELECT "+sessionColumns+" FROM sessions s ORDER BY s.sid", nil, func(w row) error { all = append(all, scanSession(w)); return nil })
	return all, err
}
