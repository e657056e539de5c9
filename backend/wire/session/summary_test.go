package session_test

import (
	"encoding/json"
	"testing"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
	"aalis/backend/wire/session"
)

// write puts rows into a log that no writer has opened yet: what other parts of the program record.
func write(t *testing.T, dir string, fn func(tx *store.Tx) error) {
	t.Helper()
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var tick int64
	if err := st.Read(t.Context(), func(tx *store.ReadTx) (err error) { tick, err = tx.MaxTick(); return err }); err != nil {
		t.Fatal(err)
	}
	tx, err := st.Begin(time.Now().UnixMilli(), func() int64 { tick++; return tick })
	if err != nil {
		t.Fatal(err)
	}
	if err := fn(tx); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSummaryFields(t *testing.T) {
	bubble(t, "SP-SUM-01 SP-SUM-21 SP-TREE-09 a line has what it must, and nothing else while nothing applies", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		id := d.session("plain")
		raw, _ := p.request("sessions/list", m{})
		var got struct{ Sessions []map[string]any }
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		now := float64(time.Now().UnixMilli())
		equal(t, got.Sessions, []map[string]any{{
			"id": id, "title": "plain", "childCount": 0.0, "kind": "owner", "section": "owner", "createdAt": now, "updatedAt": now,
			"running": false, "error": false, "unread": false, "attention": false, "archived": false, "background": 0.0,
			"place": map[string]any{"key": "workspace:default", "kind": "workspace", "name": "Default workspace"},
		}})
	})
	bubble(t, "SP-SUM-02 the title stands for the name, and stays when the session is renamed again", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		id := d.session("name")
		equal(t, p.list(m{}), []string{"name"})
		p.do("session/rename", m{"sessionId": id, "title": "title"})
		equal(t, p.list(m{}), []string{"title"})
		equal(t, p.list(m{"query": "name"}), []string{"title"})
	})
	bubble(t, "SP-SUM-03 SP-SUM-04 SP-SUM-05 SP-SUM-06 SP-SUM-12 SP-SUM-14 SP-TREE-15 sub-sessions name parent and ancestors, and have the root's section, platform, chat and place", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		room := d.room("onebot:a:group:1", "x", "a")
		one := d.child(room, "one")
		two := d.child(one, "two")
		d.child(room, "other")
		d.do(core.ArchiveSession{Actor: console, Session: one})
		root, child, grandchild := p.find("a group"), p.find("one"), p.find("two")
		chat := &session.Chat{Type: "group", MultiParty: true}
		place := &session.Place{Key: "window:onebot:a:group:1", Kind: session.PlaceWindow, Name: "group of onebot:a:group:1"}
		now := time.Now().UnixMilli()
		equal(t, root, session.SessionSummary{
			ID: room, Title: "a group", ChildCount: 2, Kind: session.KindRoom, Section: session.SectionRooms, Platform: "onebot", Instance: "x", Account: "a",
			Chat: chat, Place: place, CreatedAt: now, UpdatedAt: now,
		})
		equal(t, child, session.SessionSummary{
			ID: one, Title: "one", ParentID: room, ChildCount: 1, Kind: session.KindTask, Section: session.SectionRooms, Platform: "onebot",
			Chat: chat, Place: place, CreatedAt: now, UpdatedAt: now, Archived: true, Ancestors: []session.SessionRef{{ID: room, Title: "a group"}},
		})
		equal(t, grandchild, session.SessionSummary{
			ID: two, Title: "two", ParentID: one, Kind: session.KindTask, Section: session.SectionRooms, Platform: "onebot",
			Chat: chat, Place: place, CreatedAt: now, UpdatedAt: now, Archived: true,
			Ancestors: []session.SessionRef{{ID: room, Title: "a group"}, {ID: one, Title: "one"}},
		})
	})
	bubble(t, "SP-SUM-07 SP-SUM-08 SP-SUM-09 SP-SUM-10 platform, instance, account and chat are a room's, as far as they are recorded", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		d.session("mine")
		d.room("onebot:a:group:1", "", "a")
		mine, room := p.find("mine"), p.find("a group")
		equal(t, []string{mine.Platform, mine.Instance, mine.Account}, []string{"", "", ""})
		equal(t, []string{room.Platform, room.Instance, room.Account}, []string{"onebot", "", "a"})
		equal(t, mine.Chat == nil && room.Chat != nil, true)
	})
}

