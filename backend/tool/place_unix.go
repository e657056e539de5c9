//go:build unix

package tool

import "syscall"

// openNonblock lets the opening of a named pipe return at once instead of waiting for a writer.
const openNonblock = syscall.O_NONBLOCK
