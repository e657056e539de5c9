package app

import (
	"os"
	"runtime"

	"aalis/backend/text"
)

var noDisplay = text.New("run.no-display")

// hasDisplay reports whether a window could be shown. On Linux the toolkit ends the process where it
// cannot, so it is asked only where it can.
func hasDisplay() bool {
	return runtime.GOOS != "linux" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}
