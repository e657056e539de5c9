//go:build unix && !darwin

package autostart

import (
	"os"
	"path/filepath"
)

// place is where the specification has entries of a user, under the name of the packages' desktop file.
// A relative path in the variable is to be ignored.
func place() (file, error) {
	config := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		home := os.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return file{}, ErrNoPlace
		}
		config = filepath.Join(home, ".config")
	}
	return file{filepath.Join(config, "autostart", "aalis.desktop"), desktopEntry{}}, nil
}
