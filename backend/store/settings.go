package store

import (
	"encoding/json"
	"fmt"

	"aalis/backend/event"
)

// Setting is one value as it was written.
type Setting struct {
	Plugin, Key string
	Value       json.RawMessage
}

// PlacedSetting is a value at a place, or at a session when Place is "".
type PlacedSetting struct {
	Setting
	Place   string
	Session Session
}

func (r reads) settings(query string, args ...any) ([]Setting, error) {
	var all []Setting
	err := r.each(query, args, func(w row) error {
		all = append(all, Setting{w.str(0), w.str(1), w.bytes(2)})
		return nil
	})
	return all, err
}

// PlaceSettings lists what is written at a place.
func (r reads) PlaceSettings(place string) ([]Setting, error) {
	return r.settings("SELECT plugin, key, value FROM place_settings WHERE place_key = ? ORDER BY plugin, key", place)
}

// SessionSettings lists what is written at a session.
func (r reads) SessionSettings(sid int64) ([]Setting, error) {
	return r.settings("SELECT plugin, key, value FROM session_settings WHERE sid = ? ORDER BY plugin, key", sid)
}

// PluginSettings lists everything of a plugin that is written at places and at living sessions: places
// by key, then sessions in the order of their creation.
func (r reads) PluginSettings(plugin string) ([]PlacedSetting, error) {
	var all []PlacedSetting
	if err := r.each("SELECT plugin, key, value, place_key FROM place_settings WHERE plugin = ? ORDER BY place_key, key", []any{plugin}, func(w row) error {
		all = append(all, PlacedSetting{Setting: Setting{w.str(0), w.str(1), w.bytes(2)}, Place: w.str(3)})
		return nil
	}); err != nil {
		return nil, err
	}
	err := r.each(`SELECT v.plugin, v.key, v.value, `+sessionColumns+` FROM session_settings v JOIN sessions s ON s.sid = v.sid
		WHERE v.plugin = ? AND s.deleted_at IS NULL ORDER BY s.sid, v.key`, []any{plugin}, func(w row) error {
		all = append(all, PlacedSetting{Setting: Setting{w.str(0), w.str(1), w.bytes(2)}, Session: scanSession(w[3:])})
		return nil
	})
	return all, err
}

// SetPlaceSetting writes a value at a place; nil takes it out. changed is false when that is how it was.
func (tx *Tx) SetPlaceSetting(place string, s Setting) (changed bool, err error) {
	return tx.setSetting("place_settings", "place_key", place, s)
}

// SetSessionSetting is SetPlaceSetting for a session.
func (tx *Tx) SetSessionSetting(sid int64, s Setting) (changed bool, err error) {
	return tx.setSetting("session_settings", "sid", sid, s)
}

func (tx *Tx) setSetting(table, column string, at any, s Setting) (bool, error) {
	var n int64
	var err error
	if s.Value == nil {
		n, err = tx.c.exec("DELETE FROM "+table+" WHERE "+column+" = ? AND plugin = ? AND key = ?", at, s.Plugin, s.Key)
	} else {
		n, err = tx.c.exec("INSERT INTO "+table+"("+column+`, plugin, key, value, updated_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at WHERE value <> excluded.value`,
			at, s.Plugin, s.Key, string(s.Value), tx.Now)
	}
	if err != nil {
		return false, fmt.Errorf("writing the setting %s of %s: %w", s.Key, s.Plugin, err)
	}
	return n > 0, nil
}

// DropSessionSettings takes out everything that is written at a session.
func (tx *Tx) DropSessionSettings(sid int64) error {
	_, err := tx.c.exec("DELETE FROM session_settings WHERE sid = ?", sid)
	return err
}

// Home is a place where root sessions live.
type Home struct {
	Key      string
	Name     string        // of a project; "" where only sessions or settings know the place
	Platform string        // of a window
	Chat     *event.Window // of a window, as its newest session has it
}

// Places lists every place that has a project, a session or settings, by key.
func (r reads) Places() ([]Home, error) {
	var all []Home
	err := r.each(`WITH keys(key) AS (SELECT place_key FROM projects WHERE place_key IS NOT NULL
			UNION SELECT place_key FROM place_settings
			UNION SELECT place_key FROM sessions WHERE parent_sid IS NULL AND place_key IS NOT NULL AND deleted_at IS NULL)
		SELECT k.key, p.name, s.platform, s.chat FROM keys k LEFT JOIN projects p ON p.place_key = k.key
		LEFT JOIN sessions s ON s.sid = (SELECT sid FROM sessions n WHERE n.parent_sid IS NULL AND n.place_key = k.key
			ORDER BY n.deleted_at IS NULL DESC, n.sid DESC LIMIT 1) ORDER BY k.key`, nil, func(w row) error {
		p := Home{Key: w.str(0), Name: w.str(1), Platform: w.str(2)}
		if !w.null(3) {
			p.Chat = &event.Window{}
			_ = json.Unmarshal(w.bytes(3), p.Chat) // the column's CHECK holds it to JSON
		}
		all = append(all, p)
		return nil
	})
	return all, err
}
