package search

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aalis/backend/tool"
)

// maxInFolder bounds how many names of one folder are read.
const maxInFolder = 100_000

// walker goes through the files below a folder in order of their names. Each folder is opened from
// the one above it, so that a folder replaced by a link while we walk leads nowhere else.
type walker struct {
	folder *tool.Folder
	// visit gets each file and link that is not ignored: dir is its folder, path is relative to the
	// place, with forward slashes.
	visit func(ctx context.Context, dir *os.Root, path string, entry fs.DirEntry) error
}

// walk begins at a folder of the place.
func (w walker) walk(ctx context.Context, start tool.Target) error {
	dir, err := w.folder.Root.OpenRoot(start.Name)
	if err != nil {
		return err
	}
	defer dir.Close()
	// The rules of the folders above the start hold as well; that the start itself is ignored does
	// not matter to somebody who named it.
	var rs rules
	rs = rs.with(w.folder.Root, filepath.Join(".git", "info", "exclude"), "")
	base := ""
	if start.Name != "." {
		for _, part := range strings.Split(start.Slash(), "/") {
			rs = rs.with(w.folder.Root, filepath.FromSlash(base+".gitignore"), base)
			base += part + "/"
		}
	}
	return w.below(ctx, dir, base, rs)
}

// below walks one folder; base is its path with a trailing slash, "" for the top.
func (w walker) below(ctx context.Context, dir *os.Root, base string, rs rules) error {
	if info, err := dir.Stat("."); err != nil || w.folder.IsClosed(info) {
		return err
	}
	list, err := dir.Open(".")
	if err != nil {
		return err
	}
	entries, err := list.ReadDir(maxInFolder)
	list.Close()
	if err != nil && err != io.EOF {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	rs = rs.with(dir, ".gitignore", base)
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := base + entry.Name()
		if entry.Name() == ".git" || rs.ignores(path, entry.IsDir()) {
			continue
		}
		if !entry.IsDir() {
			if err := w.visit(ctx, dir, path, entry); err != nil {
				return err
			}
			continue
		}
		sub, err := dir.OpenRoot(entry.Name())
		if err != nil {
			continue // gone, replaced, or not ours to read: a search goes on
		}
		err = w.below(ctx, sub, path+"/", rs)
		sub.Close()
		if err != nil && !isFileError(err) {
			return err
		}
	}
	return nil
}

// isFileError reports whether err is about one folder, not about the whole walk.
func isFileError(err error) bool {
	_, ok := err.(*fs.PathError)
	return ok
}
