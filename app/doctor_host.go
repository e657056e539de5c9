package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"aalis/backend/fault"
)

func (p *program) examineFolder(dir string) (string, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p.say("doctor.folder-new", "folder", dir), nil
	case err != nil:
		return "", usage("doctor.folder-read", "folder", dir, "reason", reasonOf(err))
	case !info.IsDir():
		return "", usage("doctor.folder-file", "folder", dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", usage("doctor.folder-open", "folder", dir, "mode", fmt.Sprintf("%04o", info.Mode().Perm()))
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return "", usage("doctor.folder-read", "folder", dir, "reason", reasonOf(err))
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return "", usage("doctor.folder-read", "folder", dir, "reason", reasonOf(err))
	}
	return dir, nil
}

// examineInstance asks the running instance for its health, if there is one.
func (p *program) examineInstance(ctx context.Context, dir string) (running bool, f finding) {
	const name = "instance"
	r, err := findRemote(dir)
	if fault.Is(err, fault.NotFound) {
		return false, found(name, fine, p.say("doctor.instance-none"))
	}
	if err != nil {
		return false, p.judged(name, err, "")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var health struct {
		Version string `json:"serverVersion"`
	}
	if err := r.ask(ctx, "GET", "/v1/health", nil, &health); err != nil {
		return true, p.judged(name, err, "")
	}
	pid := r.running.PID
	if health.Version != Version {
		return true, found(name, note, p.say("doctor.instance-other", "pid", pid, "version", health.Version, "ours", Version))
	}
	if file, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && strings.HasSuffix(file, " (deleted)") {
		return true, found(name, note, p.say("doctor.instance-replaced", "pid", pid, "file", strings.TrimSuffix(file, " (deleted)")))
	}
	return true, found(name, fine, p.say("doctor.instance-there", "pid", pid, "version", health.Version))
}

// examinePorts listens for a moment, because some machines let nobody.
func examinePorts() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return "127.0.0.1", l.Close()
}

// examineDatabase looks at the file without changing it.
func (p *program) examineDatabase(s settings, running bool) (string, error) {
	path := filepath.Join(s.dataDir, databaseFile)
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return p.say("doctor.database-none"), nil
	case err != nil:
		return "", err
	case running:
		return p.say("doctor.database-held"), nil
	}
	if err := checkDatabase(s.dataDir); err != nil {
		return "", err
	}
	return path, nil
}

// examineModels asks every provider which models it has.
func (p *program) examineModels(ctx context.Context, s settings) (string, error) {
	if len(s.providers.Providers) == 0 {
		return p.say("doctor.models-demo"), nil
	}
	n, err := countModels(ctx, s.providers)
	return p.say("doctor.models-some", "n", n), err
}
