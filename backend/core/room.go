package core

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"aalis/backend/event"
	"aalis/backend/store"
)

// When she answers in a room.
const (
	AnswerAlways    = "always"    // to everything
	AnswerAddressed = "addressed" // where several talk, only to what is said to her
	AnswerNever     = "never"
)

// Rules are what is set for a room. The zero value answers nothing.
type Rules struct {
	Answer    string
	OwnerOnly bool
	Names     []string // by which she is called, beside a mention
	// Pause is how long after a reply of hers remarks that are not for her open no turn, in ms.
	Pause int64
	// Forget: what goes out that is not hers is in no history, as where no archive is (Spec SP-REFR-11).
	Forget bool
}

// Ruling gives the rules of a room. It is asked in the writer and must not block.
type Ruling func(rows SettingRows, s store.Session) (Rules, error)

// QueueMax bounds what waits in a room for the running turn to take it up. What is said beyond that is
// kept as a remark, which she reads with the next turn: a crowd must not make a queue that grows for ever.
const QueueMax = 50

// Window is a chat window of a platform, as its adapter tells it.
type Window struct {
	Address    string // <platform>:<account>:<type>:<target>
	Platform   string
	Instance   string // of the adapter
	Account    string // of the bot
	Type       string
	Name       string // of the group, or of the other person
	MultiParty bool
	OwnersOwn  bool // the owner's private chat with her: it lives in the default workspace
}

// Receive files what came from a platform in its room, which the first of it makes. It opens a turn, waits
// to join the running one, or stays a remark, by the rules of the room (Spec SP-UMSG-08 to -10). The same
// Key is the same message (FAIL-H10). Receipt.Done is false for what left nothing behind.
type Receive struct {
	Actor  event.Actor
	Window Window
	Input  event.Input
	// Notice is set for something that happened, instead of something that was said; Input then only has
	// the speaker, whose doing it was. Calls says that she is to hear of it now.
	Notice    *event.Notice
	Calls     bool
	Mentioned bool   // she was meant: by a mention, or by a reply to her
	Command   bool   // it was a command: done elsewhere, and no turn
	Key       string // the message's id on its platform, with a prefix
}

func (c Receive) run(w *write) (Receipt, error) {
	s, found, err := w.window(c)
	if err != nil || !found {
		return Receipt{}, err
	}
	if c.Key != "" {
		if e, found, err := w.EventByKey(s.SID, c.Key); err != nil || found {
			return Receipt{SessionID: s.ID, EventID: e.ID, TurnID: e.Turn, Repeated: found, Done: found}, err
		}
	}
	if err := gate(s); err != nil {
		return Receipt{}, err
	}
	h, err := w.Head(s.SID)
	if err != nil {
		return Receipt{}, err
	}
	var rules Rules
	if w.loop.ruling != nil {
		if rules, err = w.loop.ruling(w.Tx, s); err != nil {
			return Receipt{}, err
		}
	}
	enters, addressed := c.judge(rules, s, h, w.Now)
	if enters && h.RunningTurn != "" {
		n, err := w.QueueLength(s.SID)
		if err != nil {
			return Receipt{}, err
		}
		enters = n < QueueMax
	}
	return c.file(w, s, h, enters, addressed)
}

// judge says whether something enters a turn, and whether she was called: nil where one talks to her alone
// (Spec SP-UMSG-09, -10).
func (c Receive) judge(r Rules, s store.Session, h *store.Head, now int64) (enters bool, addressed *bool) {
	meant := c.Mentioned || c.Notice == nil && r.called(c.Input.Text)
	several := s.Chat != nil && s.Chat.MultiParty
	if several {
		addressed = &meant
	}
	switch {
	case c.Command, c.Notice != nil && !c.Calls:
		return false, addressed
	case r.OwnerOnly && !c.Input.Speaker.Owner:
		return false, addressed
	case r.Answer == AnswerNever || r.Answer == "":
		return false, addressed
	case !several || meant:
		return true, addressed
	case r.Answer == AnswerAlways:
		return h.LastReplyAt == 0 || now-h.LastReplyAt >= r.Pause, addressed
	}
	return false, addressed
}

// called reports whether a name of hers stands in a text, as a word of its own where the script has words.
func (r Rules) called(said string) bool {
	said = strings.ToLower(said)
	for _, name := range r.Names {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "" {
			continue
		}
		for at := 0; ; {
			i := strings.Index(said[at:], name)
			if i < 0 {
				break
			}
			before, _ := utf8.DecodeLastRuneInString(said[:at+i])
			after, _ := utf8.DecodeRuneInString(said[at+i+len(name):])
			if !joins(before, name, true) && !joins(after, name, false) {
				return true
			}
			at += i + len(name)
		}
	}
	return false
}

