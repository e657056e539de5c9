package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"aalis/backend/event"
)

func (tx *Tx) must(t testing.TB, sid int64, drafts ...event.Draft) []event.Event {
	t.Helper()
	got, err := tx.Append(sid, drafts...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func system(turn, parent string, p event.Payload) event.Draft {
	return event.Draft{Turn: turn, Parent: parent, Actor: event.System(), Payload: p}
}

// under makes a session below another, or a root with "".
func under(t testing.TB, tx *Tx, parent string) event.Event {
	t.Helper()
	e, err := tx.Create(event.Created{
		ID: event.NewID(), Name: "a name", Parent: parent, Origin: "sp", SessionKind: "owner", Tenant: "local", Initiator: event.OwnerID, Harness: "aalis", HarnessV: 1,
		Environment: "local", Metadata: json.RawMessage(`{"a":"b"}`),
	}, event.System())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// furnish gives a session something in every table that holds what was said or done in it.
func furnish(t testing.TB, tx *Tx, e event.Event) {
	t.Helper()
	id := event.NewID()
	title := "a title"
	tx.must(t, e.SID, system("", "", event.Updated{Title: &title}), system(id, "", event.TurnStart{TurnID: id, Harness: "aalis", Epoch: "e"}))
	tx.must(t, e.SID, event.Draft{Actor: event.System(), Payload: event.Input{Text: "words", State: event.InputPending}})
	call := tx.must(t, e.SID, system(id, "", event.Call{CallID: id, Tool: "t", Args: json.RawMessage(`{}`), Effect: "write", ExecutionID: id}))[0]
	tx.must(t, e.SID,
		system(id, call.ID, event.Action{ActionKind: "tool_approval", CallID: id, Revision: 1, Policy: event.Policy{Absent: "deny"}}),
		system(id, call.ID, event.Backgrounding{TaskID: id, Label: "t"}),
	)
	if err := tx.AppendText(Piece{SID: e.SID, StartSeq: call.Seq, Kind: event.OutputDelta, Text: "output"}); err != nil {
		t.Fatal(err)
	}
	if err := tx.MarkSeen(e.SID, event.OwnerID); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"INSERT OR IGNORE INTO blobs(sha256, size, created_at) VALUES (x'00', 1, 1)",
		fmt.Sprintf("INSERT INTO blob_refs(sha256, sid, event_id) VALUES (x'00', %d, '%s')", e.SID, call.ID),
		fmt.Sprintf("INSERT INTO delta_folds(sid, start_seq, first_seq, last_seq, end_seq, cuts) VALUES (%d, 1, 1, 1, 1, x'00')", e.SID),
	} {
		if err := tx.c.script(sql); err != nil {
			t.Fatal(err)
		}
	}
}

// holds counts, by table, what a session still has.
func holds(t testing.TB, tx *Tx, sid int64) map[string]int64 {
	t.Helper()
	has := map[string]int64{}
	for table, where := range map[string]string{
		"inputs": "sid = ?1", "actions": "sid = ?1", "work_items": "sid = ?1", "background_tasks": "sid = ?1", "session_reads": "sid = ?1",
		"blob_refs": "sid = ?1", "delta_folds": "sid = ?1", "deltas": "key >> 32 = ?1", "events": "sid = ?1 AND (payload IS NOT NULL OR actor <> '{}')",
		"sessions": "sid = ?1 AND (title <> '' OR name <> '' OR metadata <> '{}')",
	} {
		if _, err := tx.c.one("SELECT count(*) FROM "+table+" WHERE "+where, []any{sid}, func(r row) {
			if n := r.int(0); n > 0 {
				has[table] = n
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	return has
}

// What was said in a deleted session leaves every table, and no other session's (SP-SESS-14, kernel 8).
func TestErasingEmptiesEveryTableOfOneSession(t *testing.T) {
	tx := begin(t, openTest(t, t.TempDir()))
	var all []event.Event
	for range 3 {
		e := under(t, tx, "")
		furnish(t, tx, e)
		all = append(all, e)
	}
	whole := holds(t, tx, all[0].SID)
	if len(whole) != 10 {
		t.Fatalf("before it is deleted it has %v", whole)
	}
	middle := all[1].SID
	tx.must(t, middle, system("", "", event.Deleted{}))
	if _, named := holds(t, tx, middle)["sessions"]; named {
		t.Error("a deleted session still has its names")
	}
	for done, n := false, 0; !done; n++ {
		var err error
		if done, err = tx.Erase(middle); err != nil || n > 10 {
			t.Fatalf("step %d: %v", n, err)
		}
	}
	if left := holds(t, tx, middle); len(left) > 0 {
		t.Errorf("it still has %v", left)
	}
	for _, e := range []event.Event{all[0], all[2]} {
		if got := holds(t, tx, e.SID); fmt.Sprint(got) != fmt.Sprint(whole) {
			t.Errorf("another session has %v of %v", got, whole)
		}
	}
	if sids, err := tx.Erasing(); err != nil || len(sids) != 0 {
		t.Errorf("%v are still to be erased (%v)", sids, err)
	}
}

// A skeleton goes when it is old, erased, and nothing below it is left.
func TestWhichSkeletonsArePurged(t *testing.T) {
	tx := begin(t, openTest(t, t.TempDir()))
	root := under(t, tx, "")
	child := under(t, tx, root.Session)
	living := under(t, tx, "")
	deleted := func(sid int64) {
		t.Helper()
		tx.must(t, sid, system("", "", event.Deleted{}))
	}
	erased := func(sid int64) {
		t.Helper()
		if done, err := tx.Erase(sid); !done || err != nil {
			t.Fatal(done, err)
		}
	}
	purged := func(when string, before, want int64) {
		t.Helper()
		if n, err := tx.Purge(before); n != want || err != nil {
			t.Errorf("%s: %d are purged, want %d (%v)", when, n, want, err)
		}
	}
	later := tx.Now + 1
	deleted(root.SID)
	erased(root.SID)
	purged("with a child that is alive", later, 0)
	deleted(child.SID)
	purged("with a child that is not erased", later, 0)
	erased(child.SID)
	purged("too young", tx.Now, 0)
	purged("the child first", later, 1)
	purged("then its parent", later, 1)
	purged("that was all", later, 0)
	if rows, err := tx.Rows(living.SID, -1, 10); err != nil || len(rows) != 1 {
		t.Errorf("%d rows of the living session (%v)", len(rows), err)
	}
}

// A task in the background keeps a session busy for those above, with or without a turn, counted once,
// until it ends or the session goes. Spec SP-TREE-05, SP-TREE-06.
func TestATaskInTheBackgroundIsCountedAbove(t *testing.T) {
	tx := begin(t, openTest(t, t.TempDir()))
	root := under(t, tx, "")
	child := under(t, tx, root.Session)
	deep := under(t, tx, child.Session)
	busy := func(when string, want int64) {
		t.Helper()
		h, err := tx.reads.Head(root.SID) // as written
		if err != nil || h.SubBusy != want {
			t.Errorf("%s: %d below are busy, want %d (%v)", when, h.SubBusy, want, err)
		}
	}
	id := event.NewID()
	tx.must(t, deep.SID, system(id, "", event.TurnStart{TurnID: id, Harness: "aalis", Epoch: "e"}))
	call := tx.must(t, deep.SID, system(id, "", event.Call{CallID: id, Tool: "t", Args: json.RawMessage(`{}`), Effect: "write", ExecutionID: id}))[0]
	busy("a turn", 1)
	tx.must(t, deep.SID, system(id, call.ID, event.Backgrounding{TaskID: "one"}), system(id, call.ID, event.Backgrounding{TaskID: "two"}))
	busy("a turn and two tasks", 1)
	tx.must(t, deep.SID, system(id, "", event.TurnEnd{TurnID: id, Outcome: event.Silent}))
	busy("two tasks", 1)
	tx.must(t, deep.SID, system("", call.ID, event.BackgroundEnd{TaskID: "one", Status: "completed"}))
	busy("a task", 1)
	tx.must(t, deep.SID, system("", call.ID, event.BackgroundEnd{TaskID: "two", Status: "failed"}))
	busy("nothing", 0)
	other := tx.must(t, child.SID, system("", "", event.Call{CallID: "c", Tool: "t", Args: json.RawMessage(`{}`), Effect: "write", ExecutionID: "c"}))[0]
	tx.must(t, child.SID, system("", other.ID, event.Backgrounding{TaskID: "three"}))
	busy("a task of the other", 1)
	tx.must(t, deep.SID, system("", "", event.Deleted{}))
	busy("an idle one is deleted", 1)
	tx.must(t, child.SID, system("", "", event.Deleted{}))
	busy("a busy one is deleted", 0)
}

// A look never goes back, whatever the clock does, and outlives a rebuild. Spec SP-UNREAD-05.
func TestALookIsKept(t *testing.T) {
	s := openTest(t, t.TempDir())
	tx := begin(t, s)
	sid := create(t, tx).SID
	seen := func() int64 {
		t.Helper()
		at, err := tx.Seen(sid, event.OwnerID)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	now := tx.Now
	for _, at := range []int64{now, now - 5000} {
		tx.Now = at
		if err := tx.MarkSeen(sid, event.OwnerID); err != nil {
			t.Fatal(err)
		}
		if seen() != now {
			t.Errorf("seen at %d, want %d", seen(), now)
		}
	}
	if err := errors.Join(tx.Commit(), s.Rebuild(now)); err != nil {
		t.Fatal(err)
	}
	tx = begin(t, s)
	if seen() != now {
		t.Errorf("after a rebuild seen at %d, want %d", seen(), now)
	}
}

// A credential is added once, ends once, and is never revived.
func TestCredentials(t *testing.T) {
	tx := begin(t, openTest(t, t.TempDir()))
	c := Credential{TokenHash: [32]byte{1}, PrincipalID: event.OwnerID, Kind: "ws", DeviceID: "d", Roles: []string{"read"}, CreatedAt: 5, ExpiresAt: 10}
	if err := tx.PutCredential(c); err != nil {
		t.Fatal(err)
	}
	other := c
	other.Roles, other.ExpiresAt = []string{"admin"}, 99
	if err := tx.PutCredential(other); !errors.Is(err, ErrConflict) {
		t.Errorf("added twice: %v", err)
	}
	is := func(when string, expires, revoked int64) {
		t.Helper()
		got, found, err := tx.Credential(c.TokenHash)
		if !found || err != nil || got.ExpiresAt != expires || got.RevokedAt != revoked || !slices.Equal(got.Roles, c.Roles) {
			t.Errorf("%s: %+v (%v)", when, got, err)
		}
	}
	is("added", 10, 0)
	if err := tx.TouchCredential(c.TokenHash, 20); err != nil {
		t.Error(err)
	}
	is("touched", 20, 0)
	for _, at := range []int64{15, 16} {
		if err := errors.Join(tx.RevokeCredential(c.TokenHash, at), tx.TouchCredential(c.TokenHash, 30)); err != nil {
			t.Error(err)
		}
		is("revoked", 20, 15)
	}
	if _, found, err := tx.Credential([32]byte{2}); found || err != nil {
		t.Errorf("one that was never given out: %v", err)
	}
}

// What a reader that lost entries has to read again: what is newer, what was looked at, all above
// it; and what is gone. Spec SP-TREE-05.
func TestWhatHasChangedSince(t *testing.T) {
	tx := begin(t, openTest(t, t.TempDir()))
	quiet, root, looked, gone := under(t, tx, ""), under(t, tx, ""), under(t, tx, ""), under(t, tx, "")
	child := under(t, tx, root.Session)
	deep := under(t, tx, child.Session)
	h, err := tx.Head(deep.SID)
	if err != nil {
		t.Fatal(err)
	}
	since := h.Tick
	tx.Now += 1000
	tx.must(t, deep.SID, notice())
	tx.must(t, gone.SID, system("", "", event.Deleted{}))
	if err := tx.MarkSeen(looked.SID, event.OwnerID); err != nil {
		t.Fatal(err)
	}
	changed, removed, err := tx.ChangedSince(since, tx.Now)
	if want := []int64{root.SID, looked.SID, child.SID, deep.SID}; err != nil || !slices.Equal(changed, want) || slices.Contains(changed, quiet.SID) {
		t.Errorf("changed %v, want %v (%v)", changed, want, err)
	}
	if len(removed) != 1 || removed[0].SID != gone.SID {
		t.Errorf("removed %v", removed)
	}
}

// An item's text is that of its own rows, up to a row.
func TestTextOfAnItem(t *testing.T) {
	tx := begin(t, openTest(t, t.TempDir()))
	sid := create(t, tx).SID
	tx.must(t, sid, notice(), notice())
	for _, p := range []Piece{{StartSeq: 1, Text: "a"}, {StartSeq: 2, Text: "-"}, {StartSeq: 1, Text: "b"}, {StartSeq: 1, Text: "c"}} {
		p.SID, p.Kind = sid, event.TextDelta
		if err := tx.AppendText(p); err != nil {
			t.Fatal(err)
		}
	}
	for below, want := range map[int64]string{3: "", 4: "a", 6: "ab", 1<<32 - 1: "abc"} {
		if got, err := tx.Text(sid, 1, below); got != want || err != nil {
			t.Errorf("below %d: %q, want %q (%v)", below, got, want, err)
		}
	}
}
