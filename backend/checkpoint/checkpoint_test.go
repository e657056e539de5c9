package checkpoint_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aalis/backend/blob"
	"aalis/backend/checkpoint"
	"aalis/backend/core"
	"aalis/backend/event"
	"aalis/backend/fault"
)

func TestRewind(t *testing.T) {
	t.Run("SP-REWIND-03 FAIL-C1 FAIL-C5 a file gets its content back, what was made goes, with its folders; what was only read is not touched", func(t *testing.T) {
		r := open(t, 0)
		r.write("old.txt", "before")
		r.write("read.txt", "only read")
		before := r.tree()
		turn := r.begin()
		r.call(turn, func() { r.write("old.txt", "once") }, "old.txt")
		r.call(turn, func() { r.write("old.txt", "twice") }, "old.txt")
		r.call(turn, func() { r.write("a/b/new.txt", "new") }, "a/b/new.txt")
		r.call(turn, func() {}, "read.txt")
		r.end(turn)
		after := r.tree()
		r.write("read.txt", "the owner's own words")
		got := r.rewind(turn)
		equal(t, told(got), "restored old.txt; deleted a a/b a/b/new.txt; ")
		before["read.txt"] = r.tree()["read.txt"]
		r.same("after the rewind", before)
		t.Run("FAIL-C7 and it can be taken back, once", func(t *testing.T) {
			equal(t, told(r.undo(got.UndoID)), "restored a a/b a/b/new.txt old.txt; deleted ; ")
			after["read.txt"] = r.tree()["read.txt"]
			r.same("after the undo", after)
			if _, err := r.service.Undo(context.Background(), owner, r.session, got.UndoID); !fault.Is(err, fault.NotFound) {
				t.Error(err)
			}
			equal(t, told(r.rewind(turn)), "restored old.txt; deleted a a/b a/b/new.txt; ")
		})
	})
	t.Run("FAIL-C3 what was changed since is left as it is, and told", func(t *testing.T) {
		r := open(t, 0)
		r.write("a.txt", "before")
		r.write("b.txt", "before")
		r.write("c.txt", "before")
		turn := r.turn(func() {
			for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.txt"} {
				r.write(name, "she")
			}
		})
		r.write("a.txt", "the owner")
		r.write("b.txt", "before")
		r.write("d.txt", "the owner")
		want := r.tree()
		want["c.txt"] = want["b.txt"]
		equal(t, told(r.rewind(turn)), "restored c.txt; deleted ; a.txt: It was changed since; it is left as it is now. | b.txt: It is already as it was before. | d.txt: It was changed since; it is left as it is now.")
		r.same("after the rewind", want)
	})
	t.Run("FAIL-C4 FAIL-C9 fifty files by a command: changed, made, removed, moved, made executable, linked; a repository's own files and what is fetched again are left alone", func(t *testing.T) {
		r := open(t, 0)
		for i := range 50 {
			r.write(fmt.Sprintf("a/%d.txt", i), fmt.Sprint("before ", i))
			r.write(fmt.Sprintf("b/%d.txt", i), fmt.Sprint("beside ", i))
		}
		r.write(".git/HEAD", "ref: main")
		r.write("empty/keep/me.txt", "x")
		if err := os.Symlink("a/1.txt", filepath.Join(r.root, "link")); err != nil {
			t.Fatal(err)
		}
		before := r.tree()
		turn := r.turn(func() {
			for i := range 20 {
				r.write(fmt.Sprintf("a/%d.txt", i), "changed")
			}
			for i := 20; i < 30; i++ {
				r.remove(fmt.Sprintf("a/%d.txt", i))
			}
			if err := os.Rename(filepath.Join(r.root, "a/30.txt"), filepath.Join(r.root, "a/moved.txt")); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(r.root, "a/31.txt"), 0o755); err != nil {
				t.Fatal(err)
			}
			r.remove("empty")
			r.remove("link")
			r.write("link/is/a/folder", "now")
			r.remove("a/32.txt")
			if err := os.Symlink("31.txt", filepath.Join(r.root, "a/32.txt")); err != nil {
				t.Fatal(err)
			}
			r.write(".git/HEAD", "ref: other")
			r.write("node_modules/x/y.js", "fetched")
		})
		got := r.rewind(turn)
		if len(got.Problems) > 0 {
			t.Error(told(got))
		}
		after := r.tree()
		for _, path := range []string{".git/HEAD", "node_modules", "node_modules/x", "node_modules/x/y.js"} {
			if after[path] == before[path] {
				t.Errorf("%s was touched", path)
			}
			before[path] = after[path]
		}
		r.same("after the rewind", before)
	})
	t.Run("a folder that holds something of the owner's by now stays", func(t *testing.T) {
		r := open(t, 0)
		turn := r.turn(func() { r.write("made/by-her.txt", "x") })
		r.write("made/mine.txt", "mine")
		equal(t, told(r.rewind(turn)), "restored ; deleted made/by-her.txt; made: The folder holds something else by now; it stays.")
		if content, err := os.ReadFile(filepath.Join(r.root, "made/mine.txt")); string(content) != "mine" {
			t.Error(err)
		}
	})
	t.Run("what is too large to keep is told and left", func(t *testing.T) {
		r := open(t, 0)
		large := strings.Repeat("x", checkpoint.MaxFile+1)
		r.write("large.bin", large)
		turn := r.turn(func() { r.write("large.bin", large+"y"); r.write("small", "s") })
		equal(t, told(r.rewind(turn)), "restored ; deleted small; large.bin: What stood there could not be kept (files over 10 MiB are not).")
	})
	t.Run("a folder of too many files is told as unprotected, and nothing in it is touched", func(t *testing.T) {
		r := open(t, 0)
		for i := range checkpoint.MaxFiles + 1 {
			if i%1000 == 0 {
				r.write(fmt.Sprintf("%d/x", i/1000), "")
			}
			if err := os.WriteFile(filepath.Join(r.root, fmt.Sprint(i/1000), fmt.Sprint(i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		turn := r.begin()
		r.call(turn, func() { r.write("0/1", "by a command") })
		r.call(turn, func() { r.write("0/2", "by a file tool") }, "0/2")
		r.end(turn)
		equal(t, told(r.rewind(turn)), "restored 0/2; deleted ; : The folder has more than 20000 files; what commands changed there is not protected.")
		if content, _ := os.ReadFile(filepath.Join(r.root, "0/1")); string(content) != "by a command" {
			t.Errorf("%q", content)
		}
	})
	t.Run("what a command does in the background is told as unprotected, and nothing of the owner's is taken for its doing", func(t *testing.T) {
		r := open(t, 0)
		r.write("mine", "before")
		r.moved = true
		turn := r.turn(func() { r.write("early", "x") })
		r.write("mine", "edited while it runs")
		equal(t, told(r.rewind(turn)), "restored ; deleted early; : A command of this turn went on in the background; what it did there is not protected.")
	})
	t.Run("the program's own folder is no part of a place that holds it", func(t *testing.T) {
		own := filepath.Join(t.TempDir(), "place", "data")
		if err := os.MkdirAll(own, 0o700); err != nil {
			t.Fatal(err)
		}
		r := open(t, 0, own)
		r.root = filepath.Dir(own)
		turn := r.turn(func() { r.write("data/aalis.db", "rows"); r.write("mine", "x") })
		equal(t, told(r.rewind(turn)), "restored ; deleted mine; ")
	})
}

func TestWhatCanBeRewound(t *testing.T) {
	r := open(t, 0)
	r.write("a", "before")
	turn := r.begin()
	r.call(turn, func() { r.write("a", "she") })
	running := checkpoint.Request{Actor: owner, Session: r.session, Turn: turn}
	t.Run("SP-REWIND-04 a turn that runs is not, nor any other of its session meanwhile", func(t *testing.T) {
		if _, err := r.service.Rewind(context.Background(), running); !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
	})
	r.end(turn)
	t.Run("SP-REWIND-02 an unknown turn is a result that says so, an unknown session an error", func(t *testing.T) {
		got, err := r.service.Rewind(context.Background(), checkpoint.Request{Actor: owner, Session: r.session, Turn: "nobody"})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, told(got), "restored ; deleted ; : There is no finished turn nobody to rewind.")
		if _, err := r.service.Rewind(context.Background(), checkpoint.Request{Actor: owner, Session: "nobody", Turn: turn}); !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
	})
	t.Run("SP-REWIND-05 with the conversation the turn is dead, and alive again after the undo", func(t *testing.T) {
		got, err := r.service.Rewind(context.Background(), running)
		if err != nil || got.Messages != 1 {
			t.Fatal(got, err)
		}
		again, err := r.service.Rewind(context.Background(), running)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, told(again), "restored ; deleted ; : There is no finished turn "+turn+" to rewind.")
		r.undo(got.UndoID)
		if content, _ := os.ReadFile(filepath.Join(r.root, "a")); string(content) != "she" {
			t.Errorf("%q", content)
		}
		if _, err := r.service.Rewind(context.Background(), running); err != nil {
			t.Error(err)
		}
	})
}

// TestAnyTurns plays turns with random changes, by commands and by file tools, and rewinds and undoes at
// random; the folder is hashed before and after each.
func TestAnyTurns(t *testing.T) {
	t.Run("FAIL-C3 FAIL-C7 the newest turn rewound leaves the folder as it was before it, and the undo as it was after it", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
			r := open(t, 0)
			type played struct {
				turn          string
				before, after map[string]string
			}
			var all []played
			for range rapid.IntRange(1, 25).Draw(rt, "steps") {
				if n := len(all); n > 0 && random.IntN(3) == 0 {
					last := all[n-1]
					got := r.rewind(last.turn)
					r.same("after a rewind", last.before)
					if random.IntN(2) == 0 {
						r.undo(got.UndoID)
						r.same("after an undo", last.after)
					} else {
						all = all[:n-1]
					}
					continue
				}
				p := played{before: r.tree(), turn: r.begin()}
				for range 1 + random.IntN(3) {
					r.anyCall(p.turn, random)
				}
				r.end(p.turn)
				p.after = r.tree()
				all = append(all, p)
			}
			if t.Failed() {
				rt.Fatal("see above")
			}
		})
	})
}

