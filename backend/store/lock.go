package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	// flock releases by itself when the process dies, on all three systems, which a file that only
	// holds a PID does not.
	"github.com/gofrs/flock"
)

// Locked says that another process uses the data folder.
type Locked struct {
	Dir string
	PID int // 0 when unknown
}

// Error names the holder.
func (l *Locked) Error() string {
	if l.PID == 0 {
		return fmt.Sprintf("the data folder %s is used by another Aalis", l.Dir)
	}
	return fmt.Sprintf("the data folder %s is used by the Aalis with process id %d", l.Dir, l.PID)
}

type lock struct{ f *flock.Flock }

func acquire(dir string) (*lock, error) {
	path := filepath.Join(dir, "lock")
	f := flock.New(path, flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	if !ok {
		b, _ := os.ReadFile(path)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		return nil, &Locked{Dir: dir, PID: pid}
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		_ = f.Unlock()
		return nil, fmt.Errorf("writing the lock: %w", err)
	}
	return &lock{f: f}, nil
}

func (l *lock) release() { _ = l.f.Unlock() }
