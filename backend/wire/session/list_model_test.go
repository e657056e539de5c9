package session_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/wire/session"
)

// known is a session as the model of the list remembers it: from what was done, not from any row.
type known struct {
	n         int // order of creation
	id        string
	name      string
	title     string
	room      bool
	instance  string
	platform  string
	account   string
	parent    *known
	archived  bool
	recordAt  int64
	failed    bool
	replyAt   int64
	seenAt    int64
	turn      string // running
	approvals []string
}

// world is a log and the model of its list.
type world struct {
	*desk
	all   []*known
	filed int
}

func (w *world) below(k *known) (all []*known) {
	for _, s := range w.all {
		for up := s.parent; up != nil; up = up.parent {
			if up == k {
				all = append(all, s)
			}
		}
	}
	return all
}

func (w *world) attention(k *known) bool {
	return len(k.approvals) > 0 || slices.ContainsFunc(w.below(k), func(s *known) bool { return len(s.approvals) > 0 })
}

func (w *world) background(k *known) (n int) {
	for _, s := range w.below(k) {
		if s.turn != "" {
			n++
		}
	}
	return n
}

func (w *world) rank(k *known) int {
	switch {
	case k.room || k.parent != nil:
		return 4
	case w.attention(k):
		return 0
	case k.failed:
		return 1
	case k.replyAt > k.seenAt:
		return 2
	case k.turn != "":
		return 3
	}
	return 4
}

func (w *world) now() int64 { return time.Now().UnixMilli() }

// act does one random thing in the log and in the model.
func (w *world) act(t *rapid.T) {
	time.Sleep(time.Duration(rapid.IntRange(0, 2).Draw(t, "ms")) * time.Millisecond)
	if len(w.all) == 0 || rapid.IntRange(0, 3).Draw(t, "file") == 0 {
		w.file(t)
		return
	}
	k := rapid.SampledFrom(w.all).Draw(t, "session")
	switch rapid.SampledFrom([]string{"rename", "archive", "unarchive", "delete", "turn", "turn", "end", "ask", "ask", "settle", "seen"}).Draw(t, "act") {
	case "rename":
		k.title = rapid.SampledFrom([]string{"Alpha", "alphabet", "Beta", "ÉTÉ"}).Draw(t, "title")
		k.recordAt = w.now()
		w.do(core.RenameSession{Actor: console, Session: k.id, Title: k.title})
	case "archive", "unarchive":
		back := rapid.Bool().Draw(t, "back")
		w.do(core.ArchiveSession{Actor: console, Session: k.id, Back: back})
		for _, s := range append(w.below(k), k) {
			if s.archived == back {
				s.archived, s.recordAt = !back, w.now()
			}
		}
	case "delete":
		w.do(core.DeleteSession{Actor: console, Session: k.id})
		dead := append(w.below(k), k)
		w.all = slices.DeleteFunc(w.all, func(s *known) bool { return slices.Contains(dead, s) })
	case "turn":
		if k.turn == "" {
			k.turn, k.recordAt = w.turn(k.id), w.now()
		}
	case "end":
		w.end(t, k)
	case "ask":
		if k.turn != "" {
			k.approvals = append(k.approvals, w.ask(k.turn))
		}
	case "settle":
		if len(k.approvals) > 0 {
			w.approve(k.approvals[0])
			k.approvals = k.approvals[1:]
		}
	case "seen":
		w.do(core.MarkSeen{Session: k.id, Principal: event.OwnerID})
		k.seenAt = w.now()
	}
}

func (w *world) file(t *rapid.T) {
	w.filed++
	k := &known{n: w.filed, recordAt: w.now()}
	k.name = rapid.SampledFrom([]string{"", "alpha", "Été", "gamma session"}).Draw(t, "name")
	var parents []*known
	for _, s := range w.all {
		if !s.archived {
			parents = append(parents, s)
		}
	}
	switch kind := rapid.SampledFrom([]string{"owner", "owner", "room", "child", "child"}).Draw(t, "kind"); {
	case kind == "child" && len(parents) > 0:
		k.parent = rapid.SampledFrom(parents).Draw(t, "parent")
		k.id = w.child(k.parent.id, k.name)
	case kind == "room":
		k.room = true
		k.platform = rapid.SampledFrom([]string{"onebot", "irc"}).Draw(t, "platform")
		k.instance = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "instance")
		k.account = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "account")
		// The addresses of deleted rooms are not given out again.
		k.id = fmt.Sprintf("%s:%s%d:group:%d", k.platform, k.account, k.n, rapid.IntRange(1, 3).Draw(t, "group"))
		w.do(core.CreateSession{
			Actor: console, Origin: "im", Kind: "room", Name: k.name, ExtKey: k.id, Platform: k.platform, Instance: k.instance, Account: k.account,
		})
	default:
		k.id = w.session(k.name)
	}
	w.all = append(w.all, k)
}

func (w *world) end(t *rapid.T, k *known) {
	if k.turn == "" {
		return
	}
	k.failed = false
	switch rapid.SampledFrom([]string{"reply", "silent", "fail", "stop"}).Draw(t, "outcome") {
	case "reply":
		w.reply(k.turn)
		k.replyAt = w.now()
	case "silent":
		w.do(core.EndSilent{Turn: k.turn})
	case "fail":
		w.fail(k.turn, event.Failure{Code: "model"})
		k.failed = true
	case "stop":
		w.do(core.StopTurn{Turn: k.turn})
	}
	k.turn, k.approvals, k.recordAt = "", nil, w.now()
}

