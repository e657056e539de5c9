package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aalis/backend/event"
)

func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// begin opens a transaction whose ticks count up.
func begin(t testing.TB, s *Store) *Tx {
	t.Helper()
	n := int64(0)
	tx, err := s.Begin(1_700_000_000_000, func() int64 { n++; return n })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tx.Rollback)
	return tx
}

func create(t testing.TB, tx *Tx) event.Event {
	t.Helper()
	e, err := tx.Create(event.Created{ID: event.NewID(), Origin: "sp", SessionKind: "owner", Tenant: "local", Initiator: event.OwnerID, Harness: "aalis", HarnessV: 1, Environment: "local"}, event.System())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func notice() event.Draft {
	return event.Draft{Actor: event.System(), Payload: event.Notice{Topic: "event-marker"}}
}

func TestAppendGuards(t *testing.T) {
	tx := begin(t, openTest(t, t.TempDir()))
	sid := create(t, tx).SID
	first, err := tx.Append(sid, notice())
	if err != nil {
		t.Fatal(err)
	}
	child := func(change func(*event.Draft)) event.Draft {
		d := notice()
		d.Parent = first[0].ID
		change(&d)
		return d
	}
	cases := []struct {
		name  string
		draft event.Draft
		want  error
	}{
		{"a parent of another session", child(func(d *event.Draft) { d.Parent = event.NewID() }), ErrInvalid},
		{"an id that exists", child(func(d *event.Draft) { d.ID = first[0].ID }), ErrConflict},
		{"a child of a kind it must not have, before there is one", child(func(d *event.Draft) { d.RejectIfParentHas = []event.Kind{event.HostNotice} }), nil},
		{"a child of a kind it must not have", child(func(d *event.Draft) { d.RejectIfParentHas = []event.Kind{event.HostNotice} }), ErrConflict},
		{"another event's child", child(func(d *event.Draft) {
			d.Parent, d.RejectIfHas = "", []event.Guard{{Event: first[0].ID, Kinds: []event.Kind{event.HostNotice}}}
		}), ErrConflict},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := tx.Savepoint(); err != nil {
				t.Fatal(err)
			}
			_, err := tx.Append(sid, c.draft)
			if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if err != nil {
				err = tx.RollbackTo()
			} else {
				err = tx.Release()
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestAKeyIsLookedUpBeforeEveryGuard(t *testing.T) {
	tx := begin(t, openTest(t, t.TempDir()))
	sid := create(t, tx).SID
	d := notice()
	d.IdemKey = "c:1"
	one, err := tx.Append(sid, d)
	if err != nil {
		t.Fatal(err)
	}
	d.Parent = "nobody" // a guard that would refuse
	two, err := tx.Append(sid, d)
	if err != nil {
		t.Fatal(err)
	}
	if two[0].ID != one[0].ID || !two[0].Repeated || one[0].Repeated {
		t.Errorf("first %+v, again %+v", one[0], two[0])
	}
}

func TestARefusedBatchWritesNothing(t *testing.T) {
	tx := begin(t, openTest(t, t.TempDir()))
	sid := create(t, tx).SID
	if err := tx.Savepoint(); err != nil {
		t.Fatal(err)
	}
	bad := notice()
	bad.Parent = "nobody"
	if _, err := tx.Append(sid, notice(), bad); err == nil {
		t.Fatal("the batch was taken")
	}
	if err := tx.RollbackTo(); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Rows(sid, -1, 10)
	if err != nil || len(rows) != 1 {
		t.Errorf("%d rows, want the genesis alone (%v)", len(rows), err)
	}
	if h, _ := tx.Head(sid); h.LastSeq != 0 {
		t.Errorf("the head stands at %d", h.LastSeq)
	}
}

// The guards of the schema hold even when the program forgets its own.
func TestTheSchemaRefusesWhatTheProgramMustNotDo(t *testing.T) {
	s := openTest(t, t.TempDir())
	tx := begin(t, s)
	sid := create(t, tx).SID
	open, err := tx.Append(sid, event.Draft{Actor: event.System(), Turn: "t1", Payload: event.TurnStart{TurnID: "t1", Harness: "aalis", Epoch: "e"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, sql string }{
		{"changing an event", "UPDATE events SET at = 1"},
		{"emptying an event of a living session", "UPDATE events SET payload = NULL"},
		{"removing an event", "DELETE FROM events"},
		{"changing text", "UPDATE deltas SET text = 'x'"},
		{"a second running turn", "INSERT INTO turns(id, sid, started_seq, started_event_id, started_at, status, epoch) SELECT 't2', sid, 9, 'x', 1, 'running', 'e' FROM sessions"},
		{"two ends of one turn", fmt.Sprintf("INSERT INTO events(key, sid, seq, id, type, parent_id, actor, at) SELECT (sid << 32) + 50 + value, sid, 50 + value, value, 'turn.ended', '%s', '{}', 1 FROM sessions, json_each('[1,2]')", open[0].ID)},
		{"a key that is not its session's", "INSERT INTO events(key, sid, seq, id, type, actor, at) SELECT 5, sid, 60, 'k', 'host.notice', '{}', 1 FROM sessions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := tx.c.script("INSERT INTO deltas(key, start_seq, kind, idx, at, text) SELECT (sid << 32) + 40, 1, 1, 0, 1, 'a' FROM sessions WHERE NOT EXISTS (SELECT 1 FROM deltas)"); err != nil {
				t.Fatal(err)
			}
			if err := tx.c.script(c.sql); err == nil {
				t.Error("it was done")
			}
		})
	}
}

func TestOpening(t *testing.T) {
	t.Run("a folder in use names the process that holds it", func(t *testing.T) {
		dir := t.TempDir()
		openTest(t, dir)
		_, err := Open(Options{Dir: dir})
		locked, ok := errors.AsType[*Locked](err)
		if !ok || locked.PID != os.Getpid() {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a path with every awkward character", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a #?%20 'b' é 字")
		s := openTest(t, dir)
		tx := begin(t, s)
		create(t, tx)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, FileName)); err != nil {
			t.Error(err)
		}
	})
	t.Run("a newer file is refused and left alone", func(t *testing.T) {
		dir := t.TempDir()
		s := openTest(t, dir)
		if err := s.writer.script("PRAGMA user_version=99"); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		before, _ := os.ReadFile(filepath.Join(dir, FileName))
		_, err := Open(Options{Dir: dir})
		if n, ok := errors.AsType[*Newer](err); !ok || n.Have != 99 {
			t.Errorf("got %v", err)
		}
		after, _ := os.ReadFile(filepath.Join(dir, FileName))
		if !slices.Equal(before, after) {
			t.Error("the file changed")
		}
	})
	t.Run("another program's database is refused", func(t *testing.T) {
		dir := t.TempDir()
		s := openTest(t, dir)
		if err := s.writer.script("PRAGMA application_id=7"); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		if _, err := Open(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "another program") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the folder and the file are the owner's alone", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "data")
		openTest(t, dir)
		for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, FileName): 0o600, filepath.Join(dir, "lock"): 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v (%v)", path, info.Mode().Perm(), err)
			}
		}
	})
}

