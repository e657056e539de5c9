package room

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

// How long things take.
const (
	sendWithin   = 30 * time.Second // until a send that is not confirmed counts as unknown
	toolPatience = 5 * time.Second  // until a tool stops waiting for the platform's answer
	againAfter   = 5 * time.Second  // until an adapter that gave up is run again
	firstPause   = 50 * time.Millisecond
	maxPause     = 5 * time.Second
	maxTextSize  = 200_000 // characters of a message that are kept (decisions F15)
)

// Commands are the slash commands, which the owner may give in a room, too.
type Commands interface {
	// Knows reports whether something said is a command.
	Knows(said string) bool
	// Run does it and gives the reply.
	Run(ctx context.Context, sessionID string, by event.Actor, said string) (text.Text, error)
}

// Options of a service. Loop is required.
type Options struct {
	Loop     *core.Loop
	Adapters []Adapter
	Commands Commands // nil: none
	// Language is that of sentences that go out.
	Language func() text.Language
	Log      *slog.Logger // nil discards
}

// Service serves the rooms. It is safe for concurrent use; Run is called once.
type Service struct {
	o     Options
	loop  *core.Loop
	log   *slog.Logger
	sends sync.WaitGroup // the lanes; Run waits for them

	mu      sync.Mutex          // guards all below
	lanes   map[string][]string // events to deliver, by the session id of their room
	known   map[string]bool     // events that are in a lane
	settled chan struct{}       // closed at the next answer of a platform
	ending  bool                // nothing is sent any more
}

// New makes a service. Nothing happens before Run.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Language == nil {
		o.Language = func() text.Language { return text.Chinese }
	}
	return &Service{o: o, loop: o.Loop, log: o.Log, lanes: map[string][]string{}, known: map[string]bool{}, settled: make(chan struct{})}
}

// Adapters lists what the adapters are.
func (s *Service) Adapters() []Info {
	all := make([]Info, 0, len(s.o.Adapters))
	for _, a := range s.o.Adapters {
		all = append(all, a.Info())
	}
	return all
}

// Instance gives the name of an adapter instance; ok is false for one that is not there.
func (s *Service) Instance(id string) (name text.Text, ok bool) {
	for _, a := range s.o.Adapters {
		if info := a.Info(); info.ID == id {
			return info.Name(), true
		}
	}
	return text.Text{}, false
}

// Claims gives the platform whose adapter takes a session's id for a room's address, "" for none.
func Claims(adapters []Adapter, sessionID string) string {
	a, ok := ParseAddress(sessionID)
	if !ok {
		return ""
	}
	for _, one := range adapters {
		if one.Info().Platform == a.Platform {
			return a.Platform
		}
	}
	return ""
}

