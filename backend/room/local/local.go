// Package local is an adapter that plays a chat platform inside the process: groups and private chats with
// members who say and do things, and a platform that takes what she sends, or does not. Tests and the
// demo drive it; nothing leaves the machine. What is said on it is kept in memory alone, as on a platform
// that somebody else runs: the program's log has what reached the program.
package local

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/room"
	"aalis/backend/text"
)

// Platform is its name.
const Platform = "local"

// The types of its chats.
const (
	TypeGroup   = "group"
	TypePrivate = "private"
)

// Config is what there is on the platform at the start.
type Config struct {
	ID      string // of the instance; "" is "local"
	Account string // of the bot; "" is "10001"
	Name    string // what members call her, after an @; "" is Aalis
	Owner   string // the member who is the owner; "" is nobody
	Groups  []Group
	// Private are members with whom she has a private chat.
	Private []string
}

// Group is a group chat.
type Group struct {
	ID      string
	Name    string
	Members []string
}

// Adapter is the platform and the way to it. It is safe for concurrent use.
type Adapter struct {
	config Config

	mu      sync.Mutex              // guards all below
	chats   map[string]*chat        // by id
	inbox   room.Inbox              // nil while it does not run, or the connection is down
	down    bool                    // Drop
	backlog []room.Message          // said while the connection was down
	history map[string]room.Message // by id, to deliver again
	changed chan struct{}           // closed when an answer changes, or a held message may go on
}

// chat is one room of the platform.
type chat struct {
	room.Chat
	members []string
	answer  Answer
	sent    []room.Outgoing // what the platform took
}

// New makes a platform.
func New(c Config) *Adapter {
	c.ID, c.Account, c.Name = cmp.Or(c.ID, Platform), cmp.Or(c.Account, "10001"), cmp.Or(c.Name, "Aalis")
	a := &Adapter{config: c, chats: map[string]*chat{}, history: map[string]room.Message{}, changed: make(chan struct{})}
	for _, g := range c.Groups {
		a.Create(g)
	}
	for _, who := range c.Private {
		a.Befriend(who)
	}
	return a
}

// Info tells what it is.
func (a *Adapter) Info() room.Info {
	return room.Info{ID: a.config.ID, Platform: Platform, Label: text.New("room.local"), Types: []room.Type{
		{Name: TypeGroup, Label: text.New("room.local-group")}, {Name: TypePrivate, Label: text.New("room.local-private")},
	}}
}

// Create makes a group, or changes its name and members, and gives its address.
func (a *Adapter) Create(g Group) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.chats[g.ID]
	if c == nil {
		c = &chat{}
		a.chats[g.ID] = c
	}
	c.Chat = room.Chat{Address: a.address(TypeGroup, g.ID), Name: cmp.Or(g.Name, g.ID), MultiParty: true}
	c.members = slices.Clone(g.Members)
	return c.Address.String()
}

// Befriend makes a private chat with a member and gives its address.
func (a *Adapter) Befriend(who string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &chat{
		Chat:    room.Chat{Address: a.address(TypePrivate, who), Name: who, OwnersOwn: who == a.config.Owner && who != ""},
		members: []string{who},
	}
	a.chats[who] = c
	return c.Address.String()
}

func (a *Adapter) address(kind, target string) room.Address {
	return room.Address{Platform: Platform, Account: a.config.Account, Type: kind, Target: target}
}

// Run connects the program to the platform until ctx ends; what was said before arrives first.
func (a *Adapter) Run(ctx context.Context, in room.Inbox) error {
	a.mu.Lock()
	a.inbox = in
	a.mu.Unlock()
	err := a.catchUp(ctx)
	<-ctx.Done()
	a.mu.Lock()
	a.inbox = nil
	a.mu.Unlock()
	return err
}

// Drop cuts the connection: what members say waits on the platform, and nothing can be sent.
func (a *Adapter) Drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down = true
	a.wake()
}

// Restore connects again; what was said meanwhile arrives in order.
func (a *Adapter) Restore(ctx context.Context) error {
	a.mu.Lock()
	a.down = false
	a.wake()
	a.mu.Unlock()
	return a.catchUp(ctx)
}

// catchUp delivers what was said while nobody listened.
func (a *Adapter) catchUp(ctx context.Context) error {
	for {
		a.mu.Lock()
		in := a.inbox
		if a.down || in == nil || len(a.backlog) == 0 {
			a.mu.Unlock()
			return nil
		}
		m := a.backlog[0]
		a.backlog = a.backlog[1:]
		a.mu.Unlock()
		if _, err := in.Receive(ctx, a.Info(), m); err != nil {
			return fmt.Errorf("delivering what was said before: %w", err)
		}
	}
}

// wake lets everybody look again who waits for an answer. Called under mu.
func (a *Adapter) wake() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// find finds a chat by its id, its address or its name. Called under mu.
func (a *Adapter) find(name string) (*chat, error) {
	if c := a.chats[name]; c != nil {
		return c, nil
	}
	var known []string
	for _, id := range slices.Sorted(maps.Keys(a.chats)) {
		c := a.chats[id]
		if c.Address.String() == name || strings.EqualFold(c.Name, name) {
			return c, nil
		}
		known = append(known, c.Name)
	}
	return nil, fault.New(fault.NotFound, text.New("room.not-found", "name", name, "hint", hint(known)))
}