func (r *rig) anyCall(turn string, random *rand.Rand) {
	path := func() string {
		return []string{"a", "b", "c/a", "c/b", "c/d/a", "d/a"}[random.IntN(6)]
	}
	words := func() string { return fmt.Sprint("words ", random.IntN(1000)) }
	if random.IntN(2) == 0 {
		p := path()
		if info, err := os.Stat(filepath.Join(r.root, p)); err != nil || !info.IsDir() {
			r.call(turn, func() { r.write(p, words()) }, p)
		}
		return
	}
	r.call(turn, func() {
		for range 1 + random.IntN(4) {
			switch random.IntN(4) {
			case 0:
				r.remove([]string{"a", "b", "c", "c/d", "d"}[random.IntN(5)])
			case 1:
				_ = os.Chmod(filepath.Join(r.root, path()), 0o600)
			default:
				r.write(path(), words())
			}
		}
	})
}

func TestPrune(t *testing.T) {
	t.Run("FAIL-C11 what is kept stays below its limit, the oldest turns go first", func(t *testing.T) {
		const most = 1 << 20
		r := open(t, most)
		random := rand.New(rand.NewPCG(1, 1))
		content := func() string {
			b := make([]byte, 100<<10)
			for i := range b {
				b[i] = byte(random.IntN(256))
			}
			return string(b)
		}
		var turns []string
		for range 60 {
			turns = append(turns, r.turn(func() { r.write("a", content()) }, "a"))
			if err := r.service.Prune(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		total := int64(0)
		if err := r.blobs.Each(func(_ blob.Hash, n int64) error { total += n; return nil }); err != nil {
			t.Fatal(err)
		}
		if total > most {
			t.Errorf("%d bytes are kept", total)
		}
		if got := r.rewind(turns[59]); len(got.Restored) != 1 {
			t.Error(told(got))
		}
		equal(t, told(r.rewind(turns[0])), "restored ; deleted ; : What this turn changed is kept no longer, to save space.")
	})
	t.Run("what a call under way may need is kept", func(t *testing.T) {
		r := open(t, 1)
		r.write("a", "before")
		turn := r.turn(func() {
			if err := r.service.Prune(context.Background()); err != nil {
				t.Fatal(err)
			}
			r.remove("a")
		})
		equal(t, told(r.rewind(turn)), "restored a; deleted ; ")
	})
	t.Run("the checkpoints of a deleted session go with it", func(t *testing.T) {
		r := open(t, 1)
		r.write("a", "before")
		r.turn(func() { r.write("a", "after") })
		r.do(core.DeleteSession{Actor: event.System(), Session: r.session})
		if err := core.EraseAll(context.Background(), r.loop); err != nil {
			t.Fatal(err)
		}
		if err := r.service.Prune(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := r.blobs.Each(func(h blob.Hash, _ int64) error { t.Errorf("%s is left", h); return nil }); err != nil {
			t.Fatal(err)
		}
	})
}

// What has not changed since it was seen is not read again; its bytes must be there all the same.
func TestWhatWasSeenBefore(t *testing.T) {
	old := func(r *rig, path, content string) {
		r.write(path, content)
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(r.root, path), past, past); err != nil {
			r.t.Fatal(err)
		}
	}
	t.Run("a file that a turn made comes back when the next removes it", func(t *testing.T) {
		r := open(t, 0)
		r.turn(func() { old(r, "a", "made") })
		turn := r.turn(func() { r.remove("a") })
		equal(t, told(r.rewind(turn)), "restored a; deleted ; ")
	})
	t.Run("bytes that were pruned are kept again before the next change", func(t *testing.T) {
		r := open(t, 1)
		old(r, "a", "before")
		r.turn(func() { r.write("b", "x") })
		if err := r.service.Prune(context.Background()); err != nil {
			t.Fatal(err)
		}
		turn := r.turn(func() { r.remove("a") })
		equal(t, told(r.rewind(turn)), "restored a; deleted ; ")
	})
}
