//go:build unix

package tool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tree makes files (name -> content), folders (name ending in /) and links (name -> "-> target").
func tree(t interface {
	Helper()
	Fatal(...any)
}, root string, entries map[string]string,
) {
	t.Helper()
	for name, content := range entries {
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if target, link := strings.CutPrefix(content, "-> "); err == nil && link {
			err = os.Symlink(target, path)
		} else if err == nil && strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else if err == nil {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, root string, closed ...string) *Folder {
	t.Helper()
	folder, err := Place{Root: root}.Open(closed...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	return folder
}

func TestResolve(t *testing.T) {
	outside := t.TempDir()
	root := filepath.Join(t.TempDir(), "place")
	tree(t, root, map[string]string{
		"a/b.txt": "b", "data/secrets.yaml": "s",
		"in": "-> a", "in.txt": "-> a/b.txt", "a/back": "-> ../in/b.txt", "dangling": "-> a/new.txt",
		"abs-in": "-> " + filepath.Join(root, "a"), "out": "-> " + outside, "out.txt": "-> ../x.txt",
		"a/climb": "-> ../../place/a", "loop": "-> loop2", "loop2": "-> loop",
	})
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(root, alias); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, name string
		exists     bool
		code       ErrorCode
		says       string
	}{
		{path: ".", name: ".", exists: true},
		{path: "./a//b.txt", name: "a/b.txt", exists: true},
		{path: "a/../a/b.txt", name: "a/b.txt", exists: true},
		{path: filepath.Join(root, "a/b.txt"), name: "a/b.txt", exists: true},
		{path: root, name: ".", exists: true},
		{path: "in/b.txt", name: "a/b.txt", exists: true},
		{path: "in.txt", name: "a/b.txt", exists: true},
		{path: "a/back", name: "a/b.txt", exists: true},
		{path: "abs-in/b.txt", name: "a/b.txt", exists: true},
		{path: "dangling", name: "a/new.txt"},
		{path: "x/y/z", name: "x/y/z"},
		{path: "in/x", name: "a/x"},
		{path: "...", name: "..."},
		{path: "", code: InvalidArgs, says: "empty"},
		{path: "a\x00", code: InvalidArgs, says: "NUL"},
		{path: `a\b.txt`, code: InvalidArgs, says: "backslash"},
		{path: "..", code: OutsidePlace, says: root},
		{path: "a/../../y", code: OutsidePlace, says: root},
		{path: "/etc/passwd", code: OutsidePlace, says: root},
		{path: root + "/../x", code: OutsidePlace, says: root},
		{path: root + "-not", code: OutsidePlace, says: root},
		{path: "~/x", code: OutsidePlace, says: "~ is not expanded"},
		{path: "out", code: OutsidePlace, says: "out is a link to " + outside},
		{path: "out/new", code: OutsidePlace, says: "out is a link to " + outside},
		{path: "out.txt", code: OutsidePlace, says: "a link in it leads there"},
		{path: "a/climb/b.txt", code: OutsidePlace, says: "a link in it leads there"},
		{path: "loop", code: NotFoundErr, says: "more than 40 links"},
		{path: "a/b.txt/c", code: NotFoundErr, says: "a/b.txt is a file, not a folder"},
		{path: "data/secrets.yaml", code: OutsidePlace, says: "closed to tools"},
		{path: "data/new/x", code: OutsidePlace, says: "closed to tools"},
	} {
		t.Run(c.path, func(t *testing.T) {
			for _, at := range []string{root, alias} {
				folder := open(t, at, filepath.Join(root, "data"))
				got, err := folder.Resolve(c.path)
				if c.code != "" {
					e, ok := errors.AsType[*Error](err)
					if !ok || e.Code != c.code || !e.NotExecuted || !strings.Contains(e.Message, strings.ReplaceAll(c.says, root, at)) && !strings.Contains(e.Message, c.says) {
						t.Errorf("in %s: %v; want %s saying %q", at, err, c.code, c.says)
					}
					continue
				}
				if err != nil || got.Slash() != c.name || (got.Info != nil) != c.exists {
					t.Errorf("in %s: %q, exists %v, %v; want %q, %v", at, got.Name, got.Info != nil, err, c.name, c.exists)
				}
			}
		})
	}
	t.Run("FAIL-H7 a path of Windows is refused and not joined", func(t *testing.T) {
		folder := open(t, root)
		for _, path := range []string{"C:/Users/x", `C:\Users\x`, "c:", "Z:/", `\\wsl$\Debian\x`} {
			_, err := folder.Resolve(path)
			if e, ok := errors.AsType[*Error](err); !ok || e.Code != OutsidePlace || !strings.Contains(e.Message, "Windows") {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
	t.Run("a closed folder that holds the whole place closes nothing", func(t *testing.T) {
		if _, err := open(t, filepath.Join(root, "data"), root).Resolve("secrets.yaml"); err != nil {
			t.Error(err)
		}
	})
}

// TestResolveIsRight compares with the kernel's own idea of where a path leads, over random trees
// of folders, files and links.
func TestResolveIsRight(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	part := rapid.SampledFrom([]string{"a", "b", "c", "..", ".", "a", "b"})
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "tree")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		root := filepath.Join(dir, "a") // its parent has siblings of the same names
		tree(t, dir, map[string]string{"b/c": "outside", "c": "outside", "a/": ""})
		for range rapid.IntRange(0, 12).Draw(t, "entries") {
			path := filepath.Join(root, filepath.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3).Draw(t, "path")...))
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				_ = os.MkdirAll(path, 0o755)
			case 1:
				_ = os.WriteFile(path, []byte("inside"), 0o644)
			case 2:
				target := strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "target"), "/")
				if rapid.Bool().Draw(t, "absolute") {
					target = filepath.Join(root, target)
				}
				_ = os.Symlink(target, path)
			}
		}
		path := strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "asked"), "/")
		folder, err := Place{Root: root}.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		target, err := folder.Resolve(path)
		if !filepath.IsLocal(filepath.Clean(path)) {
			if err == nil {
				t.Fatalf("%s accepted", path)
			}
			return
		}
		real, realErr := filepath.EvalSymlinks(filepath.Join(root, path))
		if err == nil {
			if realErr == nil && real != filepath.Join(root, target.Name) {
				t.Fatalf("%s resolved to %s, the system says %s", path, target.Name, real)
			}
			if (realErr == nil) != (target.Info != nil) {
				t.Fatalf("%s: exists %v, the system says %v", path, target.Info != nil, realErr)
			}
			if target.Info != nil {
				again, err := folder.Root.Lstat(target.Name)
				if err != nil || !os.SameFile(again, target.Info) || again.Mode()&fs.ModeSymlink != 0 {
					t.Fatalf("%s: os.Root does not agree about %s: %v", path, target.Name, err)
				}
			}
			return
		}
		if realErr == nil && (real == root || strings.HasPrefix(real, root+"/")) && !leaves(root, path) {
			t.Fatalf("%s leads to %s, inside, and is refused: %v", path, real, err)
		}
	})
}

