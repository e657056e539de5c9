package app

import (
	"os"
	"runtime"
	"time"

	"aalis/backend/text"
)

var noDisplay = text.New("run.no-display")

// hasDisplay reports whether a window could be shown. On Linux the toolkit ends the process where it
// cannot, so it is asked only where it can.
func hasDisplay() bool {
	return runtime.GOOS != "linux" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// orphanedAfter is how long a window may stay hidden without a tray: panels are restarted, and come up
// late after a log-in.
const orphanedAfter = 20 * time.Second
