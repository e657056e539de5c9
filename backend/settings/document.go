package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"aalis/backend/fault"
	"aalis/backend/text"
)

// DocumentOptions say where the host document is.
type DocumentOptions struct {
	// Path is the file; it may be missing, and is made by the first write.
	Path string
	// Fixed are values from elsewhere (flags, the environment) that stand before the file's own, by key
	// on top. A write of such a key puts them aside until the next start.
	Fixed map[string]any
	Log   *slog.Logger // nil: none
	// Replace puts data in the file's place at once; nil does it on the disk. For tests of failing ones.
	Replace func(path string, data []byte) error
	// Watcher has the system tell of changes of files; nil is fsnotify.NewWatcher. For tests of failing ones.
	Watcher func() (*fsnotify.Watcher, error)
}

// Document is the host document (config.yaml) as the program reads and writes it while people do, too.
// What it says is in memory; a write takes effect there first and is saved afterwards. A hand edit is
// seen within a second; one with a mistake in it leaves what was, and keeps the program from writing
// over it. It is safe for concurrent use.
type Document struct {
	o    DocumentOptions
	path string // what a symbolic link points to
	log  *slog.Logger

	says atomic.Pointer[tree] // file, fixed and unsaved together

	mu      sync.Mutex // guards all below, and the file
	text    []byte     // of the file, as it was last good
	file    tree
	fixed   tree
	unsaved []Edit // in effect, and not in the file
	stamp   stamp  // of the file as it was last looked at, good or not
	told    string // the mistake the log was last told of

	changed atomic.Pointer[func()]
}

// stamp tells one state of a file from another.
type stamp struct {
	size int64
	at   time.Time
	info fs.FileInfo
}

func (s stamp) same(o stamp) bool {
	if s.info == nil || o.info == nil {
		return s.info == nil && o.info == nil
	}
	return s.size == o.size && s.at.Equal(o.at) && os.SameFile(s.info, o.info)
}

// OpenDocument reads the document. A mistake in it is a fault; a missing file is an empty document.
func OpenDocument(o DocumentOptions) (*Document, error) {
	d := &Document{o: o, path: o.Path, log: o.Log, fixed: plain(o.Fixed).(tree)}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.o.Replace == nil {
		d.o.Replace = replaceFile
	}
	if d.o.Watcher == nil {
		d.o.Watcher = fsnotify.NewWatcher
	}
	if target, err := filepath.EvalSymlinks(o.Path); err == nil {
		d.path = target
	}
	doc, p, err := d.read()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", o.Path, err)
	}
	d.text, d.file = doc, p.tree
	d.compose()
	return d, nil
}

// OnChange calls fn after every change of what the document says, a write's included. It must not
// block.
func (d *Document) OnChange(fn func()) { d.changed.Store(&fn) }

// current is what the document says; nobody changes it.
func (d *Document) current() tree { return *d.says.Load() }

// Get gives what stands at a path, as encoding/json would but with whole numbers as int64; nil where
// nothing does.
func (d *Document) Get(path ...string) any { return at(d.current(), path...) }

// compose works out what the document says, and reports whether that is something else than before.
// Called under mu, or before anybody else knows d.
func (d *Document) compose() bool {
	says := d.file
	if len(d.fixed) > 0 {
		says = maps.Clone(says)
		maps.Copy(says, d.fixed)
	}
	for _, e := range d.unsaved {
		if next, ok := edited(says, e); ok {
			says = next
		}
	}
	old := d.says.Swap(&says)
	return old == nil || !same(*old, says)
}

// read reads the file and remembers its stamp. A missing file reads as an empty one.
func (d *Document) read() ([]byte, parsed, error) {
	d.stamp = d.look()
	doc, err := os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, parsed{tree: tree{}}, nil
	}
	if err != nil {
		return nil, parsed{}, fault.Wrap(fault.Conflict, text.Plain(reason(err)), err)
	}
	p, err := parse(withoutMark(doc))
	if err == nil {
		if mistakes := p.check(); len(mistakes) > 0 {
			err = mistakes[0]
		}
	}
	return doc, p, err
}

func (d *Document) look() stamp {
	info, err := os.Stat(d.path)
	if err != nil {
		return stamp{}
	}
	return stamp{size: info.Size(), at: info.ModTime(), info: info}
}

