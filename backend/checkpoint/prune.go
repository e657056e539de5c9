package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aalis/backend/blob"
	"aalis/backend/core"
	"aalis/backend/store"
	"aalis/backend/text"
)

const (
	// pruneEvery is how often what is kept is counted, at most.
	pruneEvery = time.Minute
	// dropAtOnce is how many of the oldest checkpoints are forgotten in one step.
	dropAtOnce = 50
)

func (s *Service) wake() {
	select {
	case s.pruned <- struct{}{}:
	default:
	}
}

// Run keeps what is kept below the limit until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	for {
		if err := s.Prune(ctx); err != nil && ctx.Err() == nil {
			if errors.Is(err, core.ErrClosed) {
				return err
			}
			s.o.Log.Error("checkpoints cannot be pruned", "error", err)
		}
		timer := time.NewTimer(pruneEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		select {
		case <-s.pruned:
		case <-ctx.Done():
			return nil
		}
	}
}

// Prune forgets bytes that neither a checkpoint nor a call under way names, and then the oldest
// checkpoints, until what is kept is below the limit.
func (s *Service) Prune(ctx context.Context) error {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	for {
		total := int64(0)
		all := map[blob.Hash]int64{}
		if err := s.o.Blobs.Each(func(h blob.Hash, n int64) error { total += n; all[h] = n; return nil }); err != nil {
			return fmt.Errorf("counting what is kept: %w", err)
		}
		if total <= s.o.MaxBytes {
			return nil
		}
		freed, err := s.sweep(ctx, all)
		if err != nil || total-freed <= s.o.MaxBytes {
			return err
		}
		if dropped, err := s.drop(ctx); err != nil || !dropped {
			return err
		}
	}
}

// sweep removes the bytes that no checkpoint names.
func (s *Service) sweep(ctx context.Context, all map[blob.Hash]int64) (freed int64, err error) {
	var named map[string]int64
	if err := s.o.Loop.Read(ctx, func(tx *store.ReadTx) (err error) {
		named, err = tx.CheckpointHashes()
		return err
	}); err != nil {
		return 0, err
	}
	s.mu.Lock()
	clear(s.scans) // what was kept may go
	for g := range s.guards {
		for _, image := range g.before.images {
			named[image.Hash] = image.Size
		}
	}
	s.mu.Unlock()
	for h, n := range all {
		if _, used := named[string(h)]; used {
			continue
		}
		if err := s.o.Blobs.Remove(h); err != nil {
			return freed, err
		}
		freed += n
	}
	return freed, nil
}

func (s *Service) drop(ctx context.Context) (bool, error) {
	var ids []string
	if err := s.o.Loop.Read(ctx, func(tx *store.ReadTx) error {
		old, err := tx.OldCheckpoints(dropAtOnce)
		for _, c := range old {
			ids = append(ids, c.ID)
		}
		return err
	}); err != nil || len(ids) == 0 {
		return false, err
	}
	s.o.Log.Info("old checkpoints are forgotten", "count", len(ids))
	_, err := s.o.Loop.Do(ctx, core.ForgetFiles{IDs: ids, Why: text.New("rewind.forgotten")})
	return err == nil, err
}