func TestSummaryPlace(t *testing.T) {
	bubble(t, "SP-SUM-13 SP-SUM-15 SP-SUM-16 SP-SUM-17 SP-SUM-18 places are windows or workspaces, and have names", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, func(tx *store.Tx) error {
			_, err := tx.Create(event.Created{
				ID: event.NewID(), Name: "fallback", Origin: "sp", SessionKind: "owner", Tenant: "local", Initiator: event.OwnerID,
				Harness: "aalis", HarnessV: 1, Environment: "local",
			}, event.System())
			return err
		})
		d := newDesk(t, dir)
		p := d.person(t)
		d.session("mine")
		room := func(name, key, place string, chat *event.Window) {
			d.do(core.CreateSession{Actor: console, Origin: "im", Kind: "room", Name: name, ExtKey: key, Platform: "onebot", Place: place, Chat: chat})
		}
		private := &event.Window{Type: "private", Name: "Ada"}
		room("own private chat", "onebot:a:private:1", "", private)
		room("another's private chat", "onebot:a:private:2", "window:onebot:a:private:2", private)
		room("nameless", "onebot:a:group:3", "window:onebot:a:group:3", &event.Window{Type: "group"})
		d.do(core.AddPlace{Root: "/srv/garden", Name: "garden"})
		d.do(core.CreateSession{Actor: console, Name: "project", Place: "workspace:garden"})
		for title, want := range map[string]*session.Place{
			"fallback":               nil,
			"mine":                   {Key: "workspace:default", Kind: session.PlaceWorkspace, Name: "Default workspace"},
			"own private chat":       {Key: "workspace:default", Kind: session.PlaceWorkspace, Name: "Default workspace"},
			"another's private chat": {Key: "window:onebot:a:private:2", Kind: session.PlaceWindow, Name: "Ada"},
			"nameless":               {Key: "window:onebot:a:group:3", Kind: session.PlaceWindow, Name: "window:onebot:a:group:3"},
			"project":                {Key: "workspace:garden", Kind: session.PlaceWorkspace, Name: "garden"},
		} {
			equal(t, p.find(title).Place, want)
		}
		d.language = text.Chinese
		equal(t, p.find("mine").Place.Name, "默认工作区")
	})
}

func TestSummaryLanguage(t *testing.T) {
	bubble(t, "SP-I18N-01 SP-I18N-02 SP-I18N-03 SP-I18N-04 SP-I18N-05 names and reasons are the owner's sentences, with the times of this process, for everyone alike", func(t *testing.T) {
		was := time.Local
		time.Local = time.FixedZone("far east", 9*3600)
		defer func() { time.Local = was }()
		d := newDesk(t, t.TempDir())
		p, other := d.person(t), d.person(t)
		d.child(d.session(""), "below")
		d.fail(d.turn(d.session("failed")), event.Failure{Code: "x", Message: text.New("storage.full")})
		english := p.find("failed").Reason
		equal(t, p.find("below").Ancestors[0].Title, "Session 01/01 09:00")
		d.language = text.Chinese
		equal(t, p.find("below").Ancestors[0].Title, "会话 01/01 09:00")
		equal(t, english != "" && p.find("failed").Reason == text.New("storage.full").In(text.Chinese), true)
		equal(t, other.find("failed"), p.find("failed"))
	})
	bubble(t, "SP-I18N-06 a change of language alone sends nothing again", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		p.do("sessions/watch", m{})
		d.session("")
		p.changes()
		d.language = text.Chinese
		d.loop.Note(core.Note{Kind: core.NoteLanguage})
		equal(t, len(p.changes()), 0)
	})
}

