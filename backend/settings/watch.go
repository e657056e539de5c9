package settings

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	// Told by the system on every platform, instead of a loop of stats of our own.
	"github.com/fsnotify/fsnotify"
)

const (
	// settle is for how long a file must have been left alone for an edit to count: editors write in
	// several steps.
	settle = 400 * time.Millisecond
	// lookAnyway is how often the file is looked at although nobody told of it: what other machines
	// change on a network's disk is told to nobody, nor that a folder above was renamed.
	lookAnyway = time.Minute
	// lookUntold is how often while the system cannot tell.
	lookUntold = 10 * time.Second
)

// Watch sees hand edits until ctx ends. It watches the file itself: the file's folder is the database's,
// of whose every commit the system would tell. The folder is watched only while there is no file.
func (d *Document) Watch(ctx context.Context) error {
	w := &watch{d: d}
	defer w.close()
	w.arm()
	look := time.NewTimer(settle) // what was edited since the file was read
	defer look.Stop()
	idly := time.NewTimer(w.patience())
	defer idly.Stop()
	last := d.look()
	for {
		told, troubled := w.channels()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e := <-told:
			if w.means(e) {
				last = d.look()
				look.Reset(settle)
				idly.Reset(w.patience())
			}
			continue
		case <-troubled: // some events were lost
		case <-idly.C:
			w.arm()
			idly.Reset(w.patience())
		case <-look.C:
		}
		now := d.look()
		if !now.same(last) {
			last = now
			look.Reset(settle)
			continue
		}
		d.mu.Lock()
		known := d.stamp
		d.mu.Unlock()
		if !now.same(known) {
			d.Reload()
		}
	}
}

// watch is what the system is asked to tell of.
type watch struct {
	d       *Document
	w       *fsnotify.Watcher // nil: the system cannot tell
	file    bool              // the file is watched; else its folder, or nothing
	deaf    bool              // nothing is watched
	refused string            // the trouble the log was last told of
}

// channels are those of the system; nil while it cannot tell.
func (w *watch) channels() (<-chan fsnotify.Event, <-chan error) {
	if w.w == nil {
		return nil, nil
	}
	return w.w.Events, w.w.Errors
}

// means says whether an event is about the file, and sees to it that the next one will be told.
func (w *watch) means(e fsnotify.Event) bool {
	folder := filepath.Dir(w.d.path)
	if e.Name != w.d.path && e.Name != folder {
		return false
	}
	// Another file may stand under the name now, whatever the event: one that somebody still has open
	// is told of as if only its attributes had changed.
	if !w.file || !e.Has(fsnotify.Write) {
		w.arm()
	}
	return true
}

// patience is how long to wait for being told.
func (w *watch) patience() time.Duration {
	if w.deaf {
		return lookUntold
	}
	return lookAnyway
}

// arm watches what stands under the name now.
func (w *watch) arm() {
	err := w.try()
	w.deaf = err != nil
	switch {
	case err == nil:
		w.refused = ""
	case !errors.Is(err, fs.ErrNotExist) && err.Error() != w.refused:
		w.refused = err.Error()
		w.d.log.Info("the system does not tell of changes of the host document; it is looked at now and then", "file", w.d.path, "error", err)
	}
}

func (w *watch) try() error {
	if w.w == nil {
		watcher, err := w.d.o.Watcher()
		if err != nil {
			return err
		}
		w.w = watcher
	}
	folder := filepath.Dir(w.d.path)
	_ = w.w.Remove(w.d.path) // of the file that was there before; none is watched at first
	w.file = false
	err := w.w.Add(w.d.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = w.w.Add(folder); err != nil {
			return err
		}
		// It may have come before the folder was watched.
		if err = w.w.Add(w.d.path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	w.file = true
	_ = w.w.Remove(folder) // mostly it was not watched
	return nil
}

func (w *watch) close() {
	if w.w != nil {
		_ = w.w.Close() // it was only listened to
	}
}
