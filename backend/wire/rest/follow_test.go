package rest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/wire/rest"
)

func TestTheSeam(t *testing.T) {
	t.Run("V1-104 what is written after the last read and before anybody waits is given, once", func(t *testing.T) {
		st, err := store.Open(store.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		loop, err := core.New(core.Options{Store: st})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		ran := make(chan error, 1)
		go func() { ran <- loop.Run(ctx) }()
		made, err := loop.Do(ctx, core.CreateSession{Actor: event.System()})
		if err != nil {
			t.Fatal(err)
		}
		var sid int64
		if err := loop.Read(ctx, func(tx *store.ReadTx) error {
			s, err := tx.Session(made.SessionID)
			sid = s.SID
			return err
		}); err != nil {
			t.Fatal(err)
		}
		enough := errors.New("enough")
		var seen []int64
		f := rest.Follower{
			Loop: loop, SID: sid, After: -1, Idle: 5 * time.Second, Beat: func() error { return errors.New("it was missed") },
			Rows: func(_ *store.ReadTx, rows []store.Row) (func() error, error) {
				for _, r := range rows {
					seen = append(seen, r.Seq)
				}
				return func() error {
					if len(seen) > 1 {
						return enough
					}
					_, err := loop.Do(ctx, core.RenameSession{Actor: event.System(), Session: made.SessionID, Title: "In between"})
					return err
				}, nil
			},
		}
		if err := f.Run(ctx); !errors.Is(err, enough) || !slices.Equal(seen, []int64{0, 1}) {
			t.Errorf("%v, seen %v", err, seen)
		}
		stop()
		<-ran
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
}
