package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/wire/session"
)

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// later lets the clock move on, so that moments differ.
func later() { time.Sleep(time.Second) }

// house has sessions in every part of the list:
//
//	old, new, filed away (archived)                     the owner's
//	one, two (below new), three (below one)
//	onebot:a:group:1, onebot:b:group:2 (instance x),
//	onebot:a:private:3 (instance y), onebot:a:group:4 (archived)
//	below the first room: help
func house(t *testing.T) (*desk, *person) {
	t.Helper()
	d := newDesk(t, t.TempDir())
	for _, name := range []string{"old", "filed away", "new"} {
		d.session(name)
		later()
	}
	p := d.person(t)
	one := d.child(p.find("new").ID, "one")
	later()
	d.child(p.find("new").ID, "two")
	later()
	d.child(one, "three")
	later()
	for _, r := range [][3]string{
		{"onebot:a:group:1", "", "a"}, {"onebot:b:group:2", "x", "b"}, {"onebot:a:private:3", "y", "a"}, {"onebot:a:group:4", "y", "a"},
	} {
		d.room(r[0], r[1], r[2])
		d.do(core.RenameSession{Actor: console, Session: r[0], Title: r[0]})
		later()
	}
	d.child("onebot:a:group:1", "help")
	d.do(core.ArchiveSession{Actor: console, Session: "onebot:a:group:4"})
	d.do(core.ArchiveSession{Actor: console, Session: p.find("filed away").ID})
	return d, p
}

func TestListScope(t *testing.T) {
	bubble(t, "SP-LIST-04 SP-LIST-08 SP-LIST-18 the owner's section has the owner's roots that are not archived", func(t *testing.T) {
		_, p := house(t)
		equal(t, p.list(m{"section": "owner"}), []string{"new", "old"})
	})
	bubble(t, "SP-LIST-05 SP-LIST-06 the rooms' section has groups and private chats, under their addresses", func(t *testing.T) {
		_, p := house(t)
		var ids []string
		for _, s := range call[session.SessionsListResult](p, "sessions/list", m{"section": "rooms"}).Sessions {
			ids = append(ids, s.ID)
		}
		equal(t, ids, []string{"onebot:a:private:3", "onebot:b:group:2", "onebot:a:group:1"})
	})
	bubble(t, "SP-LIST-07 without a section the owner's come before the rooms, whatever is newer", func(t *testing.T) {
		_, p := house(t)
		equal(t, p.list(m{}), []string{"new", "old", "onebot:a:private:3", "onebot:b:group:2", "onebot:a:group:1"})
	})
	bubble(t, "SP-LIST-09 SP-LIST-11 with a parent its direct children are listed, in whatever section", func(t *testing.T) {
		_, p := house(t)
		for _, section := range []string{"owner", "rooms"} {
			equal(t, p.list(m{"parentId": p.find("new").ID, "section": section}), []string{"two", "one"})
			equal(t, p.list(m{"parentId": "onebot:a:group:1", "section": section}), []string{"help"})
		}
		equal(t, p.list(m{"parentId": p.find("one").ID}), []string{"three"})
		equal(t, p.list(m{"parentId": p.find("three").ID}), []string{})
	})
	bubble(t, "SP-LIST-12 a parent that is unknown or deleted is not-found", func(t *testing.T) {
		d, p := house(t)
		one := p.find("one").ID
		d.do(core.DeleteSession{Actor: console, Session: one})
		for _, id := range []string{"", "nobody", one} {
			equal(t, p.refused("sessions/list", m{"parentId": id}), "not-found")
		}
	})
}

