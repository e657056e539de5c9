package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// build names what a file of the program holds.
type build struct{ Version, Commit string }

// newer watches the program's own file: a package manager, or a person, may put another one in its
// place while it runs. It looks when it is asked to and once a minute, and asks the new file itself what
// it is, so that one that is half written, or does not run here, is no news.
type newer struct {
	path string // of the program's file, as it was when the program started
	ours build
	told func(build) // once for each new build; and with the zero build when the file is ours again
	log  *slog.Logger

	first fs.FileInfo // at the start; nil when it could not be seen, and nothing is watched
	last  fs.FileInfo // at the last look
	asked fs.FileInfo // that was last asked what it is
	news  build
}

const (
	newerSettle = 2 * time.Second // a file must have lain still for as long
	askWithin   = 10 * time.Second
)

// executable is the path of the program's file, without what the system says of a file that has been
// replaced.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the program's file: %w", err)
	}
	return strings.TrimSuffix(path, " (deleted)"), nil
}

func newNewer(path string, ours build, told func(build), log *slog.Logger) *newer {
	n := &newer{path: path, ours: ours, told: told, log: log}
	if info, err := os.Stat(path); err == nil {
		n.first, n.last = info, info
	}
	return n
}

// look looks once and reports whether the file is changing.
func (n *newer) look(ctx context.Context) (changing bool) {
	now, err := os.Stat(n.path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			n.log.Warn("the program's own file cannot be seen", "error", err)
		}
		return false // between the old file and the new one, or removed: there is nothing to restart
	}
	before := n.last
	n.last = now
	if alike(now, n.first) {
		n.tell(build{})
		return false
	}
	if !alike(now, before) || time.Since(now.ModTime()) < newerSettle && time.Since(now.ModTime()) >= 0 {
		return true
	}
	if n.asked != nil && alike(now, n.asked) {
		return false
	}
	n.asked = now
	b, err := askBuild(ctx, n.path)
	if err != nil {
		n.log.Warn("another file lies in the program's place and does not run", "error", err)
	}
	if b == n.ours {
		b = build{}
	}
	n.tell(b)
	return false
}

func (n *newer) tell(b build) {
	if b != n.news {
		n.news = b
		n.told(b)
	}
}

// alike reports whether two looks saw the same file.
func alike(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// askBuild has the file at path say what it is.
func askBuild(ctx context.Context, path string) (build, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "version", "--json")
	cmd.WaitDelay = time.Second
	cmd.Dir = filepath.Dir(path)
	out, err := cmd.Output()
	if err != nil {
		return build{}, fmt.Errorf("asking %s for its version: %w", path, err)
	}
	var v versions
	if err := json.Unmarshal(out, &v); err != nil || v.Version == "" {
		return build{}, fmt.Errorf("%s does not say which version it is", path)
	}
	return build{v.Version, v.Commit}, nil
}

// name is the build for people: the version, and the commit where the version alone would not tell it
// from ours.
func (b build) name(ours build) string {
	if b.Version == ours.Version && b.Commit != "" {
		return b.Version + " (" + b.Commit + ")"
	}
	return b.Version
}
