// Package checkpoint keeps what turns change in files, so that a turn can be rewound: the bytes that stood
// there before, and what the turn left. It owns scanning a folder, the before-images, putting them back,
// and pruning. It never touches a path that no turn changed, never one whose content is not what the turn
// left, and never a repository's own files (.git): what those hold is not protected.
//
//	Service.Guard(call)        before a call that changes files: images of the paths it names, or of the
//	                           whole folder for one that may change any (scan.go)
//	  Guard.Done               after it: what changed → core.RecordFiles
//	Service.Rewind, Undo       compare, keep the present content, put back (restore.go) → core.RewindTurn
//	Service.Run                forgets the oldest checkpoints and the bytes nobody names (prune.go)
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"sync"

	"aalis/backend/blob"
	"aalis/backend/core"
	"aalis/backend/store"
	"aalis/backend/text"
)

// Limits of what is kept. What exceeds them is told when the turn is rewound.
const (
	// MaxFile is the largest file whose bytes are kept.
	MaxFile = 10 << 20
	// MaxFiles is how many names a folder may have to be compared before and after a command.
	MaxFiles = 20_000
	// MaxScan bounds the bytes that one scan reads anew.
	MaxScan = 512 << 20
)

// Options of a service. Loop and Blobs are required.
type Options struct {
	Loop  *core.Loop
	Blobs *blob.Store
	// Closed are absolute folders that are no part of any place although they may lie inside: the
	// program's own data. A closed folder that holds the place closes nothing.
	Closed []string
	// MaxBytes bounds all that is kept; 0 is 1 GiB. Older checkpoints go first.
	MaxBytes int64
	Log      *slog.Logger // nil discards
}

// Service guards, rewinds and prunes. It is safe for concurrent use.
type Service struct {
	o Options

	// keeping is held for reading while bytes are kept that neither a row nor a guard names yet, and for
	// writing while those that nobody names are removed.
	keeping sync.RWMutex
	putting sync.Mutex // held while files are put back: one rewind at a time

	mu     sync.Mutex // guards scans and guards
	scans  map[string]*folder
	guards map[*Guard]bool // under way: their bytes have no row yet
	pruned chan struct{}   // wakes Run
}

// New makes a service.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 1 << 30
	}
	return &Service{o: o, scans: map[string]*folder{}, guards: map[*Guard]bool{}, pruned: make(chan struct{}, 1)}
}

// Call is a call that is about to change files.
type Call struct {
	Turn string
	Root string // absolute folder of the session's place
	// Paths are what it changes, below Root; nil for a call that may change anything there.
	Paths []string
}

// Guard is a call whose changes are being watched.
type Guard struct {
	service *Service
	call    Call
	before  *snapshot
}

// Guard takes the images before a call. A folder that cannot be looked at is no error: the call runs,
// and its turn says that it is not protected.
func (s *Service) Guard(ctx context.Context, c Call) (*Guard, error) {
	s.keeping.RLock()
	defer s.keeping.RUnlock()
	before, err := s.look(ctx, c, true)
	if err != nil {
		return nil, err
	}
	g := &Guard{service: s, call: c, before: before}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guards[g] = true
	return g, nil
}

func (s *Service) release(g *Guard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.guards, g)
}

// Done records what the call changed. It must be called once, whatever became of the call. moved says
// that it goes on in the background: who changes what from here on cannot be told apart, so it is not
// kept, and the turn says so when it is rewound.
func (g *Guard) Done(ctx context.Context, moved bool) error {
	g.service.keeping.RLock()
	defer g.service.keeping.RUnlock()
	defer g.service.release(g)
	c := store.Checkpoint{ID: g.call.Turn, Turn: g.call.Turn, Root: g.call.Root, Partial: g.before.partial}
	var files []store.FileChange
	if g.before.partial == nil || g.call.Paths != nil {
		after, err := g.service.look(ctx, g.call, false)
		if err != nil {
			return err
		}
		if after.partial != nil {
			c.Partial = after.partial
		} else {
			files = changes(g.before, after)
		}
	}
	if moved && c.Partial == nil {
		why := text.New("checkpoint.background")
		c.Partial = &why
	}
	if len(files) == 0 && c.Partial == nil {
		return nil
	}
	if _, err := g.service.o.Loop.Do(ctx, core.RecordFiles{Checkpoint: c, Files: files}); err != nil {
		return fmt.Errorf("recording what the call changed: %w", err)
	}
	g.service.wake()
	return nil
}

// look takes the images a call needs; with keep their bytes are kept.
func (s *Service) look(ctx context.Context, c Call, keep bool) (*snapshot, error) {
	root, err := os.OpenRoot(c.Root)
	if err != nil {
		return unknown(text.New("checkpoint.unreadable", "reason", err.Error())), nil
	}
	defer root.Close()
	f := s.folder(c.Root)
	f.mu.Lock()
	defer f.mu.Unlock()
	v := view{service: s, root: root, folder: f, keep: keep, budget: MaxScan}
	if c.Paths != nil {
		return v.paths(c.Paths)
	}
	return v.whole(ctx)
}

// paths images some paths, and the folders that are missing on the way to them.
func (v *view) paths(paths []string) (*snapshot, error) {
	s := &snapshot{images: map[string]store.Image{}}
	for _, p := range paths {
		p = path.Clean(filepath.ToSlash(p))
		image, err := v.image(p)
		if err != nil {
			return nil, err
		}
		s.images[p] = image
		for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if s.images[dir], err = v.image(dir); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// changes compares two snapshots of the same paths.
func changes(before, after *snapshot) []store.FileChange {
	var all []store.FileChange
	absent := store.Image{Kind: store.ImageAbsent}
	for p, was := range before.images {
		is, there := after.images[p]
		if !there {
			is = absent
		}
		if !same(was, is) {
			all = append(all, store.FileChange{Path: p, Before: was, After: is})
		}
	}
	for p, is := range after.images {
		if _, was := before.images[p]; !was {
			all = append(all, store.FileChange{Path: p, Before: absent, After: is})
		}
	}
	return all
}

// same compares content and kind. A folder is the same whatever is in it.
func same(a, b store.Image) bool {
	if a.Kind == store.ImageFolder && b.Kind == store.ImageFolder {
		return true
	}
	return a == b
}

// errStopped is a scan whose context ended.
var errStopped = errors.New("the look at the folder was stopped")