func TestListArchived(t *testing.T) {
	bubble(t, "SP-LIST-19 SP-LIST-21 archived lists only archived sessions when it is true, and is as absent when it is false", func(t *testing.T) {
		_, p := house(t)
		equal(t, p.list(m{"archived": true}), []string{"filed away", "onebot:a:group:4"})
		equal(t, p.list(m{"archived": false}), p.list(m{}))
	})
	bubble(t, "SP-LIST-20 children are listed by whether they are archived", func(t *testing.T) {
		d, p := house(t)
		d.do(core.ArchiveSession{Actor: console, Session: p.find("one").ID})
		equal(t, p.list(m{"parentId": p.find("new").ID}), []string{"two"})
		equal(t, p.list(m{"parentId": p.find("new").ID, "archived": true}), []string{"one"})
		equal(t, p.list(m{"archived": true}), []string{"filed away", "onebot:a:group:4"})
	})
	bubble(t, "SP-LIST-22 a turn in an archived session does not bring it back", func(t *testing.T) {
		d, p := house(t)
		away := p.find("filed away").ID
		turn := d.turn(away)
		equal(t, p.list(m{"section": "owner"}), []string{"new", "old"})
		d.reply(turn)
		equal(t, p.list(m{"section": "owner"}), []string{"new", "old"})
		equal(t, p.find("filed away").Archived, true)
		p.do("session/unarchive", m{"sessionId": away})
		equal(t, p.list(m{"section": "owner"}), []string{"filed away", "new", "old"})
	})
}

func TestListOrder(t *testing.T) {
	bubble(t, "SP-LIST-13 SP-LIST-14 SP-LIST-15 needs me, failed, unread, running, the rest; inside each the newest first", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		id := map[string]string{}
		for _, state := range []string{"asks", "failed", "unread", "running", "rest", "asks and failed", "failed and runs", "failed and unread", "unread and runs"} {
			for _, n := range []string{"1", "2"} {
				id[state+n] = d.session(state + n)
				later()
			}
		}
		for _, n := range []string{"1", "2"} {
			d.fail(d.turn(id["asks and failed"+n]), event.Failure{Code: "model"})
			d.fail(d.turn(id["failed and runs"+n]), event.Failure{Code: "model"})
			d.reply(d.turn(id["failed and unread"+n]))
			d.fail(d.turn(id["failed and unread"+n]), event.Failure{Code: "model"})
			d.fail(d.turn(id["failed"+n]), event.Failure{Code: "model"})
			d.reply(d.turn(id["unread and runs"+n]))
			d.reply(d.turn(id["unread"+n]))
			later()
			d.ask(d.turn(id["asks and failed"+n]))
			d.turn(id["failed and runs"+n])
			d.turn(id["unread and runs"+n])
			later()
			d.ask(d.turn(id["asks"+n]))
			d.turn(id["running"+n])
			later()
		}
		equal(t, p.list(m{}), []string{
			"asks2", "asks and failed2", "asks1", "asks and failed1",
			"failed and runs2", "failed2", "failed and unread2", "failed and runs1", "failed1", "failed and unread1",
			"unread and runs2", "unread2", "unread and runs1", "unread1",
			"running2", "running1",
			"rest2", "rest1",
		})
	})
	bubble(t, "SP-LIST-10 children are ordered by their newest change only", func(t *testing.T) {
		d, p := house(t)
		d.ask(d.turn(p.find("two").ID))
		later()
		d.do(core.RenameSession{Actor: console, Session: p.find("one").ID, Title: "one"})
		equal(t, p.list(m{"parentId": p.find("new").ID}), []string{"one", "two"})
	})
	bubble(t, "SP-LIST-16 SP-LIST-17 SP-UNREAD-06 SP-SUM-27 no state moves a room, and no room is unread", func(t *testing.T) {
		d, p := house(t)
		first := "onebot:a:group:1"
		d.reply(d.turn(first))
		later()
		d.fail(d.turn("onebot:b:group:2"), event.Failure{Code: "model"})
		later()
		d.do(core.RenameSession{Actor: console, Session: "onebot:a:private:3", Title: "onebot:a:private:3"})
		want := []string{"onebot:a:private:3", "onebot:b:group:2", "onebot:a:group:1"}
		equal(t, p.list(m{"section": "rooms"}), want)
		for _, s := range call[session.SessionsListResult](p, "sessions/list", m{"section": "rooms"}).Sessions {
			equal(t, s.Unread, false)
		}
		help := p.find("help").ID
		d.reply(d.turn(help))
		equal(t, p.find("help").Unread, false)
		d.ask(d.turn(help))
		equal(t, p.list(m{"section": "rooms"}), want)
		equal(t, call[session.SessionsListResult](p, "sessions/list", m{}).Groups[2].Attention, 1)
	})
}

