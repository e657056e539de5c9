package app

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

const (
	logBytes = 5 << 20 // of one file
	logFiles = 3       // kept beside the current one
)

// newLog writes to <data>/logs/aalis.log, and warnings to also. Nothing is opened before the first
// line, so that a start that finds the data folder in use leaves the log of the other one alone.
func newLog(dataDir string, level slog.Level, also io.Writer) (*slog.Logger, io.Closer) {
	file := &rotating{path: filepath.Join(dataDir, "logs", "aalis.log"), most: logBytes, keep: logFiles}
	return slog.New(slog.NewMultiHandler(
		slog.NewTextHandler(file, &slog.HandlerOptions{Level: level}),
		slog.NewTextHandler(also, &slog.HandlerOptions{Level: max(level, slog.LevelWarn)}),
	)), file
}

// rotating is a log file that moves aside before it would grow beyond most bytes: aalis.log.1 is the
// newest of the older ones. A line is never split over two files. A file that cannot be written is no
// reason to stop the program: its lines are lost, and the error goes back to the caller.
type rotating struct {
	path string
	most int64
	keep int

	mu     sync.Mutex // guards the fields below
	f      *os.File
	size   int64
	closed bool
}

func (r *rotating) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, os.ErrClosed
	}
	if r.f != nil && r.size+int64(len(line)) > r.most {
		if err := r.turn(); err != nil {
			return 0, err
		}
	}
	if r.f == nil {
		if err := r.open(); err != nil {
			return 0, err
		}
	}
	n, err := r.f.Write(line)
	r.size += int64(n)
	return n, err
}

func (r *rotating) open() error {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.f, r.size = f, info.Size()
	return nil
}

// turn moves every file one number up; the oldest is overwritten.
func (r *rotating) turn() error {
	err := r.f.Close()
	r.f = nil
	for n := r.keep; n > 0; n-- {
		from := r.path
		if n > 1 {
			from += "." + strconv.Itoa(n-1)
		}
		if e := os.Rename(from, r.path+"."+strconv.Itoa(n)); !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// Close ends the file; later lines are lost.
func (r *rotating) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.f == nil {
		return nil
	}
	return r.f.Close()
}