func TestSummaryTurns(t *testing.T) {
	bubble(t, "SP-SUM-22 updatedAt moves with the record: title, archive, turns; not with approvals, tokens or looking", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		id := d.session("s")
		last := p.find("s").UpdatedAt
		moved := func() bool {
			was := last
			last = p.find("s").UpdatedAt
			later()
			return last != was
		}
		later()
		p.do("session/rename", m{"sessionId": id, "title": "s"})
		equal(t, moved(), true)
		p.do("session/archive", m{"sessionId": id})
		equal(t, moved(), true)
		p.do("session/archive", m{"sessionId": id})
		equal(t, moved(), false)
		turn := d.turn(id)
		equal(t, moved(), true)
		d.approve(d.ask(turn))
		d.do(core.RecordModelCall{Turn: turn, Call: event.ModelCall{Prompt: 1, Completion: 1}})
		equal(t, moved(), false)
		d.reply(turn)
		equal(t, moved(), true)
		p.do("session/markSeen", m{"sessionId": id})
		equal(t, moved(), false)
	})
	bubble(t, "SP-SUM-23 SP-SUM-24 SP-SUM-25 SP-SUM-26 SP-TREE-10 SP-TREE-12 running, error, reason, lastTurn and lastReplyAt through every outcome", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		id := d.session("s")
		type state struct {
			Running, Error      bool
			LastReplyAt         int64
			Outcome             session.TurnOutcome
			EndedAt             int64
			Reason              string
			Unread, HasLastTurn bool
		}
		now := func() state {
			s := p.find("s")
			got := state{Running: s.Running, Error: s.Error, LastReplyAt: s.LastReplyAt, Reason: s.Reason, HasLastTurn: s.LastTurn != nil}
			if s.LastTurn != nil {
				got.Outcome, got.EndedAt = s.LastTurn.Outcome, s.LastTurn.EndedAt
			}
			return got
		}
		ms := func() int64 { return time.Now().UnixMilli() }
		equal(t, now(), state{})
		turn := d.turn(id)
		equal(t, now(), state{Running: true})
		later()
		d.fail(turn, event.Failure{Code: "model", Message: text.Plain("The model is away.")})
		equal(t, now(), state{Error: true, Outcome: session.OutcomeError, EndedAt: ms(), Reason: "The model is away.", HasLastTurn: true})
		failed := ms()
		later()
		turn = d.turn(id)
		equal(t, now(), state{Running: true, Error: true, Outcome: session.OutcomeError, EndedAt: failed, Reason: "The model is away.", HasLastTurn: true})
		later()
		d.reply(turn)
		spoke := ms()
		equal(t, now(), state{Outcome: session.OutcomeReplied, EndedAt: spoke, LastReplyAt: spoke, HasLastTurn: true})
		later()
		d.do(core.EndSilent{Turn: d.turn(id)})
		equal(t, now(), state{Outcome: session.OutcomeSilent, EndedAt: ms(), LastReplyAt: spoke, HasLastTurn: true})
		later()
		d.do(core.StopTurn{Turn: d.turn(id)})
		equal(t, now(), state{Outcome: session.OutcomeAborted, EndedAt: ms(), LastReplyAt: spoke, HasLastTurn: true})
		later()
		d.fail(d.turn(id), event.Failure{Code: "model"})
		equal(t, now(), state{Error: true, Outcome: session.OutcomeError, EndedAt: ms(), LastReplyAt: spoke, HasLastTurn: true})
	})
}

