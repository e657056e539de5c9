package store

import (
	"encoding/json"

	"aalis/backend/event"
)

// Delivery is one row of deliveries: something on its way into a room, or arrived.
type Delivery struct {
	EventID string // what is delivered
	SID     int64
	Session string
	Turn    string // whose conclusion waits for it
	Kind    string
	State   string
	Seq     int64 // of its newest event
	Epoch   string
}

const deliveryColumns = "d.event_id, d.sid, s.id, d.turn_id, d.kind, d.state, d.seq, d.epoch"

func scanDelivery(w row) Delivery {
	return Delivery{
		EventID: w.str(0), SID: w.int(1), Session: w.str(2), Turn: w.str(3), Kind: w.str(4), State: w.str(5), Seq: w.int(6), Epoch: w.str(7),
	}
}

// Delivery finds what has become of something that was to go out; found is false for what was not.
func (r reads) Delivery(eventID string) (d Delivery, found bool, err error) {
	found, err = r.c.one("SELECT "+deliveryColumns+" FROM deliveries d JOIN sessions s ON s.sid = d.sid WHERE d.event_id = ?", []any{eventID},
		func(w row) { d = scanDelivery(w) })
	return d, found, err
}

// PendingDeliveries lists what the platforms have not answered yet, in the order in which it is to go out.
func (r reads) PendingDeliveries() ([]Delivery, error) {
	var all []Delivery
	err := r.each("SELECT "+deliveryColumns+` FROM deliveries d JOIN sessions s ON s.sid = d.sid
		WHERE d.state = 'pending' AND s.deleted_at IS NULL ORDER BY d.sid, d.seq`, nil, func(w row) error { all = append(all, scanDelivery(w)); return nil })
	return all, err
}

// AwaitingTurns lists the turns of a session that have ended but wait for a platform's answer: they are not
// concluded (Spec SP-SUB-29).
func (r reads) AwaitingTurns(sid int64) ([]string, error) {
	var all []string
	err := r.each(`SELECT DISTINCT d.turn_id FROM deliveries d JOIN turns t ON t.id = d.turn_id
		WHERE d.sid = ? AND d.state = 'pending' AND t.status <> 'running' ORDER BY t.started_seq`, []any{sid}, func(w row) error { all = append(all, w.str(0)); return nil })
	return all, err
}

// QueueLength is how many inputs of a session wait.
func (r reads) QueueLength(sid int64) (n int, err error) {
	_, err = r.c.one("SELECT count(*) FROM inputs WHERE sid = ? AND state = 'pending'", []any{sid}, func(w row) { n = int(w.int(0)) })
	return n, err
}

// reduceDelivery follows one thing on its way, and the notices that share its fate.
func reduceDelivery(tx *Tx, _ *Head, e event.Event) error {
	d := e.Payload.(event.Delivery)
	for _, id := range append([]string{e.Parent}, d.With...) {
		if _, err := tx.c.exec(`INSERT INTO deliveries(event_id, sid, turn_id, kind, state, seq, epoch) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT(event_id) DO UPDATE SET state = excluded.state, seq = excluded.seq`, id, e.SID, null(e.Turn), d.Kind, d.State, e.Seq, d.Epoch); err != nil {
			return err
		}
	}
	return nil
}

// reduceWindow follows what a platform says of a room.
func reduceWindow(tx *Tx, sid int64, u event.Updated) error {
	if u.Instance != nil {
		if _, err := tx.c.exec("UPDATE sessions SET instance = ? WHERE sid = ?", null(*u.Instance), sid); err != nil {
			return err
		}
	}
	if u.Name != nil {
		if _, err := tx.c.exec("UPDATE sessions SET name = ? WHERE sid = ?", null(*u.Name), sid); err != nil {
			return err
		}
	}
	if u.Chat == nil {
		return nil
	}
	chat, err := json.Marshal(u.Chat)
	if err != nil {
		return err
	}
	_, err = tx.c.exec("UPDATE sessions SET chat = ? WHERE sid = ?", string(chat), sid)
	return err
}
