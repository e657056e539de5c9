package session_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aalis/backend/event"
	"aalis/backend/principal"
	"aalis/backend/store"
	"aalis/backend/wire/session"
)

func TestCreate(t *testing.T) {
	bubble(t, "SP-SESS-02 SP-SESS-03 SP-SESS-06 a root of the owner's, by its name or by the moment, whatever services there are", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		made := call[session.SessionCreateResult](p, "session/create", m{"name": " my name "}).Session
		equal(t, made, p.find("my name"))
		equal(t, []any{made.Section, made.Kind, made.ParentID}, []any{session.SectionOwner, session.KindOwner, ""})
		for _, name := range []any{"", "  "} {
			equal(t, call[session.SessionCreateResult](p, "session/create", m{"name": name}).Session.Title, "Session "+time.Now().Format("01/02 15:04"))
		}
		equal(t, call[session.SessionCreateResult](p, "session/create", m{}).Session.Title, "Session "+time.Now().Format("01/02 15:04"))
		call[session.SessionCreateResult](p, "session/create", m{"name": strings.Repeat("名", 200)})
		equal(t, p.refused("session/create", m{"name": strings.Repeat("名", 201)}), invalidParams)
		equal(t, len(p.list(m{})), 5)
	})
	bubble(t, "SP-SESS-04 SP-SESS-05 SP-SESS-07 a sub-session needs the settings service and a parent that is there", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		root, room := d.session("root"), d.room("onebot:a:group:1", "", "a")
		equal(t, p.refused("session/create", m{"parentId": root}), "unsupported")
		d.server.Update(func(all *session.Services) { put(t, all, "settings", true) })
		for _, parent := range []string{"", "nobody"} {
			equal(t, p.refused("session/create", m{"parentId": parent}), "not-found")
		}
		equal(t, p.list(m{"parentId": root}), []string{})
		equal(t, len(p.list(m{})), 2)
		for _, parent := range []string{root, room} {
			made := call[session.SessionCreateResult](p, "session/create", m{"parentId": parent, "name": "child"}).Session
			equal(t, []any{made.ParentID, made.Kind}, []any{parent, session.KindTask})
			equal(t, p.list(m{"parentId": parent}), []string{"child"})
		}
	})
	bubble(t, "what a client does is recorded as done by whoever its transport says", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		made := call[session.SessionCreateResult](d.person(t), "session/create", m{"name": "x"}).Session
		d.read(func(tx *store.ReadTx) error {
			s, err := tx.Session(made.ID)
			if err != nil {
				return err
			}
			genesis, _, err := tx.EventAt(s.SID, 0)
			equal(t, genesis.Actor.Via, "session")
			return err
		})
	})
}

func TestRename(t *testing.T) {
	bubble(t, "SP-SESS-08 the title becomes the line's, within its bounds", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		id := d.session("name")
		p.do("session/rename", m{"sessionId": id, "title": " a title "})
		equal(t, p.list(m{}), []string{"a title"})
		for _, title := range []string{"", " \t", strings.Repeat("x", 201)} {
			equal(t, p.refused("session/rename", m{"sessionId": id, "title": title}), invalidParams)
		}
		equal(t, p.list(m{}), []string{"a title"})
		p.do("session/rename", m{"sessionId": d.room("onebot:a:group:1", "", "a"), "title": "the group"})
		equal(t, p.list(m{"section": "rooms"}), []string{"the group"})
	})
}

// family is root › child › grandchild and a session beside it.
func family(d *desk) (root, child, grandchild string) {
	root = d.session("root")
	child = d.child(root, "child")
	grandchild = d.child(child, "grandchild")
	d.session("beside")
	return root, child, grandchild
}

func TestArchive(t *testing.T) {
	archived := func(p *person) (all []bool) {
		for _, title := range []string{"root", "child", "grandchild", "beside"} {
			all = append(all, p.find(title).Archived)
		}
		return all
	}
	bubble(t, "SP-SESS-09 SP-SESS-10 SP-SESS-12 archiving and back take all descendants along and leave the rest as it is", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		root, child, grandchild := family(d)
		p.do("session/archive", m{"sessionId": child})
		equal(t, archived(p), []bool{false, true, true, false})
		p.do("session/unarchive", m{"sessionId": grandchild})
		equal(t, archived(p), []bool{false, true, false, false})
		p.do("session/archive", m{"sessionId": root})
		equal(t, archived(p), []bool{true, true, true, false})
		p.do("session/unarchive", m{"sessionId": child})
		equal(t, archived(p), []bool{true, false, false, false})
		kept := p.find("child")
		later()
		p.do("session/unarchive", m{"sessionId": root})
		equal(t, archived(p), []bool{false, false, false, false})
		equal(t, p.find("child"), kept)
		beside := p.find("beside")
		p.do("session/unarchive", m{"sessionId": beside.ID})
		equal(t, p.find("beside"), beside)
	})
	bubble(t, "SP-SESS-11 coming back, a session is what its last turn made it", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		root, child, grandchild := family(d)
		d.fail(d.turn(child), event.Failure{Code: "model"})
		d.reply(d.turn(grandchild))
		p.do("session/archive", m{"sessionId": root})
		p.do("session/unarchive", m{"sessionId": root})
		equal(t, []bool{p.find("root").Error, p.find("child").Error, p.find("grandchild").Error}, []bool{false, true, false})
		equal(t, p.find("root").LastTurn, nil)
		equal(t, p.find("grandchild").LastTurn.Outcome, session.OutcomeReplied)
	})
}

