// Package blob keeps bytes by their SHA-256: before-images of files, attachments, long outputs. It owns
// the folder it is opened on, one per owner, and nothing else: who refers to what is in the database, and what
// nobody refers to any more is removed by whoever counts the references. Bytes are written before the
// command that names them, so a hash in the log always has its bytes.
package blob

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Hash names bytes: their SHA-256 in lower-case hex.
type Hash string

// ErrTooLarge is returned by Put for more bytes than it may take.
var ErrTooLarge = errors.New("more bytes than may be kept")

// Store is an open folder of bytes. It is safe for concurrent use.
type Store struct{ root *os.Root }

// Open opens the folder, which is made with mode 0700 when missing, and clears away what an earlier
// process left half written.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of bytes: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder of bytes: %w", err)
	}
	s := &Store{root: root}
	if err := s.clear(); err != nil {
		_ = root.Close()
		return nil, err
	}
	return s, nil
}

// Close lets go of the folder.
func (s *Store) Close() error { return s.root.Close() }

func (s *Store) clear() error {
	left, err := fs.Glob(s.root.FS(), "*.tmp")
	if err != nil {
		return fmt.Errorf("looking for half-written bytes: %w", err)
	}
	for _, name := range left {
		if err := s.root.Remove(name); err != nil {
			return fmt.Errorf("removing half-written bytes: %w", err)
		}
	}
	return nil
}

func (h Hash) path() string { return filepath.Join(string(h[:2]), string(h[2:])) }

// Valid reports whether h has the form of a hash; a hash from outside must be asked first.
func (h Hash) Valid() bool {
	raw, err := hex.DecodeString(string(h))
	return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == string(h)
}

// Put keeps what r holds and gives its name and size. Bytes that are there already are not written
// again. More than most bytes give ErrTooLarge, and nothing is kept.
func (s *Store) Put(r io.Reader, most int64) (Hash, int64, error) {
	var random [8]byte
	_, _ = rand.Read(random[:])
	temporary := hex.EncodeToString(random[:]) + ".tmp"
	file, err := s.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", 0, fmt.Errorf("keeping bytes: %w", err)
	}
	defer func() { _ = s.root.Remove(temporary) }() // gone already after a rename
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(r, most+1))
	if err != nil {
		return "", 0, fmt.Errorf("keeping bytes: %w", err)
	}
	if n > most {
		return "", 0, ErrTooLarge
	}
	h := Hash(hex.EncodeToString(sum.Sum(nil)))
	if _, err := s.root.Lstat(h.path()); err == nil {
		return h, n, nil
	}
	return h, n, s.place(file, temporary, h)
}

func (s *Store) place(file *os.File, temporary string, h Hash) error {
	if err := file.Sync(); err != nil {
		return fmt.Errorf("keeping bytes: %w", err)
	}
	if err := s.root.Mkdir(string(h[:2]), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("keeping bytes: %w", err)
	}
	if err := s.root.Rename(temporary, h.path()); err != nil {
		return fmt.Errorf("keeping bytes: %w", err)
	}
	return nil
}

// Settle makes the name of bytes outlast a power cut, as Put does with the bytes themselves. It costs
// two waits for the disk.
func (s *Store) Settle(h Hash) error {
	for _, name := range []string{string(h[:2]), "."} {
		if err := s.settle(name); err != nil {
			return fmt.Errorf("keeping the name of bytes: %w", err)
		}
	}
	return nil
}

// settle syncs a folder. Windows has no such thing: there, names are kept by the file system's journal.
func (s *Store) settle(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := s.root.Open(folder)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// Open gives the bytes; fs.ErrNotExist when they are not here. The caller closes.
func (s *Store) Open(h Hash) (*os.File, error) {
	if !h.Valid() {
		return nil, fmt.Errorf("%q names no bytes: %w", string(h), fs.ErrNotExist)
	}
	return s.root.Open(h.path())
}

// Remove forgets bytes. Those that are not here are no error.
func (s *Store) Remove(h Hash) error {
	if err := s.root.Remove(h.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing bytes: %w", err)
	}
	return nil
}

// Each calls fn with everything that is kept and its size in bytes, until fn returns an error.
func (s *Store) Each(fn func(h Hash, size int64) error) error {
	return fs.WalkDir(s.root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		dir, name := filepath.Split(filepath.FromSlash(path))
		h := Hash(filepath.Clean(dir) + name)
		if !h.Valid() {
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return fn(h, info.Size())
	})
}