func TestListFilters(t *testing.T) {
	bubble(t, "SP-LIST-23 SP-LIST-24 SP-LIST-28 the rooms of one instance, or those of a platform that have none", func(t *testing.T) {
		_, p := house(t)
		equal(t, p.list(m{"instance": "x"}), []string{"onebot:b:group:2"})
		equal(t, p.list(m{"instance": "y", "archived": true}), []string{"onebot:a:group:4"})
		equal(t, p.list(m{"instance": "z"}), []string{})
		equal(t, p.list(m{"instance": ""}), []string{})
		equal(t, p.list(m{"platform": "onebot"}), []string{"onebot:a:group:1"})
		equal(t, p.list(m{"platform": "telegram"}), []string{})
		equal(t, p.list(m{"platform": ""}), []string{})
		equal(t, p.list(m{"instance": "x", "section": "owner"}), []string{})
		equal(t, p.list(m{"platform": "onebot", "section": "owner"}), []string{})
		equal(t, p.list(m{"platform": "onebot", "section": "rooms"}), []string{"onebot:a:group:1"})
	})
	bubble(t, "SP-LIST-26 a group's pages are the whole group", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		for i := range 7 {
			d.room(fmt.Sprintf("onebot:a:group:%d", i), []string{"", "x"}[i%2], "a")
		}
		for filter, want := range map[string]int{"platform": 4, "instance": 3} {
			seen := map[string]bool{}
			for _, page := range p.pages(m{filter: map[string]string{"platform": "onebot", "instance": "x"}[filter], "limit": 2}) {
				for _, s := range page.Sessions {
					seen[s.ID] = true
				}
			}
			equal(t, len(seen), want)
		}
	})
	bubble(t, "SP-LIST-30 SP-LIST-31 SP-LIST-34 background lists the roots under which something runs, archived or not", func(t *testing.T) {
		d, p := house(t)
		d.turn(p.find("three").ID)
		d.turn(p.find("old").ID) // its own turn is none in the background
		away := p.find("filed away").ID
		d.do(core.ArchiveSession{Actor: console, Session: away, Back: true})
		d.turn(d.child(away, "busy"))
		d.do(core.ArchiveSession{Actor: console, Session: away})
		equal(t, p.list(m{"background": true}), []string{"filed away", "new"})
		equal(t, p.list(m{"background": true, "query": "NEW"}), []string{"new"})
		equal(t, p.list(m{"background": true, "parentId": p.find("new").ID}), []string{"one"})
		equal(t, p.list(m{"background": true, "parentId": away}), []string{})
	})
}

func TestListQuery(t *testing.T) {
	bubble(t, "SP-LIST-35 name, title and id are searched, anywhere and whatever the case", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		id := d.session("Einkauf für Zoë")
		for _, query := range []string{"einkauf", "FÜR ZOË", "kauf", id[8:24], strings.ToUpper(id)} {
			equal(t, p.list(m{"query": query}), []string{"Einkauf für Zoë"})
		}
		equal(t, p.list(m{"query": "einkauf fuer"}), []string{})
		p.do("session/rename", m{"sessionId": id, "title": "买菜"})
		for _, query := range []string{"einkauf", "买"} {
			equal(t, p.list(m{"query": query}), []string{"买菜"})
		}
	})
	bubble(t, "SP-LIST-36 the default name is not searched", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		d.session("")
		equal(t, p.list(m{}), []string{"Session " + time.Now().Format("01/02 15:04")})
		equal(t, p.list(m{"query": "session"}), []string{})
		equal(t, p.list(m{"query": "01/"}), []string{})
	})
	bubble(t, "SP-LIST-37 platform:group finds the group of whichever account, and no other", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		for _, address := range []string{"onebot:a:group:20001", "onebot:b:group:20001", "onebot:a:group:200012", "other:a:group:20001"} {
			d.room(address, "", "a")
		}
		found := func(query string) []string {
			ids := []string{}
			for _, s := range call[session.SessionsListResult](p, "sessions/list", m{"query": query}).Sessions {
				ids = append(ids, s.ID)
			}
			slices.Sort(ids)
			return ids
		}
		equal(t, found("OneBot:20001"), []string{"onebot:a:group:20001", "onebot:b:group:20001"})
		equal(t, found("onebot:b"), []string{"onebot:b:group:20001"})
		equal(t, found("onebot:3"), []string{})
	})
	bubble(t, "SP-LIST-38 a blank query filters nothing", func(t *testing.T) {
		_, p := house(t)
		for _, query := range []string{"", " ", "\t\n"} {
			equal(t, p.list(m{"query": query}), p.list(m{}))
		}
	})
	bubble(t, "SP-LIST-39 a query goes with every other filter, and finds only what is at the level that is listed", func(t *testing.T) {
		_, p := house(t)
		equal(t, p.list(m{"query": "one"}), []string{"onebot:a:private:3", "onebot:b:group:2", "onebot:a:group:1"})
		equal(t, p.list(m{"query": "one", "parentId": p.find("new").ID}), []string{"one"})
		equal(t, p.list(m{"query": "one", "instance": "x"}), []string{"onebot:b:group:2"})
		equal(t, p.list(m{"query": "one", "archived": true}), []string{"onebot:a:group:4"})
		equal(t, p.list(m{"query": "one", "section": "owner"}), []string{})
	})
}