// Run serves until ctx ends. What is being sent then may still be answered; what was not begun is told as
// not sent.
func (s *Service) Run(ctx context.Context) error {
	var adapters sync.WaitGroup
	for _, a := range s.o.Adapters {
		adapters.Go(func() { s.connect(ctx, a) })
	}
	err := s.follow(ctx)
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	adapters.Wait()
	s.sends.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (s *Service) connect(ctx context.Context, a Adapter) {
	for {
		err := a.Run(ctx, s)
		if ctx.Err() != nil {
			return
		}
		s.log.Warn("an adapter of rooms gave up and is run again", "adapter", a.Info().ID, "err", err)
		timer := time.NewTimer(againAfter)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// Receive files what came from a platform. A command of the owner's is done once and answered in the room.
func (s *Service) Receive(ctx context.Context, from Info, m Message) (Heard, error) {
	c := s.received(from, m)
	got, err := s.loop.Do(ctx, c)
	if err != nil {
		return Heard{}, fmt.Errorf("receiving a message: %w", err)
	}
	heard := Heard{SessionID: got.SessionID, EventID: got.EventID, TurnID: got.TurnID, Repeated: got.Repeated}
	if !c.Command || got.Repeated || !got.Done {
		return heard, nil
	}
	reply, err := s.o.Commands.Run(ctx, got.SessionID, c.Actor, m.Text)
	if err != nil {
		return heard, fmt.Errorf("doing a command: %w", err)
	}
	if reply.IsZero() {
		return heard, nil
	}
	_, err = s.loop.Do(ctx, core.SendOut{Session: got.SessionID, Topic: TopicReply, Text: reply, Words: reply.In(s.o.Language())})
	return heard, err
}

// TopicReply is the topic of the reply to a command. Spec SP-NOTICE-11.
const TopicReply = "command-reply"

func (s *Service) received(from Info, m Message) core.Receive {
	who := event.Actor{Kind: "user", Platform: from.Platform, UserID: m.From.ID, Nickname: m.From.Nickname, Owner: m.From.Owner, Via: "room"}
	if m.From.Owner {
		who.Kind, who.Principal = "owner", event.OwnerID
	}
	said := m.Text
	if runes := []rune(said); len(said) > maxTextSize && len(runes) > maxTextSize {
		said = string(runes[:maxTextSize])
	}
	c := core.Receive{
		Actor: who, Mentioned: m.Mentioned,
		Window: core.Window{
			Address: m.Chat.Address.String(), Platform: from.Platform, Instance: from.ID, Account: m.Chat.Address.Account, Type: m.Chat.Address.Type,
			Name: m.Chat.Name, MultiParty: m.Chat.MultiParty, OwnersOwn: m.Chat.OwnersOwn,
		},
		Input: event.Input{
			Text: said, Attachments: m.Attachments, ReplyTo: m.ReplyTo, Forwards: forwards(m.Forwards),
			Speaker: event.Speaker{Platform: from.Platform, UserID: m.From.ID, Nickname: m.From.Nickname, Owner: m.From.Owner},
		},
	}
	if m.ID != "" {
		c.Key = "i:" + m.ID
	}
	switch h := m.Happened; {
	case h != nil:
		topic := h.Type
		if topic == "" {
			topic = h.Source
		}
		c.Notice = &event.Notice{Topic: topic, Text: h.Text, Body: h.Body, Source: h.Source}
		c.Input.Text, c.Calls = "", h.Calls
	case s.o.Commands != nil && m.From.Owner && s.o.Commands.Knows(strings.TrimSpace(m.Text)):
		c.Command = true
	}
	return c
}

// Outcome is what a tool hears of what it sent.
type Outcome struct {
	State  string // as of a delivery; pending when the platform has not answered in time
	Reason string
	Pieces int
	Of     int
}

// Send has a call of a running turn send something into a room, and waits a while for the platform.
func (s *Service) Send(ctx context.Context, turn, call, room string, out Outgoing) (Outcome, error) {
	got, err := s.loop.Do(ctx, core.SendByTool{Turn: turn, CallID: call, Out: event.Outgoing{Room: room, Text: out.Text, Attachments: out.Attachments}})
	if err != nil {
		return Outcome{}, err
	}
	timer := time.NewTimer(toolPatience)
	defer timer.Stop()
	for {
		again := s.answer()
		o, err := s.outcome(ctx, got.EventID)
		if err != nil || o.State != event.DeliveryPending {
			return o, err
		}
		select {
		case <-again:
		case <-timer.C:
			return o, nil
		case <-ctx.Done():
			return o, context.Cause(ctx)
		}
	}
}

func (s *Service) outcome(ctx context.Context, id string) (o Outcome, err error) {
	err = s.loop.Read(ctx, func(tx *store.ReadTx) error {
		row, found, err := tx.Delivery(id)
		if err != nil || !found {
			return errors.Join(err, store.ErrNotFound)
		}
		e, _, err := tx.EventAt(row.SID, row.Seq)
		d, _ := e.Payload.(event.Delivery)
		o = Outcome{State: row.State, Reason: d.Reason, Pieces: d.Pieces, Of: d.Of}
		return err
	})
	return o, err
}

// answer gives a channel that closes at the next answer of a platform. Take it before looking.
func (s *Service) answer() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled
}
