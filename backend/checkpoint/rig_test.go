package checkpoint_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"aalis/backend/blob"
	"aalis/backend/checkpoint"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/store"
	"aalis/backend/text"
)

var owner = event.Actor{Kind: "owner", Principal: event.OwnerID, Platform: "webui", UserID: "console", Owner: true, Via: "session"}

type admitted struct{}

func (admitted) Admit(event.Policy) string { return "" }

// rig is a log, a folder and the service between them.
type rig struct {
	t       testing.TB
	root    string
	loop    *core.Loop
	blobs   *blob.Store
	service *checkpoint.Service
	session string
	moved   bool // calls go on in the background
}

func open(t testing.TB, maxBytes int64, closed ...string) *rig {
	t.Helper()
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	loop, err := core.New(core.Options{Store: st, Admission: admitted{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = loop.Run(ctx) })
	blobs, err := blob.Open(filepath.Join(t.TempDir(), "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
		_ = st.Close()
		_ = blobs.Close()
	})
	r := &rig{t: t, root: t.TempDir(), loop: loop, blobs: blobs}
	r.service = checkpoint.New(checkpoint.Options{Loop: loop, Blobs: blobs, Closed: closed, MaxBytes: maxBytes})
	r.session = r.do(core.CreateSession{Actor: owner}).SessionID
	return r
}

func (r *rig) do(cmd core.Command) core.Receipt {
	r.t.Helper()
	got, err := r.loop.Do(context.Background(), cmd)
	if err != nil {
		r.t.Fatalf("%T: %v", cmd, err)
	}
	return got
}

func (r *rig) begin() string {
	r.t.Helper()
	return r.do(core.SendInput{Actor: owner, Session: r.session, Input: event.Input{Text: "do", Speaker: event.Speaker{Owner: true}}}).TurnID
}

// call lets one call of a turn change files; without paths it may change any.
func (r *rig) call(turn string, change func(), paths ...string) {
	r.t.Helper()
	g, err := r.service.Guard(context.Background(), checkpoint.Call{Turn: turn, Root: r.root, Paths: paths})
	if err != nil {
		r.t.Fatal(err)
	}
	change()
	if err := g.Done(context.Background(), r.moved); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) end(turn string) {
	r.t.Helper()
	r.do(core.EndSilent{Turn: turn})
}

// turn is a whole turn with one call.
func (r *rig) turn(change func(), paths ...string) string {
	r.t.Helper()
	id := r.begin()
	r.call(id, change, paths...)
	r.end(id)
	return id
}

func (r *rig) rewind(turn string) checkpoint.Result {
	r.t.Helper()
	got, err := r.service.Rewind(context.Background(), checkpoint.Request{Actor: owner, Session: r.session, Turn: turn, KeepChat: true})
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func (r *rig) undo(id string) checkpoint.Result {
	r.t.Helper()
	got, err := r.service.Undo(context.Background(), owner, r.session, id)
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func (r *rig) write(path, content string) {
	r.t.Helper()
	path = filepath.Join(r.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) remove(path string) {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Join(r.root, path)); err != nil {
		r.t.Fatal(err)
	}
}

// tree is everything below the root: kind, mode, content.
func (r *rig) tree() map[string]string {
	r.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == r.root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(r.root, path)
		switch {
		case d.IsDir():
			all[rel] = "folder"
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			all[rel] = "link " + to
		default:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[rel] = fmt.Sprintf("%o %x", info.Mode().Perm(), sha256.Sum256(content))
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// same compares the folder with what it was.
func (r *rig) same(what string, want map[string]string) {
	r.t.Helper()
	got := r.tree()
	if maps.Equal(got, want) {
		return
	}
	for path, is := range got {
		if want[path] != is {
			r.t.Errorf("%s: %s is %q, want %q", what, path, is, want[path])
		}
	}
	for path, was := range want {
		if _, there := got[path]; !there {
			r.t.Errorf("%s: %s is gone, want %q", what, path, was)
		}
	}
}

// told lists a result in one line.
func told(r checkpoint.Result) string {
	var problems []string
	for _, p := range r.Problems {
		problems = append(problems, p.Path+": "+p.Reason.In(text.English))
	}
	slices.Sort(r.Restored)
	slices.Sort(r.Deleted)
	slices.Sort(problems)
	return fmt.Sprintf("restored %s; deleted %s; %s", strings.Join(r.Restored, " "), strings.Join(r.Deleted, " "), strings.Join(problems, " | "))
}

func equal(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