// joins reports whether a letter beside a name makes another word of it. Han and kana know no spaces
// between words.
func joins(beside rune, name string, before bool) bool {
	edge, _ := utf8.DecodeRuneInString(name)
	if !before {
		edge, _ = utf8.DecodeLastRuneInString(name)
	}
	spaced := func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
	}
	return spaced(beside) && spaced(edge)
}

// file appends what was received.
func (c Receive) file(w *write, s store.Session, h *store.Head, enters bool, addressed *bool) (Receipt, error) {
	id := event.NewID()
	d := event.Draft{ID: id, Actor: c.Actor, IdemKey: c.Key}
	r := Receipt{SessionID: s.ID, EventID: id, Done: true}
	if !enters {
		d.Payload = c.payload(s, event.InputSwallowed, addressed)
		_, err := w.append(s.SID, d)
		return r, err
	}
	if h.RunningTurn != "" {
		d.Payload = c.payload(s, event.InputPending, addressed)
		_, err := w.append(s.SID, d)
		r.TurnID, r.Waiting = h.RunningTurn, true
		return r, err
	}
	d.Turn = event.NewID()
	d.Payload = c.payload(s, event.InputOpened, addressed)
	start := event.TurnStart{TurnID: d.Turn, Trigger: id, Platform: s.Platform, Source: c.Input.Speaker.Source}
	if c.Notice != nil {
		start.Source = orElse(c.Notice.Source, c.Notice.Topic)
	}
	_, err := w.append(s.SID, d, w.started(s, start))
	r.TurnID = d.Turn
	return r, err
}

func (c Receive) payload(s store.Session, state string, addressed *bool) event.Payload {
	if c.Notice == nil {
		in := withState(c.Input, state)
		in.Addressed = addressed
		return in
	}
	n := *c.Notice
	n.Happened, n.Platform, n.State, n.Addressed = true, s.Platform, state, addressed
	n.Speaker = &c.Input.Speaker
	if state == event.InputSwallowed {
		n.State = "" // an input only while it can enter a turn
	}
	return n
}

// window finds the room of what was received, makes it, or brings it up to date: the adapter that took
// the last message has it (decisions B31). What is no message and calls nobody makes no room.
func (w *write) window(c Receive) (s store.Session, found bool, err error) {
	v := c.Window
	s, err = w.Session(v.Address)
	if err == nil {
		return s, true, w.rewindow(&s, v)
	}
	if !isMissing(err) || c.Notice != nil && !c.Calls {
		return s, false, unlessMissing(err)
	}
	place := windowPlace + v.Address
	if v.OwnersOwn {
		place = DefaultPlace // Spec SP-SUM-16
	}
	name, err := cleanTitle(clip(orElse(v.Name, v.Address)), true)
	if err != nil {
		return s, false, err
	}
	made, err := CreateSession{
		Actor: c.Actor, Origin: "im", Kind: "room", Name: name, Place: place, ExtKey: v.Address, Platform: v.Platform, Instance: v.Instance,
		Account: v.Account, Chat: &event.Window{Type: v.Type, MultiParty: v.MultiParty, Name: v.Name},
	}.run(w)
	if err != nil {
		return s, false, err
	}
	s, err = w.session(made.SessionID)
	return s, true, err
}

// windowPlace begins the keys of places that are chat windows (decisions B33).
const windowPlace = "window:"

// IsWindow reports whether a place is a chat window: others than the owner are heard there, and in
// whatever is started from there.
func IsWindow(place string) bool { return strings.HasPrefix(place, windowPlace) }

// clip bounds what a platform calls something.
func clip(name string) string {
	if utf8.RuneCountInString(name) <= TitleMax {
		return name
	}
	return string([]rune(name)[:TitleMax])
}

// rewindow brings a room's record in line with what its adapter says.
func (w *write) rewindow(s *store.Session, v Window) error {
	var u event.Updated
	if v.Instance != "" && v.Instance != s.Instance {
		u.Instance = &v.Instance
	}
	now := event.Window{Type: v.Type, MultiParty: v.MultiParty, Name: v.Name}
	if now.Name == "" && s.Chat != nil {
		now.Name = s.Chat.Name
	}
	if s.Chat == nil || *s.Chat != now {
		u.Chat = &now
		if name := strings.TrimSpace(clip(now.Name)); name != "" && name != s.Name {
			u.Name = &name
		}
	}
	if u == (event.Updated{}) {
		return nil
	}
	if _, err := w.append(s.SID, event.Draft{Actor: event.System(), Payload: u}); err != nil {
		return err
	}
	got, err := w.SessionBySID(s.SID)
	*s = got
	return err
}
