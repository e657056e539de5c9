package core_test

import (
	"encoding/json"
	"testing"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
)

func TestSettings(t *testing.T) {
	r := open(t, t.TempDir())
	do := func(cmd core.Command) core.Receipt {
		t.Helper()
		got, err := r.loop.Do(t.Context(), cmd)
		if err != nil {
			t.Fatalf("%T: %v", cmd, err)
		}
		return got
	}
	s := do(core.CreateSession{Actor: event.System()}).SessionID
	child := do(core.CreateSession{Actor: event.System(), Parent: s}).SessionID
	written := func(id string) (all []store.Setting) {
		t.Helper()
		if err := r.loop.Read(t.Context(), func(tx *store.ReadTx) error {
			one, err := tx.SessionOrTomb(id)
			if err == nil {
				all, err = tx.SessionSettings(one.SID)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	t.Run("the same value in other white space changes nothing", func(t *testing.T) {
		cursor := r.loop.Cursor()
		set := core.SetSessionSetting{Session: s, Plugin: "p", Key: "k", Value: json.RawMessage(`[1, 2]`)}
		first := do(set)
		set.Value = json.RawMessage("[1,2]")
		if again := do(set); !first.Done || again.Done {
			t.Errorf("%v, then %v", first.Done, again.Done)
		}
		entries, err := cursor.Take()
		if err != nil || len(entries) != 1 || entries[0].Note == nil || entries[0].Note.Kind != core.NoteSettings {
			t.Errorf("SP-CONF-68: %+v %v", entries, err)
		}
	})
	t.Run("SP-CONF-60 a value leaves no event", func(t *testing.T) {
		if err := r.loop.Read(t.Context(), func(tx *store.ReadTx) error {
			one, err := tx.Session(s)
			if err != nil {
				return err
			}
			h, err := tx.Head(one.SID)
			if h.LastSeq != 0 {
				t.Errorf("the log has %d events behind the first", h.LastSeq)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a session that is not there is not found", func(t *testing.T) {
		if _, err := r.loop.Do(t.Context(), core.SetSessionSetting{Session: "nobody", Plugin: "p", Key: "k"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
	})
	t.Run("values go with their session, and with the one above it", func(t *testing.T) {
		do(core.SetSessionSetting{Session: child, Plugin: "p", Key: "k", Value: json.RawMessage("1")})
		do(core.DeleteSession{Actor: event.System(), Session: s})
		if left := append(written(s), written(child)...); len(left) != 0 {
			t.Errorf("%v", left)
		}
	})
}
