package store

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/event"
)

func TestSettings(t *testing.T) {
	st, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	write := func(fn func(tx *Tx) error) error {
		t.Helper()
		tx, err := st.Begin(7, func() int64 { return 1 })
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if err := fn(tx); err != nil {
			return err
		}
		return tx.Commit()
	}
	set := func(s Setting) (changed bool) {
		t.Helper()
		if err := write(func(tx *Tx) (err error) { changed, err = tx.SetPlaceSetting("place", s); return err }); err != nil {
			t.Fatal(err)
		}
		return changed
	}
	x := Setting{"p", "k", json.RawMessage(`"x"`)}
	t.Run("written, changed, written again, taken out", func(t *testing.T) {
		got := []bool{
			set(x), set(x), set(Setting{"p", "k", json.RawMessage(`"y"`)}), set(Setting{"p", "k", nil}), set(Setting{"p", "k", nil}),
		}
		if !slices.Equal(got, []bool{true, false, true, true, false}) {
			t.Errorf("changed: %v", got)
		}
	})
	t.Run("what is no JSON is not kept", func(t *testing.T) {
		if err := write(func(tx *Tx) error {
			_, err := tx.SetPlaceSetting("place", Setting{"p", "k", json.RawMessage("x")})
			return err
		}); err == nil {
			t.Error("taken")
		}
	})
	t.Run("values of sessions survive a rebuild, and go with their session", func(t *testing.T) {
		var sid int64
		if err := write(func(tx *Tx) error {
			e, err := tx.Create(event.Created{ID: event.NewID(), Origin: "sp", SessionKind: "owner", Tenant: "local", Initiator: event.OwnerID, Harness: "aalis", HarnessV: 1, Environment: "local"}, event.System())
			if err != nil {
				return err
			}
			sid = e.SID
			_, err = tx.SetSessionSetting(sid, x)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		read := func() (all []Setting) {
			if err := st.Read(t.Context(), func(tx *ReadTx) (err error) { all, err = tx.SessionSettings(sid); return err }); err != nil {
				t.Fatal(err)
			}
			return all
		}
		if err := st.Rebuild(8); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Setting{x}, read()); diff != "" {
			t.Error(diff)
		}
		if err := write(func(tx *Tx) error { return tx.DropSessionSettings(sid) }); err != nil || len(read()) != 0 {
			t.Errorf("%v %v", err, read())
		}
	})
	t.Run("a session that was never there has none", func(t *testing.T) {
		err := write(func(tx *Tx) error { _, err := tx.SetSessionSetting(99, x); return err })
		if err == nil || errors.Is(err, ErrConflict) {
			t.Errorf("%v", err)
		}
	})
}
