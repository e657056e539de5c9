package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"aalis/backend/blob"
	"aalis/backend/store"
	"aalis/backend/text"
)

// left are names that no scan goes into: what a repository keeps of itself, and what is fetched again.
var left = map[string]bool{".git": true, ".hg": true, ".svn": true, "node_modules": true, ".venv": true, "__pycache__": true}

// racy is how fresh a change may be for the time of it to tell nothing: a second change in the same
// tick of the file system's clock leaves it as it is.
const racy = 2 * time.Second

// folder remembers what was seen below a root, so that only what changed is read again.
type folder struct {
	mu   sync.Mutex // guards seen, and is held during a scan
	seen map[string]seen
}

// seen is an image and what stat said of it then.
type seen struct {
	image store.Image
	stat  stat
	kept  bool // its bytes are in the blob store
}

// stat is what tells a file from a changed one without reading it.
type stat struct {
	size           int64
	mode           fs.FileMode
	modified       int64 // ns
	changed, inode int64 // 0 where the system has none
}

// snapshot is what stood below a root at one moment.
type snapshot struct {
	images  map[string]store.Image
	partial *text.Text // why it is not whole
}

func unknown(why text.Text) *snapshot { return &snapshot{partial: &why} }

// maxFolders is how many roots are remembered.
const maxFolders = 8

func (s *Service) folder(root string) *folder {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.scans[root]
	if f == nil {
		if len(s.scans) >= maxFolders {
			clear(s.scans)
		}
		f = &folder{seen: map[string]seen{}}
		s.scans[root] = f
	}
	return f
}

// view is one look at a folder.
type view struct {
	service *Service
	root    *os.Root
	folder  *folder
	keep    bool  // keep the bytes
	budget  int64 // bytes that may still be read
	closed  []os.FileInfo
}

// whole images everything below the root, up to the limits.
func (v *view) whole(ctx context.Context) (*snapshot, error) {
	for _, dir := range v.service.o.Closed {
		if info, err := os.Stat(dir); err == nil {
			v.closed = append(v.closed, info)
		}
	}
	s := &snapshot{images: map[string]store.Image{}}
	err := fs.WalkDir(v.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return errStopped
		case p == ".":
			return err
		case err != nil:
			return fs.SkipDir // nobody who cannot read it changed it by a command of ours either
		case d.IsDir() && (left[d.Name()] || v.isClosed(d)):
			return fs.SkipDir
		case strings.HasPrefix(d.Name(), ".aalis-") && strings.HasSuffix(d.Name(), ".tmp"):
			return nil
		case len(s.images) >= MaxFiles:
			why := text.New("checkpoint.many-files", "max", MaxFiles)
			s.partial = &why
			return fs.SkipAll
		}
		image, err := v.image(p)
		if err != nil {
			return err
		}
		if image.Kind != store.ImageAbsent {
			s.images[p] = image
		}
		return nil
	})
	if errors.Is(err, errStopped) {
		return nil, fmt.Errorf("%w: %w", errStopped, context.Cause(ctx))
	}
	if err != nil {
		return unknown(text.New("checkpoint.unreadable", "reason", err.Error())), nil
	}
	v.forget(s)
	return s, nil
}

func (v *view) isClosed(d fs.DirEntry) bool {
	if len(v.closed) == 0 {
		return false
	}
	info, err := d.Info()
	if err != nil {
		return false
	}
	for _, c := range v.closed {
		if os.SameFile(c, info) {
			return true
		}
	}
	return false
}

// forget drops what is gone from what is remembered.
func (v *view) forget(s *snapshot) {
	for p := range v.folder.seen {
		if _, there := s.images[p]; !there {
			delete(v.folder.seen, p)
		}
	}
}

// image looks at one path. Only failures of our own disk are errors.
func (v *view) image(p string) (store.Image, error) {
	name := filepath.FromSlash(p)
	info, err := v.root.Lstat(name)
	if err != nil {
		return store.Image{Kind: store.ImageAbsent}, nil //nolint:nilerr // what cannot be reached is not there for the turn either
	}
	mode := uint32(info.Mode().Perm())
	switch info.Mode().Type() {
	case fs.ModeDir:
		return store.Image{Kind: store.ImageFolder, Mode: mode}, nil
	case fs.ModeSymlink:
		return v.link(name)
	case 0:
		return v.file(p, name, info)
	}
	return store.Image{Kind: store.ImageOther}, nil
}

func (v *view) link(name string) (store.Image, error) {
	target, err := v.root.Readlink(name)
	if err != nil {
		return store.Image{Kind: store.ImageAbsent}, nil //nolint:nilerr // gone meanwhile
	}
	hash, n, err := v.service.o.Blobs.Put(strings.NewReader(target), MaxFile)
	if err != nil {
		return store.Image{}, err
	}
	return store.Image{Kind: store.ImageLink, Hash: string(hash), Size: n}, nil
}

func (v *view) file(p, name string, info fs.FileInfo) (store.Image, error) {
	now := statOf(info)
	if was, ok := v.folder.seen[p]; ok && was.stat == now && (was.kept || !v.keep || was.image.Kind == store.ImageLarge) {
		return was.image, nil
	}
	if info.Size() > MaxFile || info.Size() > v.budget {
		return store.Image{Kind: store.ImageLarge, Hash: now.sum(), Mode: uint32(info.Mode().Perm()), Size: info.Size()}, nil
	}
	v.budget -= info.Size()
	image, err := v.read(name, info)
	if err != nil || image.Kind != store.ImageFile {
		return image, err
	}
	if time.Since(info.ModTime()) > racy {
		v.folder.seen[p] = seen{image: image, stat: now, kept: v.keep}
	}
	return image, nil
}

// read hashes a file, and keeps its bytes when the view does.
func (v *view) read(name string, info fs.FileInfo) (store.Image, error) {
	image := store.Image{Kind: store.ImageFile, Mode: uint32(info.Mode().Perm()), Size: info.Size()}
	file, err := v.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return store.Image{Kind: store.ImageAbsent}, nil
	}
	if err != nil {
		return store.Image{Kind: store.ImageLarge, Hash: statOf(info).sum(), Mode: image.Mode, Size: image.Size}, nil //nolint:nilerr // it cannot be kept
	}
	defer file.Close()
	if v.keep {
		hash, n, err := v.service.o.Blobs.Put(file, MaxFile)
		if errors.Is(err, blob.ErrTooLarge) { // it grew
			return store.Image{Kind: store.ImageLarge, Hash: statOf(info).sum(), Mode: image.Mode, Size: image.Size}, nil
		}
		image.Hash, image.Size = string(hash), n
		return image, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, file)
	if err != nil {
		return store.Image{}, fmt.Errorf("reading %s: %w", path.Clean(filepath.ToSlash(name)), err)
	}
	image.Hash, image.Size = hex.EncodeToString(sum.Sum(nil)), n
	return image, nil
}

// sum stands for content that was not read.
func (s stat) sum() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %d %d", s.size, s.mode, s.modified, s.changed, s.inode))
	return "stat:" + hex.EncodeToString(sum[:8])
}
