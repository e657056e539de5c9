//go:build unix

package app

import (
	"fmt"
	"os"
	"syscall"
)

// startAgain puts the file that now lies in the program's place in the process's stead, as it was
// started, hidden or not. Everything of this program must have ended. It returns only when that fails.
func startAgain(args []string, hidden bool) error {
	path, err := executable()
	if err != nil {
		return err
	}
	if err := syscall.Exec(path, againArgs(args, hidden), os.Environ()); err != nil {
		return fmt.Errorf("starting %s again: %w", path, err)
	}
	return nil
}
