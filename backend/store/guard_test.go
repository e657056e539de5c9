package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"aalis/backend/event"
)

// How the file is opened is what makes a number that was once sent be never given out again (FULL),
// deleted words be gone (secure_delete), and a reader unable to write.
func TestHowTheFileIsOpened(t *testing.T) {
	s := openTest(t, t.TempDir())
	ask := func(c *conn, pragma string) (says driver.Value) {
		t.Helper()
		if _, err := c.one("PRAGMA "+pragma, nil, func(r row) { says = r[0] }); err != nil {
			t.Fatal(err)
		}
		return says
	}
	const full, fast = int64(2), int64(2)
	for pragma, want := range map[string]driver.Value{
		"journal_mode": "wal", "synchronous": full, "foreign_keys": int64(1), "secure_delete": fast, "busy_timeout": int64(5000),
	} {
		if got := ask(s.writer, pragma); got != want {
			t.Errorf("the writer's %s is %v, want %v", pragma, got, want)
		}
	}
	for range cap(s.readers) {
		r := <-s.readers
		if got := ask(r, "query_only"); got != int64(1) {
			t.Errorf("query_only is %v", got)
		}
		if err := r.script("INSERT INTO meta(key, value) VALUES ('a', 'b')"); err == nil {
			t.Error("a reader wrote")
		}
		s.readers <- r
	}
}

