package checkpoint

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aalis/backend/blob"
	"aalis/backend/store"
	"aalis/backend/text"
)

// restorer puts paths back one by one. Each is replaced in one step or stays as it is.
type restorer struct {
	service *Service
	root    *os.Root
	result  *Result
}

// explain says why a path could not be put back.
func (r *restorer) explain(path string, err error) {
	if errors.Is(err, errChanged) {
		r.result.skip(path, text.New("rewind.changed"))
		return
	}
	cause := err
	if wrapped, ok := errors.AsType[*fs.PathError](err); ok {
		cause = wrapped.Err
	}
	r.result.skip(path, text.New("rewind.failed", "reason", cause.Error()))
}

// still looks once more whether a path is what the turn left.
func (r *restorer) still(c store.FileChange) error {
	now := view{service: r.service, root: r.root, folder: &folder{seen: map[string]seen{}}, budget: 1 << 40}
	image, err := now.image(c.Path)
	if err == nil && !same(image, c.After) {
		err = errChanged
	}
	return err
}

// remove takes away what the turn made. A folder that holds something else by now stays.
func (r *restorer) remove(c store.FileChange) bool {
	if err := r.still(c); err != nil {
		r.explain(c.Path, err)
		return false
	}
	err := r.root.Remove(filepath.FromSlash(c.Path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if c.After.Kind == store.ImageFolder {
			r.result.skip(c.Path, text.New("rewind.not-empty"))
		} else {
			r.explain(c.Path, err)
		}
		return false
	}
	if c.Before.Kind == store.ImageAbsent {
		r.result.Deleted = append(r.result.Deleted, c.Path)
	}
	return true
}

func (r *restorer) folder(c store.FileChange) {
	err := r.root.Mkdir(filepath.FromSlash(c.Path), fs.FileMode(c.Before.Mode))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		r.explain(c.Path, err)
		return
	}
	r.result.Restored = append(r.result.Restored, c.Path)
}

func (r *restorer) link(c store.FileChange) {
	target, err := r.bytes(c.Before.Hash)
	if err == nil {
		name := filepath.FromSlash(c.Path)
		if c.After.Kind == store.ImageLink {
			err = r.root.Remove(name)
		}
		if err == nil {
			err = r.root.Symlink(target, name)
		}
	}
	if err != nil {
		r.explain(c.Path, err)
		return
	}
	r.result.Restored = append(r.result.Restored, c.Path)
}

func (r *restorer) bytes(hash string) (string, error) {
	file, err := r.service.o.Blobs.Open(blob.Hash(hash))
	if err != nil {
		return "", err
	}
	defer file.Close()
	var b strings.Builder
	_, err = io.Copy(&b, file)
	return b.String(), err
}

// file writes the earlier content beside the path and moves it there, after one more look at what it
// replaces.
func (r *restorer) file(c store.FileChange) {
	if err := r.replace(c); err != nil {
		r.explain(c.Path, err)
		return
	}
	r.result.Restored = append(r.result.Restored, c.Path)
}

var errChanged = errors.New("changed meanwhile")

func (r *restorer) replace(c store.FileChange) error {
	name := filepath.FromSlash(c.Path)
	var random [8]byte
	_, _ = rand.Read(random[:])
	temporary := filepath.Join(filepath.Dir(name), ".aalis-"+hex.EncodeToString(random[:])+".tmp")
	if err := r.fill(temporary, c.Before); err != nil {
		_ = r.root.Remove(temporary)
		return err
	}
	defer func() { _ = r.root.Remove(temporary) }() // gone already after a rename
	if c.After.Kind != store.ImageFile {
		return r.root.Link(temporary, name) // fails when something is there by now
	}
	if err := r.still(c); err != nil {
		return err
	}
	return r.root.Rename(temporary, name)
}

func (r *restorer) fill(name string, image store.Image) error {
	from, err := r.service.o.Blobs.Open(blob.Hash(image.Hash))
	if err != nil {
		return fmt.Errorf("opening what stood there: %w", err)
	}
	defer from.Close()
	to, err := r.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	if err := to.Chmod(fs.FileMode(image.Mode)); err != nil {
		return err
	}
	if err := to.Sync(); err != nil {
		return err
	}
	return to.Close()
}