func TestTree(t *testing.T) {
	bubble(t, "SP-TREE-01 SP-TREE-02 SP-TREE-03 an approval below asks for attention all the way up, and lifts the root, until the last one is settled", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		root := d.session("root")
		below := d.child(d.child(root, "child"), "grandchild")
		later()
		d.session("newer")
		attention := func() (all []bool) {
			for _, title := range []string{"root", "child", "grandchild", "newer"} {
				all = append(all, p.find(title).Attention)
			}
			return all
		}
		turn := d.turn(below)
		one, two := d.ask(turn), d.ask(turn)
		equal(t, attention(), []bool{true, true, true, false})
		equal(t, p.list(m{}), []string{"root", "newer"})
		d.approve(one)
		equal(t, attention(), []bool{true, true, true, false})
		d.approve(two)
		equal(t, attention(), []bool{false, false, false, false})
		equal(t, p.list(m{}), []string{"newer", "root"})
	})
	bubble(t, "SP-TREE-04 an approval refused at launch asks for no attention", func(t *testing.T) {
		nobody := new(attended)
		d := newDesk(t, t.TempDir(), func(o *core.Options) { o.Admission = nobody })
		p := d.person(t)
		turn := d.turn(d.child(d.session("root"), "child"))
		nobody.leave()
		d.ask(turn)
		equal(t, p.find("root").Attention || p.find("child").Attention, false)
	})
	bubble(t, "SP-TREE-05 SP-TREE-06 SP-TREE-07 background counts own tasks, and each busy session below once", func(t *testing.T) {
		dir := t.TempDir()
		d := newDesk(t, dir)
		p := d.person(t)
		root := d.session("root")
		child := d.child(root, "child")
		d.child(child, "grandchild")
		d.turn(root)
		equal(t, p.find("root").Running, true)
		equal(t, p.find("root").Background, 0)
		turn := d.turn(child)
		d.turn(p.find("grandchild").ID)
		counts := func() []int {
			return []int{p.find("root").Background, p.find("child").Background, p.find("grandchild").Background}
		}
		equal(t, counts(), []int{2, 1, 0})
		p.Close()
		d.stop()
		write(t, dir, func(tx *store.Tx) error { return moveToBackground(tx, child, turn, 2) })
		d = newDesk(t, dir)
		p = d.person(t)
		equal(t, counts(), []int{2, 3, 0})
		d.reply(turn)
		equal(t, counts(), []int{2, 3, 0})
	})
	bubble(t, "SP-TREE-08 SP-TREE-09 SP-SUM-01 tokens are those of the session and all below it, absent while none are accounted", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		root := d.session("root")
		child := d.child(root, "child")
		spend := func(session string, in, out int, purpose string) {
			turn := d.turn(session)
			d.do(core.RecordModelCall{Turn: turn, Call: event.ModelCall{Prompt: in, Completion: out, Purpose: purpose}})
			d.reply(turn)
		}
		spend(d.child(child, "grandchild"), 100, 10, "")
		spend(child, 20, 2, "summary")
		d.child(root, "idle")
		equal(t, p.find("root").Tokens, &session.Tokens{Input: 120, Output: 12})
		equal(t, p.find("child").Tokens, &session.Tokens{Input: 120, Output: 12})
		equal(t, p.find("grandchild").Tokens, &session.Tokens{Input: 100, Output: 10})
		equal(t, p.find("idle").Tokens, nil)
		spend(root, 3, 1, "image")
		equal(t, p.find("root").Tokens, &session.Tokens{Input: 123, Output: 13})
		equal(t, p.find("child").Tokens, &session.Tokens{Input: 120, Output: 12})
	})
	bubble(t, "SP-TREE-13 SP-TREE-14 sub-sessions conclude as roots do, and do not pass it on; a stop is no error", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		root := d.session("root")
		for _, name := range []string{"failed", "replied", "stopped"} {
			d.child(root, name)
		}
		d.fail(d.turn(p.find("failed").ID), event.Failure{Code: "model"})
		d.reply(d.turn(p.find("replied").ID))
		stopped := p.find("stopped").ID
		turn := d.turn(stopped)
		d.do(core.AbortTurn{Actor: console, Session: stopped})
		d.fail(turn, event.Failure{Code: "model"})
		for title, want := range map[string]session.TurnOutcome{"failed": "error", "replied": "replied", "stopped": "aborted"} {
			s := p.find(title)
			equal(t, s.LastTurn.Outcome, want)
			equal(t, s.Error, want == "error")
		}
		equal(t, p.find("root").Error, false)
		equal(t, p.find("root").LastTurn, nil)
	})
}

// moveToBackground records calls of a turn that go on without it.
func moveToBackground(tx *store.Tx, sessionID, turn string, n int) error {
	s, err := tx.Session(sessionID)
	if err != nil {
		return err
	}
	started, err := tx.Turn(turn)
	if err != nil {
		return err
	}
	for range n {
		call := event.Call{CallID: event.NewID(), Tool: "run_command", Effect: "write", ExecutionID: event.NewID(), Args: json.RawMessage("{}")}
		got, err := tx.Append(s.SID, event.Draft{Turn: turn, Parent: started.StartedEvent, Actor: event.Agent(), Payload: call})
		if err != nil {
			return err
		}
		task := event.NewID()
		if _, err := tx.Append(
			s.SID,
			event.Draft{Turn: turn, Parent: got[0].ID, Actor: event.System(), Payload: event.Backgrounding{TaskID: task, Label: "sleep"}},
			event.Draft{Turn: turn, Parent: got[0].ID, Actor: event.System(), Payload: event.Result{CallID: call.CallID, Status: event.ResultSucceeded, TaskID: task}},
		); err != nil {
			return err
		}
	}
	return nil
}
