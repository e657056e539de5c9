package app

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"aalis/app/autostart"
	"aalis/backend/text"
)

// autostartEntry is what starts this program when its user logs in: hidden, and on the same data folder
// and configuration as now, unless those are the usual ones.
func autostartEntry(s settings) (autostart.Entry, error) {
	program, err := executable()
	if err != nil {
		return autostart.Entry{}, err
	}
	args := []string{"--hidden"}
	if usual, err := defaultDataDir(); err != nil || usual != s.dataDir {
		args = append(args, "--data-dir", s.dataDir)
	}
	config, err := filepath.Abs(s.configFile)
	if err != nil {
		return autostart.Entry{}, fmt.Errorf("finding the configuration: %w", err)
	}
	if config != filepath.Join(s.dataDir, "config.yaml") {
		args = append(args, "--config", config)
	}
	return autostart.Entry{Program: program, Args: args, Name: s.name, Comment: text.New("command.aalis").In(s.language)}, nil
}

// autostarter makes the entry what the setting says. It belongs to one goroutine.
type autostarter struct {
	entry autostart.Entry
	log   *slog.Logger
	begun bool
	on    bool
}

// follow is told what the setting says now, and first what it says at the start. A change is a person's
// wish and is done; a start finds out only, because the desktop's own settings have a say between two.
func (a *autostarter) follow(on bool) {
	before, begun := a.on, a.begun
	a.on, a.begun = on, true
	var err error
	switch {
	case begun && on != before:
		err = a.entry.Set(on)
	case !begun && on:
		err = a.restore()
	}
	if err != nil {
		a.log.Warn("starting with the machine cannot be set", "on", on, "error", err)
	}
}

// followAutostart keeps the entry as the setting of an instance says.
func (s settings) followAutostart(in instance, log *slog.Logger) {
	entry, err := autostartEntry(s)
	if err != nil {
		log.Warn("starting with the machine cannot be set", "error", err)
		return
	}
	a := &autostarter{entry: entry, log: log}
	in.OnSettings(func() { a.follow(prefsOf(in.Setting).Autostart) })
}

// restore makes an entry that is missing, and moves one that starts what is not there any more.
func (a *autostarter) restore() error {
	is, err := a.entry.Status()
	if err != nil {
		return err
	}
	switch is.State {
	case autostart.Off:
		return a.entry.Set(true)
	case autostart.Suspended:
		a.log.Info("the desktop has switched off that the program starts with the machine", "entry", is.Place)
	case autostart.Elsewhere:
		if _, err := os.Stat(is.Program); is.Program != "" && errors.Is(err, fs.ErrNotExist) {
			return a.entry.Set(true)
		}
		return fmt.Errorf("%s starts %s: %w", is.Place, orElse(is.Program, "?"), autostart.ErrForeign)
	case autostart.On:
	}
	return nil
}
