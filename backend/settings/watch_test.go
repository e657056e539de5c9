package settings_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"aalis/backend/settings"
)

// watched is a document that a running program watches, in a folder of the disk.
type watched struct {
	*testing.T
	path string
	doc  *settings.Document
	told chan string // the name, after every change
}

func watch(t *testing.T, path string) *watched {
	t.Helper()
	w := &watched{T: t, path: path, told: make(chan string, 64)}
	var system *fsnotify.Watcher
	armed := make(chan struct{})
	var err error
	w.doc, err = settings.OpenDocument(settings.DocumentOptions{Path: path, Watcher: func() (*fsnotify.Watcher, error) {
		var err error
		system, err = fsnotify.NewWatcher()
		close(armed)
		return system, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.doc.OnChange(func() {
		name, _ := w.doc.Get("name").(string)
		w.told <- name
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.doc.Watch(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	<-armed
	for end := time.Now().Add(5 * time.Second); len(system.WatchList()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing is watched")
		}
	}
	return w
}

func (w *watched) write(path, name string) {
	w.Helper()
	if err := os.WriteFile(path, []byte("name: "+name+"\n"), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *watched) do(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// soon wants to be told of this name, well before anybody would look untold.
func (w *watched) soon(want string) {
	w.Helper()
	select {
	case got := <-w.told:
		if got != want {
			w.Fatalf("told of %q, not %q", got, want)
		}
	case <-time.After(5 * time.Second):
		w.Fatalf("not told of %q", want)
	}
}

func TestWatching(t *testing.T) {
	here := func(t *testing.T) string { return filepath.Join(t.TempDir(), "config.yaml") }
	t.Run("SP-CONF-68 an edit counts within a second, however it is made", func(t *testing.T) {
		path := here(t)
		w := &watched{T: t}
		w.write(path, "first")
		w = watch(t, path)
		start := time.Now()
		w.write(path, "in place")
		w.soon("in place")
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %v", took)
		}
		w.write(path+"~", "put over it")
		w.do(os.Rename(path+"~", path))
		w.soon("put over it")
		open, err := os.Open(path) // by somebody who reads it meanwhile
		w.do(err)
		w.write(path+"~", "put over an open one")
		w.do(os.Rename(path+"~", path))
		w.soon("put over an open one")
		w.do(open.Close())
		w.do(os.Rename(path, path+".old"))
		w.write(path, "beside the old one")
		w.soon("beside the old one")
		w.write(path+".old", "of nobody")
		w.do(os.Remove(path))
		w.soon("")
		w.write(path, "again")
		w.soon("again")
		w.write(path, "and again")
		w.soon("and again")
	})
	t.Run("one that was not there comes", func(t *testing.T) {
		w := watch(t, here(t))
		w.write(w.path, "new")
		w.soon("new")
		w.write(w.path, "edited")
		w.soon("edited")
	})
	t.Run("the file that a link names is edited", func(t *testing.T) {
		path, target := here(t), here(t)
		w := &watched{T: t}
		w.write(target, "first")
		w.do(os.Symlink(target, path))
		w = watch(t, path)
		w.write(target+"~", "put over it")
		w.do(os.Rename(target+"~", target))
		w.soon("put over it")
	})
	t.Run("our own writes are not told again, and the next edit is seen", func(t *testing.T) {
		path := here(t)
		w := &watched{T: t}
		w.write(path, "first")
		w = watch(t, path)
		for i := range 3 {
			name := "ours " + strconv.Itoa(i)
			if _, unsaved := w.doc.Write(settings.Edit{Path: []string{"name"}, Value: name}); unsaved != nil {
				t.Fatal(unsaved)
			}
			w.soon(name)
		}
		w.write(path, "theirs")
		w.soon("theirs")
	})
	t.Run("steps of one edit are one", func(t *testing.T) {
		path := here(t)
		w := &watched{T: t}
		w.write(path, "first")
		w = watch(t, path)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		w.do(err)
		for _, part := range []string{"name:", " in", " steps", "\n"} {
			_, err := f.WriteString(part)
			w.do(err)
			time.Sleep(150 * time.Millisecond) // the pace of the editor that is played
		}
		w.do(f.Close())
		w.soon("in steps")
	})
}

// TestWatchingIsQuiet: what happens to the files beside it is nobody's business, as long as there is a
// document.
func TestWatchingIsQuiet(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte("name: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var system atomic.Pointer[fsnotify.Watcher]
	doc, err := settings.OpenDocument(settings.DocumentOptions{Path: path, Watcher: func() (*fsnotify.Watcher, error) {
		w, err := fsnotify.NewWatcher()
		system.Store(w)
		return w, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- doc.Watch(ctx) }()
	defer func() { cancel(); <-done }()
	only := func(want string) {
		t.Helper()
		var got []string
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if w := system.Load(); w != nil {
				if got = w.WatchList(); len(got) == 1 && got[0] == want {
					return
				}
			}
		}
		t.Fatalf("watched is %v, not %s alone", got, want)
	}
	only(path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	only(dir)
	if err := os.WriteFile(path, []byte("name: y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	only(path)
}