// An existing file is copied before it is migrated, while it is open, and a step that fails leaves it
// as it was.
func TestAMigrationBacksUpFirst(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	tx := begin(t, s)
	session := create(t, tx).Session
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	next := migration{version: 2, sql: "CREATE TABLE fresh (a INTEGER) STRICT"}
	if err := upgrade(s.writer, dir, false, 1, []migration{{version: 1}, next}); err != nil {
		t.Fatal(err)
	}
	backups, _ := filepath.Glob(filepath.Join(dir, "aalis-before-v2-*.db"))
	if len(backups) != 1 {
		t.Fatalf("backups %v", backups)
	}
	old := t.TempDir()
	if err := os.Rename(backups[0], filepath.Join(old, FileName)); err != nil {
		t.Fatal(err)
	}
	back := openTest(t, old)
	if err := back.Read(context.Background(), func(tx *ReadTx) error { _, err := tx.Session(session); return err }); err != nil {
		t.Error("the backup lacks the session: ", err)
	}
	broken := migration{version: 3, sql: "CREATE TABLE half (a INTEGER) STRICT; nonsense"}
	if err := upgrade(s.writer, dir, false, 2, []migration{{version: 1}, next, broken}); err == nil {
		t.Fatal("a broken step was taken")
	}
	var version, half int64
	_, _ = s.writer.one("PRAGMA user_version", nil, func(r row) { version = r.int(0) })
	_, _ = s.writer.one("SELECT count(*) FROM sqlite_schema WHERE name = 'half'", nil, func(r row) { half = r.int(0) })
	if version != 2 || half != 0 {
		t.Errorf("after a broken step: version %d, %d half tables", version, half)
	}
}

