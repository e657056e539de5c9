package attachment_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"aalis/backend/attachment"
	"aalis/backend/blob"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
	"aalis/backend/store"
)

var owner = event.Actor{Kind: "owner", Principal: event.OwnerID, Platform: "webui", UserID: "console", Owner: true, Via: "session"}

type admission struct{}

func (admission) Admit(event.Policy) string { return "" }

// rig is a service over a log with its writer running.
type rig struct {
	*attachment.Service
	t     *testing.T
	dir   string
	bytes *blob.Store
	store *store.Store
	loop  *core.Loop
	stop  func()
}

func open(t *testing.T, dir string) *rig {
	t.Helper()
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := blob.Open(filepath.Join(dir, "attachments"))
	if err != nil {
		t.Fatal(err)
	}
	loop, err := core.New(core.Options{Store: st, Admission: admission{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := loop.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	r := &rig{Service: attachment.New(attachment.Options{Loop: loop, Blobs: bytes}), t: t, dir: dir, bytes: bytes, store: st, loop: loop}
	r.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		if err := errors.Join(bytes.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

func (r *rig) do(cmd core.Command) core.Receipt {
	r.t.Helper()
	got, err := r.loop.Do(context.Background(), cmd)
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func (r *rig) session() string { return r.do(core.CreateSession{Actor: owner}).SessionID }

// send says something with files.
func (r *rig) send(session string, files ...attachment.Upload) ([]event.Attachment, error) {
	var named []event.Attachment
	err := r.Keep(context.Background(), files, func(all []event.Attachment) error {
		named = all
		_, err := r.loop.Do(context.Background(), core.SendInput{Actor: owner, Session: session, Input: event.Input{Attachments: all}, Swallow: true})
		return err
	})
	return named, err
}

// kept counts the files on the disk, whatever they are.
func (r *rig) kept() (n int) {
	r.t.Helper()
	if err := filepath.WalkDir(filepath.Join(r.dir, "attachments"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
	return n
}

func (r *rig) wantKept(when string, want int) {
	r.t.Helper()
	if got := r.kept(); got != want {
		r.t.Errorf("%s: %d files are kept, want %d", when, got, want)
	}
}

func bubble(t *testing.T, name string, test func(r *rig)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, t.TempDir())
			defer r.stop()
			test(r)
		})
	})
}

func file(name, data string) attachment.Upload {
	return attachment.Upload{Name: name, Data: []byte(data)}
}

const png = "\x89PNG\r\n\x1a\n and so on"

func TestKeep(t *testing.T) {
	bubble(t, "what is named is on the disk when the command runs", func(r *rig) {
		s := r.session()
		err := r.Keep(context.Background(), []attachment.Upload{file("a.png", png), file("b.txt", "words")}, func(all []event.Attachment) error {
			for i, want := range []event.Attachment{
				{Kind: "image", Name: "a.png", Type: "image/png", Size: int64(len(png))},
				{Kind: "file", Name: "b.txt", Type: attachment.Unknown, Size: 5},
			} {
				want.Blob = all[i].Blob
				if all[i] != want {
					r.t.Errorf("%+v, want %+v", all[i], want)
				}
				if data, err := r.Read(all[i].Blob, 1<<20); err != nil || int64(len(data)) != want.Size {
					r.t.Errorf("%q %v", data, err)
				}
			}
			_, err := r.loop.Do(context.Background(), core.SendInput{Actor: owner, Session: s, Input: event.Input{Attachments: all}})
			return err
		})
		if err != nil {
			r.t.Fatal(err)
		}
		r.wantKept("afterwards", 2)
	})
	bubble(t, "what is refused leaves nothing and names the file and the limit", func(r *rig) {
		s := r.session()
		large := string(make([]byte, attachment.MaxFile))
		var many []attachment.Upload
		for range attachment.MaxFiles + 1 {
			many = append(many, file("x", "x"))
		}
		for words, files := range map[string][]attachment.Upload{
			"note.txt is empty":                 {file("a", "a"), file("note.txt", "")},
			"film.mp4 has 20.1 MiB; at most 20": {file("a", "a"), file("film.mp4", large+"x")},
			"50.1 MiB together; at most 50":     {file("a", large), file("b", large), file("c", large[:10<<20]+"x")},
			"at most 20 files; this one has 21": many,
		} {
			_, err := r.send(s, files...)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), words) {
				r.t.Errorf("%v, want words like %q", err, words)
			}
		}
		r.wantKept("afterwards", 0)
		if _, err := r.send(s, file("a", large), file("b", large), file("c", large[:10<<20])); err != nil {
			r.t.Error("exactly the limit:", err)
		}
	})
	bubble(t, "files of a command that failed go again, unless somebody names them", func(r *rig) {
		s := r.session()
		if _, err := r.send(s, file("mine", "shared")); err != nil {
			r.t.Fatal(err)
		}
		_, err := r.send("nobody", file("a", "shared"), file("b", "alone"))
		if !fault.Is(err, fault.NotFound) {
			r.t.Error(err)
		}
		r.wantKept("only the shared one", 1)
	})
	bubble(t, "a disk that takes nothing is told, and nothing is sent", func(r *rig) {
		s := r.session()
		_ = r.bytes.Close()
		_, err := r.send(s, file("a.txt", "words"))
		if !fault.Is(err, fault.Internal) || !strings.Contains(fault.Of(err).Message.String(), "a.txt could not be written") {
			r.t.Error(err)
		}
	})
}

func TestSweep(t *testing.T) {
	bubble(t, "SP-SESS-14 the files of a deleted session go, but not those another one names", func(r *rig) {
		one, other := r.session(), r.session()
		for _, err := range []error{
			second(r.send(one, file("a", "shared"), file("b", "of one"))), second(r.send(other, file("c", "shared"), file("d", "of the other"))),
		} {
			if err != nil {
				r.t.Fatal(err)
			}
		}
		sweep := func() {
			if err := errors.Join(core.EraseAll(context.Background(), r.loop), r.Sweep(context.Background())); err != nil {
				r.t.Fatal(err)
			}
		}
		sweep()
		r.wantKept("while both are there", 3)
		r.do(core.DeleteSession{Actor: owner, Session: one})
		sweep()
		r.wantKept("without the one", 2)
		r.do(core.DeleteSession{Actor: owner, Session: other})
		sweep()
		r.wantKept("without both", 0)
	})
	bubble(t, "what her messages and notices name stays as long as their session", func(r *rig) {
		s := r.session()
		turn := r.do(core.SendInput{Actor: owner, Session: s, Input: event.Input{Text: "go"}}).TurnID
		err := r.Keep(context.Background(), []attachment.Upload{file("a", "hers"), file("b", "of a notice")}, func(all []event.Attachment) error {
			m := r.do(core.StartMessage{Turn: turn, Step: 1}).ItemID
			r.do(core.EndMessage{Turn: turn, Last: true, Message: event.Message{MessageID: m, Attachments: all[:1]}})
			r.do(core.AddNotice{Session: s, Notice: event.Notice{Topic: "event-marker", Attachment: &all[1]}})
			return nil
		})
		if err := errors.Join(err, r.Sweep(context.Background())); err != nil {
			r.t.Fatal(err)
		}
		r.wantKept("while it is there", 2)
		if err := r.store.Rebuild(1); err != nil {
			r.t.Fatal(err)
		}
		if err := r.Sweep(context.Background()); err != nil {
			r.t.Fatal(err)
		}
		r.wantKept("after the rows were made anew", 2)
		r.do(core.DeleteSession{Actor: owner, Session: s})
		if err := errors.Join(core.EraseAll(context.Background(), r.loop), r.Sweep(context.Background())); err != nil {
			r.t.Fatal(err)
		}
		r.wantKept("without it", 0)
	})
	t.Run("what a crash left between bytes and command goes at the next start", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, dir)
			s := r.session()
			if _, err := r.send(s, file("a", "named")); err != nil {
				t.Fatal(err)
			}
			if _, _, err := r.bytes.Put(strings.NewReader("orphan"), 100); err != nil {
				t.Fatal(err)
			}
			r.stop()
			again := open(t, dir)
			defer again.stop()
			again.wantKept("before", 2)
			if err := again.Sweep(context.Background()); err != nil {
				t.Fatal(err)
			}
			again.wantKept("afterwards", 1)
		})
	})
	// Not in a bubble: whoever waits for a lock does not count as waiting there.
	t.Run("a sweep waits for bytes that are about to be named", func(t *testing.T) {
		r := open(t, t.TempDir())
		s := r.session()
		swept := make(chan error, 1)
		err := r.Keep(context.Background(), []attachment.Upload{file("a", "late")}, func(all []event.Attachment) error {
			go func() { swept <- r.Sweep(context.Background()) }()
			select {
			case <-swept:
				t.Error("it did not wait")
			case <-time.After(20 * time.Millisecond):
			}
			_, err := r.loop.Do(context.Background(), core.SendInput{Actor: owner, Session: s, Input: event.Input{Attachments: all}, Swallow: true})
			return err
		})
		if err := errors.Join(err, <-swept); err != nil {
			t.Fatal(err)
		}
		r.wantKept("afterwards", 1)
	})
}

func second[A any](_ A, err error) error { return err }

func TestNames(t *testing.T) {
	bubble(t, "a name is the last part of what was sent, whole and visible", func(r *rig) {
		s := r.session()
		long := strings.Repeat("ä", 200) + ".tar.gz"
		for sent, want := range map[string]string{
			"": "file", "..": "file", " . ": "file", "/etc/": "file", "../../etc/passwd": "passwd", `C:\Users\a\b.txt`: "b.txt",
			"a\x00b\nc\u202ed.txt": "abcd.txt", "  漂亮.png ": "漂亮.png", "bad\xff": "bad\uFFFD", long: strings.Repeat("ä", 126) + ".gz",
		} {
			got, err := r.send(s, file(sent, "x"))
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Name != want || len(got[0].Name) > 255 || !utf8.ValidString(got[0].Name) {
				t.Errorf("%q became %q, want %q", sent, got[0].Name, want)
			}
		}
	})
}

func TestTypeOf(t *testing.T) {
	at := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(at, []byte(png), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 { // it stands at the beginning again
		if mime, err := attachment.TypeOf(f); mime != "image/png" || err != nil {
			t.Error(mime, err)
		}
	}
}