func TestDelete(t *testing.T) {
	bubble(t, "SP-SESS-13 SP-ERR-04 a session goes with all its descendants, also while they run and ask, and is not-found from then on", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		root, child, grandchild := family(d)
		d.ask(d.turn(grandchild))
		d.turn(child)
		d.turn(child) // waits
		p.do("session/delete", m{"sessionId": child})
		left := p.find("root")
		equal(t, []any{left.ChildCount, left.Attention, left.Background}, []any{0, false, 0})
		for _, id := range []string{child, grandchild} {
			equal(t, p.refused("sessions/list", m{"parentId": id}), "not-found")
			for _, method := range []string{"archive", "unarchive", "delete", "markSeen", "rename"} {
				equal(t, p.refused("session/"+method, m{"sessionId": id, "title": "x"}), "not-found")
			}
		}
		equal(t, p.list(m{}), []string{"root", "beside"})
		p.do("session/delete", m{"sessionId": root})
		equal(t, p.list(m{}), []string{"beside"})
	})
}

func TestBatch(t *testing.T) {
	bubble(t, "SP-SESS-17 SP-SESS-18 only what failed is named; the others are done, with their descendants", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		root, child, _ := family(d)
		beside := p.find("beside").ID
		failed := func(op string, ids ...string) (all []string) {
			for _, f := range call[session.SessionBatchResult](p, "session/batch", m{"op": op, "ids": ids}).Failed {
				if f.Message != "There is no session "+f.SessionID+"." {
					t.Errorf("%+v", f)
				}
				all = append(all, f.SessionID)
			}
			return all
		}
		equal(t, failed("archive", "nobody", root, "no one", beside), []string{"nobody", "no one"})
		equal(t, p.list(m{}), []string{})
		equal(t, p.find("grandchild").Archived, true)
		equal(t, failed("delete", root, child, "nobody", root), []string{"nobody"})
		equal(t, p.list(m{"archived": true}), []string{"beside"})
		equal(t, failed("delete", beside), nil)
		equal(t, failed("delete", beside), []string{beside})
		equal(t, p.list(m{"archived": true}), []string{})
	})
	bubble(t, "SP-SESS-15 SP-SESS-16 a batch has up to 500 ids and one of two operations", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		ids := make([]string, 501)
		for i := range ids {
			ids[i] = fmt.Sprint(i)
		}
		ids[0] = d.session("s")
		equal(t, p.refused("session/batch", m{"op": "delete", "ids": ids}), invalidParams)
		equal(t, p.refused("session/batch", m{"op": "unarchive", "ids": ids[:1]}), invalidParams)
		equal(t, p.refused("session/batch", m{"op": "rename", "ids": ids[:1]}), invalidParams)
		equal(t, p.list(m{}), []string{"s"})
		equal(t, len(call[session.SessionBatchResult](p, "session/batch", m{"op": "archive", "ids": ids[:500]}).Failed), 499)
		equal(t, call[session.SessionBatchResult](p, "session/batch", m{"op": "delete", "ids": []string{}}).Failed, []session.BatchFailure{})
	})
}

func TestOperationsNeedRights(t *testing.T) {
	bubble(t, "SEC-08 who may only read lists and watches, and changes nothing", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		id := d.session("s")
		reader := &person{line: new(line), t: t}
		reader.Conn = d.server.Connect(session.Peer{Caller: principal.Caller{Scopes: principal.Scopes{principal.Read}}}, reader.take)
		t.Cleanup(reader.Close)
		reader.Receive(hello)
		equal(t, reader.list(m{}), []string{"s"})
		reader.do("sessions/watch", m{})
		for method, params := range map[string]m{
			"session/create": {}, "session/rename": {"sessionId": id, "title": "x"}, "session/archive": {"sessionId": id}, "session/unarchive": {"sessionId": id},
			"session/delete": {"sessionId": id}, "session/batch": {"op": "delete", "ids": []string{id}}, "session/markSeen": {"sessionId": id},
		} {
			equal(t, reader.refused(method, params), "forbidden")
		}
		equal(t, len(reader.changes()), 0)
		equal(t, reader.list(m{}), []string{"s"})
	})
}

func TestWhoDidIt(t *testing.T) {
	bubble(t, "the log says who did something, and over which surface", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		created := call[session.SessionCreateResult](d.person(t), "session/create", m{"name": "one"})
		d.read(func(tx *store.ReadTx) error {
			s, err := tx.Session(created.Session.ID)
			if err != nil {
				return err
			}
			all, err := tx.Between(s.SID, -1, 1)
			if err == nil && (len(all) == 0 || all[0].Actor.Surface != "webui" || all[0].Actor.Via != "session") {
				t.Errorf("%+v", all)
			}
			return err
		})
	})
}
