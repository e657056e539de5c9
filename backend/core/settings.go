package core

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"aalis/backend/event"
	"aalis/backend/store"
)

// NoteSettings says that what is set somewhere, or what can be set, is no longer the same.
const NoteSettings NoteKind = "settings"

// SetSessionSetting writes a value at a session, or takes it out when Value is nil. It leaves no event:
// values are no part of what was said. Whether the value is one that may stand there is decided before.
// Receipt.Done reports whether anything changed.
type SetSessionSetting struct {
	Session     string
	Plugin, Key string
	Value       json.RawMessage
}

func (c SetSessionSetting) run(w *write) (Receipt, error) {
	s, err := w.session(c.Session)
	if err != nil {
		return Receipt{}, err
	}
	changed, err := w.SetSessionSetting(s.SID, store.Setting{Plugin: c.Plugin, Key: c.Key, Value: compact(c.Value)})
	return w.set(changed, Receipt{SessionID: s.ID}), err
}

// SetPlaceSetting writes a value at a place, as SetSessionSetting does at a session.
type SetPlaceSetting struct {
	Place       string
	Plugin, Key string
	Value       json.RawMessage
}

func (c SetPlaceSetting) run(w *write) (Receipt, error) {
	changed, err := w.SetPlaceSetting(c.Place, store.Setting{Plugin: c.Plugin, Key: c.Key, Value: compact(c.Value)})
	return w.set(changed, Receipt{}), err
}

func (w *write) set(changed bool, r Receipt) Receipt {
	r.Done = changed
	if changed {
		w.after = append(w.after, Note{Kind: NoteSettings, Session: r.SessionID})
	}
	return r
}

// compact makes one value one text, so that writing the same again is seen to change nothing.
func compact(value json.RawMessage) json.RawMessage {
	if value == nil {
		return nil
	}
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return value // the column's CHECK refuses it
	}
	return out.Bytes()
}

// Effective gives the settings a turn of a session begins with, by key, for its record. It is asked in
// the writer and must not block. platform is that of whoever opens the turn.
type Effective func(rows SettingRows, s store.Session, platform string) (map[string]json.RawMessage, error)

// SettingRows are the rows that settings are resolved from, in a write or a read.
type SettingRows interface {
	SessionBySID(sid int64) (store.Session, error)
	SessionSettings(sid int64) ([]store.Setting, error)
	PlaceSettings(place string) ([]store.Setting, error)
}

// longSetting bounds what is recorded of one value, in bytes.
const longSetting = 256

// record puts into the opening of a turn what it runs with. Long texts are named by their hash, so that
// a log does not repeat them in every turn. Settings that cannot be resolved leave the record empty: the
// turn itself reads them again and says what is wrong.
func (w *write) record(t *event.TurnStart, s store.Session) {
	if w.loop.effective == nil {
		return
	}
	values, err := w.loop.effective(w.Tx, s, t.Platform)
	if err != nil {
		w.loop.log.Warn("the settings of a turn are not recorded", "session", s.ID, "err", err)
		return
	}
	for key, v := range values {
		if len(v) > longSetting {
			sum := sha256.Sum256(v)
			v, _ = json.Marshal(map[string]any{"sha256": hex.EncodeToString(sum[:]), "bytes": len(v)}) // strings and numbers encode
		}
		if t.Settings == nil {
			t.Settings = map[string]json.RawMessage{}
		}
		t.Settings[key] = v
	}
}
