package local

import (
	"context"
	"fmt"
	"slices"

	"aalis/backend/fault"
	"aalis/backend/room"
	"aalis/backend/text"
)

// How the platform answers to what she sends.
const (
	Accept  = "accept"
	Refuse  = "refuse"
	Fail    = "fail"
	Partial = "partial" // the first of three pieces goes out
	Hold    = "hold"    // it waits until the answer changes
	Hang    = "hang"    // it goes out, and is never confirmed
)

var answers = []string{Accept, Refuse, Hold, Fail, Partial, Hang}

// Answer is how a chat answers.
type Answer struct {
	How    string // "" is accept
	Reason string // of a refusal or a failure
}

// Answers sets how a chat answers from now on; what it holds is answered by it.
func (a *Adapter) Answers(name string, with Answer) error {
	if with.How != "" && !slices.Contains(answers, with.How) {
		return fault.New(fault.Invalid, text.New("room.bad-answer", "value", with.How))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	c, err := a.find(name)
	if err != nil {
		return err
	}
	c.answer = with
	a.wake()
	return nil
}

// Send takes something or does not, as the chat answers. See room.Adapter.
func (a *Adapter) Send(ctx context.Context, to room.Address, out room.Outgoing) error {
	for {
		again, err := a.take(to, out)
		if again == nil {
			return err
		}
		select {
		case <-again:
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", room.ErrUnconfirmed, context.Cause(ctx))
		}
		if err != nil { // it had gone out
			<-ctx.Done()
			return err
		}
	}
}

// take answers once; again closes when there may be another answer.
func (a *Adapter) take(to room.Address, out room.Outgoing) (again <-chan struct{}, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.down || a.inbox == nil {
		return nil, room.ErrOffline
	}
	c, err := a.find(to.String())
	if err != nil {
		return nil, &room.Refused{Reason: fault.Of(err).Message.String()}
	}
	switch c.answer.How {
	case Refuse:
		return nil, &room.Refused{Reason: c.answer.Reason}
	case Fail:
		return nil, fmt.Errorf("%s", c.answer.Reason)
	case Partial:
		return nil, &room.Stopped{Pieces: 1, Of: 3}
	case Hold:
		return a.changed, nil
	case Hang:
		c.sent = append(c.sent, out)
		return a.changed, room.ErrUnconfirmed
	}
	c.sent = append(c.sent, out)
	return nil, nil
}
