//go:build unix

package files

import (
	"os"
	"syscall"
)

// keepOwner gives a file the owner of the one it will replace, as far as we may.
func keepOwner(file *os.File, like os.FileInfo) {
	if stat, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(stat.Uid), int(stat.Gid))
	}
}
