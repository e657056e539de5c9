package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// program writes a file that says which version it is, as one that has lain there for a while.
func fakeProgram(t *testing.T, path, script string) {
	t.Helper()
	temp := path + ".new"
	if err := os.WriteFile(temp, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(temp, old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, path); err != nil {
		t.Fatal(err)
	}
}

func TestANewerFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs here are shell scripts")
	}
	path := filepath.Join(t.TempDir(), "aalis")
	says := func(version, commit string) string {
		return `echo '{"version":"` + version + `","commit":"` + commit + `"}'`
	}
	fakeProgram(t, path, says("1.0", "a"))
	ours := build{"1.0", "a"}
	var told []build
	n := newNewer(path, ours, func(b build) { told = append(told, b) }, slog.New(slog.DiscardHandler))
	// settle looks until the file is taken for whole, and one time more.
	settle := func() {
		t.Helper()
		for range 3 {
			n.look(t.Context())
		}
	}
	expect := func(what string, want ...build) {
		t.Helper()
		settle()
		if len(told) != len(want) {
			t.Fatalf("%s: told %+v, want %+v", what, told, want)
		}
		for i := range want {
			if told[i] != want[i] {
				t.Fatalf("%s: told %+v, want %+v", what, told, want)
			}
		}
	}
	expect("nothing has changed")
	fakeProgram(t, path, says("1.1", "b"))
	if !n.look(t.Context()) || len(told) != 0 {
		t.Error("a file that has just come was taken for whole")
	}
	expect("a newer one", build{"1.1", "b"})
	fakeProgram(t, path, "exit 1")
	expect("one that does not run", build{"1.1", "b"}, build{})
	fakeProgram(t, path, "echo hello")
	expect("one that is no Aalis", build{"1.1", "b"}, build{})
	fakeProgram(t, path, says("1.0", "c"))
	expect("another build of the same version", build{"1.1", "b"}, build{}, build{"1.0", "c"})
	fakeProgram(t, path, says("1.0", "a"))
	expect("ours again", build{"1.1", "b"}, build{}, build{"1.0", "c"}, build{})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect("none", build{"1.1", "b"}, build{}, build{"1.0", "c"}, build{})
	if got := (build{"1.0", "c"}).name(ours); got != "1.0 (c)" {
		t.Error(got)
	}
	if got := (build{"1.1", "b"}).name(ours); got != "1.1" {
		t.Error(got)
	}
}
