package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"aalis/backend/fault"
	"aalis/backend/principal"
	"aalis/backend/text"
)

// Running describes an instance that runs: the content of run/server.json.
type Running struct {
	URL       string    `json:"url"` // http://127.0.0.1:PORT
	PID       int       `json:"pid"`
	StartedAt time.Time `json:"startedAt"`
	Epoch     string    `json:"epoch"`

	// TabURL is the address under the installation's own name, where the cookie counts. It is not
	// written down: the name is nobody else's to know.
	TabURL string `json:"-"`
}

func runningPath(dataDir string) string { return filepath.Join(dataDir, "run", "server.json") }

func publish(dataDir string, r Running) error {
	if _, err := principal.RunDir(dataDir); err != nil {
		return err
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding server.json: %w", err)
	}
	if err := principal.WritePrivate(runningPath(dataDir), append(data, '\n')); err != nil {
		return fmt.Errorf("writing server.json: %w", err)
	}
	return nil
}

// retract removes server.json at the end, but not that of another instance.
func retract(dataDir, epoch string) error {
	r, err := readRunning(dataDir)
	if err != nil || r.Epoch != epoch || r.PID != os.Getpid() {
		return nil // gone, unreadable, or not ours: nothing of ours is left to remove
	}
	if err := os.Remove(runningPath(dataDir)); err != nil {
		return fmt.Errorf("removing server.json: %w", err)
	}
	return nil
}

func readRunning(dataDir string) (Running, error) {
	data, err := principal.ReadPrivate(runningPath(dataDir))
	if err != nil {
		return Running{}, err
	}
	var r Running
	if err := json.Unmarshal(data, &r); err != nil {
		return Running{}, fmt.Errorf("decoding server.json: %w", err)
	}
	return r, nil
}

// FindRunning finds the instance that runs on a data folder, for the command line. The fault not-found
// says that none does; a file whose process is gone counts as none. The URL is always loopback: a
// credential is never sent to an address that a file could have been made to name.
func FindRunning(dataDir string) (Running, error) {
	r, err := readRunning(dataDir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !processLives(r.PID) {
		return Running{}, fault.New(fault.NotFound, text.New("door.none-running", "folder", dataDir))
	}
	if err == nil {
		err = checkLoopbackURL(r.URL)
	}
	if err != nil {
		return Running{}, fault.Wrap(fault.Invalid, text.New("door.not-ours", "file", runningPath(dataDir)), err)
	}
	return r, nil
}

func checkLoopbackURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	at, err := netip.ParseAddrPort(u.Host)
	if err != nil || at.Addr() != v4 && at.Addr() != v6 || at.Port() == 0 || address != "http://"+at.String() {
		return fmt.Errorf("%q is not a loopback address", address)
	}
	return nil
}
