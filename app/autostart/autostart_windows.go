package autostart

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

const (
	runKey = `Software\Microsoft\Windows\CurrentVersion\Run`
	// approvedKey has what the Task Manager's list of such programs says: an odd first byte is off.
	approvedKey = `Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run`
	valueName   = "Aalis"
)

func (e Entry) status() (Status, error) {
	s := Status{Place: `HKEY_CURRENT_USER\` + runKey}
	line, err := readRun()
	if err != nil || line == "" {
		return s, err
	}
	words, err := windows.DecomposeCommandLine(line)
	c := command(words)
	s.Program, s.Edited = c.program(), err != nil || line != commandLine(c)
	switch {
	case err != nil || !c.of(e.Program):
		s.State = Elsewhere
	case suspended():
		s.State = Suspended
	default:
		s.State = On
	}
	return s, nil
}

func (e Entry) set(on bool) error {
	s, err := e.status()
	if err != nil {
		return err
	}
	switch {
	case on && s.State == Elsewhere && s.Edited:
		return fmt.Errorf("%s: %w", s.Place, ErrForeign)
	case !on && (s.State == Off || s.State == Elsewhere):
		return nil
	}
	k, _, err := registry.CreateKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return fmt.Errorf("opening %s: %w", s.Place, err)
	}
	defer k.Close()
	if !on {
		if err := k.DeleteValue(valueName); err != nil && !errors.Is(err, registry.ErrNotExist) {
			return fmt.Errorf("removing the autostart entry: %w", err)
		}
		return nil
	}
	if !s.Edited {
		if err := k.SetStringValue(valueName, commandLine(e.command())); err != nil {
			return fmt.Errorf("writing the autostart entry: %w", err)
		}
	}
	if s.State == Suspended {
		return approve()
	}
	return nil
}

func commandLine(c command) string {
	words := make([]string, len(c))
	for i, w := range c {
		words[i] = windows.EscapeArg(w)
	}
	return strings.Join(words, " ")
}

func readRun() (string, error) {
	k, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("opening the autostart entries: %w", err)
	}
	defer k.Close()
	line, _, err := k.GetStringValue(valueName)
	if errors.Is(err, registry.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the autostart entry: %w", err)
	}
	return line, nil
}

func suspended() bool {
	k, err := registry.OpenKey(registry.CURRENT_USER, approvedKey, registry.QUERY_VALUE)
	if err != nil {
		return false
	}
	defer k.Close()
	says, _, err := k.GetBinaryValue(valueName)
	return err == nil && len(says) > 0 && says[0]&1 == 1
}

func approve() error {
	k, err := registry.OpenKey(registry.CURRENT_USER, approvedKey, registry.SET_VALUE)
	if err == nil {
		defer k.Close()
		err = k.DeleteValue(valueName)
	}
	if err != nil && !errors.Is(err, registry.ErrNotExist) {
		return fmt.Errorf("switching the autostart entry on: %w", err)
	}
	return nil
}
