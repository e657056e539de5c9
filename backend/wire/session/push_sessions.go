package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"aalis/backend/core"
	"aalis/backend/store"
)

// sessionsFeed says whether the connection watches the list of sessions. Guarded by feed.mu.
type sessionsFeed struct {
	watching bool
	// tick and at are how far the connection has been told: the newest entry, and when that was.
	tick int64
	at   time.Time
}

// watch begins behind an entry; to watch again changes nothing (Spec SP-INC-11).
func (f *sessionsFeed) watch(tick int64) {
	if !f.watching {
		*f = sessionsFeed{watching: true, tick: tick, at: time.Now()}
	}
}

const (
	// manyChanges is the number of changes waiting at once above which a connection lags.
	manyChanges = 32
	// mostUpserts bounds one push.
	mostUpserts = 500
	// seenSlack is by how much a moment in a row may be older than its entry.
	seenSlack = time.Minute
)

// sessionsChange is what one push is about.
type sessionsChange struct {
	changed []int64
	removed []core.Gone
}

// pushSessions tells of changed and deleted sessions: one push for each command that changed any
// (Spec SP-INC-04), one for all of them when the connection lags.
func (c *Conn) pushSessions(ctx context.Context, entries []core.Entry) {
	f := &c.feed.sessions
	if !f.watching || len(entries) == 0 {
		return
	}
	var changes []sessionsChange
	for _, e := range entries {
		if len(e.Changed)+len(e.Removed) > 0 {
			changes = append(changes, sessionsChange{e.Changed, e.Removed})
		}
	}
	if len(changes) > manyChanges {
		var all sessionsChange
		for _, one := range changes {
			all.changed, all.removed = append(all.changed, one.changed...), append(all.removed, one.removed...)
		}
		changes = []sessionsChange{all}
	}
	for _, one := range changes {
		c.tellSessions(ctx, one)
	}
	f.tick, f.at = entries[len(entries)-1].Tick, time.Now()
}

// resyncSessions makes up for entries that were lost: everything newer than what the connection has
// been told is told again.
func (c *Conn) resyncSessions(ctx context.Context) {
	f := &c.feed.sessions
	if !f.watching {
		return
	}
	tick, since := c.feed.cursor.Position(), f.at.Add(-seenSlack)
	var missed sessionsChange
	err := c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		changed, removed, err := tx.ChangedSince(f.tick, since.UnixMilli())
		missed.changed = changed
		for _, s := range removed {
			missed.removed = append(missed.removed, core.Gone{SID: s.SID, ID: s.WireID()})
		}
		return err
	})
	if err != nil {
		c.feedFailed(ctx, err)
		return
	}
	c.tellSessions(ctx, missed)
	f.tick, f.at = tick, time.Now()
}

// tellSessions pushes the lines of the changed sessions as they are now. What has been deleted since
// is left out: its own push follows.
func (c *Conn) tellSessions(ctx context.Context, one sessionsChange) {
	// Entries are shared with other connections. Sorted, parents come before children.
	changed := slices.Compact(slices.Sorted(slices.Values(one.changed)))
	removed := slices.SortedFunc(slices.Values(one.removed), func(a, b core.Gone) int { return cmp.Compare(a.SID, b.SID) })
	push := SessionsChanged{Removes: []string{}}
	for _, gone := range removed {
		push.Removes = append(push.Removes, gone.ID)
	}
	for {
		now := changed[:min(len(changed), mostUpserts)]
		changed = changed[len(now):]
		if err := c.server.o.Loop.Read(ctx, func(tx *store.ReadTx) (err error) {
			if push.Upserts, err = c.summaries(tx, now); err != nil {
				return err
			}
			push.Groups, err = c.roomGroups(tx)
			return err
		}); err != nil {
			c.feedFailed(ctx, err)
			return
		}
		c.push("sessions/changed", push)
		if len(changed) == 0 {
			return
		}
		push.Removes = []string{}
	}
}

// summaries reads the lines of the sessions that are still there.
func (c *Conn) summaries(tx *store.ReadTx, sids []int64) ([]SessionSummary, error) {
	lines := []SessionSummary{}
	for _, sid := range sids {
		line, err := c.summary(tx, sid)
		switch {
		case err == nil:
			lines = append(lines, line)
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
	}
	return lines, nil
}

// feedFailed logs that something could not be shown, unless the connection or the program is ending.
func (c *Conn) feedFailed(ctx context.Context, err error) {
	if ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
		c.server.log.Error("a push could not be read", "connection", c.id, "error", err)
	}
}