// adopt takes over what stands in the file now. A key that was edited by hand since is the hand's: an
// unsaved write of it is dropped. Called under mu.
func (d *Document) adopt() (changed bool, err error) {
	doc, p, err := d.read()
	if err != nil {
		return false, err
	}
	d.told = ""
	if bytes.Equal(doc, d.text) {
		return false, nil
	}
	d.unsaved = slices.DeleteFunc(d.unsaved, func(e Edit) bool {
		return !same(at(d.file, e.Path...), at(p.tree, e.Path...))
	})
	for key := range d.fixed {
		if !same(d.file[key], p.tree[key]) {
			delete(d.fixed, key)
		}
	}
	d.text, d.file = doc, p.tree
	return d.compose(), nil
}

// Reload takes over a hand edit. One with a mistake is logged once and changes nothing.
func (d *Document) Reload() {
	d.mu.Lock()
	changed, err := d.adopt()
	if err != nil {
		if problem := err.Error(); problem != d.told {
			d.told = problem
			d.log.Warn("the host document has a mistake and is not taken over", "file", d.o.Path, "problem", problem)
		}
	}
	d.mu.Unlock()
	if changed {
		d.tell()
	}
}

func (d *Document) tell() {
	if fn := d.changed.Load(); fn != nil {
		(*fn)()
	}
}

// Unsaved is why a change is in effect and not on the disk. Refused says that the document did not take
// it, which no second try mends; otherwise writing failed (Spec SP-CONF-59).
type Unsaved struct {
	Refused bool
	Message text.Text
	err     error
}

// Error is for logs.
func (u *Unsaved) Error() string { return u.Message.String() }

// Unwrap gives the cause.
func (u *Unsaved) Unwrap() error { return u.err }

// Write makes an edit: in memory at once, then in the file together with what could not be saved before.
// changed is false when the document said so already and all of it is saved. unsaved is nil when the
// file has it (Spec SP-CONF-57, -58).
func (d *Document) Write(e Edit) (changed bool, unsaved *Unsaved) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// A hand edit that has not been seen yet is taken over first, so that neither undoes the other.
	changed, broken := d.adopt()
	delete(d.fixed, e.Path[0])
	d.unsaved = slices.DeleteFunc(d.unsaved, func(o Edit) bool { return slices.Equal(o.Path, e.Path) })
	if !same(at(d.file, e.Path...), plain(e.Value)) || e.Value == nil && present(d.file, e.Path) {
		d.unsaved = append(d.unsaved, e)
	}
	changed = d.compose() || changed
	if changed {
		d.tell()
	}
	if len(d.unsaved) == 0 {
		return changed, nil
	}
	if broken != nil {
		return changed, d.refused(text.New("settings.reason-broken", "problem", fault.Of(broken).Message), broken)
	}
	return changed, d.save()
}

func (d *Document) refused(why text.Text, err error) *Unsaved {
	return &Unsaved{Refused: true, Message: text.New("settings.unsaved-refused", "file", d.o.Path, "reason", why), err: err}
}

// save writes the file with everything that is unsaved. Called under mu.
func (d *Document) save() *Unsaved {
	doc := d.text
	for _, e := range d.unsaved {
		next, err := rewrite(doc, e)
		if err != nil {
			return d.refused(fault.Of(err).Message, err)
		}
		doc = next
	}
	err := d.o.Replace(d.path, doc)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		d.log.Warn("the host document may not be written", "file", d.o.Path, "err", err)
		return d.refused(text.New("settings.reason-readonly"), err)
	default:
		d.log.Error("the host document cannot be saved", "file", d.o.Path, "err", err)
		return &Unsaved{Message: text.New("settings.unsaved-failed", "file", d.o.Path, "reason", reason(err)), err: err}
	}
	p, err := parse(withoutMark(doc)) // rewrite has read it, too
	if err != nil {
		return d.refused(fault.Of(err).Message, err)
	}
	d.text, d.file, d.unsaved, d.stamp = doc, p.tree, nil, d.look()
	d.compose()
	return nil
}

// reason is the innermost cause: the outer ones repeat the file's name.
func reason(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}

// replaceFile writes a new file beside the old one and puts it in its place, so that whoever reads, and
// a power cut, finds the one or the other whole. A file that its owner made read-only is not replaced,
// although its folder would allow it.
func replaceFile(path string, data []byte) (err error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
		if mode&0o200 == 0 {
			return &fs.PathError{Op: "replace", Path: path, Err: fs.ErrPermission}
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := f.Chmod(mode); err != nil && !strings.Contains(err.Error(), "not supported") {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes a rename last; where folders cannot be opened for that, it lasts anyway.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	_ = f.Sync()
	return f.Close()
}