// leaves reports whether following path passes a folder outside root on its way.
func leaves(root, path string) bool {
	at, links := root, 0
	for rest := strings.Split(filepath.Clean(path), "/"); len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		at = filepath.Join(at, part)
		if at != root && !strings.HasPrefix(at, root+"/") {
			return true
		}
		if target, err := os.Readlink(at); err == nil {
			if links++; links > maxLinks {
				return true
			}
			at = filepath.Dir(at)
			if filepath.IsAbs(target) {
				at = "/"
				if rel, err := filepath.Rel(root, target); err == nil && filepath.IsLocal(rel) {
					at, target = root, rel
				} else {
					return true
				}
			}
			rest = append(strings.Split(target, "/"), rest...)
		}
	}
	return false
}

func TestOpenFileNeverWaits(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	folder := open(t, root)
	target, err := folder.Resolve("pipe")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	var opener sync.WaitGroup
	opener.Go(func() {
		_, _, err := folder.OpenFile("pipe", target)
		done <- err
	})
	select {
	case err := <-done:
		want := error(&Error{Code: Failed, NotExecuted: true, Message: `"pipe" is a named pipe, not a file`})
		if diff := cmp.Diff(want, err); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("opening a named pipe waits for its writer")
	}
	opener.Wait()
}

// TestLinkRace swaps a folder for a link that leaves, over and over, while files in it are opened:
// whatever Resolve saw, os.Root must never open the one outside.
func TestLinkRace(t *testing.T) {
	outside := t.TempDir()
	root := t.TempDir()
	tree(t, outside, map[string]string{"f": "outside"})
	tree(t, root, map[string]string{"real/f": "inside", "d/f": "inside"})
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		d, link, kept := filepath.Join(root, "d"), filepath.Join(root, "link"), filepath.Join(root, "kept")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Symlink(outside, link)
			_ = os.Rename(d, kept)
			_ = os.Rename(link, d)
			_ = os.Remove(d)
			_ = os.Rename(kept, d)
		}
	})
	folder := open(t, root)
	opened, until := 0, time.Now().Add(500*time.Millisecond)
	for time.Now().Before(until) {
		target, err := folder.Resolve("d/f")
		if err != nil || target.Info == nil {
			continue
		}
		file, _, err := folder.OpenFile("d/f", target)
		if err != nil {
			continue
		}
		content := make([]byte, 16)
		n, _ := file.Read(content)
		file.Close()
		if opened++; string(content[:n]) != "inside" {
			t.Fatalf("read %q", content[:n])
		}
	}
	close(stop)
	swapper.Wait()
	if opened == 0 {
		t.Error("nothing was ever opened; the race shows nothing")
	}
}
