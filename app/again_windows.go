package app

import (
	"fmt"
	"os/exec"
)

// startAgain starts the file that now lies in the program's place, as this one was started. Everything
// of this program must have ended.
func startAgain(args []string) error {
	path, err := executable()
	if err != nil {
		return err
	}
	again := againArgs(args)
	if err := exec.Command(path, again[1:]...).Start(); err != nil {
		return fmt.Errorf("starting %s again: %w", path, err)
	}
	return nil
}
