package core_test

import (
	"context"
	"testing"
	"testing/synctest"

	"aalis/backend/core"
	"aalis/backend/fault"
	"aalis/backend/store"
	"aalis/backend/testkit"
)

func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		refused := func(cmd core.Command, want fault.Code) {
			t.Helper()
			if _, err := r.loop.Do(context.Background(), cmd); !fault.Is(err, want) {
				t.Errorf("%+v: %v", cmd, err)
			}
		}
		key := r.do(core.AddPlace{Root: "/home/me/code", Name: " code "}).ItemID
		if key != "workspace:code" {
			t.Error(key)
		}
		refused(core.AddPlace{Root: "/home/me/code", Name: "again"}, fault.Conflict)
		refused(core.AddPlace{Root: "/elsewhere", Name: "Code"}, fault.Conflict)
		refused(core.AddPlace{Root: "/elsewhere", Name: "default"}, fault.Conflict)
		refused(core.AddPlace{Root: "/elsewhere", Name: "\x1b"}, fault.Invalid)
		refused(core.AddPlace{Root: "/elsewhere"}, fault.Invalid)
		refused(core.CreateSession{Actor: owner, Place: "workspace:nowhere"}, fault.NotFound)

		session := r.do(core.CreateSession{Actor: owner, Place: key}).SessionID
		child := r.do(core.CreateSession{Actor: owner, Parent: session}).SessionID
		err := r.loop.Read(context.Background(), func(tx *store.ReadTx) error {
			for _, id := range []string{session, child} {
				if s, err := tx.Session(id); err != nil || s.Place != key {
					t.Errorf("%+v %v", s, err)
				}
			}
			all, err := tx.Projects()
			if err != nil || len(all) != 1 || all[0].Sessions != 1 || all[0].Root != "/home/me/code" {
				t.Errorf("%+v %v", all, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		refused(core.RemovePlace{Key: "workspace:nowhere"}, fault.NotFound)
		refused(core.RemovePlace{Key: core.DefaultPlace}, fault.NotFound)
		r.do(core.RemovePlace{Key: key})
		refused(core.CreateSession{Actor: owner, Place: key}, fault.NotFound)
		r.do(core.CreateSession{Actor: owner, Parent: session}) // those that live there go on
		testkit.Check(t, r.st)
		r.stop()
	})
}
