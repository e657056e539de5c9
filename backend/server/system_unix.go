//go:build !windows

package server

import (
	"errors"
	"syscall"
)

// What listening fails with when the port is taken, and when the machine lacks the address.
var (
	errTaken   = []error{syscall.EADDRINUSE}
	errLacking = []error{syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT}
)

// processLives reports whether a process with this id exists, whoever owns it.
func processLives(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
