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

	"github.com/spf13/cobra"

	"aalis/backend/fault"
	"aalis/backend/text"
	"aalis/frontend"
)

// finding is one line of the doctor.
type finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func (p *program) doctorCommand() *cobra.Command {
	cmd := p.command("doctor", "command.doctor", "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		findings := p.examine(cmd.Context())
		broken := false
		for _, f := range findings {
			broken = broken || !f.OK
		}
		if p.flags.json {
			if err := p.printJSON(map[string]any{"ok": !broken, "checks": findings}); err != nil {
				return err
			}
		} else {
			for _, f := range findings {
				word := p.say("doctor.ok")
				if !f.OK {
					word = p.say("doctor.broken")
				}
				fmt.Fprintf(p.out, "%s  %s: %s\n", word, p.say(text.Key("doctor."+f.Name)), f.Detail)
			}
		}
		if broken {
			return &exitError{exitFailed}
		}
		return nil
	}
	return cmd
}

// examine changes nothing: what it looks at, it leaves as it is.
func (p *program) examine(ctx context.Context) []finding {
	var all []finding
	note := func(name string, err error, fine string) {
		if err != nil {
			fine = strings.Join(p.explain(err), "; ")
		}
		all = append(all, finding{name, err == nil, fine})
	}
	s, configured := p.settings(nil)
	if p.flags.dataDir == "" { // not even that could be told
		note("config", configured, "")
		return all
	}
	s.dataDir = p.flags.dataDir
	detail, err := p.examineFolder(s.dataDir)
	note("folder", err, detail)
	detail = p.flags.config
	if _, err := os.Stat(p.flags.config); errors.Is(err, fs.ErrNotExist) {
		detail = p.say("doctor.config-none", "file", p.flags.config)
	}
	note("config", configured, detail)
	running, err := p.examineInstance(ctx, s.dataDir)
	detail = p.say("doctor.instance-none")
	if running {
		detail = p.say("doctor.ok")
	}
	note("instance", err, detail)
	detail, err = p.examineDatabase(s, running)
	note("database", err, detail)
	if configured == nil {
		detail, err = p.examineModels(ctx, s)
		note("models", err, detail)
	}
	detail = p.say("doctor.ok")
	if !frontend.Built() {
		detail, err = "", usage("doctor.interface-none")
	}
	note("interface", err, detail)
	note("window", nil, p.windowWord())
	detail, err = examinePorts()
	note("ports", err, detail)
	return all
}

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
func (p *program) examineInstance(ctx context.Context, dir string) (running bool, err error) {
	r, err := findRemote(dir)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var health struct {
		Status string `json:"status"`
	}
	return true, r.ask(ctx, "GET", "/v1/health", nil, &health)
}

func (p *program) windowWord() string {
	switch {
	case !hasWindow:
		return p.say("doctor.window-none")
	case !hasDisplay():
		return p.say("doctor.window-dark")
	}
	return p.say("doctor.ok")
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
