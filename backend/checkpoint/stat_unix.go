//go:build linux || darwin

package checkpoint

import (
	"io/fs"
	"syscall"
)

// nonblock keeps an open from waiting for the other end of a pipe that took a file's place.
const nonblock = syscall.O_NONBLOCK

func statOf(info fs.FileInfo) stat {
	s := stat{size: info.Size(), mode: info.Mode(), modified: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.changed, s.inode = changeTime(sys), int64(sys.Ino)
	}
	return s
}
