package autostart

import (
	"os"
	"path/filepath"
)

// place is where launchd looks for agents of a user.
func place() (file, error) {
	home := os.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return file{}, ErrNoPlace
	}
	return file{filepath.Join(home, "Library", "LaunchAgents", agentLabel+".plist"), launchAgent{}}, nil
}