// SQLite itself says FULL here, and the transaction it took along is noticed.
func TestARealFullDatabase(t *testing.T) {
	s := openTest(t, t.TempDir())
	tx := begin(t, s)
	sid := create(t, tx).SID
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	var pages int64
	_, _ = s.writer.one("PRAGMA page_count", nil, func(r row) { pages = r.int(0) })
	if err := s.writer.script(fmt.Sprintf("PRAGMA max_page_count=%d", pages+20)); err != nil {
		t.Fatal(err)
	}
	tx = begin(t, s)
	var err error
	for err == nil {
		if err = tx.Savepoint(); err == nil {
			_, err = tx.Append(sid, event.Draft{Actor: event.System(), Payload: event.Notice{Topic: strings.Repeat("x", 4000)}})
		}
	}
	if !IsFull(err) {
		t.Fatalf("got %v, want FULL", err)
	}
	if !tx.Over() {
		if e := tx.RollbackTo(); e != nil {
			t.Logf("the savepoint is gone: %v", e)
		}
	}
	tx.Rollback()
	if err := s.writer.script("PRAGMA max_page_count=1000000"); err != nil {
		t.Fatal(err)
	}
	tx = begin(t, s)
	if rows, err := tx.Rows(sid, -1, 10); err != nil || len(rows) != 1 {
		t.Errorf("%d rows are left of a transaction that failed (%v)", len(rows), err)
	}
	if _, err := tx.Append(sid, notice()); err != nil {
		t.Error(err)
	}
}

// The statements that run all the time go by an index and never sort.
func TestQueryPlans(t *testing.T) {
	s := openTest(t, t.TempDir())
	for name, q := range map[string]string{
		"guard":       "SELECT 1 FROM events WHERE sid = 1 AND parent_id = 'a' AND type = 'b' LIMIT 1",
		"key":         "SELECT " + eventColumns + eventFrom + "WHERE e.sid = 1 AND e.idem_key = 'a' LIMIT 1",
		"backwards":   "SELECT " + eventColumns + eventFrom + "WHERE e.key >= 1 AND e.key < 2 AND +e.type IN ('a') ORDER BY e.key DESC",
		"text":        "SELECT text FROM deltas WHERE key > 1 AND key < 9 AND start_seq = 1 ORDER BY key",
		"pending":     "SELECT " + actionColumns + " FROM actions WHERE sid = 1 AND state = 'pending'",
		"merged rows": "SELECT key, 0 FROM events WHERE key > 1 AND key <= 9 UNION ALL SELECT key, 1 FROM deltas WHERE key > 1 AND key <= 9 ORDER BY key LIMIT 5",
		"owner list":  "SELECT " + headColumns + summaryFrom + "WHERE h.list IN (0) ORDER BY h.rank, h.record_at DESC, h.sid LIMIT 50",
	} {
		t.Run(name, func(t *testing.T) {
			var plan []string
			if err := s.writer.query("EXPLAIN QUERY PLAN "+q, nil, func(r row) error { plan = append(plan, r.str(3)); return nil }); err != nil {
				t.Fatal(err)
			}
			for _, line := range plan {
				if strings.HasPrefix(line, "SCAN") && !strings.Contains(line, "INDEX") || strings.Contains(line, "TEMP B-TREE") {
					t.Errorf("%s", strings.Join(plan, "\n"))
					break
				}
			}
		})
	}
}

// Every kind of the vocabulary has a line in the reducer, even if it says that nothing changes.
func TestEveryKindHasALineInTheReducer(t *testing.T) {
	for _, k := range event.Kinds() {
		if _, ok := reducers[k]; !ok {
			t.Errorf("add %s to reducers in reduce.go", k)
		}
	}
	for k := range reducers {
		if !event.Known(k) {
			t.Errorf("reducers has %s, which is no kind", k)
		}
	}
}

func TestErasingLeavesOnlyTheSkeleton(t *testing.T) {
	s := openTest(t, t.TempDir())
	tx := begin(t, s)
	e := create(t, tx)
	var drafts []event.Draft
	for range EraseStep + 10 {
		drafts = append(drafts, notice())
	}
	if _, err := tx.Append(e.SID, drafts...); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Erase(e.SID); !errors.Is(err, ErrConflict) {
		t.Errorf("erasing a living session: %v", err)
	}
	if _, err := tx.Append(e.SID, event.Draft{Actor: event.System(), Payload: event.Deleted{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Append(e.SID, notice()); !errors.Is(err, ErrDeleted) {
		t.Errorf("appending behind the tombstone: %v", err)
	}
	steps := 0
	for done := false; !done; steps++ {
		var err error
		if done, err = tx.Erase(e.SID); err != nil {
			t.Fatal(err)
		}
	}
	if steps < 2 {
		t.Errorf("erased in %d steps", steps)
	}
	var left int64
	_, _ = tx.c.one("SELECT count(*) FROM events WHERE payload IS NOT NULL OR actor <> '{}'", nil, func(r row) { left = r.int(0) })
	if left != 0 {
		t.Errorf("%d events still say something", left)
	}
	if n, err := tx.Purge(tx.Now + 1); err != nil || n != 1 {
		t.Errorf("purged %d (%v)", n, err)
	}
	_, _ = tx.c.one("SELECT count(*) FROM events", nil, func(r row) { left = r.int(0) })
	if left != 0 {
		t.Errorf("%d events are left after the purge", left)
	}
}