// filters draws what a client may ask for.
func (w *world) filters(t *rapid.T) m {
	params := m{}
	maybe := func(name string, values ...any) {
		if rapid.IntRange(0, 2).Draw(t, name+"?") == 0 {
			params[name] = rapid.SampledFrom(values).Draw(t, name)
		}
	}
	maybe("section", "owner", "rooms")
	maybe("query", "alpha", " ÉTÉ ", "session", "onebot:1", "irc", "", "0", "GAMMA S")
	if len(w.all) > 0 {
		maybe("parentId", rapid.SampledFrom(w.all).Draw(t, "parent").id)
	}
	if rapid.Bool().Draw(t, "by instance") {
		maybe("instance", "x", "y", "")
	} else {
		maybe("platform", "onebot", "irc")
	}
	if rapid.Bool().Draw(t, "by background") {
		maybe("background", true)
	} else {
		maybe("archived", true, false)
	}
	return params
}

// fits is the meaning of the filters for one session.
func (w *world) fits(k *known, params m) bool {
	if parent, ok := params["parentId"]; ok {
		if k.parent == nil || k.parent.id != parent {
			return false
		}
	} else if k.parent != nil || params["section"] == "owner" && k.room || params["section"] == "rooms" && !k.room {
		return false
	}
	if params["background"] == true {
		if w.background(k) == 0 {
			return false
		}
	} else if k.archived != (params["archived"] == true) {
		return false
	}
	if instance, ok := params["instance"]; ok && (!k.room || k.instance != instance || instance == "") {
		return false
	}
	if platform, ok := params["platform"]; ok && (!k.room || k.platform != platform || k.instance != "") {
		return false
	}
	query, _ := params["query"].(string)
	query = strings.ToLower(strings.TrimSpace(query))
	for _, hay := range []string{k.name, k.title, k.id} {
		if strings.Contains(strings.ToLower(hay), query) {
			return true
		}
	}
	platform, group, two := strings.Cut(query, ":")
	return two && k.room && strings.HasPrefix(k.id, platform+":") && strings.HasSuffix(k.id, ":"+group)
}

// list is the list that the model expects.
func (w *world) list(params m) (ids []string) {
	var found []*known
	for _, k := range w.all {
		if w.fits(k, params) {
			found = append(found, k)
		}
	}
	section := func(k *known) int {
		if k.room {
			return 1
		}
		return 0
	}
	slices.SortFunc(found, func(a, b *known) int {
		return cmp.Or(cmp.Compare(section(a), section(b)), cmp.Compare(w.rank(a), w.rank(b)), -cmp.Compare(a.recordAt, b.recordAt), cmp.Compare(a.n, b.n))
	})
	for _, k := range found {
		ids = append(ids, k.id)
	}
	return ids
}

// groups are the groups that the model expects.
func (w *world) groups() (all []session.RoomGroup) {
	accounts := map[[2]string]map[string]bool{}
	for _, k := range w.all {
		if !k.room || k.archived {
			continue
		}
		at := slices.IndexFunc(all, func(g session.RoomGroup) bool { return g.Platform == k.platform && g.Instance == k.instance })
		if at < 0 {
			at = len(all)
			all = append(all, session.RoomGroup{Platform: k.platform, Instance: k.instance, Label: cmp.Or(k.instance, k.platform)})
			accounts[[2]string{k.platform, k.instance}] = map[string]bool{}
		}
		all[at].Rooms++
		accounts[[2]string{k.platform, k.instance}][k.account] = true
		if w.attention(k) {
			all[at].Attention++
		}
	}
	for i, g := range all {
		all[i].Accounts = len(accounts[[2]string{g.Platform, g.Instance}])
	}
	slices.SortFunc(all, func(a, b session.RoomGroup) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(last(a.Instance), last(b.Instance)), cmp.Compare(a.Instance, b.Instance))
	})
	return all
}

// last sorts what has no instance behind what has one.
func last(instance string) int {
	if instance == "" {
		return 1
	}
	return 0
}

// TestListAgainstModel does random things to sessions and compares every page of random lists with a
// plain sort of what was done.
func TestListAgainstModel(t *testing.T) {
	bubble(t, "SP-LIST-13 SP-LIST-15 SP-LIST-16 SP-LIST-39 SP-LIST-42 SP-LIST-43 SP-GROUP-02 SP-GROUP-03 any list, in pages of any size, is the model's", func(t *testing.T) {
		dir := t.TempDir()
		run := 0
		// Bubbles have no deadline, and panic when they are asked for one.
		rapid.Check(struct{ rapid.TB }{t}, func(rt *rapid.T) {
			run++
			w := &world{desk: newDesk(t, fmt.Sprintf("%s/%d", dir, run))}
			p := w.person(t)
			defer w.stop()
			defer p.Close()
			for range rapid.IntRange(0, 40).Draw(rt, "acts") {
				w.act(rt)
			}
			for range 6 {
				params := w.filters(rt)
				want := w.list(params)
				asked := fmt.Sprint(params)
				limit := rapid.IntRange(1, 8).Draw(rt, "limit")
				params["limit"] = limit
				var got []string
				pages := p.pages(params)
				for i, page := range pages {
					for _, s := range page.Sessions {
						got = append(got, s.ID)
					}
					if i < len(pages)-1 && len(page.Sessions) != limit {
						rt.Fatalf("%s: page %d has %d", asked, i, len(page.Sessions))
					}
					if !slices.Equal(page.Groups, w.groups()) {
						rt.Fatalf("groups %v, want %v", page.Groups, w.groups())
					}
				}
				if !slices.Equal(got, want) {
					rt.Fatalf("%s in pages of %d:\ngot  %v\nwant %v", asked, limit, got, want)
				}
			}
			synctest.Wait()
		})
	})
}
