//go:build desktop || dev

package app

import (
	"context"
	"time"
)

// newerEvery is how often the program's file is looked at unasked.
const newerEvery = time.Minute

// run looks until ctx ends: every minute, and soon after look received something.
func (n *newer) run(ctx context.Context, look <-chan struct{}) {
	if n.first == nil {
		return
	}
	timer := time.NewTimer(newerEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-look:
		}
		next := newerEvery
		if n.look(ctx) {
			next = newerSettle
		}
		timer.Reset(next)
	}
}
