package files

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"aalis/backend/tool"
)

// errMissing is returned by a compute function for a file that has to exist.
var errMissing = errors.New("the file does not exist")

// change is one prepared change of one file.
type change struct {
	family family
	place  tool.Place
	path   string // as the model gave it
	name   string // link-free, relative to the place
	before state
	after  []byte
	note   string // what the model reads when it is done
}

// prepareChange looks at the file, lets compute make the new content and a sentence about it, and
// shows both as a diff. compute gets the old content when it is at most keep bytes long, else nil.
func (f family) prepareChange(ctx context.Context, place tool.Place, path string, keep int64, compute func(before state, content []byte) ([]byte, string, error)) (tool.Prepared, error) {
	folder, target, err := f.at(place, path)
	if err != nil {
		return tool.Prepared{}, err
	}
	defer folder.Close()
	before, content, err := look(ctx, folder, path, target, keep)
	if err != nil {
		return tool.Prepared{}, err
	}
	if before.exists && before.info.Mode().Perm()&0o200 == 0 {
		// Replacing by rename would not even notice.
		return tool.Prepared{}, tool.Refuse(tool.Failed, "%q is read-only (mode %04o)", path, before.info.Mode().Perm())
	}
	after, note, err := compute(before, content)
	if errors.Is(err, errMissing) {
		return tool.Prepared{}, folder.Missing(path, target)
	}
	if err != nil {
		return tool.Prepared{}, err
	}
	var diff *tool.Diff
	if !before.exists || content != nil {
		diff = tool.NewDiff(target.Slash(), content, after)
	}
	c := change{family: f, place: place, path: path, name: target.Name, before: before, after: after, note: note}
	return tool.Prepared{
		Facts:         tool.Facts{Diff: diff},
		NeedsApproval: true,
		Touches:       []string{target.Slash()},
		Execute: func(ctx context.Context, _ tool.Output) (tool.Result, error) {
			return c.make(ctx)
		},
	}, nil
}

// make writes the change if the file is still what it was. Either all of it happens or nothing.
func (c change) make(ctx context.Context) (tool.Result, error) {
	folder, target, err := c.family.at(c.place, c.path)
	if err != nil || target.Name != c.name {
		return tool.Result{}, c.moved()
	}
	defer folder.Close()
	if err := c.check(ctx, folder, target); err != nil {
		return tool.Result{}, err
	}
	made, err := makeFolders(folder.Root, filepath.Dir(c.name))
	if err == nil {
		err = c.replace(ctx, folder, target)
	}
	if err != nil {
		for _, dir := range made { // deepest first; one that others use by now stays
			_ = folder.Root.Remove(dir)
		}
		return tool.Result{}, folder.Explain(c.path, err)
	}
	return tool.Result{Text: c.note}, nil
}

// check compares the file with what was approved.
func (c change) check(ctx context.Context, folder *tool.Folder, target tool.Target) error {
	now, _, err := look(ctx, folder, c.path, target, 0)
	if err != nil {
		return err
	}
	if !c.before.same(now) {
		return c.moved()
	}
	return nil
}

func (c change) moved() *tool.Error {
	return tool.Refuse(tool.TargetChanged, "%q changed since the change was approved; nothing was written. Read it again.", c.path)
}

// replace puts the new content beside the file and moves it into place in one step, so that nobody
// ever sees half of it.
func (c change) replace(ctx context.Context, folder *tool.Folder, target tool.Target) error {
	temporary := filepath.Join(filepath.Dir(c.name), temporaryName())
	if err := c.fill(folder.Root, temporary); err != nil {
		_ = folder.Root.Remove(temporary)
		return err
	}
	defer func() { _ = folder.Root.Remove(temporary) }() // gone already after a rename
	if !c.before.exists {
		err := folder.Root.Link(temporary, c.name) // fails when something is there by now
		if err == nil {
			return nil
		}
		if errors.Is(err, fs.ErrExist) {
			return c.moved()
		}
		// A file system without hard links: check and rename.
		now, unresolved := folder.Resolve(c.path)
		if unresolved != nil {
			return err
		}
		if now.Info != nil || now.Name != c.name {
			return c.moved()
		}
		return folder.Root.Rename(temporary, c.name)
	}
	// Writing may have taken a while: once more, right before.
	if err := c.check(ctx, folder, target); err != nil {
		return err
	}
	return folder.Root.Rename(temporary, c.name)
}

// fill writes the new content durably, with the mode and owner of the file it will replace.
func (c change) fill(root *os.Root, name string) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	if c.before.exists {
		keepOwner(file, c.before.info)
		if err := file.Chmod(c.before.info.Mode().Perm()); err != nil {
			return err
		}
	}
	if _, err := file.Write(c.after); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return file.Close()
}

// temporaryName is random: a name that can be guessed could be prepared as a link.
func temporaryName() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf(".aalis-%s.tmp", hex.EncodeToString(b[:]))
}

// makeFolders makes the missing folders on the way to dir and gives them, deepest first.
func makeFolders(root *os.Root, dir string) (made []string, err error) {
	if dir == "." {
		return nil, nil
	}
	info, err := root.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return nil, &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("is a file, not a folder")}
		}
		return nil, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if made, err = makeFolders(root, filepath.Dir(dir)); err != nil {
		return made, err
	}
	if err := root.Mkdir(dir, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return made, nil
		}
		return made, err
	}
	return append([]string{dir}, made...), nil
}