// pages follows the cursors of a list to its end.
func (p *person) pages(params m) (all []session.SessionsListResult) {
	p.t.Helper()
	for {
		page := call[session.SessionsListResult](p, "sessions/list", params)
		all = append(all, page)
		if page.NextCursor == "" {
			return all
		}
		if len(page.Sessions) == 0 || len(all) > 1000 {
			p.t.Fatal("the pages do not end")
		}
		params["cursor"] = page.NextCursor
	}
}

func TestListPages(t *testing.T) {
	bubble(t, "SP-LIST-40 SP-LIST-42 SP-LIST-43 a page has 50, and the last one no cursor, be it full or not", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		for i := range 100 {
			d.session(fmt.Sprint(i))
		}
		sizes := func(params m) (n []int) {
			seen := map[string]bool{}
			for _, page := range p.pages(params) {
				n = append(n, len(page.Sessions))
				for _, s := range page.Sessions {
					if seen[s.ID] {
						t.Errorf("%s came twice", s.Title)
					}
					seen[s.ID] = true
				}
			}
			equal(t, len(seen), 100)
			return n
		}
		equal(t, sizes(m{}), []int{50, 50})
		equal(t, sizes(m{"limit": 100}), []int{100})
		equal(t, sizes(m{"limit": 99}), []int{99, 1})
		equal(t, sizes(m{"limit": 200}), []int{100})
		equal(t, sizes(m{"limit": 25}), []int{25, 25, 25, 25})
	})
	bubble(t, "SP-LIST-42 a cursor holds when the session it stands behind moves or goes, and when the size of the page changes", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		for _, name := range []string{"a", "b", "c", "d"} {
			d.session(name)
			later()
		}
		page := call[session.SessionsListResult](p, "sessions/list", m{"limit": 2})
		equal(t, titlesOf(page.Sessions), []string{"d", "c"})
		d.ask(d.turn(page.Sessions[1].ID))
		equal(t, p.list(m{"limit": 1, "cursor": page.NextCursor}), []string{"b"})
		d.do(core.DeleteSession{Actor: console, Session: page.Sessions[1].ID})
		equal(t, p.list(m{"limit": 5, "cursor": page.NextCursor}), []string{"b", "a"})
	})
	bubble(t, "SP-LIST-44 a cursor of another list, of other filters or of nobody is refused", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		for range 3 {
			d.session("x")
		}
		parent := d.session("parent")
		cursor := call[session.SessionsListResult](p, "sessions/list", m{"limit": 1}).NextCursor
		for _, params := range []m{
			{"archived": true}, {"section": "owner"}, {"query": "x"}, {"parentId": parent}, {"background": true}, {"platform": "onebot"}, {"instance": "x"},
		} {
			params["cursor"] = cursor
			equal(t, p.refused("sessions/list", params), invalidParams)
		}
		for _, cursor := range []string{"", "x", cursor + "A", cursor[1:], "bm9uc2Vuc2U", "eyJmIjoiIn0", strings.Repeat("A", 5000)} {
			equal(t, p.refused("sessions/list", m{"cursor": cursor}), invalidParams)
		}
		other := newDesk(t, t.TempDir())
		other.session("x")
		equal(t, other.person(t).refused("sessions/list", m{"cursor": cursor}), invalidParams)
	})
}

