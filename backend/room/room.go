// Package room owns what a chat room is to the program: what comes from a platform becomes a command, and
// what the log says is to go out is handed to the platform's adapter, in order, once. One folder below per
// adapter; local plays a platform in tests and in the demo. The package decides nothing about turns (core
// does, by what is set for a room) and keeps nothing that the log does not have: killing the process leaves
// what core.Recover settles as unknown, and nothing is ever sent twice. backend.Open runs it.
//
//	Service.Run
//	  Adapter.Run(ctx, inbox)       one goroutine per adapter
//	    Service.Receive             message → core.Receive; a command of the owner's → core.SendOut
//	  follow                        delivery.updated pending → lane of its room
//	    deliver                     one goroutine per room that has something to send
//	      Adapter.Send              → core.SettleDelivery
//	Service.Send                    a tool: core.SendByTool, and the answer when it comes in time
package room

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"aalis/backend/event"
	"aalis/backend/text"
)

// Adapter is the way to one platform, under one account or several.
type Adapter interface {
	// Info tells what it is. It never changes.
	Info() Info
	// Run takes in what happens there until ctx ends. It reconnects by itself; an error means that it gave
	// up, and it is run again later.
	Run(ctx context.Context, in Inbox) error
	// Send hands something to the platform and returns with its answer: nil when it took it, a *Refused, a
	// *Stopped, ErrOffline, or ErrUnconfirmed (as ctx's end is) when it may have gone out. Any other error
	// means that it did not. It is not called again for the same thing, and never twice at once for a room.
	Send(ctx context.Context, to Address, out Outgoing) error
}

// Inbox takes what comes from a platform.
type Inbox interface {
	// Receive returns when it is in the log; the same message again is the same. An error means that it is
	// not, and may be tried again.
	Receive(ctx context.Context, from Info, m Message) (Heard, error)
}

// Heard says what a message came to.
type Heard struct {
	SessionID string
	EventID   string
	TurnID    string // of the turn it opened, or waits for
	Repeated  bool   // it had come before
}

// Info is what an adapter is.
type Info struct {
	ID       string    // of the plugin instance: the plugin's id, or that with ":" and a suffix
	Platform string    // by which settings go
	Label    text.Text // of the plugin
	Types    []Type    // of chats it declares
}

// Type is one type of chat of a platform.
type Type struct {
	Name  string
	Label text.Text // zero: none
}

// Name is what the instance is called: the plugin's name, with the instance's where it is not the only
// one (Spec SP-GROUP-07, decisions B26).
func (i Info) Name() text.Text {
	if _, suffix, named := strings.Cut(i.ID, ":"); named {
		return text.New("room.instance", "name", i.Label, "instance", suffix)
	}
	return i.Label
}

// Address names a room on a platform.
type Address struct{ Platform, Account, Type, Target string }

// String is the address as clients see it.
func (a Address) String() string {
	return strings.Join([]string{a.Platform, a.Account, a.Type, a.Target}, ":")
}

// ParseAddress reads an address; ok is false for what is none.
func ParseAddress(s string) (a Address, ok bool) {
	parts := strings.SplitN(s, ":", 4)
	if len(parts) != 4 || parts[3] == "" {
		return a, false
	}
	return Address{parts[0], parts[1], parts[2], parts[3]}, true
}

// Chat is a room as its adapter tells it.
type Chat struct {
	Address    Address
	Name       string // of the group, or of the other person
	MultiParty bool
	OwnersOwn  bool // the owner's private chat with her
}

// Message is something said in a room, or something that happened there.
type Message struct {
	ID          string // on its platform; the same id is the same message
	Chat        Chat
	From        Member
	Text        string // only what was written
	Attachments []event.Attachment
	Forwards    []event.Forward
	ReplyTo     string // id of the message it replies to
	Mentioned   bool   // she is meant by it: named by a mention, or replied to
	Happened    *Happening
}

// Member is somebody in a room.
type Member struct {
	ID       string
	Nickname string
	Owner    bool // it is the owner
}

// Happening is what happened, where nothing was said. Spec SP-NOTICE-13, -14.
type Happening struct {
	Type   string    // the platform's name for it; "" leaves Source
	Source string    // what converted it into an input, "" for none
	Text   text.Text // the sentence for people
	Body   string    // what the model reads; "" is Text
	Calls  bool      // she is to hear of it now: it may open a turn
}

// Outgoing is what goes out.
type Outgoing struct {
	Text        string
	Attachments []event.Attachment
}

// Refused is a platform's no.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return "the platform refused it: " + r.Reason }

// Stopped is a message in pieces of which only the first went out.
type Stopped struct{ Pieces, Of int }

func (s *Stopped) Error() string { return fmt.Sprintf("only %d of %d pieces went out", s.Pieces, s.Of) }

// What Send may return beside.
var (
	ErrOffline     = errors.New("the platform is not connected")
	ErrUnconfirmed = errors.New("the platform did not confirm it")
)

// result is the answer of a platform, for the log.
func result(err error) event.Delivery {
	if err == nil {
		return event.Delivery{State: event.DeliveryAccepted}
	}
	if no, ok := errors.AsType[*Refused](err); ok {
		return event.Delivery{State: event.DeliveryRefused, Reason: no.Reason}
	}
	if part, ok := errors.AsType[*Stopped](err); ok {
		if part.Pieces > 0 {
			return event.Delivery{State: event.DeliveryPartial, Pieces: part.Pieces, Of: part.Of}
		}
		return event.Delivery{State: event.DeliveryFailed}
	}
	if errors.Is(err, ErrUnconfirmed) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return event.Delivery{State: event.DeliveryUnknown}
	}
	return event.Delivery{State: event.DeliveryFailed, Reason: err.Error()}
}
