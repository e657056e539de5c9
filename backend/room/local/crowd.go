package local

import (
	"context"
	"fmt"
	"sync"

	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/room"
	"aalis/backend/text"
)

// The bounds of a crowd.
const (
	maxCrowd = 2000
	maxWords = 100
)

// Crowd has many members of a group speak at once, each so many times, one after the other. They join the
// group for it, and are gone from it afterwards. It returns when all is in the log, or while the connection
// is down waits on the platform.
func (a *Adapter) Crowd(ctx context.Context, name string, members, each int, mention bool) error {
	if members < 1 || members > maxCrowd || each < 1 || each > maxWords {
		return fault.New(fault.Invalid, text.New("room.bad-crowd", "members", maxCrowd, "each", maxWords))
	}
	a.mu.Lock()
	c, err := a.find(name)
	var in room.Inbox
	var chat room.Chat
	if err == nil {
		in, chat = a.inbox, c.Chat
	}
	down := a.down
	a.mu.Unlock()
	if err != nil {
		return err
	}
	if in == nil || down {
		return fault.Wrap(fault.Unsupported, text.New("room.offline"), room.ErrOffline)
	}
	var all sync.WaitGroup
	var mu sync.Mutex // guards first
	var first error
	for i := range members {
		all.Go(func() {
			who := fmt.Sprint("Member ", i+1)
			for j := range each {
				_, err := in.Receive(ctx, a.Info(), room.Message{
					ID: event.NewID(), Chat: chat, From: room.Member{ID: who, Nickname: who}, Text: fmt.Sprintf("word %d", j+1), Mentioned: mention,
				})
				if err != nil {
					mu.Lock()
					defer mu.Unlock()
					first = err
					return
				}
			}
		})
	}
	all.Wait()
	return first
}
