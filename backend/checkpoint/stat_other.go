//go:build !linux && !darwin

package checkpoint

import "io/fs"

const nonblock = 0

func statOf(info fs.FileInfo) stat {
	return stat{size: info.Size(), mode: info.Mode(), modified: info.ModTime().UnixNano()}
}
