package server

import "syscall"

const (
	queryLimitedInformation = 0x1000
	stillActive             = 259
)

// What listening fails with when the port is taken (by a program, or set aside by the system), and
// when the machine lacks the address. Winsock has numbers of its own.
var (
	errTaken   = []error{syscall.Errno(10048), syscall.Errno(10013)}
	errLacking = []error{syscall.Errno(10049), syscall.Errno(10047)}
)

// processLives reports whether a process with this id exists and has not ended.
func processLives(pid int) bool {
	if pid <= 0 {
		return false
	}
	handle, err := syscall.OpenProcess(queryLimitedInformation, false, uint32(pid))
	if err != nil {
		return err == syscall.ERROR_ACCESS_DENIED
	}
	defer syscall.CloseHandle(handle)
	var code uint32
	return syscall.GetExitCodeProcess(handle, &code) == nil && code == stillActive
}