func TestGroups(t *testing.T) {
	bubble(t, "SP-GROUP-05 SP-GROUP-06 SP-GROUP-08 SP-GROUP-10 SP-GROUP-11 groups by instance, those without one last, with their rooms and accounts", func(t *testing.T) {
		d := newDesk(t, t.TempDir())
		p := d.person(t)
		for _, r := range [][3]string{
			{"onebot:a:group:1", "y", "a"},
			{"onebot:b:group:1", "y", "b"},
			{"onebot:b:group:2", "y", "b"},
			{"onebot:a:group:3", "", "a"},
			{"onebot:a:group:4", "x", "a"},
			{"onebot:a:group:5", "", ""},
		} {
			d.room(r[0], r[1], r[2])
		}
		d.do(core.CreateSession{Actor: console, Origin: "im", Kind: "room", ExtKey: "irc:a:channel:1", Platform: "irc", Account: "a"})
		equal(t, call[session.SessionsListResult](p, "sessions/list", m{}).Groups, []session.RoomGroup{
			{Platform: "irc", Label: "irc", Rooms: 1, Accounts: 1},
			{Platform: "onebot", Instance: "x", Label: "x", Rooms: 1, Accounts: 1},
			{Platform: "onebot", Instance: "y", Label: "y", Rooms: 3, Accounts: 2},
			{Platform: "onebot", Label: "onebot", Rooms: 2, Accounts: 1},
		})
	})
	bubble(t, "SP-GROUP-01 SP-GROUP-14 archived rooms do not count, and a group of none but them is not there", func(t *testing.T) {
		d, p := house(t)
		equal(t, groupSizes(p, m{}), "x:1 y:1 onebot:1")
		d.do(core.ArchiveSession{Actor: console, Session: "onebot:a:private:3"})
		equal(t, groupSizes(p, m{}), "x:1 onebot:1")
		d.do(core.ArchiveSession{Actor: console, Session: "onebot:a:private:3", Back: true})
		d.do(core.DeleteSession{Actor: console, Session: "onebot:b:group:2"})
		equal(t, groupSizes(p, m{}), "y:1 onebot:1")
	})
	bubble(t, "SP-GROUP-02 SP-GROUP-03 groups are the same whatever is listed", func(t *testing.T) {
		d, p := house(t)
		d.turn(p.find("three").ID)
		whole := groupSizes(p, m{})
		for _, params := range []m{
			{"section": "owner"},
			{"section": "rooms"},
			{"query": "nothing of that name"},
			{"parentId": p.find("new").ID},
			{"instance": "x"},
			{"platform": "onebot"},
			{"archived": true},
			{"background": true},
			{"limit": 1},
			{"section": "rooms", "query": "group:1"},
		} {
			equal(t, groupSizes(p, params), whole)
		}
		for _, page := range p.pages(m{"limit": 1}) {
			equal(t, len(page.Groups), 3)
		}
	})
	bubble(t, "SP-GROUP-13 a room that waits for the owner, itself or below it, counts once", func(t *testing.T) {
		d, p := house(t)
		attention := func() int {
			return call[session.SessionsListResult](p, "sessions/list", m{}).Groups[2].Attention
		}
		equal(t, attention(), 0)
		help := d.turn(p.find("help").ID)
		one := d.ask(help)
		equal(t, attention(), 1)
		two, three := d.ask(help), d.ask(d.turn("onebot:a:group:1"))
		equal(t, attention(), 1)
		d.approve(one)
		d.approve(two)
		equal(t, attention(), 1)
		d.approve(three)
		equal(t, attention(), 0)
	})
}

func groupSizes(p *person, params m) string {
	p.t.Helper()
	var sizes []string
	for _, g := range call[session.SessionsListResult](p, "sessions/list", params).Groups {
		sizes = append(sizes, fmt.Sprintf("%s:%d", g.Label, g.Rooms))
	}
	return strings.Join(sizes, " ")
}
