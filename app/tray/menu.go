package tray

import (
	"aalis/backend/text"
)

const (
	listed    = 20 // so many requests have an item of their own
	whoWidth  = 24 // columns, cut each for itself: neither may push the other out
	whatWidth = 60
)

// item is one entry of the menu. Its id means this and nothing else for as long as the tray lives: a
// menu that is still open must not change its meaning under the pointer.
type item struct {
	id    int32
	label string // made visible; "" is a separator
	off   bool   // cannot be clicked
	below []item
}

// The ids of what is always there; 0 is the menu itself, and those of requests count up from firstFree.
const (
	showID int32 = iota + 1
	openID
	newID
	restartID
	quitID
	ruleID
	wordsID
	moreID
	firstFree
)

// asked is a request with the ids of its items.
type asked struct {
	Request
	item, approve, deny int32
	label               string
	language            text.Language // of the label
	busy                bool          // Decide has not returned
	deafUntil           int64         // unix milliseconds: a click before that is the same one once more
}

// words say the state in a few words.
func words(s State, lang text.Language) string {
	var parts []text.Text
	if n := len(s.Requests); n > 0 {
		parts = append(parts, text.New("tray.waiting", "n", n))
	}
	if s.Working > 0 {
		parts = append(parts, text.New("tray.working", "n", s.Working))
	}
	if s.Failed {
		parts = append(parts, text.New("tray.failed"))
	}
	if len(parts) == 0 {
		return text.New("tray.idle").In(lang)
	}
	all := parts[0]
	for _, part := range parts[1:] {
		all = text.New("tray.and", "one", all, "other", part)
	}
	return all.In(lang)
}

// items makes the menu of the state: what is fixed, then the requests, newest first. Requests that wait
// no longer are forgotten, and with them what a click on their items meant. It needs the lock.
func (c *core) items(lang text.Language) []item {
	say := func(key text.Key, args ...any) string { return text.New(key, args...).In(lang) }
	all := []item{
		{id: showID, label: say("tray.show")}, {id: openID, label: say("tray.open")}, {id: newID, label: say("tray.new")},
	}
	if c.state.Update != "" {
		all = append(all, item{id: restartID, label: say("tray.restart", "version", text.Brief(c.state.Update, whoWidth))})
	}
	all = append(all, item{id: quitID, label: say("tray.quit")}, item{id: ruleID}, item{id: wordsID, label: words(c.state, lang), off: true})

	c.forget()
	for n, r := range c.state.Requests {
		if n == listed {
			all = append(all, item{id: moreID, label: say("tray.more", "n", len(c.state.Requests)-n)})
			break
		}
		a := c.know(r)
		if a.language != lang {
			a.language = lang
			a.label = say("tray.request", "who", text.Brief(r.Who, whoWidth), "what", text.Brief(r.What, whatWidth))
		}
		all = append(all, item{id: a.item, label: a.label, below: []item{
			{id: a.approve, label: say("tray.approve")}, {id: a.deny, label: say("tray.deny")},
		}})
	}
	return all
}

// know gives a request its ids. One that has changed its words is another request: what a person read
// is what a click decides.
func (c *core) know(r Request) *asked {
	a := c.known[r]
	if a == nil {
		a = &asked{Request: r, item: c.next, approve: c.next + 1, deny: c.next + 2}
		c.next += 3
		c.known[r], c.byID[a.approve], c.byID[a.deny] = a, a, a
	}
	return a
}

func (c *core) forget() {
	waits := make(map[Request]bool, len(c.state.Requests))
	for _, r := range c.state.Requests {
		waits[r] = true
	}
	for r, a := range c.known {
		if !waits[r] {
			delete(c.known, r)
			delete(c.byID, a.approve)
			delete(c.byID, a.deny)
		}
	}
}
