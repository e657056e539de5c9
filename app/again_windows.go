package app

import (
	"fmt"
	"os/exec"
)

// startAgain starts the file that now lies in the program's place, as this one was started, hidden or not. Everything
// of this program must have ended.
func startAgain(args []string, hidden bool) error {
	path, err := executable()
	if err != nil {
		return err
	}
	again := againArgs(args, hidden)
	if err := exec.Command(path, again[1:]...).Start(); err != nil {
		return fmt.Errorf("starting %s again: %w", path, err)
	}
	return nil
}