// After an orderly end one file is left and the folder is free.
func TestClosing(t *testing.T) {
	t.Run("leaves one file and a free folder", func(t *testing.T) {
		dir := t.TempDir()
		s := openTest(t, dir)
		tx := begin(t, s)
		create(t, tx)
		if err := errors.Join(tx.Commit(), s.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
		for _, beside := range []string{"-wal", "-shm"} {
			if info, err := os.Stat(filepath.Join(dir, FileName+beside)); err == nil && info.Size() > 0 {
				t.Errorf("%d bytes are left in %s", info.Size(), info.Name())
			}
		}
		if err := s.Read(t.Context(), func(*ReadTx) error { return nil }); !errors.Is(err, ErrClosed) {
			t.Errorf("reading then: %v", err)
		}
		openTest(t, dir)
	})
	t.Run("truncates the log of the writer even while it is copied elsewhere", func(t *testing.T) {
		dir := t.TempDir()
		s := openTest(t, dir)
		tx := begin(t, s)
		create(t, tx)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		wal := filepath.Join(dir, FileName+"-wal")
		if info, err := os.Stat(wal); err != nil || info.Size() == 0 {
			t.Fatalf("nothing was written ahead: %v", err)
		}
		other, err := openConn(s.path, "rw") // keeps the file from being removed with the last connection
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.close() }()
		if _, err := other.one("SELECT 1 FROM meta", nil, func(row) {}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(wal); err != nil || info.Size() != 0 {
			t.Errorf("it is as large as ever: %v", err)
		}
	})
	t.Run("waits for reads under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := openTest(t, t.TempDir())
			reading, release := make(chan struct{}), make(chan struct{})
			read := make(chan error, 1)
			go func() {
				read <- s.Read(context.Background(), func(tx *ReadTx) error {
					close(reading)
					<-release
					_, err := tx.AllSessions()
					return err
				})
			}()
			<-reading
			closed := make(chan error, 1)
			go func() { closed <- s.Close() }()
			synctest.Wait()
			select {
			case <-closed:
				t.Error("it did not wait")
			default:
			}
			close(release)
			if err := errors.Join(<-read, <-closed); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestReading(t *testing.T) {
	t.Run("a caller that gives up is not read for", func(t *testing.T) {
		s := openTest(t, t.TempDir())
		tx := begin(t, s)
		e := create(t, tx)
		if _, err := tx.Append(e.SID, notice(), notice(), notice()); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		why := errors.New("gave up")
		ctx, giveUp := context.WithCancelCause(t.Context())
		rows := 0
		err := s.Read(ctx, func(tx *ReadTx) error {
			return tx.Forwards(e.SID, 0, []event.Kind{event.HostNotice}, func(event.Event) error {
				rows++
				giveUp(why)
				return nil
			})
		})
		if !errors.Is(err, why) || rows != 1 {
			t.Errorf("%d rows, %v", rows, err)
		}
	})
	t.Run("a caller that gives up does not wait for a connection", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, err := Open(Options{Dir: t.TempDir(), Readers: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			ctx, end := context.WithTimeout(t.Context(), time.Second)
			defer end()
			if err := s.Read(t.Context(), func(*ReadTx) error {
				return s.Read(ctx, func(*ReadTx) error { return nil })
			}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("a read sees one instant", func(t *testing.T) {
		s := openTest(t, t.TempDir())
		if err := s.Read(t.Context(), func(read *ReadTx) error {
			before, err := read.AllSessions()
			if err != nil {
				return err
			}
			tx := begin(t, s)
			create(t, tx)
			if err := tx.Commit(); err != nil {
				return err
			}
			after, err := read.AllSessions()
			if len(after) != len(before) {
				t.Errorf("%d sessions, then %d", len(before), len(after))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// Parents and guards are looked for in the session itself; nothing at all is written behind a
// tombstone.
func TestWhatASessionRefuses(t *testing.T) {
	s := openTest(t, t.TempDir())
	tx := begin(t, s)
	mine, other := create(t, tx), create(t, tx)
	far, err := tx.Append(other.SID, notice())
	if err != nil {
		t.Fatal(err)
	}
	d := notice()
	d.Parent = far[0].ID
	if _, err := tx.Append(mine.SID, d); !errors.Is(err, ErrInvalid) {
		t.Errorf("a parent in another session: %v", err)
	}
	d = notice()
	d.ID = far[0].ID
	if _, err := tx.Append(mine.SID, d); !errors.Is(err, ErrConflict) {
		t.Errorf("an id of another session: %v", err)
	}
	if _, err := tx.Append(mine.SID, event.Draft{Actor: event.System(), Payload: event.Deleted{}}); err != nil {
		t.Fatal(err)
	}
	if err := tx.AppendText(Piece{SID: mine.SID, StartSeq: 0, Kind: event.TextDelta, Text: "late"}); !errors.Is(err, ErrDeleted) {
		t.Errorf("text behind the tombstone: %v", err)
	}
	if err := tx.AppendText(Piece{SID: other.SID, StartSeq: 1, Kind: event.TextDelta, Text: "alive"}); err != nil {
		t.Error(err)
	}
	if _, err := tx.Append(99, notice()); !errors.Is(err, ErrNotFound) {
		t.Errorf("a session that never was: %v", err)
	}
}

// What the check of every start finds, and what it leaves alone.
func TestHeadsAgree(t *testing.T) {
	s := openTest(t, t.TempDir())
	tx := begin(t, s)
	var sids []int64
	for range 5 {
		e := create(t, tx)
		if _, err := tx.Append(e.SID, notice()); err != nil {
			t.Fatal(err)
		}
		if err := tx.AppendText(Piece{SID: e.SID, StartSeq: 1, Kind: event.TextDelta, Text: "words"}); err != nil {
			t.Fatal(err)
		}
		sids = append(sids, e.SID)
	}
	if _, err := tx.Append(sids[0], notice()); err != nil { // ends with an event, the others with text
		t.Fatal(err)
	}
	if _, err := tx.Append(sids[4], event.Draft{Actor: event.System(), Payload: event.Deleted{}}); err != nil {
		t.Fatal(err)
	}
	if wrong, err := tx.HeadsAgree(); err != nil || len(wrong) != 0 {
		t.Errorf("of sound heads %v are wrong (%v)", wrong, err)
	}
	for _, sql := range []string{
		"UPDATE session_heads SET last_seq = last_seq - 1 WHERE sid IN (1, 2)", "UPDATE session_heads SET last_seq = last_seq + 1 WHERE sid IN (3, 5)",
	} {
		if err := tx.c.script(sql); err != nil {
			t.Fatal(err)
		}
	}
	if wrong, err := tx.HeadsAgree(); err != nil || !slices.Equal(wrong, sids[:3]) {
		t.Errorf("%v are wrong, want %v (%v)", wrong, sids[:3], err)
	}
}

// A migration that cannot be backed up is not begun.
func TestNoMigrationWithoutABackup(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	steps, err := steps()
	if err != nil {
		t.Fatal(err)
	}
	last := steps[len(steps)-1].version
	next := append(steps, migration{version: last + 1, sql: "CREATE TABLE fresh (a INTEGER) STRICT"})
	if err := upgrade(s.writer, filepath.Join(dir, "missing"), false, last, next); err == nil {
		t.Error("it went on without a backup")
	}
	if found, err := s.writer.one("SELECT 1 FROM sqlite_schema WHERE name = 'fresh'", nil, func(row) {}); found || err != nil {
		t.Errorf("the schema changed (%v)", err)
	}
	if err := upgrade(s.writer, dir, false, last+1, next); err != nil {
		t.Error(err)
	}
	if backups, _ := filepath.Glob(filepath.Join(dir, "aalis-before-*")); len(backups) != 0 {
		t.Errorf("a backup of what needs no migration: %v", backups)
	}
}

// A backup is a whole database, made while the program reads and writes.
func TestBackup(t *testing.T) {
	s := openTest(t, t.TempDir())
	tx := begin(t, s)
	e := create(t, tx)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	open := begin(t, s) // under way, and not in the copy
	create(t, open)
	if err := s.Backup(t.Context(), filepath.Join(to, FileName)); err != nil {
		t.Fatal(err)
	}
	open.Rollback()
	copied := openTest(t, to)
	if err := errors.Join(copied.IntegrityCheck(), copied.Read(t.Context(), func(tx *ReadTx) error {
		all, err := tx.AllSessions()
		if len(all) != 1 || all[0].ID != e.Session {
			return fmt.Errorf("the copy has %d sessions", len(all))
		}
		return err
	})); err != nil {
		t.Error(err)
	}
	if err := s.Backup(t.Context(), filepath.Join(to, FileName)); err == nil {
		t.Error("a file that exists was overwritten")
	}
	if err := s.Read(t.Context(), func(tx *ReadTx) error { _, err := tx.AllSessions(); return err }); err != nil {
		t.Error("the connection is of no more use: ", err)
	}
}
