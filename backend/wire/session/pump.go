package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"aalis/backend/core"
)

// feed is what a connection shows of the log and how far it has got. Everything a connection is
// pushed comes from one goroutine in the order of ticks, so a client sees one order over all
// sessions.
type feed struct {
	// mu guards everything below, and is held while entries are turned into frames: whoever holds it
	// (a subscription being made) knows exactly up to which tick the client has been shown things.
	mu     sync.Mutex
	cursor *core.Cursor

	items     itemsFeed
	sessions  sessionsFeed
	approvals approvalsFeed
	tasks     tasksFeed
	language  string // that the client was told the host writes in
}

// startFeed begins to follow the log, once the handshake is done. The goroutine ends with the
// connection, which waits for it as for its requests.
func (c *Conn) startFeed() {
	if c.server.o.Loop == nil {
		return
	}
	ctx, end, ok := c.begin()
	if !ok {
		return
	}
	c.feed.mu.Lock()
	c.feed.cursor = c.server.o.Loop.Cursor()
	c.feed.mu.Unlock()
	c.calls.Go(func() {
		defer end()
		c.pump(ctx)
	})
}

// pump turns entries into frames until the connection ends. A client that does not read holds up
// only its own pump; the ring goes on without it.
func (c *Conn) pump(ctx context.Context) {
	var pause time.Duration
	var waits bool
	for {
		if c.peer.Room != nil && !c.peer.Room(ctx) {
			return
		}
		// The wait is without the lock: only this goroutine moves the cursor.
		if c.await(ctx, pause, waits) != nil {
			return
		}
		c.feed.mu.Lock()
		entries, err := c.feed.cursor.Take()
		switch {
		case errors.Is(err, core.ErrFellBehind):
			c.fellBehind(ctx)
		case err == nil:
			c.show(ctx, entries)
			c.flushDue()
			c.flushTasks(ctx)
		default:
			c.flushText()
		}
		pause, waits = c.feed.due(time.Now())
		c.feed.mu.Unlock()
		if err != nil && !errors.Is(err, core.ErrFellBehind) {
			return // the log has ended
		}
	}
}

// due is how long the pump may sleep; without anything that waits, as long as nothing happens.
func (f *feed) due(now time.Time) (pause time.Duration, waits bool) {
	pause, waits = f.items.text.due(now)
	if at, dirty := f.tasks.due(now); dirty && (!waits || at < pause) {
		return at, true
	}
	return pause, waits
}

// await returns when there are entries, or when text has waited long enough. Its error is ctx's.
func (c *Conn) await(ctx context.Context, pause time.Duration, waits bool) error {
	if !waits {
		return c.feed.cursor.Wait(ctx)
	}
	short, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	if c.feed.cursor.Wait(short) != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return nil
}

// show pushes what a batch of entries means for this connection. Called under feed.mu.
func (c *Conn) show(ctx context.Context, entries []core.Entry) {
	for _, e := range entries {
		c.pushItems(ctx, e)
		c.pushApprovals(ctx, e)
	}
	c.pushSessions(ctx, entries)
	c.pushTasks(ctx, entries)
	c.pushConfig(entries)
}

// fellBehind makes up for entries this connection will never see (kernel 0.8): subscribed sessions
// are to be read again, summaries are sent anew, and so are approvals. Called under feed.mu.
func (c *Conn) fellBehind(ctx context.Context) {
	c.resyncItems(ctx)
	c.resyncApprovals(ctx)
	c.resyncSessions(ctx)
	c.resyncTasks(ctx)
	c.resyncConfig()
}