func hint(known []string) string {
	if len(known) == 0 {
		return ""
	}
	return " " + strings.Join(known[:min(len(known), 10)], ", ")
}

// Listed is a chat as Rooms lists it.
type Listed struct {
	Address string
	Name    string
	Type    string
	Members []string
	Answer  string
	Sent    int // messages of hers that the platform took
}

// Rooms lists the chats, by id.
func (a *Adapter) Rooms() []Listed {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []Listed
	for _, id := range slices.Sorted(maps.Keys(a.chats)) {
		c := a.chats[id]
		all = append(all, Listed{
			Address: c.Address.String(), Name: c.Name, Type: c.Address.Type, Members: slices.Clone(c.members),
			Answer: cmp.Or(c.answer.How, Accept), Sent: len(c.sent),
		})
	}
	return all
}

// Sent lists what the platform took in a chat, oldest first.
func (a *Adapter) Sent(name string) []room.Outgoing {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, err := a.find(name)
	if err != nil {
		return nil
	}
	return slices.Clone(c.sent)
}

// Said is what a member says or does. Exactly one of Text, Attachments, Forwards and Happens is needed.
type Said struct {
	Room        string // id, address or name
	Member      string
	Text        string
	Mention     bool // she is meant; "@" and her name in the text mean her, too
	ReplyTo     string
	Attachments []event.Attachment
	Forwards    []event.Forward
	Happens     string // poke, friend-request, join
}

// What members do without saying anything.
const (
	Poke          = "poke"
	FriendRequest = "friend-request"
	Join          = "join"
)

// requestSource is what converted a friend request into an input.
const requestSource = "local-request"

// Say has a member say or do something and gives the message's id. While the connection is down it waits on
// the platform, and Heard is empty.
func (a *Adapter) Say(ctx context.Context, s Said) (id string, heard room.Heard, err error) {
	m, in, err := a.compose(s)
	if err != nil || in == nil {
		return m.ID, room.Heard{}, err
	}
	heard, err = in.Receive(ctx, a.Info(), m)
	return m.ID, heard, err
}

// compose makes the message; in is nil while it must wait.
func (a *Adapter) compose(s Said) (m room.Message, in room.Inbox, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, err := a.find(s.Room)
	if err != nil {
		return m, nil, err
	}
	if !slices.Contains(c.members, s.Member) && s.Happens != Join {
		return m, nil, fault.New(fault.NotFound, text.New("room.no-member", "name", s.Member, "room", c.Name, "hint", hint(c.members)))
	}
	if strings.TrimSpace(s.Text) == "" && len(s.Attachments) == 0 && len(s.Forwards) == 0 && s.Happens == "" {
		return m, nil, fault.New(fault.Invalid, text.New("room.blank"))
	}
	// Ids of its own would be the same after a restart, and what has them no new message.
	m = room.Message{
		ID: event.NewID(), Chat: c.Chat, Text: s.Text, Attachments: s.Attachments, Forwards: s.Forwards, ReplyTo: s.ReplyTo,
		From: room.Member{ID: s.Member, Nickname: s.Member, Owner: s.Member == a.config.Owner && s.Member != ""},
	}
	m.Mentioned = s.Mention || strings.Contains(strings.ToLower(s.Text), "@"+strings.ToLower(a.config.Name))
	switch s.Happens {
	case Poke:
		m.Happened, m.Mentioned = &room.Happening{Type: Poke, Text: text.New("room.poked", "who", s.Member), Calls: true}, true
	case FriendRequest:
		m.Happened = &room.Happening{Source: requestSource, Text: text.New("room.friend", "who", s.Member, "words", s.Text), Calls: true}
	case Join:
		c.members = append(c.members, s.Member)
		m.Happened = &room.Happening{Type: "group_increase", Text: text.New("room.entered", "who", s.Member)}
	case "":
	default:
		return m, nil, fault.New(fault.Invalid, text.New("room.bad-event", "value", s.Happens))
	}
	a.history[m.ID] = m
	if a.down || a.inbox == nil {
		a.backlog = append(a.backlog, m)
		return m, nil, nil
	}
	return m, a.inbox, nil
}

// Redeliver delivers a message once more, as platforms do that missed the receipt.
func (a *Adapter) Redeliver(ctx context.Context, id string) (room.Heard, error) {
	a.mu.Lock()
	m, known := a.history[id]
	in := a.inbox
	a.mu.Unlock()
	if !known || in == nil {
		return room.Heard{}, room.ErrOffline
	}
	return in.Receive(ctx, a.Info(), m)
}

// Sample is what there is when a configuration names nothing: enough to try everything.
func Sample() Config {
	return Config{Owner: "me", Groups: []Group{{ID: "demo", Name: "Demo group", Members: []string{"Ann", "Bob", "Carol", "me"}}}, Private: []string{"Ann", "me"}}
}
